"""ckasim: linear centred kernel alignment, unbiased by default."""

from __future__ import annotations

from ...core import MeasureError
from ..options import check_value
from ..pair import Pair
from ..registry import measure


@measure(
    "ckasim",
    title="linear CKA",
    summary="How alike the two layers find the same pairs of words: high if the representations agree "
    "up to rotation, with large directions counting most.",
    needs="moments",
    symmetric=True,
    range=(-1.0, 1.0),
    invariances=("shift", "scale", "rotation"),
    unbiased=True,
    cost="d² a pair",
    reference="Kornblith et al. 2019; Song et al. 2012 for the unbiased estimator",
)
def ckasim(pair: Pair, *, estimator: str = "unbiased") -> float:
    r"""Linear centred kernel alignment.

    Biased: :math:`\|X^\top Y\|^2 / (\|X^\top X\| \, \|Y^\top Y\|)` of centred columns. Unbiased: the same ratio of
    HSIC₁ (Song et al. 2012), with K and L the Gram matrices with zeroed diagonals,

    .. math:: \mathrm{HSIC}_1 = \frac{1}{n(n-3)} \left[ \mathrm{tr}(KL)
              + \frac{1^\top K 1 \; 1^\top L 1}{(n-1)(n-2)} - \frac{2}{n-2} 1^\top K L 1 \right]

    which is 0 on average for unrelated layers, and may be negative; the biased value grows with neurons / units
    (0.60 at 768 neurons and 512 units).
    """
    check_value("estimator", estimator)
    if estimator == "unbiased" and pair.n < 4:
        raise MeasureError(
            f"Unbiased CKA needs four units at least; there are {pair.n}. Use estimator='biased', or more units."
        )
    own = [
        side.remember(
            ("hsic", estimator, pair.standardized),
            lambda side=side: _hsic(side.with_itself(pair.standardized), estimator),
        )
        for side in (pair.x, pair.y)
    ]
    for side, value in zip((pair.x, pair.y), own, strict=True):
        if not value > 0:
            raise MeasureError(
                f"CKA is not defined for {side.name}: with {pair.n} units its own alignment is estimated "
                f"as {value:.2g}, "
                f"not above 0. Take more units, or estimator='biased'."
            )
    size = (own[0] * own[1]) ** 0.5
    if not 0 < size < float("inf"):  # of numbers so small, or so large, that their product is none
        size = own[0] ** 0.5 * own[1] ** 0.5
    return float(_hsic(pair, estimator) / size)


def _hsic(pair: Pair, estimator: str) -> float:
    """HSIC of centred columns: tr(KL) = ‖XᵀY‖² − Σ‖x‖²‖y‖², 1ᵀK1 = −Σ‖x‖², 1ᵀKL1 = Σ‖x‖²‖y‖²."""
    n, standardized = pair.n, pair.standardized
    # Standardized norms are by population standard deviations: ‖XᵀY‖ = n ‖R‖ then.
    factor = n if standardized else n - 1
    products = pair.squared_norm(standardized) * factor**2
    if estimator == "biased":
        return products
    both = pair.norm_products(standardized)
    sums = [side.total_variance(standardized) * factor for side in (pair.x, pair.y)]
    rest = sums[0] * sums[1] / ((n - 1) * (n - 2)) - 2 * both / (n - 2)
    return (products - both + rest) / (n * (n - 3))
