"""The report: one HTML file that works offline and can be sent to others."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from .. import __version__
from ..interchange.atomic import replacing
from .charts import VEGA_LITE, specification

_MOST_RADIOS = 8


@dataclass(frozen=True)
class Option:
    """A value of a switch, its label, and a sentence that is shown while it is chosen."""

    value: str
    label: str
    text: str = ""


@dataclass(frozen=True)
class Switch:
    """A choice that sets the signal of this name in all charts of a chapter."""

    signal: str
    label: str
    options: Sequence[Option]
    start: str = ""
    """The value to begin with; empty for the first."""
    folded: bool = False
    """A list also for a few options."""

    @property
    def first(self) -> str:
        """The value to begin with."""
        return self.start or self.options[0].value


@dataclass(frozen=True)
class Figure:
    """A chart with a title and a sentence that says what is to be seen."""

    chart: Any
    title: str = ""
    caption: str = ""
    name: str = "chart"
    """The name of a picture that is saved from the page."""
    square: int = 0
    """For a chart of fixed size: keep it square, as wide as there is room, up to so many pixels."""


@dataclass(frozen=True)
class Table:
    """Rows of plain text, the first one the head."""

    rows: Sequence[Sequence[str]]
    folded: str = ""
    """With a title here the table is folded."""
    when: Mapping[str, str] = field(default_factory=dict)
    """Shown while the chapter's switches have these values, by signal."""


@dataclass(frozen=True)
class Chapter:
    """A part of the report; paragraphs and table cells are plain text, and escaped."""

    title: str
    paragraphs: Sequence[str] = ()
    figures: Sequence[Figure] = ()
    switches: Sequence[Switch] = ()
    tables: Sequence[Table] = ()
    details: Sequence[tuple[str, Any]] = ()
    """Folded JSON, by title."""


@dataclass
class Report:
    """A title, a line under it, facts, alerts, and chapters."""

    title: str
    subtitle: str = ""
    chapters: list[Chapter] = field(default_factory=list)
    facts: Sequence[tuple[str, str]] = ()
    """Names and values, under the title."""
    alerts: Sequence[str] | None = None
    """What a reader must know before all else; None where nothing was looked for."""

    def write(self, path: Path) -> None:
        """Write the page; its charts need nothing from the network."""
        import vl_convert

        specs: list[dict[str, Any]] = []
        body = "\n".join(
            _chapter(chapter, number, specs) for number, chapter in enumerate(self.chapters)
        )
        files = resources.files(__package__)
        page = Template(files.joinpath("page.html").read_text("utf-8")).substitute(
            title=html.escape(self.title),
            subtitle=f"<p>{html.escape(self.subtitle)}</p>" if self.subtitle else "",
            facts=_facts(self.facts),
            alerts=_alerts(self.alerts),
            body=body,
            version=html.escape(__version__),
            style=files.joinpath("page.css").read_text("utf-8"),
            script=files.joinpath("page.js").read_text("utf-8"),
            specs=_script_json(_packed(specs)),
            vega=_script_safe(
                vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=VEGA_LITE)
            ),
        )
        with replacing(Path(path)) as temporary:
            temporary.write_text(page, encoding="utf-8")


def _facts(facts: Sequence[tuple[str, str]]) -> str:
    rows = "".join(
        f"<div><dt>{html.escape(name)}</dt><dd>{html.escape(value)}</dd></div>"
        for name, value in facts
    )
    return f'<dl class="facts">{rows}</dl>' if rows else ""


def _alerts(alerts: Sequence[str] | None) -> str:
    if alerts is None:
        return ""
    if not alerts:
        return '<section class="alerts none"><h2>Alerts</h2><p>No alerts.</p></section>'
    items = "".join(f"<li>{_alert(text)}</li>" for text in alerts)
    return f'<section class="alerts"><h2>Alerts ({len(alerts)})</h2><ul>{items}</ul></section>'


def _alert(text: str) -> str:
    """The first words say which kind of alert it is."""
    kind, colon, rest = text.partition(":")
    if colon and rest and len(kind) <= 60 and "." not in kind:
        return f"<strong>{html.escape(kind)}:</strong>{html.escape(rest)}"
    return html.escape(text)


