"""The page: chapters, figures, tables and switches as data, and one HTML file that holds them."""

from .elements import Chapter, Figure, Option, Page, Part, Switch, Table
from .html_file import write_page

__all__ = ["Chapter", "Figure", "Option", "Page", "Part", "Switch", "Table", "write_page"]
