"""Tables of what the battery found: plain text, HTML, Markdown."""

from __future__ import annotations

import html
import re
import textwrap
from itertools import groupby

from .result import Check, Conformance

WIDTH = 100
ROUNDING = 1e-12
"""Findings below this differ from machine to machine; they are shown as 0."""
_NAME, _FINDING, _VERDICT = 32, 9, 13
_GAP = "  "
_NOTE = WIDTH - _NAME - _FINDING - _VERDICT - 3 * len(_GAP)
_COLOURS = {"pass": "#2e8b57", "invariant": "#2e8b57", "fail": "#c0392b", "error": "#c0392b"}
_HEADINGS = ("check", "finding", "verdict", "what it means")


def one_line(text: str, limit: int = 240) -> str:
    """Text without line breaks, control characters and excess: names and messages may hold anything."""
    printable = "".join(c if c.isprintable() else " " for c in text)
    return textwrap.shorten(printable, limit, placeholder=" …") if printable.strip() else ""


def number(value: float | None) -> str:
    """Four decimals; powers of ten where these would show nothing; 0 for rounding errors, which differ by machine.

    >>> [number(v) for v in (0.91234, 0.0, 2e-7, 1.7e-16, None)]
    ['0.9123', '0', '2.0e-07', '0', '–']
    """
    if value is None:
        return "–"
    if abs(value) < ROUNDING:
        return "0"
    return f"{value:.4f}" if 1e-3 <= abs(value) < 1e4 else f"{value:.1e}"


def as_text(result: Conformance) -> str:
    """A table no wider than a hundred columns; notes are wrapped in theirs."""
    check, finding, verdict, note = _HEADINGS
    lines = textwrap.wrap(_title(result), WIDTH)
    lines += [
        "",
        _GAP.join([f"{check:<{_NAME}}", f"{finding:>{_FINDING}}", f"{verdict:<{_VERDICT}}", note]),
    ]
    lines.append("─" * WIDTH)
    for group, rows in groupby(result.rows, key=lambda row: row.group):
        lines.append(group)
        for row in rows:
            lines += _text_row(row)
    lines += ["─" * WIDTH, result.summary]
    return "\n".join(line.rstrip() for line in lines)


def _text_row(row: Check) -> list[str]:
    names = textwrap.wrap(row.name, _NAME - 2) or [""]
    notes = textwrap.wrap(row.note, _NOTE) or [""]
    lines = []
    for i in range(max(len(names), len(notes))):
        name = names[i] if i < len(names) else ""
        finding, verdict = (number(row.finding), row.verdict) if i == 0 else ("", "")
        note = notes[i] if i < len(notes) else ""
        cells = [f"  {name:<{_NAME - 2}}", f"{finding:>{_FINDING}}", f"{verdict:<{_VERDICT}}", note]
        lines.append(_GAP.join(cells))
    return lines


def as_html(result: Conformance) -> str:
    """A table for notebooks; colours that can be read on white and on black."""
    left = 'style="text-align: left; vertical-align: top"'
    head = "".join(f"<th {left}>{heading}</th>" for heading in _HEADINGS)
    body = []
    for group, rows in groupby(result.rows, key=lambda row: row.group):
        body.append(f'<tr><th colspan="4" {left}>{html.escape(group)}</th></tr>')
        for row in rows:
            colour = _COLOURS.get(row.verdict, "inherit")
            body.append(
                f"<tr><td {left}>{html.escape(row.name)}</td><td>{number(row.finding)}</td>"
                f'<td style="text-align: left; color: {colour}">{row.verdict}</td>'
                f"<td {left}>{html.escape(row.note)}</td></tr>"
            )
    return (
        f"<table><caption>{html.escape(_title(result))}<br>{result.summary}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
    )


def as_markdown(result: Conformance) -> str:
    """A table for documentation, with the group as first column."""
    lines = [f"**{_escape(_title(result))}** {result.summary}.", ""]
    lines += [f"| group | {' | '.join(_HEADINGS)} |", "| --- | --- | ---: | --- | --- |"]
    for row in result.rows:
        cells = [row.group, row.name, number(row.finding), row.verdict, row.note]
        lines.append(f"| {' | '.join(_escape(cell) for cell in cells)} |")
    return "\n".join(lines) + "\n"


def _escape(text: str) -> str:
    return re.sub(r"([\\`*_\[\]|])", r"\\\1", html.escape(text, quote=False))


def _title(result: Conformance) -> str:
    how = f"{'quick, ' if result.quick else ''}seed {result.seed}"
    return f"Conformance of {result.name} ({len(result.rows)} checks, {how})."
