"""Joint moments of all models: of every part of every split, and of any parts together."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import LayerId, MeasureError, quoted, to_numpy, varies
from ...moments import Moments, Snapshot

FloatArray = NDArray[np.float64]
COVARIATE = "(length of the text)"
"""The model under which what may be a common cause goes along."""


ROWS = 512
"""Rows of a large matrix that are worked on at a time."""


@dataclass(frozen=True)
class Block:
    """Rows as sums: how many, their mean, and Σ (x − mean)(x − mean)ᵀ, neurons of all models side by side."""

    n: int
    mean: FloatArray
    products: FloatArray

    def joined(self, other: Block) -> Block:
        """Both together; this one is used up."""
        n = self.n + other.n
        apart = other.mean - self.mean
        np.add(self.products, other.products, out=self.products)
        _add_square(self.products, apart, self.n * other.n / n)
        return Block(n, self.mean + apart * (other.n / n), self.products)

    def without(self, part: Block) -> Block:
        """What is left without a part of it; the part is used up."""
        n = self.n - part.n
        mean = (self.n * self.mean - part.n * part.mean) / n
        apart = part.mean - mean
        np.subtract(self.products, part.products, out=part.products)
        _add_square(part.products, apart, -n * part.n / self.n)
        return Block(n, mean, part.products)


def _add_square(products: FloatArray, x: FloatArray, factor: float) -> None:
    """Add factor · x xᵀ, some rows at a time: these matrices are what memory goes to."""
    for start in range(0, len(x), ROWS):
        rows = slice(start, start + ROWS)
        products[rows] += (factor * x[rows, None]) * x[None, :]


def widest_basis(widths: Mapping[LayerId, int]) -> int:
    """Neurons of the widest basis: of all models but the narrowest."""
    by_model: dict[str, int] = {}
    for group, width in widths.items():
        by_model[group.model] = by_model.get(group.model, 0) + width
    return sum(by_model.values()) - min(by_model.values())


class Joint:
    """The parts of every split, as blocks in units in which each model's neurons have variance 1 on average.

    ``parts`` is split → (moments, name of the part). Blocks are put together when they are asked for: only the sums
    of the moments stay in memory.
    """

    def __init__(self, parts: Mapping[str, Sequence[tuple[Moments, Hashable]]]):
        self.parts = {name: list(some) for name, some in parts.items()}
        first = self.parts["train"][0][0]
        self.layout = first.layout
        for some in self.parts.values():
            for moments, _ in some:
                if moments.layout != self.layout:
                    raise MeasureError(
                        "Train and test need moments of the same models, in the same order and of the same widths."
                    )
        self.groups: list[LayerId] = [g for g in self.layout.groups if g.model != COVARIATE]
        self.slices = [self.layout.slices[self.layout.number[g]] for g in self.groups]
        if len({g.model for g in self.groups}) < 2:
            raise MeasureError(
                f"A decomposition needs two models at least: one is explained by the others. There is "
                f"{quoted(self.groups[0].model)} only."
            )
        models = list(dict.fromkeys(g.model for g in self.groups))
        self.models = {m: [i for i, g in enumerate(self.groups) if g.model == m] for m in models}
        mean, variance = self._mean_and_variance("train")
        eps = float(np.finfo(self.precision).eps)
        self.constant = {
            group: int((~varies(np, mean[c], np.sqrt(variance[c]), eps)).sum())
            for group, c in zip(self.groups, self.slices, strict=True)
        }
        """Of every layer, the neurons that never change in the rows to fit on."""
        self._ones = np.ones(self.layout.width)
        for group, columns in zip(self.layout.groups, self.layout.slices, strict=True):
            size = float(variance[columns].mean())
            if not size > 0:
                raise MeasureError(
                    f"All neurons of {group} are constant in the rows to fit on: it can neither explain nor be "
                    f"explained. Leave it out."
                )
            self._ones[columns] = size**-0.5
        for split in self.parts:
            variance = self._mean_and_variance(split)[1]
            for group, columns in zip(self.groups, self.slices, strict=True):
                if sum(self.sizes(split)) > 1 and not float(variance[columns].mean()) > 0:
                    raise MeasureError(
                        f"All neurons of {group} are constant in the {split} rows: there is nothing to explain of it "
                        f"there. Take other rows, or leave it out."
                    )
        self.unit = 1 / self._ones
        """What a number of a block is worth, column by column."""

    @cached_property
    def names(self) -> list[str]:
        """Of models; with the layer, where a model has several."""
        several = any(len(layers) > 1 for layers in self.models.values())
        return [str(g) if several else g.model for g in self.groups]

    @cached_property
    def widest_basis(self) -> int:
        """Neurons of the widest basis: of all models but the narrowest."""
        widths = [s.stop - s.start for s in self.slices]
        return widest_basis(dict(zip(self.groups, widths, strict=True)))

    @cached_property
    def covariate(self) -> slice | None:
        """Columns of what may be a common cause."""
        for group, columns in zip(self.layout.groups, self.layout.slices, strict=True):
            if group.model == COVARIATE:
                return columns
        return None

    @property
    def precision(self) -> str:
        """Of the products."""
        return str(self.parts["train"][0][0].precision)

    def sizes(self, split: str) -> list[int]:
        """Rows of every part."""
        return [int(moments.part_sizes.get(part, moments.n)) for moments, part in self.parts[split]]

    def _snapshot(self, split: str, number: int) -> Snapshot:
        moments, part = self.parts[split][number]
        return moments.snapshot(only=part) if moments.part_sizes else moments.snapshot()

    def _mean_and_variance(self, split: str) -> tuple[FloatArray, FloatArray]:
        """Of every column over all parts of a split."""
        n, mean, squares = 0, np.zeros(self.layout.width), np.zeros(self.layout.width)
        for number in range(len(self.parts[split])):
            snapshot = self._snapshot(split, number)
            every = range(len(self.layout.groups))
            here = np.concatenate([to_numpy(snapshot.mean(i)) for i in every])
            if snapshot.n > 1:
                spread = np.concatenate([to_numpy(snapshot.std(i)) for i in every])
                squares += (snapshot.n - 1) * spread**2
            apart = here - mean
            squares += apart**2 * (n * snapshot.n / (n + snapshot.n))
            mean = mean + apart * (snapshot.n / (n + snapshot.n))
            n += snapshot.n
        return mean, squares / max(n - 1, 1)

    def block(self, split: str, number: int) -> Block:
        """One part of a split."""
        snapshot = self._snapshot(split, number)
        layout, D = self.layout, self.layout.width
        products = np.empty((D, D))
        factor = to_numpy(snapshot.reference.scale) * self._ones
        for i, rows in enumerate(layout.slices):
            for j in range(i, len(layout.groups)):
                columns = layout.slices[j]
                block = to_numpy(snapshot.centred(i, j)) * factor[rows, None]
                block *= factor[None, columns]
                products[rows, columns] = block
                if i != j:
                    products[columns, rows] = block.T
        mean = np.concatenate([to_numpy(snapshot.mean(i)) for i in range(len(layout.groups))])
        return Block(int(snapshot.n), mean * self._ones, products)

    def total(self, split: str) -> Block:
        """All parts of a split."""
        return joined(self.block(split, k) for k in range(len(self.parts[split])))


def joined(blocks: Any) -> Block:
    """All of some blocks, added up in the first."""
    blocks = iter(blocks)
    whole: Block = next(blocks)
    for block in blocks:
        whole = whole.joined(block)
    return whole
