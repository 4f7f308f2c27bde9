"""Canonical correlations of the main components of two layers: what SVCCA and PWCCA share."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ..core import MeasureError
from .pair import LayerStats, Pair, Spectrum, eigen


class Canonical:
    """Canonical correlations ρ, largest first, and the directions that reach them."""

    def __init__(
        self,
        xp: Any,
        M: Any,
        rho: Any,
        sides: tuple[Spectrum, Spectrum],
        directions: tuple[Any, Any],
        standardized: bool,
    ):
        self.xp = xp
        self.M = M
        """Correlations between the components of x and of y."""
        self.rho = rho
        self.x, self.y = sides
        self._left, self._right = directions
        self.standardized = standardized
        self.scored: list[Any] = []
        """Correlations on other units, once they are known."""

    @cached_property
    def left(self) -> Any:
        """Directions of x among its components, r × k; made from those of y where only they are known."""
        if self._left is not None:
            return self._left
        return self.xp.matmul(self.M, self._right) / self.rho[None, :]

    @property
    def right(self) -> Any:
        """Directions of y."""
        return self.T.left

    @cached_property
    def T(self) -> Canonical:  # noqa: N802 (as for a matrix)
        """The same with x and y exchanged."""
        directions = (self._right, self._left)
        other = Canonical(
            self.xp, self.M.T, self.rho, (self.y, self.x), directions, self.standardized
        )
        other.scored = self.scored
        return other


def canonical(pair: Pair, *, variance: float = 0.99, released: bool = False) -> Canonical:
    r"""Canonical correlations of the components that hold a fraction of the variance (SVCCA).

    With X' and Y' the first left singular vectors, :math:`X'^\top Y' = U \mathrm{diag}(\rho) V^\top`. ``released``: of
    z-scored columns, and the components *below* the share, one fewer.
    """
    standardized = pair.standardized or released

    def make() -> Canonical:
        a = pair.x.components(variance, standardized, below=released)
        b = pair.y.components(variance, standardized, below=released)
        M = pair.whitened(a, b, standardized)
        rho, U, V = _svd(pair.xp, M)
        return Canonical(pair.xp, M, rho, (a, b), (U, V), standardized)

    if pair.n < 3:
        raise MeasureError(f"Canonical correlations need three units at least; there are {pair.n}.")
    correlations: Canonical = pair.remember(("canonical", variance, released), make)
    return correlations


def _svd(xp: Any, M: Any) -> tuple[Any, Any, Any]:
    """Singular values, and vectors of the shorter side (or both), through its Gram matrix: much faster than an SVD.

    Small singular values lose digits so, as their squares do; where there are such, an SVD is made. In float32 the
    values are taken from ‖Mᵀu‖, which has all the digits that M has.
    """
    if M.shape[0] > M.shape[1]:
        rho, V, U = _svd(xp, M.T)
        return rho, U, V
    squares, U = eigen(xp, xp.matmul(M, M.T))
    if M.dtype == xp.float32:
        W = xp.matmul(M.T, U)
        rho = xp.sqrt(xp.sum(xp.astype(W * W, xp.float64), axis=0))
        if float(xp.min(rho)) > 1e-4 * float(xp.max(rho)):
            return rho, U, W / xp.astype(rho, xp.float32)[None, :]
    elif float(squares[-1]) > 1e-11 * float(squares[0]):
        return xp.sqrt(squares), U, None
    U, rho, Vt = xp.linalg.svd(xp.astype(M, xp.float64), full_matrices=False)
    return rho, U, Vt.T


def on_test_units(pair: Pair, fit: Canonical) -> Any:
    """Correlations of the fitted directions on the units of ``pair.test``."""
    if pair.test is None:
        raise MeasureError("There are no other units to score on.")
    if not fit.scored:
        fit.scored.append(_score(pair, pair.test, fit))
    return fit.scored[0]


def _score(pair: Pair, test: Pair, fit: Canonical) -> Any:
    xp = pair.xp
    A = _weights(xp, pair.x, fit.x, fit.left, fit.standardized)
    B = _weights(xp, pair.y, fit.y, fit.right, fit.standardized)
    together = xp.sum(A * xp.matmul(test.covariance(False), B), axis=0)
    alone = xp.sum(A * xp.matmul(test.x.covariance(), A), axis=0)
    other = xp.sum(B * xp.matmul(test.y.covariance(), B), axis=0)
    spread = xp.sqrt(xp.abs(alone) * xp.abs(other))
    one = xp.ones_like(spread)
    return xp.where(spread > 0, together / xp.where(spread > 0, spread, one), 0 * one)


def _weights(
    xp: Any, side: LayerStats, spectrum: Spectrum, directions: Any, standardized: bool
) -> Any:
    """Directions as weights of the neurons, neurons × k."""
    W = xp.matmul(spectrum.vectors / xp.sqrt(spectrum.values)[None, :], directions)
    if not standardized:
        return W
    one = xp.ones_like(side.std)
    inverse = xp.where(side.alive, 1.0 / xp.where(side.alive, side.std, one), 0 * one)
    return W * inverse[:, None]
