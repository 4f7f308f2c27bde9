"""What can be asked of a comparison of layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ...analysis import MEASURES, Intervals
from ...core import MeasureError, Precision, option
from ...measures import SAMPLED, check_options, choose_measures, measure_names
from ...moments import ROWS

DEFAULT_MEASURES = "ckasim,neuronsim,mixedsim,svsim,pwsim"
"""Those of Wu et al. 2020."""
Neurons = Literal["raw", "standardized", "both"]
Route = Literal["panels", "joint", "pairs", "dual"]
RUN = "Run"


FEWEST_ROWS = 20
"""Of a sample that anything can be said of."""


@dataclass(frozen=True)
class SimilarityOptions(Intervals):
    """Measures, intervals, scaling, permutations; and how layers are brought together."""

    measures: str | Sequence[str] = option(
        DEFAULT_MEASURES,
        "Names with commas, or all: see lmkin measures. Default: the five of Wu et al. 2020.",
        MEASURES,
        flags=("--measures", "-m"),
        complete=lambda: ["all", *measure_names()],
    )
    neurons: Neurons = option(
        "both",
        "As they are, standardized (each divided by its standard deviation), or both.",
        MEASURES,
    )
    held_out: bool = option(
        False,
        "Fit regressions and canonical correlations without a part, and score them on the held-out part.",
        MEASURES,
    )
    permutations: int = option(
        0,
        "Permutation baseline: so many shuffles of the rows, and a p-value for every pair of layers.",
        MEASURES,
        least=0,
    )
    measure_options: Mapping[str, Any] = option(
        {},
        "An option of the measures, e.g. variance=0.95, estimator=biased, convention=released. May be repeated.",
        MEASURES,
        flags=("--set",),
    )
    route: Route | None = option(
        None, "How layers are brought together. Default: what fits the memory best.", RUN
    )
    precision: Precision | None = option(
        None, "Of the products. Default: what suits the rows.", RUN
    )
    sample_rows: int = option(
        ROWS,
        f"Rows that are kept as they are: for permutations; of them at most {SAMPLED:,} for measures of rows.",
        RUN,
        least=0,
    )

    def check(self) -> None:
        """Raise if a measure or one of its options is not known, or a number cannot be meant."""
        self.check_intervals()
        measures = choose_measures(self.measures)
        check_options(measures, dict(self.measure_options))
        if self.sample_rows < FEWEST_ROWS and (
            self.permutations or any(m.needs != "moments" for m in measures)
        ):
            raise MeasureError(
                f"Permutations, and measures that need rows, are computed on a sample of {FEWEST_ROWS} rows at least; "
                f"got sample_rows={self.sample_rows}."
            )
        if (
            self.sample_rows > SAMPLED
            and self.sample_rows != ROWS
            and not self.permutations
            and any(m.needs != "moments" for m in measures)
        ):
            raise MeasureError(
                f"Measures of rows are computed on {SAMPLED:,} rows at most, for they cost n²; sample_rows="
                f"{self.sample_rows} would change nothing without permutations. Give {SAMPLED:,} or fewer, or leave it "
                f"out."
            )
        if self.held_out and not any(m.fitted for m in measures):
            raise MeasureError(
                "held_out is for measures that fit something: mixedsim, svsim, pwsim. Nothing is fitted in "
                f"{', '.join(m.name for m in measures)}."
            )
