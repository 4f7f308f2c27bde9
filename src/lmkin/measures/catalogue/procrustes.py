"""procrustes: what coincides after the best rotation."""

from __future__ import annotations

from ..pair import Pair
from ..registry import measure


@measure(
    "procrustes",
    title="orthogonal Procrustes",
    summary="How much of both layers coincides after the best rotation and scaling of one.",
    needs="moments",
    symmetric=True,
    range=(0.0, 1.0),
    invariances=("shift", "scale", "rotation"),
    cost="d³ a pair",
    reference="Schönemann 1966; Ding et al. 2021, Grounding representation similarity",
)
def procrustes(pair: Pair) -> float:
    r"""Nuclear norm of the cross-covariance, by the size of both layers.

    .. math:: \frac{\|S_{xy}\|_*}{\sqrt{\mathrm{tr} S_{xx} \; \mathrm{tr} S_{yy}}}

    1 if the layers agree up to rotation, scale and shift; in-sample, unrelated layers are not at 0: the value grows
    with neurons / units.
    """
    xp = pair.xp
    size = [float(xp.sum(side.variance(pair.standardized))) for side in (pair.x, pair.y)]
    return float(xp.sum(xp.linalg.svdvals(pair.cov)) / (size[0] * size[1]) ** 0.5)
