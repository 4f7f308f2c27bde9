"""Checks of degenerate matrices: constant, duplicated, dominated by one component, of low rank."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from .data import Matrix, related
from .registry import Outcome, capital, check, outside, raised
from .subject import NotANumberError, Subject
from .table import number

Degrade = Callable[[Matrix, np.random.Generator], Matrix]

_TENTH = 0.1
"""The mean of many is not quite 0.1 in floating point."""


def _constant(X: Matrix, rng: np.random.Generator) -> Matrix:
    return np.column_stack([X[:, :-1], np.full(len(X), _TENTH)])


def _dead(X: Matrix, rng: np.random.Generator) -> Matrix:
    return np.column_stack([X[:, :-1], np.zeros(len(X))])


def _duplicate(X: Matrix, rng: np.random.Generator) -> Matrix:
    return np.column_stack([X[:, :-1], X[:, 0]])


def _dominated(X: Matrix, rng: np.random.Generator) -> Matrix:
    # The first principal component is stretched until it holds 99.9 % of the variance.
    mean = X.mean(axis=0)
    U, s, Vt = np.linalg.svd(X - mean, full_matrices=False)
    s[0] = np.sqrt(999 * np.square(s[1:]).sum())
    stretched: Matrix = (U * s) @ Vt + mean
    return stretched


def _low_rank(X: Matrix, rng: np.random.Generator) -> Matrix:
    low: Matrix = X[:, :4] @ rng.normal(size=(4, X.shape[1]))
    return low


def _all_alike(X: Matrix, rng: np.random.Generator) -> Matrix:
    return np.tile(X[0], (len(X), 1))


_DEGENERATE: dict[str, Degrade] = {
    "a constant neuron": _constant,
    "a neuron that is always 0": _dead,
    "a duplicated neuron": _duplicate,
    "99.9 % in one component": _dominated,
    "rank 4 of 12": _low_rank,
    "all rows alike": _all_alike,
}


_LIKE_THEMSELVES = {"a duplicated neuron", "99.9 % in one component", "rank 4 of 12"}
"""Matrices whose value with themselves is not in doubt; what a constant neuron counts is a matter of definition."""


@check("degenerate", *_DEGENERATE)
def degenerate(subject: Subject, name: str) -> Outcome:
    """A finite value or a clear exception, on either side; never NaN, never a failed decomposition."""
    X, Y = related(subject, 240, 12, 9, label=20)
    X = _DEGENERATE[name](X, subject.rng(7))
    values, said = [], []
    for A, B in ((X, Y), (Y, X), (X, X)):
        try:
            value = subject.call(A.copy(), B.copy())
        except NotANumberError:
            raise
        except Exception as error:
            if not _clear(error):
                return Outcome(
                    None, "fail", f"{capital(raised(error))} — says nothing of the cause."
                )
            said.append(capital(raised(error)))
            continue
        if not np.isfinite(value):
            return Outcome(None, "fail", f"Returned {value}.")
        if not subject.in_range(value):
            return Outcome(value, "fail", outside(subject))
        if A is B and name in _LIKE_THEMSELVES and subject.below_top(value, subject.loose):
            return Outcome(value, "fail", f"fn(X, X) should be {subject.top:g}, the maximum.")
        values.append(value)
    finding = values[0] if values else None
    return Outcome(finding, "pass", said[0] if said else "A finite value.")


_OBSCURE = (ArithmeticError, LookupError, TypeError, AttributeError, NameError, AssertionError)


def _clear(error: Exception) -> bool:
    """Whether a message tells a user what is wrong with finite but degenerate data.

    A failed decomposition, a division by zero, and the complaint of infinite values that were not in the data do not.
    """
    if (
        isinstance(error, _OBSCURE)
        or "LinAlgError" in type(error).__name__
        or not str(error).strip()
    ):
        return False
    return re.search(r"\b(infs?|nans?)\b", str(error), re.IGNORECASE) is None


_NOISE: dict[str, Degrade] = {
    "0.1 in a neuron, as 0": _constant,
    "0.1 everywhere, as 0": lambda X, rng: np.full(X.shape, _TENTH),
}


@check("degenerate", *_NOISE)
def rounding_noise(subject: Subject, name: str) -> Outcome:
    """A constant of 0.1 counts as a constant of 0, if the function ignores shifts.

    Centred, it leaves rounding errors of 1e-17. Divided by their own standard deviation they look like data.
    """
    X, Y = related(subject, 240, 12, 9, label=20)
    if abs(subject.value(X + 3, Y) - subject.value(X, Y)) > subject.tolerance:
        return Outcome(None, "info", "Not tried: the function does not ignore shifts.")
    tenth = _NOISE[name](X, subject.rng(7))
    zero = np.where(tenth == _TENTH, 0.0, tenth)
    with_tenth, with_zero = (_value_or_error(subject, M, Y) for M in (tenth, zero))
    if with_tenth is not None and not np.isfinite(with_tenth):
        return Outcome(None, "fail", f"0.1 gives {_says(with_tenth)}, 0 gives {_says(with_zero)}.")
    if with_tenth is None and with_zero is None:
        return Outcome(None, "pass", "Refused, the one as the other.")
    if (
        with_tenth is None
        or with_zero is None
        or not abs(with_tenth - with_zero) <= subject.tolerance
    ):
        note = f"0.1 gives {_says(with_tenth)}, 0 gives {_says(with_zero)}: rounding errors pass for data."
        return Outcome(with_tenth, "fail", note)
    return Outcome(with_tenth, "pass", f"Both give {number(with_zero)}.")


def _says(value: float | None) -> str:
    return "an error" if value is None else f"{value:.4g}"


def _value_or_error(subject: Subject, X: Matrix, Y: Matrix) -> float | None:
    try:
        return subject.call(X.copy(), Y.copy())
    except NotANumberError:
        raise
    except Exception:
        return None