def _chapter(chapter: Chapter, number: int, specs: list[dict[str, Any]]) -> str:
    # Beside one square chart there is room for the switches, on a wide page.
    beside = ' class="beside"' if [bool(f.square) for f in chapter.figures] == [True] else ""
    parts = [f'<section{beside}><h2>{html.escape(chapter.title)}</h2><div class="introduction">']
    parts += [f"<p>{html.escape(text)}</p>" for text in chapter.paragraphs]
    for k, switch in enumerate(chapter.switches):
        parts.append(_switch(switch, f"switch-{number}-{k}"))
    parts.append("</div>")
    if chapter.figures:
        parts.append('<div class="figures">')
        for figure in chapter.figures:
            parts.append(_figure(figure, len(specs)))
            specs.append(specification(figure.chart))
        parts.append("</div>")
    first = {switch.signal: switch.first for switch in chapter.switches}
    parts += [_table(table, first) for table in chapter.tables]
    for title, data in chapter.details:
        text = data if isinstance(data, str) else json.dumps(data, indent=1, ensure_ascii=False)
        parts.append(
            f"<details><summary>{html.escape(title)}</summary><pre>{html.escape(text)}</pre></details>"
        )
    parts.append("</section>")
    return "\n".join(parts)


def _switch(switch: Switch, name: str) -> str:
    """Radio buttons, or a list where there are many; and the sentence of the chosen value."""
    signal, label = html.escape(switch.signal), html.escape(switch.label)
    if len(switch.options) <= _MOST_RADIOS and not switch.folded:
        buttons = "".join(
            f'<label><input type="radio" name="{name}" value="{html.escape(option.value)}"'
            f"{' checked' if option.value == switch.first else ''}> {html.escape(option.label)}</label>"
            for option in switch.options
        )
        choice = f"<fieldset><legend>{label}</legend>{buttons}</fieldset>"
    else:
        entries = "".join(
            f'<option value="{html.escape(o.value)}"{" selected" * (o.value == switch.first)}>'
            f"{html.escape(o.label)}</option>"
            for o in switch.options
        )
        choice = f'<label>{label} <select name="{name}">{entries}</select></label>'
    texts = "".join(
        f'<span data-value="{html.escape(o.value)}"{" hidden" * (o.value != switch.first)}>{html.escape(o.text)}</span>'
        for o in switch.options
        if any(o.text for o in switch.options)
    )
    explained = f'<p class="explained" aria-live="polite">{texts}</p>' if texts else ""
    return f'<div class="switch" data-signal="{signal}">{choice}{explained}</div>'


def _figure(figure: Figure, number: int) -> str:
    square = f' data-square="{figure.square}"' if figure.square else ""
    title = f"<h3>{html.escape(figure.title)}</h3>" if figure.title else ""
    name = html.escape(figure.name)
    buttons = "".join(
        f'<button type="button" data-format="{form}">{form.upper()}</button>'
        for form in ("png", "svg")
    )
    return (
        f'<figure>{title}<div class="chart" id="chart-{number}" data-name="{name}"{square}></div>'
        f"<figcaption>{html.escape(figure.caption)}"
        f'<span class="save" role="group" aria-label="Save this chart">{buttons}</span>'
        f"</figcaption></figure>"
    )


def _table(table: Table, first: Mapping[str, str]) -> str:
    head, *body = table.rows
    cells = "".join(f'<th scope="col">{html.escape(c)}</th>' for c in head)
    lines = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in body)
    text = f"<table><thead><tr>{cells}</tr></thead><tbody>{lines}</tbody></table>"
    when = ""
    if table.when:
        hidden = any(first.get(signal, value) != value for signal, value in table.when.items())
        when = (
            f' data-when="{html.escape(json.dumps(dict(table.when)))}"{" hidden" if hidden else ""}'
        )
    # Focusable, so that the keyboard can scroll a wide one.
    box = '<div class="table" tabindex="0">'
    if table.folded:
        folded = html.escape(table.folded)
        return f"<details{when}><summary>{folded}</summary>{box}{text}</div></details>"
    return f"<div{when}>{box}{text}</div></div>"


def _cell(text: str) -> str:
    short = ' class="short"' if len(text) <= 15 else ""  # numbers, not broken into lines
    return f"<td{short}>{html.escape(text)}</td>"


def _packed(specs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The charts with their data as columns; null stands for data that an earlier chart has too."""
    known: set[str] = set()
    found = []
    for spec in specs:
        # Altair names data by a hash of them.
        packed = {
            name: None if name in known else _columns(rows)
            for name, rows in spec.get("datasets", {}).items()
        }
        known |= set(packed)
        found.append(spec | {"datasets": packed} if packed else spec)
    return found


def _columns(rows: list[dict[str, Any]]) -> Any:
    """The names of the fields once, not in every row."""
    fields = list(rows[0]) if rows else []
    if any(list(row) != fields for row in rows):
        return rows
    return {"fields": fields, "columns": [[row[name] for row in rows] for name in fields]}


def _script_json(data: Any) -> str:
    """JSON that can stand inside a script element, whatever a model or corpus is called."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _script_safe(code: str) -> str:
    return code.replace("</script", "<\\/script")
