"""What is shown: charts, and the HTML report that holds them."""

from .charts import save_picture, side_by_side, similarity_heatmap
from .folder import write_similarity
from .page import Chapter, Figure, Option, Report, Switch, Table
from .similarity import save_charts, similarity_charts, similarity_report

__all__ = [
    "Chapter",
    "Figure",
    "Option",
    "Report",
    "Switch",
    "Table",
    "save_charts",
    "save_picture",
    "side_by_side",
    "similarity_charts",
    "similarity_heatmap",
    "similarity_report",
    "write_similarity",
]
