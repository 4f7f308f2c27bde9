"""Moments of a set of rows at rest: means, covariances, correlations, and sums of row norms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

from ..core import ROUNDING, Layout, varies
from ..rows import CHUNK
from .sums import NormWeights, Reference, Sums


class Snapshot(ABC):
    """The moments of some rows: ``total`` minus ``less``. Groups are given by number."""

    def __init__(
        self,
        xp: Any,
        layout: Layout,
        reference: Reference,
        weights: NormWeights,
        total: Sums,
        less: Sums | None = None,
    ):
        self.xp = xp
        self.layout = layout
        self.reference = reference
        self._weights = weights
        self._total = total
        self._less = less
        self.n = total.n - (less.n if less else 0)
        self._mean = self._small("first") / max(self.n, 1)  # of z

    def _small(self, name: str) -> Any:
        value = getattr(self._total, name)
        return value if self._less is None else value - getattr(self._less, name)

    @abstractmethod
    def centred(self, i: int, j: int) -> Any:
        """Σ (z_i − mean)(z_j − mean)ᵀ, in the units of the reference; a new array.

        As float64; without a part, and of different groups, as the products were made.
        """

    @abstractmethod
    def _squares(self, sums: Sums) -> Any:
        """Σz² of every neuron, as float64."""

    def _minus_mean(self, block: Any, i: int, j: int) -> Any:
        """Σ z_i z_jᵀ becomes what `centred` gives, in place."""
        a, b = (self._mean[self.layout.slices[k]] for k in (i, j))
        a = self.xp.astype(self.n * a, block.dtype)
        block -= a[:, None] * self.xp.astype(b, block.dtype)[None, :]
        return block

    @cached_property
    def _spread(self) -> Any:
        """Standard deviation of every z; 0 for neurons that are constant."""
        xp = self.xp
        total = self._squares(self._total)
        rest = total if self._less is None else total - self._squares(self._less)
        squares = rest - self.n * self._mean * self._mean
        # What rounding leaves here, where squares cancel (those of the part that is left out, of the mean). A chunk of
        # equal rows rounds the same way every time: its error grows with the rows.
        eps = float(xp.finfo(self._weights.matrix.dtype).eps)
        noise = eps * (ROUNDING + min(self._total.n, CHUNK) / 2) * (total - squares)
        zero = xp.zeros_like(squares)
        spread = xp.sqrt(xp.where(squares > noise, squares, zero) / (self.n - 1))
        scale = self.reference.scale
        mean = self.reference.shift + self._mean * scale
        alive = [varies(xp, mean[c], spread[c] * scale[c], eps) for c in self.layout.slices]
        return xp.where(xp.concat(alive), spread, 0 * spread)

    def std(self, i: int) -> Any:
        """Standard deviation of every neuron of a group; 0 for constant ones."""
        columns = self.layout.slices[i]
        return self._spread[columns] * self.reference.scale[columns]

    def mean(self, i: int) -> Any:
        """Mean of every neuron of a group."""
        columns = self.layout.slices[i]
        return self.reference.shift[columns] + self._mean[columns] * self.reference.scale[columns]

    def drift(self, i: int) -> Any:
        """Variance of z against the 1 it has where the reference is exact; 0 for a constant neuron."""
        spread = self._spread[self.layout.slices[i]]
        change = spread * spread * ((self.n - 1) / self.n) - 1.0
        return self.xp.where(spread > 0, change, self.xp.zeros_like(change))

    def inverse_spread(self, i: int) -> Any:
        """1 / standard deviation of z; 0 for a constant neuron."""
        spread = self._spread[self.layout.slices[i]]
        one = self.xp.ones_like(spread)
        alive = spread > 0
        return self.xp.where(alive, 1.0 / self.xp.where(alive, spread, one), 0 * one)

    def units(self, i: int) -> Any:
        """What a z is worth; 0 for a constant neuron, of which only rounding is left."""
        columns = self.layout.slices[i]
        alive = self.xp.astype(self._spread[columns] > 0, self.xp.float64)
        return alive * self.reference.scale[columns]

    def cov(self, i: int, j: int) -> Any:
        """Covariances of the neurons of two groups."""
        block = self.xp.astype(self.centred(i, j), self.xp.float64)
        block *= self.units(i)[:, None] / (self.n - 1)
        block *= self.units(j)[None, :]
        return block

    def corr(self, i: int, j: int) -> Any:
        """Correlations of the neurons of two groups; 0 for constant neurons."""
        block = self.xp.astype(self.centred(i, j), self.xp.float64)
        block *= self.inverse_spread(i)[:, None] / (self.n - 1)
        block *= self.inverse_spread(j)[None, :]
        return block

    @cached_property
    def _norms(self) -> list[tuple[Any, Any, Any]]:
        """For raw and standardized norms: u = w·mean by group, e = Σ u·mean, and Σ a'a' of the pairs but for 4 uᵀSu.

        With the mean m moved out, a' = a − 2 u·z + e.
        """
        xp, g = self.xp, len(self.layout.groups)
        result = []
        for kind in (0, 1):
            w = xp.astype(self._weights.matrix[:, kind * g : (kind + 1) * g], xp.float64)
            u = w * self._mean[:, None]
            e = xp.sum(u * self._mean[:, None], axis=0)
            A = self._small("norm_total")[kind, :]
            first = self._small("norm_first")[kind, ...]
            uf = xp.matmul(u.T, self._small("first"))
            uP = xp.matmul(u.T, first)
            outer = e[:, None] * (A - 2 * uf)[None, :]
            pairs = self._small("norm_pairs")[kind, ...] - 2 * (uP + uP.T) + outer + outer.T
            pairs = pairs + (1 + 4) * self.n * e[:, None] * e[None, :]  # 4: of the products of z
            result.append((u, e, pairs))
        return result

    @cached_property
    def _growth(self) -> tuple[Any, Any]:
        """How far the unit of the standardized norms is from the standard deviation: first-order corrections.

        With w = 1 + α per neuron, Σ aa' grows by Σ α_k Σz_k²a' on either side, and by a product of both.
        """
        xp, g = self.xp, len(self.layout.groups)
        squares = self._spread * self._spread * ((self.n - 1) / self.n)
        alive = squares > 0
        inverse = 1.0 / xp.where(alive, squares, xp.ones_like(squares))
        alpha = xp.where(alive, inverse, xp.zeros_like(squares)) - 1.0
        member = xp.astype(self._weights.matrix[:, g:] > 0, xp.float64)
        one_side = xp.matmul(member.T, alpha[:, None] * self._small("norm_square"))  # g (grown) × g
        return one_side, xp.matmul(member.T, alpha * squares * self.n)

    def mean_weights(self, i: int, standardized: bool) -> Any:
        """w·mean, neuron by neuron: what the mean does to the norms of rows."""
        u, _, _ = self._norms[int(standardized)]
        return u[self.layout.slices[i], i]

    def norm_products(
        self, i: int, j: int, *, standardized: bool, inner: float | None = None
    ) -> float:
        """Σ ‖x‖²‖y‖² over rows, both centred; with neurons divided by their (population) standard deviation.

        ``inner`` is uᵀSv, with S ``centred(i, j)`` and u, v the ``mean_weights`` of both, where it is known.
        """
        xp, kind = self.xp, int(standardized)
        _, e, pairs = self._norms[kind]
        if inner is None and float(e[i]) > 0 and float(e[j]) > 0:
            ui, uj = (self.mean_weights(k, standardized) for k in (i, j))
            S = self.centred(i, j)
            inner = float(xp.sum(ui * xp.matmul(S, xp.astype(uj, S.dtype))))
        value = float(pairs[i, j]) + 4 * (inner or 0.0)
        units = self._weights.units[kind, :]
        if not standardized:
            return value * float(units[i]) * float(units[j])
        one_side, both = self._growth
        value *= float(units[i]) * float(units[j])
        value += float(one_side[i, j] * units[j] + one_side[j, i] * units[i])
        return value + float(both[i] * both[j]) / self.n


LITTLE = 1e-2
"""A part that leaves less than this fraction of a neuron's squares holds outliers: a float32 difference loses
digits."""


class SumsSnapshot(Snapshot):
    """From sums that hold the products of all pairs of groups."""

    def centred(self, i: int, j: int) -> Any:
        """Σ (z_i − mean)(z_j − mean)ᵀ."""
        if i > j:
            return self.centred(j, i).T
        return self._minus_mean(self._products(i, j), i, j)

    def _products(self, i: int, j: int) -> Any:
        xp = self.xp
        number, rows, columns = self.layout.place(i, j)
        if self._less is None:
            return xp.astype(self._total.panels[number][rows, columns], xp.float64)
        less = self._less.panels[number][rows, columns]
        if less.dtype == xp.float32 and i != j:
            # What is left of a difference of sums has all the digits that their products have.
            return self._total.in_single(xp)[number][rows, columns] - less
        return self._total.panels[number][rows, columns] - less

    def leaves_little(self, part: Sums) -> bool:
        """Whether hardly anything is left of some neuron without this part; constant ones do not count."""
        total = self._squares(self._total)
        little = total - self._squares(part) < LITTLE * total
        return bool(self.xp.any(little & (self._spread > 0)))

    def _squares(self, sums: Sums) -> Any:
        xp = self.xp
        diagonals = [
            xp.linalg.diagonal(panel[:, : columns.stop - columns.start])
            for panel, columns in zip(sums.panels, self.layout.panels, strict=True)
        ]
        return xp.astype(xp.concat(diagonals), xp.float64)
