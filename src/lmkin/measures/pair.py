"""Two layers as a measure sees them: covariances, spectra and row norms, wherever these come from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..core import MeasureError, compiled

_FAR = 1e3


@dataclass(frozen=True)
class Spectrum:
    """Principal components of a layer: X = U diag(√(values (n−1))) vectorsᵀ, largest first, without null directions."""

    values: Any
    """Variances, r."""
    vectors: Any
    """Neurons × r."""
    left: Any = None
    """Units × r, orthonormal; only where rows are at hand."""
    total: float = 0.0
    """Variance of the layer, that of the null directions included."""
    has_gaps: bool = False
    """Whether components between these were left out as rounding."""

    def head(self, count: int) -> Spectrum:
        """The first components."""
        left = None if self.left is None else self.left[:, :count]
        values, vectors = self.values[:count], self.vectors[:, :count]
        return Spectrum(values, vectors, left, self.total, self.has_gaps)


class LayerStats(ABC):
    """One layer: its size, the spread of its neurons, its principal components."""

    xp: Any
    name: str
    n: int
    d: int
    std: Any
    """Standard deviations of the neurons (n − 1), 0 where constant."""
    tolerance: float
    """Variances below this fraction of the largest are rounding, and count as 0."""
    dtype: Any
    """Of products that need no more digits than the data have."""

    @cached_property
    def alive(self) -> Any:
        """Which neurons are not constant."""
        return self.std > 0

    @cached_property
    def n_alive(self) -> int:
        """Neurons that are not constant."""
        return int(self.xp.sum(self.xp.astype(self.alive, self.xp.int64)))

    @cached_property
    def of_one_size(self) -> bool:
        """Whether its neurons are of about the same size, so that raw components lose no digits of small ones."""
        std = self.std[self.alive]
        return float(self.xp.max(std)) <= _FAR * float(self.xp.min(std))

    def variance(self, standardized: bool) -> Any:
        """Variance of every neuron: as it is, or 1 (0 for constant ones)."""
        xp = self.xp
        return xp.astype(self.alive, xp.float64) if standardized else self.std * self.std

    def total_variance(self, standardized: bool) -> float:
        """Of all neurons."""
        total: float = self.remember(
            ("total", standardized), lambda: float(self.xp.sum(self.variance(standardized)))
        )
        return total

    def spectrum(self, standardized: bool, tolerance: float | None = None) -> Spectrum:
        """Principal components; of correlations if ``standardized``."""
        full = self._all_components(standardized)
        if tolerance is None:
            real: Spectrum = self.remember(
                ("real", standardized), lambda: self._without_rounding(full, standardized)
            )
            return real
        largest = float(full.values[0]) if full.values.shape[0] else 0.0
        kept = int(self.xp.sum(self.xp.astype(full.values > tolerance * largest, self.xp.int64)))
        return full.head(kept)

    def _without_rounding(self, full: Spectrum, standardized: bool) -> Spectrum:
        """Components that are more than rounding.

        Products round in the units of each neuron: a direction of small neurons is known well, even beside a rogue one.
        The eigenvalues themselves are float64, whatever the products are.
        """
        xp = self.xp
        variance = self.variance(standardized)
        share = xp.matmul((full.vectors * full.vectors).T, variance) / xp.max(variance)
        least = xp.where(self.tolerance * share > 1e-13, self.tolerance * share, 1e-13 + 0 * share)
        kept = xp.nonzero(full.values > least * full.values[0])[0]
        if int(kept[-1]) == kept.shape[0] - 1:
            return full.head(kept.shape[0])
        left = None if full.left is None else xp.take(full.left, kept, axis=1)
        values, vectors = xp.take(full.values, kept), xp.take(full.vectors, kept, axis=1)
        return Spectrum(values, vectors, left, full.total, has_gaps=True)

    def whitener(self, spectrum: Spectrum, standardized: bool) -> Any:
        """Weights of the *standardized* neurons that give principal components of variance 1, neurons × r.

        The first columns serve any number of components; made once.
        """
        has_gaps = spectrum.has_gaps

        def make() -> Any:
            xp, full = self.xp, self.all_of(spectrum, standardized)
            values = xp.where(full.values > 0, full.values, xp.ones_like(full.values))
            W = full.vectors / xp.sqrt(values)[None, :]
            return xp.astype(W if standardized else W * self.std[:, None], self.dtype)

        W = self.remember(("whitener", standardized, has_gaps), make)
        return W[:, : spectrum.values.shape[0]]

    def all_of(self, spectrum: Spectrum, standardized: bool) -> Spectrum:
        """All components, of which a spectrum holds the first."""
        return (
            self.spectrum(standardized) if spectrum.has_gaps else self._all_components(standardized)
        )

    def components(self, variance: float, standardized: bool, *, below: bool = False) -> Spectrum:
        """The first components that hold a fraction of the variance; ``below``: that stay below it (one at least)."""
        if not 0 < variance <= 1:
            raise MeasureError(
                f"variance is a fraction between 0 and 1, such as 0.99; got {variance}."
            )
        xp, spectrum = self.xp, self.spectrum(standardized)
        share = xp.cumulative_sum(spectrum.values) / xp.sum(spectrum.values)
        reached = int(xp.sum(xp.astype(share < variance - 1e-12, xp.int64)))
        count = max(1, reached) if below else reached + 1
        return spectrum.head(min(count, spectrum.values.shape[0]))

    def _all_components(self, standardized: bool) -> Spectrum:
        spectrum: Spectrum = self.remember(
            ("spectrum", standardized), lambda: self._decompose(standardized)
        )
        return spectrum

    @abstractmethod
    def _decompose(self, standardized: bool) -> Spectrum: ...

    @abstractmethod
    def with_itself(self, standardized: bool) -> Pair:
        """The pair of this layer and itself."""

    def covariance(self) -> Any:
        """Covariances of its neurons."""
        return self.remember(("covariance",), lambda: self.with_itself(False).cov)

    def remember(self, key: Any, make: Any) -> Any:
        """What several pairs need of this layer is computed once."""
        return _remember(self, key, make)


class Pair(ABC):
    """Two layers with the same units, x and y, in their own units or standardized."""

    xp: Any
    x: LayerStats
    y: LayerStats
    standardized: bool = False
    test: Pair | None = None
    """The same layers on other units, where a fit is to be scored."""

    @property
    def n(self) -> int:
        """Units."""
        return self.x.n

    @abstractmethod
    def covariance(self, standardized: bool) -> Any:
        """Cross-covariances, or correlations; 0 for constant neurons."""

    @abstractmethod
    def norm_products(self, standardized: bool) -> float:
        """Σ ‖x‖²‖y‖² over units, centred; standardized by population standard deviations."""

    @abstractmethod
    def transposed(self) -> Pair:
        """The same with x and y exchanged."""

    @property
    def cov(self) -> Any:
        """Cross-covariances in the pair's own units."""
        return self.covariance(self.standardized)

    def squared_norm(self, standardized: bool) -> float:
        """‖Sxy‖²."""
        S = self.covariance(standardized)
        return float(self.xp.sum(S * S))

    def whitened(self, a: Spectrum, b: Spectrum, standardized: bool) -> Any:
        """Correlations between the principal components of x and those of y."""
        return self.xp.matmul(
            self.x.whitener(a, standardized).T, self.with_components(b, standardized)
        )

    def with_components(self, b: Spectrum, standardized: bool) -> Any:
        """Covariances of the standardized neurons of x with the principal components of y, of variance 1.

        Made once, for as many components as there are.
        """
        whole = self.y.all_of(b, standardized)

        def make() -> _OneWay:
            W = self.y.whitener(whole, standardized)
            return _OneWay(self.xp.matmul(self.correlations(), W))

        one_way = self.remember(("components", standardized, b.has_gaps), make)
        if one_way.there is None:
            one_way.there = make().there
        return one_way.there[:, : b.values.shape[0]]

    def correlations(self) -> Any:
        """Correlations of the neurons, with as many digits as the data have."""
        return self.remember(
            ("correlations",), lambda: self.xp.astype(self.covariance(True), self.x.dtype)
        )

    def absolute_correlations(self) -> Any:
        """Their size without sign."""
        return self.remember(("absolute",), lambda: self.xp.abs(self.correlations()))

    def best_matches(self) -> Any:
        """The largest correlation, without sign, of each neuron of x with a neuron of y."""
        return self.xp.max(self.absolute_correlations(), axis=1)

    def remember(self, key: Any, make: Any) -> Any:
        """What several measures need of this pair is computed once. What is remembered must have a transpose, ``T``."""
        return _remember(self, key, make)

    def remembers(self, key: Any) -> bool:
        """Whether it has been computed."""
        return key in self.__dict__.get("_memory", {})

    def _hand_on(self, other: Pair) -> None:
        """The transposed pair need not compute again what this one has."""
        for key, value in self.__dict__.get("_memory", {}).items():
            other.__dict__.setdefault("_memory", {})[key] = value.T


class _OneWay:
    """What is known of x with y (``there``) or of y with x (``back``): the transposed pair finds both exchanged."""

    def __init__(self, there: Any = None, back: Any = None):
        self.there = there
        self.back = back

    @property
    def T(self) -> _OneWay:  # noqa: N802 (as for a matrix)
        return _OneWay(self.back, self.there)


def _remember(owner: Any, key: Any, make: Any) -> Any:
    memory = owner.__dict__.setdefault("_memory", {})
    if key not in memory:
        memory[key] = make()
    return memory[key]


def eigen(xp: Any, S: Any) -> tuple[Any, Any]:
    """Eigenvalues and vectors of a symmetric matrix, largest first."""
    values, vectors = _eigen(S) if isinstance(S, np.ndarray) else xp.linalg.eigh(S)
    return xp.flip(values), xp.flip(vectors, axis=1)


@compiled
def _eigen(S: Any) -> Any:
    # The same LAPACK as scipy's, which lets no other thread run meanwhile; and faster than numpy's.
    return np.linalg.eigh(S)
