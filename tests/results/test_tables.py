"""One table, four outputs: each against what a reader of that output sees."""

from __future__ import annotations

import csv
import io
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from lmkin.results import Column, ResultTable, format_value

COLUMNS = [
    Column("model"),
    Column("count", "how many", kind="count"),
    Column("value", kind="number", error="se"),
    Column("share", kind="percent"),
    Column("p", kind="p"),
    Column("both", "layers", template="{first} and {second}"),
    Column("first", shown=False),
    Column("second", shown=False),
]
FIELDS = ("model", "count", "value", "se", "share", "p", "first", "second")
ROWS: list[dict[str, Any]] = [
    dict(zip(FIELDS, values, strict=True))
    for values in (
        ("a[b]&<i>", 12345, 0.12345, 0.0021, 0.256, 0.25, 1, 2),
        ("a[b]&<i>", np.int64(3), np.float32(0.5), 5e-06, 1.0, 1e-5, 3, 4),
        ('c, "d"\nline', None, float("nan"), None, None, None, 5, 6),
    )
]
TABLE = ResultTable("t", COLUMNS, ROWS, title="A <title>", caption="below & after", group="model")
CELLS = [
    ["a[b]&<i>", "12,345", "0.123 ± 0.002", "25.6 %", "0.250", "1 and 2"],
    ["a[b]&<i>", "3", "0.500 ± < 0.001", "100.0 %", "1.0e-05", "3 and 4"],
    ['c, "d"\nline', "–", "–", "–", "–", "5 and 6"],
]
KEYS = ["model", "count", "value", "share", "p", "first", "second", "se"]


def test_cells() -> None:
    assert TABLE.cells() == CELLS


