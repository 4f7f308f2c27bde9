"""Which models to keep: best subsets, an order in which to switch off, what each alone knows of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...core import MeasureError, is_whole, one_core, progress_bar, quoted
from .advice import Advice, Replicates, Step
from .intervals import NARROW
from .joint import Block, Joint
from .regression import columns_of, weights
from .solver import Solver

FloatArray = NDArray[np.float64]
EXHAUSTIVE = 15
"""Up to so many models all subsets are tried."""


class Subsets:
    """R² of models by any others, remembered."""

    def __init__(self, joint: Joint, solver: Solver):
        self.joint = joint
        self.solver = solver
        self.names = list(joint.models)
        self._train = joint.total("train")
        self._S = self._train.products / (self._train.n - 1)
        self._blocks: dict[str, Block] = {"train": self._train}
        self._known: dict[tuple[str, tuple[int, ...]], FloatArray] = {}

    @property
    def chooses(self) -> str:
        """The split that choices are made on: not the one that they are reported on, if there are two."""
        return next(s for s in ("validation", "test", "train") if s in self.joint.parts)

    @property
    def reports(self) -> str:
        """The split that is reported."""
        return "test" if "test" in self.joint.parts else "train"

    def r2(self, split: str, basis: Iterable[int]) -> FloatArray:
        """Of every model by some, by number; 1 for those of the basis itself."""
        members = tuple(sorted(basis))
        if (split, members) not in self._known:
            with one_core(self.joint.layout.width <= NARROW):
                self._known[split, members] = self._compute(split, members)
        return self._known[split, members]

    def mean_of_rest(self, split: str, basis: Iterable[int]) -> float:
        """The mean R² of the models that are not in the basis."""
        members = set(basis)
        r2 = self.r2(split, members)
        return float(np.mean([r2[m] for m in range(len(self.names)) if m not in members]))

    def replicates(self, basis: tuple[int, ...]) -> Replicates:
        """R² of every model by some, on the rows that are reported: also without each part of them, and of train."""
        split, joint = self.reports, self.joint
        fit = self._fit(self._S, self._train.mean, basis)
        parts = [
            self._score(fit, joint.block(split, k), basis) for k in range(len(joint.parts[split]))
        ]
        scored = [
            _r2(basis, [p for k, p in enumerate(parts) if k != less]) for less in range(len(parts))
        ]
        refitted = []
        count = len(joint.parts["train"])
        for k in range(count if count > 1 else 0):
            rest = self._train.without(joint.block("train", k))
            again = self._fit(rest.products / (rest.n - 1), rest.mean, basis)
            refitted.append(_r2(basis, [self._score(again, self._block(split), basis)]))
        models = len(self.names)
        return Replicates(
            self.r2(split, basis),
            np.reshape(scored, (-1, models)),
            np.reshape(refitted, (-1, models)),
        )

    def _fit(self, S: FloatArray, mean: FloatArray, basis: tuple[int, ...]) -> _Fit:
        groups = list(self.joint.models.values())
        numbers = [g for m in basis for g in groups[m]]
        rest = [g for m in range(len(groups)) if m not in basis for g in groups[m]]
        return _Fit(
            self._weights(S, rest, numbers),
            columns_of(self.joint, rest),
            columns_of(self.joint, numbers),
            mean,
        )

    def _weights(self, S: FloatArray, targets: list[int], basis: list[int]) -> FloatArray:
        """Of all targets at once; one by one, where each has a ridge of its own."""
        joint, solver = self.joint, self.solver
        alone = solver.ridge.rule == "validation"
        columns = columns_of(joint, basis)
        return np.concatenate(
            [
                weights(
                    S,
                    columns_of(joint, some),
                    columns,
                    solver.ridge_for(S, some[0], basis),
                    solver.tolerance,
                    joint.unit,
                )
                for some in ([[g] for g in targets] if alone else [targets])
            ]
        )

    def _block(self, split: str) -> Block:
        if split not in self._blocks:
            self._blocks[split] = self.joint.total(split)
        return self._blocks[split]

    def _compute(self, split: str, basis: tuple[int, ...]) -> FloatArray:
        if not basis:
            return np.zeros(len(self.names))
        fit = self._fit(self._S, self._train.mean, basis)
        return _r2(basis, [self._score(fit, self._block(split), basis)])

    def _score(self, fit: _Fit, block: Block, basis: tuple[int, ...]) -> _Scored:
        """What a fit leaves of every model on some rows."""
        C, own = block.products, np.diag(block.products)
        left = own[fit.target] - 2 * np.einsum("ij,ij->i", fit.W, C[np.ix_(fit.target, fit.basis)])
        left += np.einsum("ij,ij->i", fit.W @ C[np.ix_(fit.basis, fit.basis)], fit.W)
        moved = block.mean - fit.mean
        left += block.n * (moved[fit.target] - fit.W @ moved[fit.basis]) ** 2
        whole = np.zeros(len(own))
        whole[fit.target] = left
        columns = [columns_of(self.joint, groups) for groups in self.joint.models.values()]
        return _Scored(
            block.n,
            [block.mean[c] for c in columns],
            np.array([own[c].sum() for c in columns]),
            np.array([whole[c].sum() for c in columns]),
        )


@dataclass(frozen=True)
class _Fit:
    """Weights (target × basis columns) of all models that are not in a basis, and the mean that they are about."""

    W: FloatArray
    target: NDArray[np.int64]
    basis: NDArray[np.int64]
    mean: FloatArray


@dataclass(frozen=True)
class _Scored:
    """Of some rows, by model: their mean, squares about it, and squares that a fit leaves."""

    n: int
    mean: list[FloatArray]
    own: FloatArray
    left: FloatArray


def _r2(basis: tuple[int, ...], parts: Sequence[_Scored]) -> FloatArray:
    """R² of every model on some parts of the rows together; 1 for those of the basis."""
    n = np.array([p.n for p in parts], np.float64)
    total, left = (np.sum([getattr(p, name) for p in parts], axis=0) for name in ("own", "left"))
    for m in range(len(total)):
        means = np.stack([p.mean[m] for p in parts])
        total[m] += n @ ((means - n @ means / n.sum()) ** 2).sum(1)
    result: FloatArray = 1 - left / total
    result[list(basis)] = 1.0
    return result


def best_subsets(
    subsets: Subsets, sizes: Sequence[int], *, exhaustive: bool | None = None, progress: bool | None
) -> xr.Dataset:
    """For every size, the models that explain the rest best: chosen on validation rows, reported on test rows."""
    count = len(subsets.names)
    if not sizes:
        raise MeasureError("Name at least one size of a subset.")
    for size in sizes:
        if not is_whole(size) or not 1 <= size < count:
            raise MeasureError(
                f"A subset has 1 to {count - 1} of the {count} models; got {quoted(size)}."
            )
    every = count <= EXHAUSTIVE if exhaustive is None else exhaustive
    if every and count > EXHAUSTIVE:
        raise MeasureError(
            f"All subsets are tried for up to {EXHAUSTIVE} models; there are {count}. Leave exhaustive out."
        )
    steps = sum(comb(count, k) for k in sizes) if every else max(sizes) * count
    with progress_bar("subsets", steps, "subsets", show=progress) as advance:
        best = (
            [_best(subsets, combinations(range(count), k), advance) for k in sizes]
            if every
            else _greedy(subsets, sizes, advance)
        )
    return _subset_table(subsets, sizes, best, "exhaustive" if every else "greedy")


def _best(
    subsets: Subsets, candidates: Iterable[tuple[int, ...]], advance: Callable[[int], None]
) -> tuple[int, ...]:
    best: tuple[float, tuple[int, ...]] | None = None
    for candidate in candidates:
        value = subsets.mean_of_rest(subsets.chooses, candidate)
        if best is None or value > best[0]:
            best = (value, candidate)
        advance(1)
    assert best is not None
    return best[1]


def _greedy(
    subsets: Subsets, sizes: Sequence[int], advance: Callable[[int], None]
) -> list[tuple[int, ...]]:
    current: tuple[int, ...] = ()
    by_size: dict[int, tuple[int, ...]] = {}
    for size in range(1, max(sizes) + 1):
        others = [m for m in range(len(subsets.names)) if m not in current]
        current = tuple(sorted(_best(subsets, [(*current, m) for m in others], advance)))
        by_size[size] = current
    return [by_size[k] for k in sizes]


def _subset_table(
    subsets: Subsets, sizes: Sequence[int], best: Sequence[tuple[int, ...]], method: str
) -> xr.Dataset:
    names = subsets.names
    kept = np.array([[m in some for m in range(len(names))] for some in best])
    r2 = np.stack([subsets.r2(subsets.reports, some) for some in best])
    r2[kept] = np.nan
    mean = np.array([subsets.mean_of_rest(subsets.reports, some) for some in best])
    return xr.Dataset(
        {
            "kept": (("size", "model"), kept),
            "r2": (("size", "model"), r2),
            "r2_rest": (("size",), mean),
            "r2_rest_chosen": (
                ("size",),
                np.array([subsets.mean_of_rest(subsets.chooses, some) for some in best]),
            ),
        },
        coords={"size": list(sizes), "model": names},
        attrs={"method": method, "chosen_on": subsets.chooses, "reported_on": subsets.reports},
    )


def drop_order(subsets: Subsets, *, level: float | None, progress: bool | None) -> xr.Dataset:
    """In which order to switch models off: each time the one whose loss, and that of those before, costs least.

    ``carried`` says of each step whether its interval (of ``level``; None: there are none) carries it, and all steps
    before; ``no_order`` why the first that is not carried is no advice.
    """
    names = subsets.names
    left = list(range(len(names)))
    order: list[int] = []
    own, mean, least = [], [], []
    steps: list[Step] = []
    advice = Advice(subsets, level) if level is not None else None
    reason = advice.missing if advice else "there are no intervals"
    with progress_bar(
        "drop order", len(names) * (len(names) + 1) // 2 - 1, "fits", show=progress
    ) as advance:
        while len(left) > 1:
            values = []
            for m in left:
                values.append(subsets.mean_of_rest(subsets.chooses, [k for k in left if k != m]))
                advance(1)
            if advice and not reason:
                steps.append(advice.step(left, order, np.array(values)))
                reason = steps[-1].reason
            dropped = left.pop(int(np.argmax(values)))
            order.append(dropped)
            r2 = subsets.r2(subsets.reports, left)
            own.append(r2[dropped])
            mean.append(float(np.mean(r2[order])))
            least.append(float(np.min(r2[order])))
    step = ("step",)
    carried = np.arange(len(order)) < sum(not s.reason for s in steps)
    intervals = {
        f"r2_{part}": (
            step,
            np.array(
                [float(getattr(s.r2, part)) for s in steps] + [np.nan] * (len(order) - len(steps))
            ),
        )
        for part in ("se", "low", "high")
    }
    return xr.Dataset(
        {
            "model": (step, [names[m] for m in order]),
            "r2": (step, np.array(own)),
            "r2_dropped": (step, np.array(mean)),
            "r2_least": (step, np.array(least)),
            "carried": (step, carried),
            **intervals,
        },
        coords={"step": np.arange(1, len(order) + 1)},
        attrs={
            "stays": names[left[0]],
            "no_order": reason,
            "chosen_on": subsets.chooses,
            "reported_on": subsets.reports,
        },
    )
