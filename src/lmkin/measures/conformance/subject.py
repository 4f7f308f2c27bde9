"""The function under test: what is claimed of it, and a call that always gives a number or says why not."""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import LmkinError, did_you_mean, quoted
from ..registry import INVARIANCES

"""Changes of a matrix that may leave a similarity as it is."""

_IMPLIED = {
    "linear": ("rotation", "permutation", "scale", "sign", "neuron-scale"),
    "rotation": ("permutation", "sign"),
    "neuron-scale": ("scale",),  # the same factor for all neurons is one of its cases
}

Function = Callable[[Any, Any], Any]


class NotANumberError(LmkinError):
    """The function gave something that cannot be read as one number."""


class NotFiniteError(LmkinError):
    """The function gave NaN or an infinite value for data that deserve a number."""


@dataclass(frozen=True)
class Subject:
    """A similarity function with what its author claims; ``None`` is: nothing is claimed."""

    fn: Function
    name: str
    declared: frozenset[str] | None = None
    symmetric: bool | None = None
    range: tuple[float, float] | None = None
    unbiased: bool = False
    tolerance: float = 1e-4
    seed: int = 0
    quick: bool = False
    equal_widths: bool = False
    """The function takes only matrices of the same width: all data have the same."""

    @property
    def loose(self) -> float:
        """The tolerance for float32 and less: three digits by default."""
        return 10 * self.tolerance

    @property
    def top(self) -> float | None:
        """The value of a matrix with itself; ``None`` if the range has no upper end."""
        if self.range is None:
            return 1.0
        return self.range[1] if math.isfinite(self.range[1]) else None

    def below_top(self, value: float, tolerance: float) -> bool:
        """Whether the value of a matrix with itself is not what it should be."""
        return self.top is not None and abs(value - self.top) > tolerance

    def in_range(self, value: float) -> bool:
        """Whether a value lies in the declared range, rounding errors allowed; without one, not above 1."""
        low, high = self.range or (-math.inf, 1.0)
        return low - self.tolerance <= value <= high + self.tolerance

    def call(self, X: Any, Y: Any) -> float:
        """The function's number for these very objects, NaN included."""
        # Whatever numpy warns of becomes visible as a value; the warnings themselves would drown the table.
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return as_number(self.fn(X, Y))

    def value(self, X: NDArray[Any], Y: NDArray[Any]) -> float:
        """The function's number for copies of the arrays, so that one that writes into them harms no later check."""
        value = self.call(X.copy(order="K"), Y.copy(order="K"))
        if not math.isfinite(value):
            raise NotFiniteError(f"Returned {value} for ordinary data.")
        return value

    def rng(self, *label: int) -> np.random.Generator:
        """Random numbers that depend on seed and label alone, never on the order of checks."""
        return np.random.default_rng([self.seed, *label])


def as_number(value: Any) -> float:
    """A float of whatever holds exactly one real number: floats, 0-d arrays, torch scalars.

    >>> as_number(np.float32(0.5)), as_number(np.array(1))
    (0.5, 1.0)
    """
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        return float(value)
    item = getattr(value, "item", None)
    if callable(item):
        try:
            inner = item()
        except (TypeError, ValueError, RuntimeError):  # numpy and torch, for more than one element
            inner = None
        if isinstance(inner, numbers.Real) and not isinstance(inner, bool):
            return float(inner)
    shape = getattr(value, "shape", None)
    what = type(value).__name__ + (f" of the shape {tuple(shape)}" if shape is not None else "")
    raise NotANumberError(
        f"A similarity function gives one real number; this one gave a {what}. "
        "Wrap it, for example: lambda X, Y: fn(X, Y)[0]."
    )


def closure(declared: Iterable[str]) -> frozenset[str]:
    """The declared invariances with all that follow from them.

    >>> sorted(closure({"rotation"}))
    ['permutation', 'rotation', 'sign']
    """
    if isinstance(declared, str):
        declared = {declared}
    names = set(declared)
    for name in names:
        if name not in INVARIANCES:
            raise LmkinError(
                f"Unknown invariance {quoted(name)}. {did_you_mean(str(name), INVARIANCES)}"
            )
    return frozenset(names.union(*(_IMPLIED.get(name, ()) for name in names)))
