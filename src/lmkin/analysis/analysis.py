"""`Analysis`: options, a plan, a run, and the kind of its result; and the registry of all of them."""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar, Generic, TypeVar

from ..core import LmkinError, Plan, __version__, check_choices, did_you_mean, key_of, quoted
from ..models import Reading
from ..results import Result
from ..rows import Workspace
from .running import Running
from .source import Source

Options = TypeVar("Options")


class Analysis(ABC, Generic[Options]):
    """One kind of analysis: what can be asked of it, what it would take, and how it is run.

    From ``Options``, a frozen dataclass whose fields are made by `lmkin.core.option`, come the flags of the command,
    the keywords of the Python function, the keys of a study file, the key of a run, and the reference page.
    """

    name: ClassVar[str]
    """Of the command, the key in a study file, and the kind of the result."""
    summary: ClassVar[str]
    """One sentence, in the imperative."""
    description: ClassVar[str] = ""
    """What the help text says beyond the summary, with an example."""
    function: ClassVar[str]
    """The Python function of `lmkin` that does the same."""
    Options: ClassVar[type]
    result: ClassVar[type[Result]]
    reading: ClassVar[Reading] = Reading()
    """How models read a corpus unless something else is asked for."""
    unread: ClassVar[tuple[str, ...]] = ()
    """Fields of `Reading` that mean nothing here."""
    stored: ClassVar[bool] = True
    """Whether stored activations will do, without a corpus."""
    splits: ClassVar[bool] = False
    """Whether a corpus may be several, by split: train, dev and test."""
    by_name: ClassVar[bool] = False
    """Whether corpora or stores are several, by names of the user's own, such as languages: ``--corpora en=F de=F``."""
    attention: ClassVar[bool] = False
    """Whether models are loaded so that they show their attention."""

    def check(self, options: Any) -> None:
        """Raise if an option has a value that cannot be meant, before anything is loaded."""
        check_choices(options)

    def check_source(self, source: Source, options: Any) -> None:
        """Raise if this cannot be asked of such a source, before anything is loaded."""
        source.check(self.reading)

    def check_run(self, source: Source, options: Any, running: Running) -> None:
        """Raise if anything about a run cannot be meant; only the corpus is read for it, no model is loaded."""
        running.check()
        self.check(options)
        if isinstance(source.corpus, Mapping) and not (self.splits or self.by_name):
            raise LmkinError(
                f"{self.function} reads one corpus; got several, by split ({', '.join(map(str, source.corpus))})."
            )
        self.check_source(source, options)
        if source.corpus is not None:
            source.sentences  # noqa: B018 (read, and kept)

    @abstractmethod
    def plan(self, source: Source, options: Any, running: Running) -> Plan:
        """What the run would take: memory, disk, time. Raise if it does not fit the budget."""

    @abstractmethod
    def run(self, source: Source, options: Any, running: Running, work: Workspace) -> Result:
        """The result; what is finished is kept in ``work``, to go on after a kill."""

    def key(self, source: Source, options: Any, running: Running) -> dict[str, Any]:
        """Plain data: everything that the numbers of a run depend on. Two runs with the same key give the same."""
        return {
            "lmkin": __version__,
            "analysis": self.name,
            "options": key_of(options),
            "running": running.to_dict(),
            "source": source.identity(),
        }


_ANALYSES: dict[str, Analysis[Any]] = {}


def analysis(cls: type[Analysis[Any]]) -> type[Analysis[Any]]:
    """Register a class of analyses under its name."""
    _ANALYSES[cls.name] = cls()
    return cls


@cache
def _load_own() -> None:
    """Import `analysis.py` of every folder in `lmkin.analyses`: a registry must find what registers itself."""
    package = importlib.import_module("lmkin.analyses")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"lmkin.analyses.{module.name}.analysis")


def known_analyses() -> dict[str, Analysis[Any]]:
    """All registered analyses by name."""
    _load_own()
    return dict(_ANALYSES)


def find_analysis(name: str) -> Analysis[Any]:
    """An analysis by its name. Raise if there is none, with the nearest name."""
    known = known_analyses()
    if name not in known:
        raise LmkinError(f"There is no analysis {quoted(name)}. {did_you_mean(name, known)}")
    return known[name]
