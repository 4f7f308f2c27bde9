"""Kinds of results in a report: one module a kind, found like measures."""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar

from ...core import LmkinError, did_you_mean, quoted
from ...results import Result, ResultTable
from ..page import Chapter

Charts = dict[str, Callable[[], Any]]
"""Charts by the name of their picture, drawn when they are called; the most important first."""


class ReportKind(ABC):
    """How results of one kind are shown: a title, facts, chapters, and charts."""

    kind: ClassVar[str]

    @abstractmethod
    def title(self, result: Any) -> str:
        """A question that the result answers."""

    @abstractmethod
    def facts(self, result: Any) -> list[tuple[str, str]]:
        """Models, corpus, units, intervals: what stands under the title."""

    @abstractmethod
    def chapters(self, result: Any) -> list[Chapter]:
        """What the page shows, without the chapter on reproduction."""

    @abstractmethod
    def charts(self, result: Any) -> Charts:
        """Every chart that is saved as a picture."""

    def definitions(self, result: Any) -> ResultTable | None:
        """What the measures are, for the chapter on reproduction."""
        return None

    def details(self, result: Any) -> list[tuple[str, Any]]:
        """More data for the chapter on reproduction, by title."""
        return []


_KINDS: dict[str, ReportKind] = {}


def report_kind(cls: type[ReportKind]) -> type[ReportKind]:
    """Register how a kind of results is shown."""
    _KINDS[cls.kind] = cls()
    return cls


@cache
def _load_own() -> None:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")


def known_report_kinds() -> dict[str, ReportKind]:
    """All registered kinds."""
    _load_own()
    return dict(_KINDS)


def find_report_kind(result: Result) -> ReportKind:
    """How a result is shown. Raise if it is no result, or of a kind that nobody knows."""
    known = known_report_kinds()
    if not isinstance(result, Result):  # a Dataset may have a kind among its attributes
        raise LmkinError(
            f"A report shows results of lmkin; got {type(result).__name__}. Give what lmkin.similarity or another "
            f"analysis gives, or lmkin.load."
        )
    if result.kind not in known:
        raise LmkinError(
            f"There is no report of results of kind {quoted(result.kind)}. {did_you_mean(result.kind, known)}"
        )
    return known[result.kind]


def result_charts(result: Result) -> Charts:
    """Every chart of a result, by name."""
    return find_report_kind(result).charts(result)
