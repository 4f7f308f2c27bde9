"""What the first neurons of a ranking know, and what is left without them, as another probe says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ....core import LmkinError, is_whole, quoted
from ....estimators import PenaltyName
from ..scored import Scored, mean_of
from .fits import FitSettings, NeuronFit, NeuronFits, predicted
from .minimal import with_oracle, with_rows
from .order import NeuronRanking

Array = NDArray[Any]
IntArray = NDArray[np.int64]
SHARES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""Of the neurons, by default."""
DRAWS = 3
CURVES = ("kept", "removed", "ablated", "random")


@dataclass(frozen=True)
class Curves:
    """Scores by number of neurons: of each curve a `Scored` a size; of random sets one a draw, too."""

    sizes: tuple[int, ...]
    scored: Mapping[str, Sequence[Scored]]
    draws: Array
    """Draws × sizes: the main score of each random set."""
    whole: Scored
    """All neurons, by the judge."""
    judge: str
    split: str
    fits: int


def neuron_curves(
    ranking: NeuronRanking,
    sizes: Sequence[int] | None = None,
    *,
    split: str = "test",
    draws: int = DRAWS,
    X: Any = None,
    y: Any = None,
    dev: tuple[Any, Any] | None = None,
    test: tuple[Any, Any] | None = None,
    groups: Any = None,
) -> xr.Dataset:
    """Score the first N neurons of a ranking, and all others without them, by a probe that the ranking does not know.

    A ranking that reads the weights of a probe is not to be judged by that probe. So the judge has the other penalty
    (by neuron where the probe's was by single weight, and the other way round), at the same share of the λ₁ from which
    on all weights are 0.

    Variables, by number of neurons N: ``kept`` (the judge fitted on the first N), ``removed`` (the judge fitted on all
    others), ``ablated`` (the ranking's own probe, not fitted again, with the first N at their means), ``random`` (the
    judge fitted on N random neurons: the mean of ``draws``, with the least and the highest), each with its interval
    where parts of the rows are known. Attributes: ``all``, what the judge scores with all neurons, and ``fits``.
    """
    ranking = with_rows(ranking, X, y, dev, test, groups)
    assert ranking.rows is not None
    if split not in ranking.rows.splits:
        raise LmkinError(
            f"There are no rows {quoted(split)} here, only {', '.join(ranking.rows.splits)}: give {split}=(X, y)."
        )
    if not is_whole(draws) or draws < 1:
        raise LmkinError(f"draws is a number of random sets, such as 3; got {quoted(draws)}.")
    fits = NeuronFits(ranking.rows.opened(), ranking.settings)
    known = with_oracle(ranking, fits)
    numbers = curve_sizes(len(ranking), sizes)
    return curves_dataset(compute_curves(known, fits, numbers, split, draws))


def curve_sizes(
    d: int, sizes: Any = None, more: Sequence[int] = (), shares: Sequence[float] = SHARES
) -> list[int]:
    """Numbers of neurons, in rising order: those given, or shares of all. Raise if one cannot be meant."""
    if sizes is None:
        return sorted({max(1, round(s * d)) for s in shares} | {n for n in more if n < d})
    numbers = [sizes] if is_whole(sizes) else sizes
    if not isinstance(numbers, Sequence | np.ndarray) or not len(numbers) or not all(
        is_whole(n) and 1 <= n < d for n in numbers
    ):  # fmt: skip
        raise LmkinError(
            f"sizes are numbers of neurons from 1 to {d - 1} (all but one); got {quoted(sizes)}."
        )
    return sorted({int(n) for n in numbers})


def judge_of(fits: NeuronFits, own: FitSettings) -> FitSettings:
    """The same fits with the other penalty, at the same share of the largest λ₁."""
    penalty: PenaltyName = "row" if own.penalty == "elementwise" else "elementwise"
    other = replace(own, penalty=penalty).loose()
    if own.l1 is None:
        return other
    every = np.arange(fits.d)
    share = own.l1 / (fits.largest(every, own) or 1.0)
    return replace(other, l1=share * fits.largest(every, other))


def compute_curves(
    ranking: NeuronRanking, fits: NeuronFits, sizes: Sequence[int], split: str, draws: int
) -> Curves:
    """All curves; each fit is begun at the one before."""
    begun, order, d = fits.count, ranking.order, fits.d
    judge = judge_of(fits, ranking.settings)
    whole = fits.fit(np.arange(d), settings=judge)
    scored: dict[str, list[Scored]] = {name: [] for name in CURVES}

    def judged(columns: IntArray, start: NeuronFit | None) -> tuple[NeuronFit, Scored]:
        fit = fits.fit(columns, start, judge)
        return fit, fits.scored(fits.predict(fit, split), split)

    kept: NeuronFit | None = None
    removed: NeuronFit | None = whole
    for n in sizes:
        kept, of_kept = judged(order[:n], kept)
        removed, of_removed = judged(np.sort(order[n:]), removed)
        scored["kept"].append(of_kept)
        scored["removed"].append(of_removed)
        scored["ablated"].append(_ablated(ranking, fits, order[:n], split))
    random: list[list[Scored]] = []
    for draw in range(draws):
        drawn = np.random.default_rng([ranking.seed, 2, draw]).permutation(d)
        before, mine = None, []
        for n in sizes:
            before, of_random = judged(drawn[:n], before)
            mine.append(of_random)
        random.append(mine)
    scored["random"] = [mean_of([mine[k] for mine in random]) for k in range(len(sizes))]
    values = np.array([[float(s.value[0]) for s in mine] for mine in random])
    of_all = fits.scored(fits.predict(whole, split), split)
    return Curves(
        tuple(sizes), scored, values, of_all, judge.penalty, split, fits.count - begun
    )  # fmt: skip


def _ablated(ranking: NeuronRanking, fits: NeuronFits, gone: IntArray, split: str) -> Scored:
    """The ranking's own probe with some neurons at their mean over train: their weights move into the intercepts."""
    fitted = ranking.fitted
    assert fitted is not None
    V = np.array(fitted.weights, np.float64)
    b = fitted.intercepts + fits.means()[gone] @ V[gone]
    V[gone] = 0
    return fits.scored(predicted(fits.linear(split, V, b), fits.classes), split)


def curves_dataset(curves: Curves) -> xr.Dataset:
    """The main score of each curve by number of neurons."""
    said = {
        "kept": "another probe, fitted on the first N neurons",
        "removed": "another probe, fitted on all but the first N neurons",
        "ablated": "the ranking's own probe, the first N neurons at their means",
        "random": "another probe, fitted on N random neurons (mean)",
    }
    dataset = xr.Dataset(coords={"top": list(curves.sizes)})
    for name, scored in curves.scored.items():
        dataset[name] = ("top", [float(s.value[0]) for s in scored], {"long_name": said[name]})
        if all(s.interval is not None for s in scored):
            for ending in ("se", "low", "high"):
                ends = [float(getattr(s.interval, ending)[0]) for s in scored]
                dataset[f"{name}_{ending}"] = ("top", ends)
    dataset["random_least"] = ("top", curves.draws.min(0))
    dataset["random_most"] = ("top", curves.draws.max(0))
    dataset.attrs = {
        "judge": curves.judge, "split": curves.split, "all": float(curves.whole.value[0]),
        "fits": curves.fits, "draws": len(curves.draws),
    }  # fmt: skip
    return dataset
