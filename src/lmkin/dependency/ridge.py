"""How much is added to the diagonal before a covariance is inverted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from ..errors import MeasureError, did_you_mean

RULES = ("relative", "absolute", "floor", "validation")
AUTO = 1e-6
GRID = tuple(10.0**k for k in range(-8, 3))
"""Shares that are tried on the validation rows."""
FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Ridge:
    """A rule and its number.

    ``relative``: λ is this share of the mean eigenvalue of each model's covariance, so that no unit matters.
    ``absolute``: λ itself, as the authors' code has it. ``floor``: λ is what raises the smallest eigenvalue of the
    covariance of a basis to this. ``validation``: the share, out of `GRID`, with the highest R² on the validation rows,
    for each fit its own.
    """

    rule: str = "relative"
    value: float = AUTO

    @classmethod
    def make(cls, ridge: str | float, rule: str = "relative", *, released: bool = False) -> Ridge:
        """From what a user gives; ``released`` is the authors' 1e-6, absolute."""
        if rule not in RULES:
            raise MeasureError(f"Unknown ridge rule {rule!r}. {did_you_mean(str(rule), RULES)}")
        if isinstance(ridge, str) and ridge in RULES:
            if rule not in ("relative", ridge):
                raise MeasureError(
                    f"{ridge!r} and {rule!r} are two rules for the ridge, and one is needed. Leave one of them out."
                )
            rule, ridge = ridge, "auto"
        if released:
            if rule not in ("relative", "absolute") or not (
                isinstance(ridge, str) and ridge == "auto"
            ):
                what = f"the ridge {ridge!r}" if rule in ("relative", "absolute") else f"{rule!r}"
                raise MeasureError(
                    f"The ridge of the authors' code (released) is {AUTO:g}, absolute; got {what} too. Leave one of "
                    f"them out."
                )
            rule = "absolute"
        if isinstance(ridge, str):
            if ridge != "auto":
                raise MeasureError(
                    f"ridge is 'auto', a number, or one of {', '.join(RULES)}; got {ridge!r}."
                )
            return cls(rule, AUTO)
        if isinstance(ridge, bool) or not isinstance(ridge, Real) or not 0 <= ridge < np.inf:
            raise MeasureError(f"ridge is a number, 0 or more; got {ridge!r}.")
        if rule == "validation":
            raise MeasureError(
                f"With the rule 'validation' the ridge is found; got the number {ridge:g} too. Leave one of them out."
            )
        return cls(rule, float(ridge))

    def require_rows(self, splits: Iterable[str]) -> None:
        """An error where the ridge is to be found, and there are no rows to find it on."""
        if self.rule == "validation" and "validation" not in splits:
            raise MeasureError(
                "The ridge is to be chosen on validation rows, and the split has none: give 'validation' some too, "
                "such as 0.1 of them, or choose another rule."
            )

    @property
    def none(self) -> bool:
        """Whether nothing is added."""
        return self.rule != "validation" and self.value == 0
