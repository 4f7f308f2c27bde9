"""From rows to moments by split and part, in one pass; also with the rows of each model shuffled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import LayerId, MomentsError, Split
from ...moments import Moments, MomentSums
from ...rows import CHUNK, RowSource, SlicedSource, Workspace, one_pass
from .joint import COVARIATE
from .row_sample import Kept
from .shuffled_moments import Shuffle, ShuffledMoments, SplitShuffle, WindowShuffle

FloatArray = NDArray[np.float64]


def functions_of_length(lengths: Any) -> FloatArray:
    """Length, its logarithm and its inverse: a mean over tokens may depend on it in any of these ways."""
    size = np.asarray(lengths, np.float64).reshape(-1)
    if not np.isfinite(size).all() or (size <= 0).any():
        raise MomentsError("Lengths are numbers above 0, one a row.")
    return np.stack([size, np.log(size), 1 / size], axis=1)


def collect(
    source: RowSource,
    split: Split,
    kept: Kept,
    *,
    lengths: FloatArray | None = None,
    precision: str | None = None,
    null: bool = False,
    seed: int = 0,
    work: Workspace | None = None,
    progress: bool | None = None,
) -> tuple[Moments, Moments | None, Kept]:
    """Moments of all rows, parts named by the labels of the split; those of shuffled rows, if asked; and kept rows."""
    if any(layer.model == COVARIATE for layer in source.widths):
        raise MomentsError(f"{COVARIATE!r} is the name of something else here: rename that model.")
    rows = source.with_parts(split.labels)
    if lengths is not None:
        covariate = functions_of_length(lengths)
        if (covariate == covariate[0]).all():
            raise MomentsError(
                "All lengths are constant, so there is nothing to regress out: give none."
            )
        rows = rows.with_columns({LayerId(COVARIATE, 0): covariate})
    accumulators: dict[str, Any] = {
        "moments": MomentSums(precision=precision, sample_rows=0),
        "kept": kept,
    }
    if null:
        shuffle: Shuffle = WindowShuffle(CHUNK, seed)
        if isinstance(rows, SlicedSource):
            shuffle = SplitShuffle(rows, split, seed)
        accumulators["shuffled"] = ShuffledMoments(rows.n, shuffle, seed=seed, precision=precision)
    made = one_pass(rows, accumulators, work=work, title="moments", progress=progress)
    moments: Moments = made["moments"].moments
    moments.info = dict(source.info)
    return moments, made["shuffled"].moments if null else None, made["kept"]


def parts_by_split(moments: Moments, split: Split) -> Mapping[str, list[tuple[Moments, Any]]]:
    """Split → its parts."""
    return {name: [(moments, label) for label in labels] for name, labels in split.parts.items()}
