"""Sides and pairs from the rows themselves: for few units (n × n instead of d × d), and for permutations."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import array_api_compat

from ..core import MeasureError, as_rows, varies
from ..moments import HUGE
from .from_moments import TOLERANCE
from .pair import LayerStats, Pair, Spectrum, eigen


class RowSide(LayerStats):
    """A layer as a centred matrix of units × neurons."""

    def __init__(self, rows: Any, name: str, *, tolerance: float | None = None):
        raw = as_rows(rows, name)
        self.xp = xp = array_api_compat.array_namespace(raw)
        self.name = name
        self.n, self.d = raw.shape
        if self.n < 2:
            raise MeasureError(f"{name}: two units at least are needed; there are {self.n}.")
        self.raw = raw
        """The rows as they were given."""
        X = xp.astype(raw, xp.float64)
        if not bool(xp.all(xp.isfinite(X))):
            raise MeasureError(
                f"{name} holds NaN or infinite values; leave those rows out of both."
            )
        mean = xp.mean(X, axis=0)
        X = X - mean
        # Once more: the first mean is rounded in units of the offset.
        X = X - xp.mean(X, axis=0)
        spread = xp.sqrt(xp.sum(X * X, axis=0) / (self.n - 1))
        if not bool(xp.all(spread < HUGE)):
            raise MeasureError(
                f"{name} holds values whose squares no number can hold. Divide the rows by a constant first."
            )
        eps = float(xp.finfo(xp.float64).eps)
        self.std = xp.where(varies(xp, mean, spread, eps), spread, xp.zeros_like(spread))
        self.X = xp.where(self.std > 0, X, xp.zeros_like(X))
        self.tolerance = TOLERANCE["float64"] if tolerance is None else tolerance
        self.dtype = xp.float64

    @cached_property
    def Z(self) -> Any:  # noqa: N802 (as the papers write it)
        """Standardized by the sample standard deviation; constant neurons are 0."""
        one = self.xp.ones_like(self.std)
        return self.X / self.xp.where(self.std > 0, self.std, one)

    def rows(self, standardized: bool) -> Any:
        """Centred rows, standardized or not."""
        return self.Z if standardized else self.X

    @cached_property
    def squared_norms(self) -> tuple[Any, Any]:
        """‖x_i‖² of every row: raw, and by population standard deviations."""
        xp = self.xp
        standardized = xp.sum(self.Z * self.Z, axis=1) * (self.n / (self.n - 1))
        return xp.sum(self.X * self.X, axis=1), standardized

    def _decompose(self, standardized: bool) -> Spectrum:
        xp, X = self.xp, self.rows(standardized)
        total = float(xp.sum(self.variance(standardized)))
        if self.d <= self.n:
            values, vectors = eigen(xp, xp.matmul(X.T, X) / (self.n - 1))
            return Spectrum(values, vectors, total=total)
        values, left = eigen(xp, xp.matmul(X, X.T) / (self.n - 1))
        rank = int(xp.sum(xp.astype(values > self.tolerance * values[0], xp.int64)))
        values, left = values[:rank], left[:, :rank]
        vectors = xp.matmul(X.T, left) / xp.sqrt(values * (self.n - 1))[None, :]
        return Spectrum(values, vectors, left, total)

    def with_itself(self, standardized: bool) -> RowPair:
        """The pair of this layer and itself."""
        return RowPair(self, self, standardized=standardized)

    def with_left(self, spectrum: Spectrum, standardized: bool) -> Any:
        """Left singular vectors, units × r."""
        if spectrum.left is not None:
            return spectrum.left
        scale = self.xp.sqrt(spectrum.values * (self.n - 1))
        return self.xp.matmul(self.rows(standardized), spectrum.vectors / scale[None, :])


class RowPair(Pair):
    """Two layers as matrices; ``order`` shuffles the rows of y."""

    def __init__(
        self,
        x: RowSide,
        y: RowSide,
        *,
        standardized: bool = False,
        order: Any = None,
        test: Pair | None = None,
    ):
        if x.n != y.n:
            raise MeasureError(
                f"Both layers need the same units: {x.name} has {x.n} rows, {y.name} {y.n}."
            )
        if x.xp is not y.xp:
            raise MeasureError(
                f"Both layers need arrays of one kind: {x.name} is {type(x.raw).__module__}'s, {y.name} "
                f"{type(y.raw).__module__}'s. Turn one into the other."
            )
        self.xp = x.xp
        self.x: RowSide = x
        self.y: RowSide = y
        self.standardized = standardized
        self.test = test
        self.order = order

    def _shuffled(self, rows: Any) -> Any:
        return rows if self.order is None else self.xp.take(rows, self.order, axis=0)

    def covariance(self, standardized: bool) -> Any:
        """Cross-covariances or correlations, computed when asked for."""

        def make() -> Any:
            Y = self._shuffled(self.y.rows(standardized))
            return self.xp.matmul(self.x.rows(standardized).T, Y) / (self.n - 1)

        return self.remember(("covariance", standardized), make)

    def squared_norm(self, standardized: bool) -> float:
        """‖Sxy‖²; from Gram matrices where units are fewer than neurons."""
        known = self.remembers(("covariance", standardized))
        if known or self.n >= min(self.x.d, self.y.d):
            return super().squared_norm(standardized)
        xp = self.xp
        X, Y = self.x.rows(standardized), self._shuffled(self.y.rows(standardized))
        return float(xp.sum(xp.matmul(X, X.T) * xp.matmul(Y, Y.T))) / (self.n - 1) ** 2

    def whitened(self, a: Spectrum, b: Spectrum, standardized: bool) -> Any:
        """From left singular vectors where units are fewer than neurons."""
        if self.n >= min(self.x.d, self.y.d):
            return super().whitened(a, b, standardized)
        left = self.x.with_left(a, standardized)
        right = self._shuffled(self.y.with_left(b, standardized))
        return self.xp.matmul(left.T, right)

    def norm_products(self, standardized: bool) -> float:
        """Σ ‖x‖²‖y‖²."""
        kind = int(standardized)
        norms = self._shuffled(self.y.squared_norms[kind])
        return float(self.xp.sum(self.x.squared_norms[kind] * norms))

    def transposed(self) -> RowPair:
        """Exchanged; the order of a shuffled pair is undone on the other side."""
        order = None if self.order is None else self.xp.argsort(self.order)
        other = RowPair(self.y, self.x, standardized=self.standardized, order=order)
        other.test = None if self.test is None else self.test.transposed()
        self._hand_on(other)
        return other
