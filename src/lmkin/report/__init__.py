"""What is shown: charts, and the HTML report that holds them."""

from .charts import save_picture
from .combined import write_report
from .kinds import ReportKind, known_report_kinds, report_kind, result_charts
from .page import Chapter, Figure, Option, Page, Part, Switch, Table, write_page
from .result_folder import run_to_folder, write_result

__all__ = [
    "Chapter",
    "Figure",
    "Option",
    "Page",
    "Part",
    "ReportKind",
    "Switch",
    "Table",
    "known_report_kinds",
    "report_kind",
    "result_charts",
    "run_to_folder",
    "save_picture",
    "write_page",
    "write_report",
    "write_result",
]
