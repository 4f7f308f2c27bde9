"""`minimal_neurons`: the smallest number of first neurons whose own probe keeps the score of all."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ....core import LmkinError, is_whole, quoted
from ..fits import FittedProbe
from ..probe_rows import given_rows
from .fits import FitSettings, NeuronFit, NeuronFits, main_value, predicted
from .order import NeuronRanking
from .sets import SmallestSet

Array = NDArray[Any]
Grid = Literal["paper"] | int | Sequence[int] | None
_PAPER = (
    *(0.001 * k for k in range(1, 6)), *(0.01 * k for k in range(1, 11)),
    *(0.05 * k for k in range(3, 11)), *(0.1 * k for k in range(6, 10)),
)  # fmt: skip
"""Shares of the neurons that the released code tries: 0.1–0.5 % by 0.1, 1–10 by 1, 15–50 by 5, 60–90 by 10."""


def minimal_neurons(
    ranking: NeuronRanking,
    tolerance: float = 0.01,
    *,
    grid: Grid = None,
    l1: float | Literal["dev"] | None = None,
    X: Any = None,
    y: Any = None,
    dev: tuple[Any, Any] | None = None,
    test: tuple[Any, Any] | None = None,
    groups: Any = None,
) -> SmallestSet:
    """Find the smallest number of first neurons of a ranking whose own probe keeps the score of all, on dev.

    Each number is judged by a probe that is fitted on these neurons alone. Its score is to reach (1 − tolerance) × that
    of all neurons. Numbers are doubled until one does, then halved in between: the set that is found keeps the score,
    and one neuron fewer does not. (The score may go up and down with the number of neurons; then a smaller set than
    this may keep it, too. A ``grid`` is tried from its smallest number on.)

    Parameters
    ----------
    ranking
        What `lmkin.rank_neurons` gives.
    tolerance
        Share of the score that may be lost; the papers take 0.01 and 0.03.
    grid
        ``"paper"`` (0.1 to 0.5 % of the neurons by 0.1, 1 to 10 by 1, 15 to 50 by 5, 60 to 90 by 10), a whole number
        (``10``: 10, 20, 30 …), or numbers of neurons; the smallest that keeps the score is taken, all if none does.
    l1
        Penalty of these probes: a number; ``"dev"``, chosen on dev for each; by default that of the probe of all.
    X, y, dev, test, groups
        Rows with labels, as for `lmkin.rank_neurons`; by default those of the ranking.
    """
    if not isinstance(ranking, NeuronRanking):
        raise LmkinError(
            f"Neurons are chosen from a ranking, as lmkin.rank_neurons gives it; got {type(ranking).__name__}."
        )
    tolerance = check_tolerance(tolerance)
    numbers = grid_of(grid, len(ranking))
    ranking = with_rows(ranking, X, y, dev, test, groups)
    how = settings_of(ranking, l1)
    assert ranking.rows is not None
    fits = NeuronFits(ranking.rows.opened(), how)
    known = with_oracle(ranking, fits)
    if l1 is None:
        fits.settings = known.settings
    return smallest_set(known, fits, tolerance, numbers)


def check_tolerance(tolerance: Any) -> float:
    """Raise if it is no fraction."""
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float | np.number):
        raise LmkinError(f"tolerance is a fraction such as 0.01; got {quoted(tolerance)}.")
    if not 0 <= tolerance < 1:
        raise LmkinError(f"tolerance is a fraction from 0 to 1, such as 0.01; got {tolerance}.")
    return float(tolerance)


def with_rows(
    ranking: NeuronRanking, X: Any, y: Any, dev: Any, test: Any, groups: Any
) -> NeuronRanking:
    """A ranking with the rows that are given, or its own. Raise if there are none."""
    if X is not None or y is not None or dev is not None or test is not None:
        rows, labels = given_rows(
            X, y, dev=dev, test=test, groups=groups, width=len(ranking), labels=ranking.labels,
            seed=ranking.seed,
        )  # fmt: skip
        return replace(ranking, rows=rows, labels=labels)
    if ranking.rows is None:
        raise LmkinError(
            "This ranking has no rows to fit probes on (its weights were given, or its result was loaded): give X=…, "
            "y=…, and dev=(X, y) to judge by."
        )
    return ranking


def settings_of(ranking: NeuronRanking, l1: Any) -> FitSettings:
    """How probes of some neurons are fitted."""
    if l1 is None:
        return ranking.settings
    if isinstance(l1, str):
        if l1 != "dev":
            raise LmkinError(f"l1 is a number or 'dev'; got {quoted(l1)}.")
        return replace(ranking.settings, l1=None)
    if isinstance(l1, bool) or not isinstance(l1, int | float | np.number) or not l1 >= 0:
        raise LmkinError(f"l1 is a penalty, 0 or more, or 'dev'; got {quoted(l1)}.")
    return replace(ranking.settings, l1=float(l1))


def grid_of(grid: Any, d: int) -> list[int] | None:
    """Numbers of neurons that are tried; None: whatever the search asks for."""
    if grid is None:
        return None
    if isinstance(grid, str):
        if grid != "paper":
            raise LmkinError(
                f"grid is 'paper', a step such as 10, or numbers of neurons; got {quoted(grid)}."
            )
        return sorted({max(1, round(share * d)) for share in _PAPER})
    numbers = range(grid, d, grid) if is_whole(grid) and grid > 0 else grid
    if not isinstance(numbers, Sequence | np.ndarray) or not all(
        is_whole(n) and 1 <= n <= d for n in numbers
    ):
        raise LmkinError(
            f"grid is 'paper', a step such as 10, or numbers of neurons from 1 to {d}; got {quoted(grid)}."
        )
    return sorted({int(n) for n in numbers})


def smallest_set(
    ranking: NeuronRanking, fits: NeuronFits, tolerance: float, numbers: list[int] | None = None
) -> SmallestSet:
    """The smallest set by probes of ``fits``, which count how many there were."""
    begun, d = fits.count, len(ranking)
    dev = predictions_of(ranking, fits, "dev")
    oracle = main_value(fits.scored(dev, "dev", intervals=False))
    if not oracle > 0:
        raise LmkinError(
            f"All neurons together score {oracle:.3g} on dev: there is nothing that fewer could keep."
        )
    nearest: dict[int, NeuronFit] = {}
    how = fits.settings.loose()
    tried = {d: oracle}

    def score(count: int) -> float:
        if count not in tried:
            start = nearest[min(nearest, key=lambda n: abs(n - count))] if nearest else None
            fit = fits.fit(ranking.order[:count], start, how)
            nearest[count] = fit
            tried[count] = fits.score(fit)
        return tried[count]

    bound = (1 - tolerance) * oracle
    if numbers is None:
        count = by_doubling(lambda n: score(n) >= bound, d)
    else:
        count = next((n for n in numbers if score(n) >= bound), d)
    scored, whole = None, None
    if "test" in fits.X:
        scored = whole = fits.scored(predictions_of(ranking, fits, "test"), "test")
        if count in nearest:
            scored = fits.scored(fits.predict(nearest[count], "test"), "test")
    neurons = ranking.neurons
    return SmallestSet(
        neurons.model, None, neurons.masks(ranking.order[:count]), neurons.identity,
        tolerance=tolerance, oracle=oracle, score=tried[count], fits=fits.count - begun,
        tried=dict(sorted(tried.items())), test=scored, oracle_test=whole,
    )  # fmt: skip


def by_doubling(holds: Callable[[int], bool], most: int) -> int:
    """A number at which something holds, and at the number before it does not; at ``most`` it does.

    >>> by_doubling(lambda n: n >= 37, 1000)
    37
    """
    low, high = 0, 1
    while high < most and not holds(high):
        low, high = high, min(2 * high, most)
    while high - low > 1:
        # The middle of the logarithms while they are far apart: a fit costs as much as it has neurons.
        middle = (low + high) // 2 if high < 1.5 * low or low < 2 else round(math.sqrt(low * high))
        middle = min(max(middle, low + 1), high - 1)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def with_oracle(ranking: NeuronRanking, fits: NeuronFits) -> NeuronRanking:
    """A ranking with the probe of all neurons; fitted here, its penalty chosen on dev, where only weights are known."""
    if ranking.fitted is not None:
        return ranking
    fit = fits.fit(np.arange(fits.d))
    fitted = FittedProbe(fit.weights, fit.intercepts, fit.l1, fit.l1, np.nan, 0.0, 0)
    if ranking.settings.l1 is None:
        ranking = replace(ranking, settings=replace(ranking.settings, l1=fit.l1))
    return replace(ranking, fitted=fitted)


def predictions_of(ranking: NeuronRanking, fits: NeuronFits, split: str) -> Array:
    """What the probe of all neurons predicts."""
    assert ranking.fitted is not None
    return predicted(ranking.fitted.scores(fits.X[split]), fits.classes)
