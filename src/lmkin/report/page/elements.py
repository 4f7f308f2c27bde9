"""What a page is made of, as data; text is plain and escaped when it is rendered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...core import Alert
from ...results import ResultTable


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

    @property
    def explained(self) -> bool:
        """Whether any option has a sentence."""
        return any(option.text for option in self.options)


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
    key: str = ""
    """What letters stand for, shown while the chart's signal ``lettered`` is true."""


@dataclass(frozen=True)
class Table:
    """A table of results, always there, folded, or while switches have certain values."""

    table: ResultTable
    folded: str = ""
    """With a title here the table is folded."""
    when: Mapping[str, str] = field(default_factory=dict)
    """Shown while the chapter's switches have these values, by signal."""

    def hidden(self, chapter: Chapter) -> bool:
        """Whether the switches of its chapter begin with other values."""
        first = {switch.signal: switch.first for switch in chapter.switches}
        return any(first.get(signal, value) != value for signal, value in self.when.items())


@dataclass(frozen=True)
class Chapter:
    """A question, what is said and shown about it, and the numbers."""

    title: str
    paragraphs: Sequence[str] = ()
    figures: Sequence[Figure] = ()
    switches: Sequence[Switch] = ()
    tables: Sequence[Table] = ()
    details: Sequence[tuple[str, Any]] = ()
    """Folded JSON, by title."""
    entries: Sequence[Chapter] = ()
    """Chapters inside this one, under smaller headings."""
    command: str = ""
    """What is typed to get the same."""

    @property
    def beside(self) -> bool:
        """Whether there is room for the switches beside one square chart, on a wide page."""
        return [bool(figure.square) for figure in self.figures] == [True]


@dataclass(frozen=True)
class Part:
    """One result on a page."""

    title: str
    chapters: Sequence[Chapter] = ()
    findings: Sequence[str] = ()
    """Sentences that say what came out."""
    facts: Sequence[tuple[str, str]] = ()
    """Names and values, under the title."""
    alerts: Sequence[Alert] | None = None
    """What a reader must know before all else; None where nothing was looked for."""


@dataclass(frozen=True)
class Page:
    """A title, one part or several, and a last chapter that says how to get the same again."""

    title: str
    parts: Sequence[Part]
    last: Chapter | None = None
    subtitle: str = ""
