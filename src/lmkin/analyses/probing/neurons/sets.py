"""`SmallestSet`: the first neurons of a ranking that keep a probe's score, and how they were found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ....results import Column, ResultTable
from ...redundancy import NeuronMask
from ..scored import Scored


@dataclass(frozen=True, repr=False)
class SmallestSet(NeuronMask):
    """The neurons that are kept, a `NeuronMask`, with what they keep.

    ``oracle`` and ``score`` are those of all neurons and of these, on dev; ``bound`` is (1 − tolerance) × oracle.
    ``tried`` is the score on dev of each number of neurons that a probe was fitted on, in ``fits`` fits. ``test`` and
    ``oracle_test`` are of the rows that nothing was chosen by, where there are some.
    """

    tolerance: float = 0.01
    oracle: float = np.nan
    score: float = np.nan
    fits: int = 0
    tried: Mapping[int, float] = field(default_factory=dict)
    test: Scored | None = None
    oracle_test: Scored | None = None

    @property
    def bound(self) -> float:
        """What the score on dev must reach."""
        return (1 - self.tolerance) * self.oracle

    @property
    def reached(self) -> bool:
        """Whether it does; if not, no set of the grid did, and these are all neurons."""
        return self.score >= self.bound

    @property
    def by_layer(self) -> dict[int, int]:
        """Neurons of each layer."""
        return {layer: int(mask.sum()) for layer, mask in self.masks.items()}

    def table(self) -> ResultTable:
        """A row for each number of neurons that was tried."""
        rows: list[dict[str, Any]] = [
            {"neurons": n, "dev": score, "keeps": "yes" if score >= self.bound else ""}
            for n, score in sorted(self.tried.items())
        ]
        return ResultTable(
            "tried",
            [
                Column("neurons", kind="count"),
                Column("dev", kind="number"),
                Column("keeps"),
            ],
            rows,
            title=f"The first neurons, each number with a probe of its own ({self.fits} fits)",
            caption=f"Keeps: {self.bound:.4f} or more on dev, {100 * (1 - self.tolerance):g} % of the "
            f"{self.oracle:.4f} of all neurons.",
        )
