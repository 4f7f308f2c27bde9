"""Whether a ranking would come again: what two halves of the rows, ranked apart, have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ....core import LmkinError
from .fits import FitSettings, NeuronFits
from .registry import Evidence, RankingMethod, rank_by

IntArray = NDArray[np.int64]


def stability_of(
    method: RankingMethod,
    options: Mapping[str, Any],
    fits: NeuronFits | None,
    settings: FitSettings,
    resamples: int,
    seed: int,
) -> xr.Dataset:
    """Mean overlap of the first N neurons of two halves of train, by N, with its standard error over draws.

    Halves are of whole groups (sentences), and have no row in common. ``chance`` is the overlap of two random orders,
    N / neurons. Where the ranking reads weights, a probe is fitted on each half at the penalty of the whole.
    """
    if fits is None:
        raise LmkinError(
            "Stability over resamples needs rows with labels: give X=… and y=…, or a result that lmkin.probe has just "
            "made."
        )
    sizes = overlap_sizes(fits.d)
    shares = np.empty((resamples, len(sizes)))
    for k in range(resamples):
        orders = []
        for half, rows in enumerate(halves(fits, seed + k)):
            mine = NeuronFits(fits.rows.half(rows), settings)
            weights = mine.fit(np.arange(mine.d)).W.T if method.needs == "weights" else None
            orders.append(
                rank_by(method, Evidence(mine.d, seed + 2 * k + half, weights, mine), options).order
            )
        shares[k] = [overlap(orders[0][:n], orders[1][:n]) for n in sizes]
    spread = (
        shares.std(0, ddof=1) / np.sqrt(resamples) if resamples > 1 else np.full(len(sizes), np.nan)
    )
    return xr.Dataset(
        {
            "overlap": ("top", shares.mean(0), {"long_name": "share of the first N of both halves"}),
            "overlap_se": ("top", spread),
            "chance": ("top", np.array(sizes) / fits.d),
        },
        coords={"top": sizes},
        attrs={"resamples": resamples, "method": method.name},
    )  # fmt: skip


def overlap(one: IntArray, other: IntArray) -> float:
    """The share of the neurons of a set that another one of its size has, too."""
    return len(np.intersect1d(one, other)) / len(one)


def overlap_sizes(d: int) -> list[int]:
    """1, 2, 5, 10 … below the number of neurons, and half of them."""
    sizes = {k * 10**e for e in range(9) for k in (1, 2, 5) if k * 10**e < d}
    return sorted(sizes | {max(1, d // 2)})


def halves(fits: NeuronFits, seed: int) -> tuple[IntArray, IntArray]:
    """The rows of train in two halves, of whole groups; drawn anew until both have two classes."""
    y, owner = fits.target["train"], fits.rows.owner
    owner = np.arange(len(y)) if owner is None else np.unique(owner, return_inverse=True)[1]
    random = np.random.default_rng([seed, 1])
    for _ in range(20):
        order = random.permutation(owner.max() + 1)
        sizes = np.bincount(owner)[order].cumsum()
        first = order[: int(np.searchsorted(sizes, sizes[-1] / 2)) + 1]
        mine = np.isin(owner, first)
        one, other = np.flatnonzero(mine), np.flatnonzero(~mine)
        if len(one) and len(other) and all(len(np.unique(y[rows])) > 1 for rows in (one, other)):
            return one, other
    raise LmkinError(
        "Train cannot be drawn into two halves that both have two classes: there are too few groups of rows."
    )
