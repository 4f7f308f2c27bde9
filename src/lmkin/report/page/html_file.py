"""From a `Page` to one HTML file that works offline and can be sent to others."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from ...core import __version__, printable, replacing, slugs
from ..charts import specification
from .elements import Chapter, Page
from .vega import vega_bundle

_MOST_RADIOS = 8
_CELLS = ((15, "short"), (32, "medium"), (60, "long"))
"""Letters of a cell that is never broken into lines, of one that is on a phone only, and of one that has few lines."""
_RTL = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe]+"
_TO_THE_LEFT = re.compile(f"{_RTL}(?:[^\\w;:,]+{_RTL})*")
_TOGETHER = (
    (re.compile(r"(?<=\d) %"), "%"),
    (re.compile(r"(?<![\w.])-(?=\d)"), "−"),
    (re.compile(r"(?<=[\d)]) (?=± )|(?<=±) (?=[\d<])|(?<=<) (?=\d)"), "\u00a0"),
)
"""How numbers are set: a percent sign follows at once, minus is no hyphen, and a value stays beside its error."""


def write_page(page: Page, path: Path) -> None:
    """Write the page; its charts need nothing from the network."""
    chapters = list(_chapters(page))
    figures = [figure for chapter in chapters for figure in chapter.figures]
    anchors = slugs([chapter.title for chapter in chapters])
    specs = packed([specification(figure.chart) for figure in figures])
    text = (
        _environment()
        .get_template("page.html.j2")
        .render(
            page=page,
            version=__version__,
            style=_own("page.css"),
            script=_own("page.js"),
            vega=vega_bundle(),
            specs=script_json(specs),
            # By identity: two charts, or two chapters, may say the same.
            number={id(figure): k for k, figure in enumerate(figures)},
            anchor={id(c): f"chapter-{name}" for c, name in zip(chapters, anchors, strict=True)},
        )
    )
    with replacing(Path(path)) as temporary:
        temporary.write_text(printable(text), encoding="utf-8")


def _chapters(page: Page) -> Iterator[Chapter]:
    for part in page.parts:
        yield from part.chapters
    if page.last is not None:
        yield page.last


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__ or "lmkin.report.page"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"id": id, "most_radios": _MOST_RADIOS}
    environment.filters["indented"] = _indented
    environment.filters |= {"prose": prose, "isolated": isolated, "jointed": jointed}
    environment.filters["width_class"] = lambda cell: next(
        (name for most, name in _CELLS if len(cell) <= most), "wide"
    )
    environment.filters["json_text"] = lambda data: json.dumps(dict(data))
    return environment


def _own(name: str) -> Markup:
    """A style sheet or script of ours, which needs no escaping."""
    return Markup(resources.files(__package__).joinpath("templates", name).read_text("utf-8"))


def isolated(text: Any) -> str:
    """A text in which Arabic or Hebrew names do not turn the numbers that follow them."""
    return _TO_THE_LEFT.sub("\u2068\\g<0>\u2069", str(text))


def jointed(text: Any) -> Markup:
    """A title whose long names may be broken at their joints."""
    return Markup(re.sub(r"(?<=\w)[/_](?=\w)", r"\g<0><wbr>", str(escape(isolated(text)))))


def prose(text: Any) -> str:
    """A sentence with its numbers set as a page sets them."""
    sentence = isolated(text)
    for pattern, set_so in _TOGETHER:
        sentence = pattern.sub(set_so, sentence)
    return sentence


def _indented(data: Any) -> str:
    return (
        data
        if isinstance(data, str)
        else json.dumps(data, indent=1, ensure_ascii=False, default=str)
    )


def packed(specs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The charts with their data as columns; null stands for data that an earlier chart has too."""
    known: set[str] = set()
    charts = []
    for spec in specs:
        # Altair names data by a hash of them.
        data = {
            name: None if name in known else _columns(rows)
            for name, rows in spec.get("datasets", {}).items()
        }
        known |= set(data)
        charts.append(spec | {"datasets": data} if data else spec)
    return charts


def _columns(rows: list[dict[str, Any]]) -> Any:
    """The names of the fields once, not in every row."""
    fields = list(rows[0]) if rows else []
    if any(list(row) != fields for row in rows):
        return rows
    return {"fields": fields, "columns": [[row[name] for row in rows] for name in fields]}


def script_json(data: Any) -> Markup:
    """JSON that can stand inside a script element, whatever a model or corpus is called."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for letter in ("<", "\u2028", "\u2029"):
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)
