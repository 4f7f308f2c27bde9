"""Which models to keep: best subsets, an order in which to switch off, what each alone knows of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ..arguments import is_whole
from ..errors import MeasureError, did_you_mean
from ..progress import progress_bar
from ..threads import one_core
from .fitting import columns_of, weights
from .joint import Block, Joint
from .replicating import NARROW
from .solving import Solver

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
        chosen = tuple(sorted(basis))
        if (split, chosen) not in self._known:
            with one_core(self.joint.layout.width <= NARROW):
                self._known[split, chosen] = self._compute(split, chosen)
        return self._known[split, chosen]

    def mean_of_rest(self, split: str, basis: Iterable[int]) -> float:
        """The mean R² of the models that are not in the basis."""
        chosen = set(basis)
        found = self.r2(split, chosen)
        return float(np.mean([found[m] for m in range(len(self.names)) if m not in chosen]))

    def _weights(self, targets: list[int], basis: list[int]) -> FloatArray:
        """Of all targets at once; one by one, where each has a ridge of its own."""
        joint, solver = self.joint, self.solver
        alone = solver.ridge.rule == "validation"
        columns = columns_of(joint, basis)
        return np.concatenate(
            [
                weights(
                    self._S,
                    columns_of(joint, some),
                    columns,
                    solver.ridge_for(self._S, some[0], basis),
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
        joint, groups = self.joint, list(self.joint.models.values())
        numbers = [g for m in basis for g in groups[m]]
        rest = [m for m in range(len(groups)) if m not in basis]
        block = self._block(split)
        result = np.ones(len(groups))
        own = np.diag(block.products)
        if not numbers:
            return np.zeros(len(groups))
        columns = columns_of(joint, numbers)
        target = columns_of(joint, [g for m in rest for g in groups[m]])
        W = self._weights([g for m in rest for g in groups[m]], numbers)
        C = block.products
        left = own[target] - 2 * np.einsum("ij,ij->i", W, C[np.ix_(target, columns)])
        left += np.einsum("ij,ij->i", W @ C[np.ix_(columns, columns)], W)
        moved = block.mean - self._train.mean
        left += block.n * (moved[target] - W @ moved[columns]) ** 2
        start = 0
        for m in rest:
            mine = columns_of(joint, groups[m])
            result[m] = 1 - left[start : start + len(mine)].sum() / own[mine].sum()
            start += len(mine)
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
                f"A subset has 1 to {count - 1} of the {count} models; got {size!r:.60}."
            )
    every = count <= EXHAUSTIVE if exhaustive is None else exhaustive
    if every and count > EXHAUSTIVE:
        raise MeasureError(
            f"All subsets are tried for up to {EXHAUSTIVE} models; there are {count}. Leave exhaustive out."
        )
    steps = sum(comb(count, k) for k in sizes) if every else max(sizes) * count
    with progress_bar("subsets", steps, "subsets", show=progress) as advance:
        chosen = (
            [_best(subsets, combinations(range(count), k), advance) for k in sizes]
            if every
            else _greedy(subsets, sizes, advance)
        )
    return _subset_table(subsets, sizes, chosen, "exhaustive" if every else "greedy")


def _best(
    subsets: Subsets, candidates: Iterable[tuple[int, ...]], advance: Callable[[int], None]
) -> tuple[int, ...]:
    best: tuple[float, tuple[int, ...]] | None = None
    for each in candidates:
        value = subsets.mean_of_rest(subsets.chooses, each)
        if best is None or value > best[0]:
            best = (value, each)
        advance(1)
    assert best is not None
    return best[1]


def _greedy(
    subsets: Subsets, sizes: Sequence[int], advance: Callable[[int], None]
) -> list[tuple[int, ...]]:
    current: tuple[int, ...] = ()
    found: dict[int, tuple[int, ...]] = {}
    for size in range(1, max(sizes) + 1):
        others = [m for m in range(len(subsets.names)) if m not in current]
        current = tuple(sorted(_best(subsets, [(*current, m) for m in others], advance)))
        found[size] = current
    return [found[k] for k in sizes]


def _subset_table(
    subsets: Subsets, sizes: Sequence[int], chosen: Sequence[tuple[int, ...]], method: str
) -> xr.Dataset:
    names = subsets.names
    kept = np.array([[m in some for m in range(len(names))] for some in chosen])
    r2 = np.stack([subsets.r2(subsets.reports, some) for some in chosen])
    r2[kept] = np.nan
    mean = np.array([subsets.mean_of_rest(subsets.reports, some) for some in chosen])
    return xr.Dataset(
        {
            "kept": (("size", "model"), kept),
            "r2": (("size", "model"), r2),
            "r2_rest": (("size",), mean),
            "r2_rest_chosen": (
                ("size",),
                np.array([subsets.mean_of_rest(subsets.chooses, some) for some in chosen]),
            ),
        },
        coords={"size": list(sizes), "model": names},
        attrs={"method": method, "chosen_on": subsets.chooses, "reported_on": subsets.reports},
    )


def drop_order(subsets: Subsets, *, progress: bool | None) -> xr.Dataset:
    """In which order to switch models off: each time the one whose loss, and that of those before, costs least."""
    names = subsets.names
    left = list(range(len(names)))
    order, own, mean, least = [], [], [], []
    with progress_bar(
        "drop order", len(names) * (len(names) + 1) // 2 - 1, "fits", show=progress
    ) as advance:
        while len(left) > 1:
            values = []
            for m in left:
                values.append(subsets.mean_of_rest(subsets.chooses, [k for k in left if k != m]))
                advance(1)
            dropped = left.pop(int(np.argmax(values)))
            order.append(dropped)
            found = subsets.r2(subsets.reports, left)
            own.append(found[dropped])
            mean.append(float(np.mean(found[order])))
            least.append(float(np.min(found[order])))
    step = ("step",)
    return xr.Dataset(
        {
            "model": (step, [names[m] for m in order]),
            "r2": (step, np.array(own)),
            "r2_dropped": (step, np.array(mean)),
            "r2_least": (step, np.array(least)),
        },
        coords={"step": np.arange(1, len(order) + 1)},
        attrs={
            "stays": names[left[0]],
            "chosen_on": subsets.chooses,
            "reported_on": subsets.reports,
        },
    )


def unique_shares(subsets: Subsets) -> xr.Dataset:
    """What only one model knows of another, beside all the rest: R² by all others, minus R² without that one.

    ``unexplained`` is the share of a model that no other explains; ``unique`` (basis, target) what is lost without the
    basis model; ``shared`` what at least two of the others could give.
    """
    names = subsets.names
    k = len(names)
    whole = np.array(
        [subsets.r2(subsets.reports, [m for m in range(k) if m != i])[i] for i in range(k)]
    )
    unique = np.full((k, k), np.nan)
    for j in range(k):
        for i in range(k):
            if i != j:
                rest = [m for m in range(k) if m not in (i, j)]
                unique[j, i] = whole[i] - subsets.r2(subsets.reports, rest)[i]
    return xr.Dataset(
        {
            "unique": (("basis", "target"), unique),
            "shared": (("target",), whole - np.nansum(unique, axis=0)),
            "unexplained": (("target",), 1 - whole),
        },
        coords={"basis": names, "target": names},
        attrs={"reported_on": subsets.reports},
    )


def commonality(
    subsets: Subsets, target: str, groups: Mapping[str, str | Sequence[str]]
) -> dict[str, float]:
    """R² of a model, divided among up to three groups of others and what they share, by inclusion and exclusion.

    The shares sum to the R² by all groups. One below 0 means that groups explain more together than apart.
    """
    names = subsets.names
    listed = _groups_of_models(subsets, target, groups)
    number = {name: [names.index(m) for m in some] for name, some in listed.items()}

    def r2(some: Sequence[str]) -> float:
        basis = [m for name in some for m in number[name]]
        return float(subsets.r2(subsets.reports, basis)[names.index(target)])

    every = list(listed)
    found = {}
    for size in range(1, len(every) + 1):
        for inside in combinations(every, size):
            outside = [name for name in every if name not in inside]
            found[" + ".join(map(str, inside))] = sum(
                (-1) ** (count + 1) * r2([*outside, *some])
                for count in range(size + 1)
                for some in combinations(inside, count)
            )
    return found


def _groups_of_models(subsets: Subsets, target: Any, groups: Any) -> dict[str, list[str]]:
    """Groups as lists of models; an error where they are not what they should be."""
    if not isinstance(groups, Mapping) or any(
        not isinstance(some, Iterable) for some in groups.values()
    ):
        raise MeasureError(
            f"Groups of models come as a dict with a name for each, such as {{'large': ['b', 'c'], 'small': 'd'}}; got "
            f"{groups!r:.60}."
        )
    if not 1 <= len(groups) <= 3:
        raise MeasureError(f"One to three groups of models; got {len(groups)}.")
    listed = {
        name: [some] if isinstance(some, str) else list(some) for name, some in groups.items()
    }
    flat = [m for some in listed.values() for m in some]
    for name in [target, *flat]:
        if not isinstance(name, str) or name not in subsets.names:
            layer = name in subsets.joint.names if isinstance(name, str) else False
            raise MeasureError(
                f"Models are named here, with all their layers; {name!r} is one layer. Known: "
                f"{', '.join(subsets.names)}."
                if layer
                else f"There is no model {name!r:.60} here. {did_you_mean(str(name), subsets.names)}"
            )
    if target in flat or len(set(flat)) < len(flat) or not all(listed.values()):
        raise MeasureError(
            f"Every model is in one group at most, the target in none, and no group is empty; got {target!r} and "
            f"{listed}."
        )
    return listed
