"""Sides and pairs from moments: nothing but sums is needed."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ..moments import Snapshot
from .pair import Pair, Side, Spectrum, eigen

TOLERANCE = {"float32": 3e-8, "float64": 1e-12}
"""Below this share of the largest variance a principal component is rounding, by the precision of the products.

Components that are little more than rounding do no harm: what they seem to explain is the square of a rounding.
"""


class MomentSide(Side):
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

    def squared_norm(self, standardized: bool) -> float:
        """‖Sxy‖², without making Sxy."""
        xp, S = self.xp, self._centred()
        a, b = self._factors(standardized)
        # Their size apart, so that float32 can hold the squares.
        size = float(xp.max(xp.abs(b))) or 1.0
        squares = xp.matmul(S * S, xp.astype((b / size) ** 2, S.dtype))
        return float(xp.sum((a * size) ** 2 * squares))

    def norm_products(self, standardized: bool) -> float:
        """Σ ‖x‖²‖y‖² from the sums of row norms."""
        return self.x.snapshot.norm_products(
            self.x.number, self.y.number, standardized=standardized, centred=self._centred()
        )

    def transposed(self) -> MomentPair:
        """Shares the transposed matrix."""
        other = MomentPair(self.y, self.x, standardized=self.standardized)
        other.test = None if self.test is None else self.test.transposed()
        self._hand_on(other)
        return other
