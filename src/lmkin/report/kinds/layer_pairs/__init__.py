"""What results by pairs of layers share, whether of neurons or of attention heads."""

from .chapters import (
    definitions,
    explained,
    facts,
    heatmap_chapter,
    only,
    pairs_chapter,
    switches,
)
from .heatmap import layers_heatmap, measure_title
from .view import LayerPairs, Measure, Scaling, scalings_of, select

__all__ = [
    "LayerPairs",
    "Measure",
    "Scaling",
    "definitions",
    "explained",
    "facts",
    "heatmap_chapter",
    "layers_heatmap",
    "measure_title",
    "only",
    "pairs_chapter",
    "scalings_of",
    "select",
    "switches",
]
