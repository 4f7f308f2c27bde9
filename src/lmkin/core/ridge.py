"""How much is added to the diagonal before a covariance is inverted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from .errors import MeasureError, did_you_mean
from .quotation import quoted

RULES = ("auto", "relative", "absolute", "floor", "validation")
AUTO = 1e-6
ROWS_A_NEURON = 20
"""With fewer train rows for each neuron of the basis a fit with hardly any ridge overfits: `auto` then chooses the
ridge on the validation rows."""
GRID = tuple(10.0**k for k in range(-8, 3))
"""Fractions that are tried on the validation rows."""
FloatArray = NDArray[np.float64]


def parse_ridge(text: str) -> str | float:
    """A number, or the word that was given."""
    try:
        return float(text)
    except ValueError:
        return text


@dataclass(frozen=True)
class Ridge:
    """A rule and its number.

    ``auto``: `settled` makes it ``validation`` or ``relative``, once the number of train rows is known.
    ``relative``: λ is this fraction of the mean eigenvalue of each model's covariance, so that no unit matters.
    ``absolute``: λ itself, as the authors' code has it. ``floor``: λ is what raises the smallest eigenvalue of the
    covariance of a basis to this. ``validation``: the fraction, out of `GRID`, with the highest R² on the validation
    rows, for each fit its own.
    """

    rule: str = "auto"
    value: float = AUTO
    reason: str = ""
    """Why ``auto`` became this rule; empty where the rule was given."""

    @classmethod
    def make(cls, ridge: str | float, rule: str = "auto", *, released: bool = False) -> Ridge:
        """From what a user gives; ``released`` is the authors' 1e-6, absolute."""
        if rule not in RULES:
            raise MeasureError(
                f"Unknown ridge rule {quoted(rule)}. {did_you_mean(str(rule), RULES)}"
            )
        if isinstance(ridge, str) and ridge in RULES and ridge != "auto":
            if rule not in ("auto", ridge):
                raise MeasureError(
                    f"{quoted(ridge)} and {quoted(rule)} are two rules for the ridge, and one is needed. Leave one "
                    "of them out."
                )
            rule, ridge = ridge, "auto"
        if released:
            if rule not in ("auto", "absolute") or not (isinstance(ridge, str) and ridge == "auto"):
                own = rule in ("auto", "absolute")
                what = f"the ridge {quoted(ridge)}" if own else quoted(rule)
                raise MeasureError(
                    f"The ridge of the authors' code (released) is {AUTO:g}, absolute; got {what} too. Leave one of "
                    f"them out."
                )
            rule = "absolute"
        if isinstance(ridge, str):
            if ridge != "auto":
                raise MeasureError(
                    f"ridge is 'auto', a number, or one of {', '.join(RULES)}; got {quoted(ridge)}."
                )
            return cls(rule, AUTO)
        if isinstance(ridge, bool) or not isinstance(ridge, Real) or not 0 <= ridge < np.inf:
            raise MeasureError(f"ridge is a number, 0 or more; got {quoted(ridge)}.")
        if rule == "validation":
            raise MeasureError(
                f"With the rule 'validation' the ridge is found; got the number {ridge:g} too. Leave one of them out."
            )
        return cls("relative" if rule == "auto" else rule, float(ridge))

    def settled(self, rows: int, neurons: int, splits: Iterable[str]) -> Ridge:
        """The rule that ``auto`` means for so many train rows and neurons of the widest basis; any other stays.

        Chosen on the validation rows where there are fewer than `ROWS_A_NEURON` train rows a neuron, else relative,
        `AUTO`.
        """
        if self.rule != "auto":
            return self
        counts = f"{rows:,} train rows are {{}} {ROWS_A_NEURON} for each of the {neurons:,} neurons of the basis"
        if rows >= ROWS_A_NEURON * neurons:
            return Ridge("relative", AUTO, counts.format("at least"))
        if "validation" in splits:
            return Ridge("validation", AUTO, counts.format("fewer than"))
        few = counts.format("fewer than")
        return Ridge("relative", AUTO, f"{few}, but there are no validation rows to choose on")

    def require_rows(self, splits: Iterable[str]) -> None:
        """Raise if the ridge is to be chosen, and there are no rows to choose it on."""
        if self.rule == "validation" and "validation" not in splits:
            raise MeasureError(
                "The ridge is to be chosen on validation rows, and the split has none: give 'validation' some too, "
                "such as 0.1 of them, or choose another rule."
            )

    @property
    def none(self) -> bool:
        """Whether nothing is added."""
        return self.rule not in ("auto", "validation") and self.value == 0
