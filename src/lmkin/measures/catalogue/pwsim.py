"""pwsim: projection-weighted canonical correlation analysis (PWCCA)."""

from __future__ import annotations

from typing import Any

from ...core import Convention
from ..averages import check_top
from ..canonical import canonical, on_test_units
from ..pair import Pair
from ..registry import measure


@measure(
    "pwsim",
    title="PWCCA",
    summary="Canonical correlations weighted by how much of x their directions carry: like svsim, but what "
    "matters in x counts more.",
    needs="moments",
    symmetric=False,
    range=(0.0, 1.0),
    # The weights sum absolute values over neurons, which a rotation of x changes.
    invariances=("shift", "scale", "sign", "permutation"),
    fitted=True,
    cost="d³ a pair",
    reference="Morcos et al. 2018, Insights on representational similarity with CCA",
)
def pwsim(
    pair: Pair,
    *,
    variance: float = 0.99,
    top_k: int | None = None,
    convention: Convention = "paper",
) -> float:
    r"""Canonical correlations, weighted by the fraction of X that their directions carry.

    .. math:: \sum_i a_i \rho_i \Big/ \sum_i a_i, \qquad a_i = \sum_j |H_i^\top X_j|, \quad H = X'U

    ``convention="released"``: canonical correlations of z-scored columns, with weights from the columns as they are.
    ``top_k``: the k largest correlations only. On other units (``held_out``): the correlations there, with the weights
    of the fit.
    """
    check_top(top_k)
    xp = pair.xp
    fit = canonical(pair, variance=variance, released=convention == "released")
    A = _loads(pair, fit.standardized, convention == "released")[: fit.left.shape[0], :]
    loads = xp.abs(xp.matmul(xp.astype(fit.left.T, A.dtype), A))
    weights = xp.sum(xp.astype(loads, xp.float64), axis=1)[:top_k]
    rho = (fit.rho if pair.test is None else on_test_units(pair, fit))[:top_k]
    return float(xp.sum(weights * rho) / xp.sum(weights))


def _loads(pair: Pair, standardized: bool, released: bool) -> Any:
    """How the neurons of x load on its components: H_iᵀ X_j = u_iᵀ diag(√λ) v_j, up to a factor that cancels."""
    raw_columns = released and not pair.standardized

    def make() -> Any:
        xp, spectrum = pair.xp, pair.x.spectrum(standardized)
        A = xp.sqrt(spectrum.values)[:, None] * spectrum.vectors.T
        A = A * pair.x.std[None, :] if raw_columns else A
        return xp.astype(A / xp.max(xp.abs(A)), pair.x.dtype)

    return pair.x.remember(("loads", standardized, raw_columns), make)
