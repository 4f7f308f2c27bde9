"""Layers side by side read like one matrix: the same as numpy's own, whatever is asked of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lmkin.activations import JoinedLayers, LayerView

PIECES = [[4, 7], [11], [3, 0, 8]]
"""Rows of the pieces that each of three layers is stored in."""
WIDTHS = (2, 5, 1)


def joined() -> tuple[JoinedLayers, Any]:
    random = np.random.default_rng(0)
    layers = [
        [random.normal(size=(n, width)).astype(np.float32) for n in pieces]
        for pieces, width in zip(PIECES, WIDTHS, strict=True)
    ]
    whole = np.hstack([np.concatenate(pieces) for pieces in layers])
    return JoinedLayers([LayerView(pieces) for pieces in layers]), whole


SLICES = st.builds(slice, st.none() | st.integers(-12, 12), st.none() | st.integers(-12, 12))
ROWS = SLICES | st.lists(st.integers(0, 10), min_size=1, max_size=6)
COLUMNS = SLICES | st.lists(st.integers(0, 7), min_size=1, max_size=6)


@given(rows=ROWS, columns=COLUMNS)
def test_rows_and_columns(rows: Any, columns: Any) -> None:
    made, whole = joined()
    np.testing.assert_array_equal(made[rows], whole[rows])
    np.testing.assert_array_equal(made[rows, columns], whole[rows][:, columns])


@given(first=st.integers(0, 2), count=st.integers(1, 3), rows=st.lists(st.integers(0, 10), min_size=1))  # fmt: skip
def test_some_layers_of_some_rows(first: int, count: int, rows: list[int]) -> None:
    made, whole = joined()
    end = min(first + count, 3)
    edges = np.cumsum([0, *WIDTHS])
    part = made.part(first, end).select(rows)
    np.testing.assert_array_equal(np.asarray(part), whole[rows][:, edges[first] : edges[end]])
    assert part.shape == (len(rows), int(edges[end] - edges[first]))
    assert len(part) == len(rows)
    assert part.nbytes == 4 * part.shape[0] * part.shape[1]


def test_its_type_is_that_of_all_layers() -> None:
    views = [LayerView([np.zeros((2, 3), kind)]) for kind in (np.float16, np.float32)]
    assert JoinedLayers(views).dtype == np.float32
    assert JoinedLayers(views[:1])[:].dtype == np.float16
