"""The ways to rank neurons that lmkin knows, and how one is added: a file in `rankings`, with `ranking_method`."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ....core import LmkinError, did_you_mean, quoted

if TYPE_CHECKING:
    from .fits import NeuronFits

Array = NDArray[Any]
IntArray = NDArray[np.int64]
NEEDS = ("weights", "rows", "nothing")


@dataclass(frozen=True)
class Evidence:
    """What neurons are ranked by: as much as there is of it.

    ``weights`` are those of a probe, classes × neurons, for standardized neurons; ``rows`` are rows with labels, and
    fits on them.
    """

    neurons: int
    seed: int
    weights: Array | None = None
    rows: NeuronFits | None = None


@dataclass(frozen=True)
class Ranked:
    """Neurons by their places, the most important first.

    ``value`` says of each neuron (by place) what it was ranked by; ``informed`` how many of the first have a reason for
    their place: the rest follows in the order of the columns.
    """

    order: IntArray
    value: Array
    informed: int


Method = Callable[..., Ranked]


@dataclass(frozen=True)
class RankingMethod:
    """A way to rank neurons: what it needs, and what its values mean."""

    name: str
    rank: Method
    summary: str
    needs: str
    """``weights`` of a probe, ``rows`` with labels, or ``nothing``."""
    value: str
    """What the value of a neuron is."""
    reference: str
    classes: bool
    """Whether it is of classes only, and says nothing of scores."""

    @property
    def options(self) -> tuple[str, ...]:
        """Names of its options: its keyword-only arguments."""
        parameters = inspect.signature(self.rank).parameters.values()
        return tuple(p.name for p in parameters if p.kind is p.KEYWORD_ONLY)


_METHODS: dict[str, RankingMethod] = {}
NONE = "none"
"""Neurons are not ranked at all: an option of the analysis."""
_FIRST = ("lca", "row-path", "probeless", "random")


def ranking_method(
    name: str,
    *,
    summary: str,
    needs: str,
    value: str,
    reference: str = "",
    classes: bool = False,
) -> Callable[[Method], Method]:
    """Register a function ``(evidence, *, options) -> Ranked`` as a way to rank neurons."""
    if needs not in NEEDS:
        raise LmkinError(f"needs is one of {', '.join(NEEDS)}; got {quoted(needs)}.")

    def register(rank: Method) -> Method:
        _METHODS[name] = RankingMethod(name, rank, summary, needs, value, reference, classes)
        return rank

    return register


@cache
def _load_own() -> None:
    from . import rankings

    for module in sorted(m.name for m in pkgutil.iter_modules(rankings.__path__)):
        importlib.import_module(f"{rankings.__name__}.{module}")


def ranking_names() -> list[str]:
    """All ways to rank neurons, ours first."""
    _load_own()
    return [n for n in _FIRST if n in _METHODS] + [n for n in _METHODS if n not in _FIRST]


def find_ranking(name: Any) -> RankingMethod:
    """A way to rank neurons by its name. Raise if there is none, with the nearest."""
    known = ranking_names()
    if name not in known:
        raise LmkinError(f"Unknown ranking {quoted(name)}. {did_you_mean(str(name), known)}")
    return _METHODS[name]


def of_classes_only(name: str) -> str:
    """What is said where such a ranking meets scores."""
    return f"The ranking {name} is of classes, and here are scores. Take lca or row-path."


def rank_by(method: RankingMethod, evidence: Evidence, options: Mapping[str, Any]) -> Ranked:
    """Rank neurons. Raise if there is not what the method needs, or if an option is not one of its own."""
    for name in options:
        if name not in method.options:
            raise LmkinError(
                f"The ranking {method.name} has no option {quoted(name)}. "
                + (did_you_mean(name, method.options) if method.options else "It has none.")
            )
    if method.needs == "weights" and evidence.weights is None:
        raise LmkinError(
            f"The ranking {method.name} reads the weights of a probe, and there are none."
        )
    if method.needs == "rows" and evidence.rows is None:
        raise LmkinError(
            f"The ranking {method.name} needs rows with labels: give X=…, y=… and, to choose by, dev=(X, y); or a "
            f"result that lmkin.probe has just made, which remembers its own."
        )
    if method.classes and evidence.rows is not None and not evidence.rows.classes:
        raise LmkinError(of_classes_only(method.name))
    ranked = method.rank(evidence, **options)
    if not np.array_equal(np.sort(ranked.order), np.arange(evidence.neurons)):
        raise LmkinError(
            f"The ranking {method.name} does not give every neuron one place: its function is wrong."
        )
    return ranked