class Page(HTMLParser):
    """Cells and headings, as a browser would have them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: list[str] = []
        self.open = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        if tag == "tr":
            self.rows.append([])
        self.open = tag in ("td", "th")
        if self.open:
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self.open = False

    def handle_data(self, data: str) -> None:
        if self.open:
            self.rows[-1][-1] += data


def test_html_shows_the_cells_and_nothing_else_is_markup() -> None:
    page = Page(TABLE.to_html())
    assert page.rows[0] == ["model", "how many", "value", "share", "p", "layers"]
    assert page.rows[1:] == CELLS
    assert set(page.tags) <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "p"}
    assert TABLE._repr_html_() == TABLE.to_html()


def shown(table: ResultTable, width: int) -> str:
    text = io.StringIO()
    Console(file=text, width=width, emoji=False, color_system=None).print(table.to_rich())
    return text.getvalue()


def test_terminal_shows_a_group_once() -> None:
    lines = shown(TABLE, 200).splitlines()
    assert lines[0].strip() == "A <title>"
    assert lines[1].split() == ["model", "how", "many", "value", "share", "p", "layers"]
    assert lines[2].split() == [
        "a[b]&<i>",
        "12,345",
        "0.123",
        "±",
        "0.002",
        "25.6",
        "%",
        "0.250",
        "1",
        "and",
        "2",
    ]
    assert lines[3].split() == [
        "3",
        "0.500",
        "±",
        "<",
        "0.001",
        "100.0",
        "%",
        "1.0e-05",
        "3",
        "and",
        "4",
    ]
    assert lines[-1].strip() == "below & after"
    assert str(TABLE).splitlines()[0].strip() == "A <title>"


def test_numbers_are_never_folded() -> None:
    text = shown(TABLE, 44)
    for number in ("12,345", "0.123 ± 0.002", "0.500 ± < 0.001"):
        assert number in text


@pytest.mark.parametrize("group", ["model", ("model", "x"), ()])
def test_the_terminal_shows_some_of_each_group_and_files_all(group: Any, tmp_path: Path) -> None:
    rows = [{"model": m, "x": m, "n": k} for m in "ab" for k in range(5)]
    columns = [Column("model"), Column("x"), Column("n", kind="count")]
    table = ResultTable("t", columns, rows, group=group, most=3)
    numbers = [line.split()[-1] for line in shown(table, 80).splitlines()[1:]]
    assert numbers == (["0", "1", "2"] * 2 if group else ["0", "1", "2"])
    assert len(table.to_records()) == 10
    table.save_csv(tmp_path / "t.csv")
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 11
    assert len(Page(table.to_html()).rows) == 11


def test_json_has_numbers_and_none() -> None:
    records = json.loads(TABLE.to_json())
    assert records == TABLE.to_records()
    assert [list(r) for r in records] == [KEYS] * 3
    assert records[0] == {k: ROWS[0][k] for k in KEYS}
    assert records[1]["count"] == 3
    assert records[2]["value"] is None
    assert records[2]["count"] is None


def test_csv_is_what_was_given(tmp_path: Path) -> None:
    TABLE.save_csv(tmp_path / "new" / "t.csv")
    with (tmp_path / "new" / "t.csv").open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert list(lines[0]) == KEYS
    assert float(lines[0]["value"]) == 0.12345
    assert lines[2]["model"] == 'c, "d"\nline'
    assert lines[2]["value"] == lines[2]["se"] == ""
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["t.csv"]


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (0.5, 0.0004, "0.500 ± < 0.001"),
        (0.5, 0.0005, "0.500 ± 0.001"),
        (0.5, 0.0, "0.500 ± 0.000"),
        (-1.25, None, "-1.250"),
        (0.5, np.nan, "0.500"),
        (np.inf, 0.1, "–"),
        (None, 0.1, "–"),
    ],
)
def test_a_value_and_its_error_have_the_same_decimals(value: Any, error: Any, text: str) -> None:
    assert format_value(value, error) == text


def test_numbers_of_a_column_have_the_same_decimals() -> None:
    column = Column("value", kind="number", error="se")

    def cells(*lines: tuple[Any, Any]) -> list[str]:
        rows = [{"value": value, "se": error} for value, error in lines]
        return [line[0] for line in ResultTable("t", [column], rows).cells()]

    assert cells((0.5, 0.003), (2e-05, 5e-06), (-2e-05, None), (2000.0, 1.0)) == [
        "0.500 ± 0.003", "0.000 ± < 0.001", "0.000", "2000.000 ± 1.000",
    ]  # fmt: skip
    assert cells((2e-05, 5e-06), (3e-05, None)) == [
        "2e-05 ± 5e-06",
        "3e-05",
    ]  # none that decimals show


LONG = (
    "untrained:sentence-transformers/all-MiniLM-L6-v2@0",
    "sentence-transformers/all-MiniLM-L6-v2",
)
NAMED = ResultTable(
    "pairs",
    [
        Column("x"),
        Column("y"),
        Column("measure"),
        Column("value", kind="number", error="se"),
        Column("best"),
    ],
    [
        {"x": x, "y": y, "measure": m, "value": 0.5, "se": 0.01, "best": f"3/0 and {LONG[0]}/6/0"}
        for x in LONG
        for y in LONG
        for m in ("ckasim", "svsim")
    ],
    group=("x", "y"),
)
WIDE = ResultTable(
    "left",
    [Column("threshold", kind="number"), *(Column(n, kind="count") for n in (*LONG, LONG[0] + "1"))],
    [{"threshold": 0.1, LONG[0]: 1000, LONG[1]: 20, LONG[0] + "1": 3}],
)  # fmt: skip


@pytest.mark.parametrize("width", [70, 80, 120, 300])
@pytest.mark.parametrize("table", [NAMED, WIDE], ids=["rows", "columns"])
def test_long_names_are_whole_in_any_terminal(table: ResultTable, width: int) -> None:
    text = shown(table, width)
    lines = text.splitlines()
    assert all(len(line) <= width for line in lines)
    assert "…" not in text
    for name in LONG:
        assert name in text
    if table is NAMED:
        assert text.count("0.500 ± 0.010") == 8
        assert text.count(f"{LONG[0]}/6/0") >= 4  # once where neighbours share it
        assert text.count("ckasim") == 4
    else:
        numbers = [line.split() for line in lines if "1,000" in line]
        assert numbers == [["0.100", "1,000", "20", "3"]]
