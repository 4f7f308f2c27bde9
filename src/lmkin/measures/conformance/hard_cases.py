"""Checks of hard data: few rows, a rogue neuron, NaN, rows that cannot be aligned."""

from __future__ import annotations

import numpy as np

from .data import Matrix, related
from .registry import Outcome, capital, check, outside, raised
from .subject import NotANumberError, Subject
from .table import number


@check("few rows", "n < d", "n < d, with itself", "n = d")
def few_rows(subject: Subject, name: str) -> Outcome:
    """With fewer rows than neurons there is still a number, within its range."""
    X, Y = related(subject, 50 if name == "n = d" else 20, 50, 40)
    itself = name == "n < d, with itself"
    value = subject.value(X, X if itself else Y)
    if itself and subject.below_top(value, subject.loose):
        return Outcome(value, "fail", f"fn(X, X) should be {subject.top:g}, the maximum.")
    if not subject.in_range(value):
        return Outcome(value, "fail", outside(subject))
    where = "within its range" if subject.range else "not above 1"
    return Outcome(value, "pass", f"A finite value, {where}.")


_ROGUE = {"shared neuron of 12 % variance": 0.12, "shared neuron of 90 % variance": 0.90}


@check("rogue neuron", *_ROGUE)
def rogue(subject: Subject, name: str) -> Outcome:
    r"""One shared neuron between matrices that have nothing else in common.

    Its variance v holds the share s of all: :math:`v = s (d - 1) / (1 - s)`, the others have variance 1.
    """
    share = _ROGUE[name]
    n, d = (400, 128) if subject.quick else (1500, 768)
    rng = subject.rng(8)
    X, Y = rng.normal(size=(n, d)), rng.normal(size=(n, d))
    deviation = np.sqrt(share * (d - 1) / (1 - share))
    X[:, 0] *= deviation
    Y[:, 0] *= deviation
    without = subject.value(X, Y)
    Y[:, 0] = X[:, 0]
    value = subject.value(X, Y)
    note = (
        f"One shared neuron of {share:.0%} of the variance among {d} gives {number(value)}; "
        f"if it is not shared: {number(without)}."
    ).replace("%", " %")
    return Outcome(value, "info", note)


_UNFIT: dict[str, tuple[str, float]] = {
    "NaN in X": ("X", np.nan),
    "NaN in Y": ("Y", np.nan),
    "an infinite value in X": ("X", np.inf),
}


@check("unfit input", *_UNFIT)
def unfit(subject: Subject, name: str) -> Outcome:
    """NaN in, an error out: neither NaN nor a number."""
    side, bad = _UNFIT[name]
    X, Y = related(subject, 240, 12, 9)
    (X if side == "X" else Y)[7, 3] = bad
    return _must_raise(subject, X, Y)


@check("unfit input", "different numbers of rows")
def unequal_rows(subject: Subject, name: str) -> Outcome:
    """Rows that cannot be aligned are refused."""
    X, Y = related(subject, 240, 12, 9)
    return _must_raise(subject, X, Y[:-1])


def _must_raise(subject: Subject, X: Matrix, Y: Matrix) -> Outcome:
    try:
        value = subject.call(X, Y)
    except NotANumberError:
        raise
    except Exception as error:
        return Outcome(None, "pass", f"{capital(raised(error))}.".replace("..", "."))
    if not np.isfinite(value):
        return Outcome(None, "fail", f"Returns {value} in silence; an error would say why.")
    return Outcome(value, "fail", "Returns a number as though all were well; raise an error.")
