"""svsim: singular vector canonical correlation analysis (SVCCA)."""

from __future__ import annotations

from ...core import Convention
from ..averages import mean_of_top
from ..canonical import canonical, on_test_units
from ..pair import Pair
from ..registry import measure


@measure(
    "svsim",
    title="SVCCA",
    summary="Mean canonical correlation of the components that hold 99 % of the variance: high if the layers "
    "span the same space, however it is spread over neurons.",
    needs="moments",
    symmetric=True,
    range=(0.0, 1.0),
    invariances=("shift", "scale", "rotation"),
    fitted=True,
    cost="d³ a pair",
    reference="Raghu et al. 2017, SVCCA",
)
def svsim(
    pair: Pair,
    *,
    variance: float = 0.99,
    top_k: int | None = None,
    convention: Convention = "paper",
) -> float:
    r"""Mean canonical correlation of the main components of two layers.

    .. math:: X'^\top Y' = U \, \mathrm{diag}(\rho) \, V^\top, \qquad \mathrm{mean}(\rho)

    where X', Y' are the first left singular vectors that hold ``variance`` of the variance. ``top_k``: the k largest
    only. On other units (``held_out``): the correlations of the same directions there.
    ``convention="released"``: columns z-scored, and the components *below* 99 %, one fewer.
    """
    fit = canonical(pair, variance=variance, released=convention == "released")
    rho = fit.rho if pair.test is None else on_test_units(pair, fit)
    return mean_of_top(pair.xp, rho, top_k, by=fit.rho)
