"""The battery: every check on one function, and the table of what was found."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ...core import LmkinError, progress_bar, quoted

# Imported for their decorators.
from . import basics, degenerate, hard_cases, invariances, numerics  # noqa: F401
from .data import datasets
from .registered import registered_measure
from .registry import CHECKS, Registered
from .result import Conformance
from .subject import Function, NotANumberError, Subject, closure
from .table import one_line

_ORDER = (
    "basics",
    "invariance",
    "null",
    "rogue neuron",
    "offset",
    "types",
    "row order",
    "few rows",
    "degenerate",
    "unfit input",
)


def check_measure(
    fn: Function | str,
    *,
    declared: Iterable[str] | None = None,
    symmetric: bool | None = None,
    range: tuple[float, float] | None = None,
    unbiased: bool | None = None,
    measure_options: Mapping[str, Any] | None = None,
    name: str | None = None,
    tolerance: float = 1e-4,
    seed: int = 0,
    quick: bool = False,
    show: bool = True,
) -> Conformance:
    """Put a similarity function through a battery of checks: what it ignores, and where it breaks.

    ``fn(X, Y)`` takes two matrices of n units × neurons, whose rows are the same units, and gives one number,
    the larger the more alike. It may come from anywhere, or be the name of a registered measure (with its
    ``measure_options``).

    What is not declared is only measured; what is declared must hold, and what is left out of ``declared`` must not:

    - ``declared``: the invariances, of shift, scale, neuron-scale, sign, permutation, rotation, linear; those that
      follow from others need not be named.
    - ``symmetric``: whether fn(X, Y) = fn(Y, X).
    - ``range``: lowest and highest value. Without one, fn(X, X) should be 1 and nothing higher.
    - ``unbiased``: whether unrelated data give 0 on average.

    A registered measure declares these itself. ``tolerance`` is what rounding may change in float64; ten times as
    much in float32. ``quick`` takes smaller data, ``show`` prints the table. An exception in ``fn`` becomes a finding.

    >>> import numpy as np
    >>> from lmkin import check_measure
    >>> def cosine(X, Y):  # of the two Gram matrices; nothing is centred
    ...     return np.linalg.norm(X.T @ Y) ** 2 / np.linalg.norm(X.T @ X) / np.linalg.norm(Y.T @ Y)
    >>> result = check_measure(cosine, quick=True, show=False)
    >>> [row.name for row in result.rows if row.verdict == "invariant"]
    ['scale', 'sign', 'permutation', 'rotation']
    >>> result.passed  # NaN is not refused, an offset changes the value
    False
    """
    called = one_line(name or _name_of(fn), 60)
    if isinstance(fn, str):
        fn, info = registered_measure(fn, measure_options or {})
        declared = info.invariances if declared is None else declared
        symmetric = info.symmetric if symmetric is None else symmetric
        range = info.range if range is None else range
        if unbiased is None:
            unbiased = info.unbiased and (measure_options or {}).get("estimator") != "biased"
    elif measure_options:
        raise LmkinError(
            "measure_options belong to the name of a registered measure. For a function of your own, "
            "fix them yourself: check_measure(lambda X, Y: fn(X, Y, option=...))."
        )
    if not callable(fn):
        raise LmkinError(
            f"A function fn(X, Y) or the name of a measure expected, got {type(fn).__name__}."
        )
    subject = Subject(
        fn=fn,
        name=called,
        declared=None if declared is None else closure(declared),
        symmetric=symmetric,
        range=_checked_range(range),
        unbiased=bool(unbiased),
        tolerance=_checked_tolerance(tolerance),
        seed=_checked_seed(seed),
        quick=quick,
    )
    result = _run(_with_widths_it_takes(subject), show=show)
    if show:
        print(result)
    return result


def _run(subject: Subject, *, show: bool) -> Conformance:
    rows = []
    checks = ordered(CHECKS)
    with progress_bar(
        f"Checking {subject.name}", len(checks), "checks", show=None if show else False
    ) as advance:
        for registered in checks:
            rows.append(registered.check(subject))
            advance(1)
    return Conformance(subject.name, rows, subject.seed, subject.quick)


def ordered(checks: list[Registered]) -> list[Registered]:
    """By group; groups that are not in the list of groups, such as a user's own, come last."""
    groups = [*_ORDER, *(c.group for c in checks if c.group not in _ORDER)]
    return sorted(checks, key=lambda c: groups.index(c.group))


def _with_widths_it_takes(subject: Subject) -> Subject:
    """A first call: a result that is no number ends here, and a function of equal widths gets such data."""
    for trial in (subject, replace(subject, equal_widths=True)):
        try:
            trial.value(*datasets(trial)[0])
        except NotANumberError:
            raise
        except Exception:
            continue
        return trial
    return subject


def _name_of(fn: object) -> str:
    if isinstance(fn, str):
        return fn
    named = getattr(fn, "__qualname__", None) or type(fn).__name__
    return str(named).rpartition("<locals>.")[2]


def _checked_range(range: tuple[float, float] | None) -> tuple[float, float] | None:
    if range is None:
        return None
    try:
        low, high = (float(end) for end in range)
    except (TypeError, ValueError):
        low = high = math.nan
    if not low < high:
        raise LmkinError(f"range= is (lowest, highest), such as (0, 1); got {quoted(range)}.")
    return low, high


def _checked_tolerance(tolerance: float) -> float:
    if not isinstance(tolerance, int | float) or not 0 < tolerance < 0.01:
        raise LmkinError(
            f"tolerance= lies between 0 and 0.01, such as 1e-4; got {quoted(tolerance)}."
        )
    return float(tolerance)


def _checked_seed(seed: int) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise LmkinError(f"seed= is a whole number from 0; got {quoted(seed)}.")
    return seed
