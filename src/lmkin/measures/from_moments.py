"""Sides and pairs from moments: nothing but sums is needed."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ..core import numpy_device
from ..moments import Snapshot
from .block_sums import Summary, Weights, summarize
from .pair import LayerStats, Pair, Spectrum, eigen

TOLERANCE = {"float32": 3e-8, "float64": 1e-12}
"""Below this fraction of the largest variance a principal component is rounding, by the precision of the products.

Components that are little more than rounding do no harm: what they seem to explain is the square of a rounding.
"""


class MomentSide(LayerStats):
    """A layer of a snapshot."""

    def __init__(self, snapshot: Snapshot, number: int, precision: str):
        self.xp = snapshot.xp
        self.snapshot = snapshot
        self.number = number
        self.name = str(snapshot.layout.groups[number])
        self.n = snapshot.n
        self.d = snapshot.layout.widths[number]
        self.std = snapshot.std(number)
        self.tolerance = TOLERANCE[precision]
        self.dtype = getattr(self.xp, precision)

    @cached_property
    def drift(self) -> float:
        """How far the variance of the neurons is from that of the reference, on average."""
        xp, change = self.xp, self.snapshot.drift(self.number)
        return float(xp.mean(xp.abs(change)))

    def factor(self, standardized: bool) -> Any:
        """What a unit of the sums is worth, neuron by neuron: 1 / standard deviation, or its own unit."""
        rule = self.snapshot.inverse_spread if standardized else self.snapshot.units
        return self.remember(("factor", standardized), lambda: rule(self.number))

    def weights(self, standardized: bool, dtype: Any) -> Weights:
        """What the products are multiplied with, where sums of them are needed."""
        form = self.snapshot.mean_weights
        weights: Weights = self.remember(
            ("weights", standardized, dtype),
            lambda: Weights.of(
                self.factor(standardized), form(self.number, standardized), self.factor(True), dtype
            ),
        )
        return weights

    def with_itself(self, standardized: bool) -> MomentPair:
        """The pair of this layer and itself."""
        return MomentPair(self, self, standardized=standardized)

    def _decompose(self, standardized: bool) -> Spectrum:
        make = self.snapshot.corr if standardized else self.snapshot.cov
        S = make(self.number, self.number)
        total = float(self.xp.linalg.trace(S))
        values, vectors = eigen(self.xp, S)
        return Spectrum(values, vectors, total=total)


class MomentPair(Pair):
    """Two layers of a snapshot."""

    def __init__(
        self, x: MomentSide, y: MomentSide, *, standardized: bool = False, test: Pair | None = None
    ):
        self.xp = x.xp
        self.x: MomentSide = x
        self.y: MomentSide = y
        self.standardized = standardized
        self.test = test

    def _centred(self) -> Any:
        """Products in the units of the sums: everything else is this, times something a neuron."""
        return self.remember(
            ("centred",), lambda: self.x.snapshot.centred(self.x.number, self.y.number)
        )

    def _factors(self, standardized: bool) -> tuple[Any, Any]:
        """What makes covariances, or correlations, of the products."""
        return self.x.factor(standardized) / (self.n - 1), self.y.factor(standardized)

    def covariance(self, standardized: bool) -> Any:
        """Cross-covariances or correlations."""

        def make() -> Any:
            a, b = self._factors(standardized)
            S = self.xp.astype(self._centred(), self.xp.float64) * a[:, None]
            S *= b[None, :]
            return S

        return self.remember(("covariance", standardized), make)

    def correlations(self) -> Any:
        """Correlations, made in as many digits as the data have."""

        def make() -> Any:
            xp, dtype = self.xp, self.x.dtype
            a, b = (xp.astype(f, dtype) for f in self._factors(True))
            S = xp.astype(self._centred(), dtype, copy=False) * a[:, None]
            S *= b[None, :]
            return S

        return self.remember(("correlations",), make)

    def _summary(self, standardized: bool) -> Summary | None:
        """Sums and maxima in one pass; None where the arrays are not numpy's."""
        if not numpy_device(self.xp):
            return None

        def make() -> Summary:
            S = self._centred()
            x, y = (side.weights(standardized, S.dtype) for side in (self.x, self.y))
            return summarize(S, x, y)

        summary: Summary = self.remember(("summary", standardized), make)
        return summary

    def squared_norm(self, standardized: bool) -> float:
        """‖Sxy‖², without making Sxy."""
        summary = self._summary(standardized)
        if summary is None:
            return super().squared_norm(standardized)
        return summary.squared_norm / (self.n - 1) ** 2

    def norm_products(self, standardized: bool) -> float:
        """Σ ‖x‖²‖y‖² from the sums of row norms."""
        summary, x, y = self._summary(standardized), self.x, self.y
        inner = None if summary is None else summary.inner
        return x.snapshot.norm_products(x.number, y.number, standardized=standardized, inner=inner)

    def best_matches(self) -> Any:
        """The largest correlation of each neuron of x."""
        summary = self._summary(self.standardized)
        return super().best_matches() if summary is None else summary.best / (self.n - 1)

    def transposed(self) -> MomentPair:
        """Shares the transposed matrix."""
        other = MomentPair(self.y, self.x, standardized=self.standardized)
        other.test = None if self.test is None else self.test.transposed()
        self._hand_on(other)
        return other
