"""What is shown: charts, and the HTML report that holds them."""

from .charts import save_picture
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
    "similarity_charts",
    "similarity_report",
    "write_similarity",
]
