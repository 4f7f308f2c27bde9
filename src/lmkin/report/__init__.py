"""What is shown: charts, and the HTML report that holds them."""

from ..rooms import make_callable
from .attention import attention_report, save_attention_charts
from .charts import save_picture
from .dependency import dependency_charts, dependency_report, save_dependency_charts
from .folder import (
    report,
    write_attention,
    write_dependency,
    write_redundancy,
    write_similarity,
)
from .page import Chapter, Figure, Option, Report, Switch, Table
from .redundancy import redundancy_charts, redundancy_report, save_redundancy_charts
from .similarity import save_charts, similarity_charts, similarity_report

__all__ = [
    "Chapter",
    "Figure",
    "Option",
    "Report",
    "Switch",
    "Table",
    "attention_report",
    "dependency_charts",
    "dependency_report",
    "redundancy_charts",
    "redundancy_report",
    "report",
    "save_attention_charts",
    "save_charts",
    "save_dependency_charts",
    "save_picture",
    "save_redundancy_charts",
    "similarity_charts",
    "similarity_report",
    "write_attention",
    "write_dependency",
    "write_redundancy",
    "write_similarity",
]
make_callable(__name__, report)
