"""What is shown: charts, and the HTML report that holds them."""

from .charts import save_picture, side_by_side, similarity_heatmap
from .page import Chapter, Figure, Report

__all__ = ["Chapter", "Figure", "Report", "save_picture", "side_by_side", "similarity_heatmap"]
