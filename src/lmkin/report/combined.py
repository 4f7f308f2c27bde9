"""One page of one result, or of several: parts, one list of contents, one chapter on reproduction."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..core import LmkinError, as_path, quoted, require_new_file
from ..results import Result, package_versions
from .charts import unchecked
from .kinds import find_report_kind
from .names import json_of
from .page import Chapter, Page, Part, Table, write_page


def write_report(
    *results: Result,
    out: str | Path,
    title: str | None = None,
    chapters: Sequence[Chapter] = (),
    overwrite: bool = False,
) -> Path:
    """Write results as one HTML file that works offline; its path.

    One result has a page of its own. Several stand on one page as parts, in the order given, with what came out of
    each at the top and one chapter on reproduction at the end. ``out`` is the file; ``chapters`` come after those of
    the results. Raise if there is no result, or if ``out`` is no ``.html``.
    """
    path = as_path(out)
    if path.suffix != ".html":
        raise LmkinError(
            f"A report is one HTML file: give out='report.html'; got {quoted(path)}. An analysis that is run into a "
            f"folder writes tables and charts there too, and in Python write_result does."
        )
    require_new_file(path, overwrite=overwrite)
    with unchecked():
        page = report_page(results, title=title, chapters=chapters)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_page(page, path)
    return path


def report_page(
    results: Sequence[Result], *, title: str | None = None, chapters: Sequence[Chapter] = ()
) -> Page:
    """The page of one result or several, as data."""
    if not results:
        raise LmkinError(
            "A report needs a result: give what lmkin.similarity, … or lmkin.load gives."
        )
    results = [_as_result(r) for r in results]
    parts = [_part(result) for result in results]
    if chapters:
        last = parts[-1]
        parts[-1] = Part(
            last.title, [*last.chapters, *chapters], last.findings, last.facts, last.alerts
        )
    return Page(
        title or (parts[0].title if len(parts) == 1 else _common_title(results)),
        parts,
        last=_reproduction(results, [part.title for part in parts]),
    )


def _as_result(given: Any) -> Result:
    """A result; what can become one, such as a clustering, as the result that it is of."""
    convert = getattr(type(given), "to_result", None)
    result: Result = given if convert is None else convert(given)
    return result


def _part(result: Result) -> Part:
    kind = find_report_kind(result)
    return Part(
        kind.title(result),
        kind.chapters(result),
        findings=result.findings(),
        facts=kind.facts(result),
        alerts=list(dict.fromkeys(result.alerts)),
    )


def _common_title(results: Sequence[Result]) -> str:
    kinds = list(dict.fromkeys(result.kind for result in results))
    what = kinds[0] if len(kinds) == 1 else f"{', '.join(kinds[:-1])} and {kinds[-1]}"
    return f"{what[:1].upper()}{what[1:]}: {len(results)} results"


def _reproduction(results: Sequence[Result], titles: Sequence[str]) -> Chapter:
    """Everything that the numbers depend on: one entry a result, and the versions that wrote the page."""
    entries = [_entry(result, title) for result, title in zip(results, titles, strict=True)]
    everything = "Everything that these numbers depend on."
    versions = ("Versions that wrote this page", package_versions())
    if len(entries) > 1:
        return Chapter("Reproduction", [everything], details=[versions], entries=entries)
    (one,) = entries
    return Chapter(
        "Reproduction",
        [everything],
        command=one.command,
        tables=one.tables,
        details=[*one.details, versions],
    )


def _entry(result: Result, title: str) -> Chapter:
    kind, command = find_report_kind(result), result.attrs.get("command")
    table = kind.definitions(result)
    details: list[tuple[str, Any]] = [
        ("Provenance", json_of(result.attrs.get("provenance", {}))),
        *kind.details(result),
    ]
    return Chapter(
        title,
        command=str(command or ""),
        tables=[] if table is None else [Table(table)],
        details=details,
    )
