"""The report: one HTML file that works offline and can be sent to others."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from .. import __version__
from ..interchange.atomic import replacing
from .charts import styled


@dataclass(frozen=True)
class Figure:
    """A chart with a title and a sentence that says what is to be seen."""

    chart: Any
    title: str
    caption: str = ""


@dataclass(frozen=True)
class Chapter:
    """A part of the report; paragraphs and table cells are plain text, and escaped."""

    title: str
    paragraphs: Sequence[str] = ()
    figures: Sequence[Figure] = ()
    switch: Sequence[tuple[str, str]] = ()
    """Values and labels of the signal ``kind`` of all figures of this chapter."""
    table: Sequence[Sequence[str]] = ()
    """The first row is the head."""
    details: Sequence[tuple[str, Any]] = ()
    """Folded JSON, by title."""


@dataclass
class Report:
    """A title, a line under it, and chapters."""

    title: str
    subtitle: str = ""
    chapters: list[Chapter] = field(default_factory=list)

    def write(self, path: Path) -> None:
        """Write the page; its charts need nothing from the network."""
        import vl_convert

        specs: list[dict[str, Any]] = []
        body = "\n".join(self._chapter(chapter, specs) for chapter in self.chapters)
        template = Template(resources.files(__package__).joinpath("page.html").read_text("utf-8"))
        page = template.substitute(
            title=html.escape(self.title),
            subtitle=html.escape(self.subtitle),
            body=body,
            version=html.escape(__version__),
            specs=_script_json(specs),
            vega=_script_safe(
                vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version="6.4")
            ),
        )
        with replacing(path) as temporary:
            temporary.write_text(page, encoding="utf-8")

    def _chapter(self, chapter: Chapter, specs: list[dict[str, Any]]) -> str:
        parts = [f"<section><h2>{html.escape(chapter.title)}</h2>"]
        parts += [f"<p>{html.escape(text)}</p>" for text in chapter.paragraphs]
        if chapter.switch:
            parts.append(_switch(chapter.switch, f"switch-{len(specs)}"))
        if chapter.figures:
            parts.append('<div class="figures">')
            for figure in chapter.figures:
                parts.append(
                    f'<figure><h3>{html.escape(figure.title)}</h3><div class="chart" id="chart-{len(specs)}"></div>'
                    f"<figcaption>{html.escape(figure.caption)}</figcaption></figure>"
                )
                specs.append(styled(figure.chart).to_dict())
            parts.append("</div>")
        if chapter.table:
            parts.append(_table(chapter.table))
        for title, data in chapter.details:
            text = html.escape(json.dumps(data, indent=1, ensure_ascii=False))
            parts.append(
                f"<details><summary>{html.escape(title)}</summary><pre>{text}</pre></details>"
            )
        parts.append("</section>")
        return "\n".join(parts)


def _switch(options: Sequence[tuple[str, str]], name: str) -> str:
    labels = [
        f'<label><input type="radio" name="{name}" value="{html.escape(value)}"'
        f"{' checked' if i == 0 else ''}> {html.escape(label)}</label>"
        for i, (value, label) in enumerate(options)
    ]
    return f'<div class="switch" role="radiogroup">{"".join(labels)}</div>'


def _table(rows: Sequence[Sequence[str]]) -> str:
    head, *body = rows
    cells = "".join(f"<th>{html.escape(c)}</th>" for c in head)
    lines = "".join(
        "<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>" for row in body
    )
    return f'<div class="table"><table><thead><tr>{cells}</tr></thead><tbody>{lines}</tbody></table></div>'


def _script_json(data: Any) -> str:
    """JSON that can stand inside a script element, whatever a model or corpus is called."""
    text = json.dumps(data, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _script_safe(code: str) -> str:
    return code.replace("</script", "<\\/script")
