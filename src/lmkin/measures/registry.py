"""The measures that lmkin knows, and how a user adds one."""

from __future__ import annotations

import importlib
import inspect
import math
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from ..core import MeasureError, did_you_mean, quoted
from .options import check_value

INVARIANCES = ("shift", "scale", "neuron-scale", "sign", "permutation", "rotation", "linear")
_IMPLIED = {
    "linear": ("rotation", "permutation", "scale", "sign", "neuron-scale"),
    "rotation": ("permutation", "sign"),
    "neuron-scale": ("scale",),
}
NEEDS = ("moments", "rows", "row-pair")
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Scored:
    """A value, and what else a measure found.

    ``details`` are arrays by name, one number a neuron of x; or functions that make them, called only where wanted.
    """

    value: float
    details: dict[str, Any]


@dataclass(frozen=True)
class Measure:
    """A measure of similarity: what it is, and what it promises. The tests hold it to its promises."""

    name: str
    function: Callable[..., Any]
    title: str
    summary: str
    needs: str
    """``moments``: a function of a `Pair`; ``rows``: of two matrices of units × neurons; ``row-pair``: of a `RowPair`,
    whose sides remember what is costly."""
    symmetric: bool
    range: tuple[float, float]
    invariances: frozenset[str]
    """Of either side: shift, scale, neuron-scale, sign, permutation, rotation, linear."""
    unbiased: bool
    """Whether it is 0 on average for unrelated layers, however few the units."""
    fitted: bool
    """Whether something is fitted, so that a held-out version exists."""
    details: tuple[str, ...]
    cost: str
    reference: str

    @property
    def options(self) -> tuple[str, ...]:
        """Names of its options."""
        parameters = inspect.signature(self.function).parameters.values()
        return tuple(p.name for p in parameters if p.kind is p.KEYWORD_ONLY)


def needs_spectra(measures: Iterable[Measure]) -> bool:
    """Whether principal components may be asked for: by all measures from moments that do not say they cost d²."""
    return any(m.needs == "moments" and not m.cost.startswith("d²") for m in measures)


_measures: dict[str, Measure] = {}


def measure(
    name: str,
    *,
    title: str | None = None,
    summary: str = "",
    needs: str = "rows",
    symmetric: bool = False,
    range: tuple[float, float] = (-math.inf, math.inf),
    invariances: Iterable[str] = (),
    unbiased: bool = False,
    fitted: bool = False,
    details: Iterable[str] = (),
    cost: str = "",
    reference: str = "",
    replace: bool = False,
) -> Callable[[Function], Function]:
    """Register a measure: it then works in `similarity`, on the command line and in reports.

    By default the function takes two matrices of units × neurons with the same rows and returns a number; for long
    corpora it is given a random sample of the rows. With ``needs="moments"`` it takes a `Pair` instead, of which
    it may ask covariances and spectra. Its keyword-only arguments are its options.

    >>> import lmkin
    >>> @lmkin.measure("meansim", symmetric=True, summary="Correlation of the mean activations.", replace=True)
    ... def meansim(X, Y):
    ...     return np.corrcoef(X.mean(1), Y.mean(1))[0, 1]
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> round(float(lmkin.similarity({"a": X, "b": 2 * X}, measures="meansim").matrix()[0, 1]), 3)
    1.0
    >>> lmkin.measures.forget("meansim")
    """
    if callable(name):
        raise MeasureError("Give the measure a name: @lmkin.measure('mysim'), with parentheses.")
    if needs not in NEEDS:
        raise MeasureError(f"needs is one of {', '.join(NEEDS)}; got {quoted(needs)}.")
    declared = set(invariances)
    for unknown in declared.difference(INVARIANCES):
        raise MeasureError(
            f"Unknown invariance {quoted(unknown)}. {did_you_mean(unknown, INVARIANCES)}"
        )
    for invariance in list(declared):
        declared.update(_IMPLIED.get(invariance, ()))
    if not isinstance(name, str) or not name.isidentifier():
        raise MeasureError(
            f"A measure's name is made of letters, digits and underscores; got {quoted(name)}."
        )

    def register(function: Function) -> Function:
        if not callable(function):
            raise MeasureError(f"A measure is a function; got {type(function).__name__}.")
        if not function.__module__.startswith(f"{__package__}.catalogue"):
            _load_own()  # so that a name of ours cannot be taken before ours is there
        if name in _measures and not replace:
            raise MeasureError(
                f"There is a measure {quoted(name)} already; replace=True replaces it."
            )
        first_line = (inspect.getdoc(function) or "").partition("\n")[0]
        _measures[name] = Measure(
            name=name,
            function=function,
            title=title or name,
            summary=summary or first_line,
            needs=needs,
            symmetric=symmetric,
            range=(float(range[0]), float(range[1])),
            invariances=frozenset(declared),
            unbiased=unbiased,
            fitted=fitted,
            details=tuple(details),
            cost=cost,
            reference=reference,
        )
        return function

    return register


def forget(name: str) -> None:
    """Take a measure out again."""
    measure_info(name)
    del _measures[name]


@cache
def _load_own() -> None:
    """Our own measures: every module of the folder `catalogue`; and those of installed packages."""
    from importlib.metadata import entry_points

    from . import catalogue

    for module in sorted(m.name for m in pkgutil.iter_modules(catalogue.__path__)):
        importlib.import_module(f"{catalogue.__name__}.{module}")
    for entry in entry_points(group="lmkin.measures"):
        try:
            entry.load()
        except Exception as error:
            package = entry.dist.name if entry.dist else entry.value
            raise MeasureError(
                f"The package {quoted(package)} brings measures to lmkin ({entry.value}), and they cannot be loaded: "
                f"{type(error).__name__}: {error}. Mend or remove the package."
            ) from error


def measure_info(name: str) -> Measure:
    """What a measure declares. Raise if there is none of this name, with the nearest."""
    _load_own()
    if name not in _measures:
        raise MeasureError(f"Unknown measure {quoted(name)}. {did_you_mean(name, measure_names())}")
    return _measures[name]


def measure_names() -> list[str]:
    """All registered measures: those of the paper first."""
    _load_own()
    first = ["neuronsim", "mixedsim", "svsim", "pwsim", "ckasim", "procrustes", "rbfcka"]
    return [n for n in first if n in _measures] + [n for n in _measures if n not in first]


def choose_measures(names: str | Iterable[str]) -> list[Measure]:
    """Measures from ``"all"``, one name, names with commas, or a list."""
    if not isinstance(names, str) and not isinstance(names, Iterable):
        raise MeasureError(f"measures is 'all', a name, or a list of names; got {quoted(names)}.")
    if isinstance(names, str):
        names = measure_names() if names == "all" else [n.strip() for n in names.split(",")]
    measures = [measure_info(name) for name in dict.fromkeys(names)]
    if not measures:
        raise MeasureError("No measure is asked for. " + did_you_mean("", measure_names()))
    return measures


def check_options(measures: Iterable[Measure], options: dict[str, Any]) -> None:
    """Raise if none of the measures has an option, or if it cannot have a value."""
    measures = list(measures)
    known = sorted({o for m in measures for o in m.options})
    for option in options:
        if option not in known:
            of = ", ".join(m.name for m in measures)
            raise MeasureError(f"No option {quoted(option)} of {of}. {did_you_mean(option, known)}")
        if any(
            option in m.options and m.function.__module__.startswith("lmkin.") for m in measures
        ):
            check_value(option, options[option])


def options_of(measure: Measure, options: dict[str, Any]) -> dict[str, Any]:
    """Those of the options that a measure has."""
    return {name: value for name, value in options.items() if name in measure.options}
