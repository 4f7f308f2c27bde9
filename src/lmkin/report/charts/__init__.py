"""Charts: the look that all share, and the shapes that several kinds of results are drawn in."""

from .pictures import VEGA_LITE, save_picture, specification, unchecked

__all__ = ["VEGA_LITE", "save_picture", "specification", "unchecked"]
