"""mixedsim: how well each neuron is predicted from the whole other layer."""

from __future__ import annotations

from typing import Any

from ...core import Convention, MeasureError
from ..averages import mean_of_top
from ..pair import Pair
from ..registry import measure


@measure(
    "mixedsim",
    title="regression of neurons on a layer",
    summary="Mean over the neurons of x of the correlation with their best linear prediction from all of y: high if y "
    "holds what the neurons of x hold, spread as it may be.",
    needs="moments",
    symmetric=False,
    range=(0.0, 1.0),
    invariances=("shift", "neuron-scale", "sign", "permutation"),
    fitted=True,
    cost="d³ a pair",
    reference="Wu et al. 2020, Similarity Analysis of Contextual Word Representation Models",
)
def mixedsim(
    pair: Pair,
    *,
    ridge: float = 0.0,
    tolerance: float | None = None,
    top_k: int | None = None,
    convention: Convention = "paper",
) -> float:
    r"""Mean over neurons k of X of ‖prediction‖ / ‖X_k‖, by least squares from all of Y.

    From moments: :math:`r_k^2 = (S_{xy} S_{yy}^{+} S_{yx})_{kk} / (S_{xx})_{kk}`. In-sample: with n units, d neurons
    that know nothing of each other reach about √(d/n). On other units (``held_out``) it is the correlation of
    prediction and neuron there.

    ``ridge`` is added to Syy, as a fraction of its mean eigenvalue. ``tolerance``: directions of Y with a smaller
    fraction of the largest (standardized) variance are left out. ``convention="released"``: no tolerance beyond
    rounding in float64. Constant neurons of X take no part in the mean. Invariant to any invertible
    linear map of Y while ``ridge`` is 0.
    """
    if ridge < 0:
        raise MeasureError(f"ridge is a fraction of the mean eigenvalue, 0 or more; got {ridge}.")
    if tolerance is not None and not 0 <= tolerance < 1:
        raise MeasureError(f"tolerance is a fraction of the largest variance; got {tolerance}.")
    released = convention == "released"
    xp, alive = pair.xp, pair.x.alive
    # Without ridge the units of y do not matter to a fit of full rank, unless they are so far apart that digits are
    # lost. A tolerance is of standardized neurons, and so is the smallest of many fits that are as good, which other
    # units tell apart.
    tells = tolerance is not None or pair.test is not None or not pair.y.of_one_size
    standardized = pair.standardized or released or (ridge == 0 and tells)
    if released or (ridge > 0 and tolerance is None):
        tolerance = 1e-14  # a ridge holds small directions down by itself
    spectrum = pair.y.spectrum(standardized, tolerance)
    # Covariances of the standardized neurons of x with components of y of variance 1.
    G = pair.with_components(spectrum, standardized)
    kept = spectrum.values / (spectrum.values + ridge * spectrum.total / pair.y.d)
    explained = xp.matmul(G * G, xp.astype(kept * kept, G.dtype))
    fitted = xp.sqrt(xp.astype(explained, xp.float64)[alive])
    if pair.test is None:
        return mean_of_top(xp, fitted, top_k)
    whitener = pair.y.whitener(spectrum, standardized)
    W = xp.matmul(whitener, xp.astype(kept, G.dtype)[:, None] * G.T)
    return mean_of_top(xp, _on_test(pair, W)[alive], top_k, by=fitted)


def _on_test(pair: Pair, W: Any) -> Any:
    """Correlation of prediction and neuron on the units of ``pair.test``.

    ``W`` are weights of the standardized neurons of y, neurons of y × neurons of x.
    """
    assert pair.test is not None
    xp, test = pair.xp, pair.test
    one = xp.ones_like(pair.y.std)
    alive = pair.y.alive
    inverse = xp.where(alive, 1.0 / xp.where(alive, pair.y.std, one), 0 * one)
    W = xp.astype(W, xp.float64) * inverse[:, None]
    together = xp.sum(W * test.covariance(False).T, axis=0)
    predicted = xp.sum(W * xp.matmul(test.y.covariance(), W), axis=0)
    spread = xp.sqrt(xp.abs(predicted)) * test.x.std
    one = xp.ones_like(spread)
    return xp.where(spread > 0, together / xp.where(spread > 0, spread, one), 0 * one)
