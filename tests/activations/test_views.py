from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lmkin
from lmkin.activations.views import LayerView


@st.composite
def view_and_array(draw) -> tuple[LayerView, np.ndarray]:
    """A view of some pieces, perhaps of chosen rows, and the array that it must equal."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    pieces = [rng.normal(size=(n, 3)).astype(np.float32) for n in sizes]
    whole = np.concatenate(pieces)
    if draw(st.booleans()):
        rows = np.array(draw(st.lists(st.integers(0, len(whole) - 1), min_size=1, max_size=9)))
        return LayerView(pieces, rows), whole[rows]
    return LayerView(pieces), whole


@given(view_and_array(), st.data())
def test_a_view_indexes_as_the_array(pair, data) -> None:
    view, array = pair
    n = len(array)
    assert view.shape == array.shape
    np.testing.assert_array_equal(np.asarray(view), array)
    part = data.draw(st.slices(n))
    np.testing.assert_array_equal(view[part], array[part])
    index = data.draw(st.integers(-n, n - 1))
    np.testing.assert_array_equal(view[index], array[index])
    np.testing.assert_array_equal(view[index, 1], array[index, 1])
    np.testing.assert_array_equal(view[part, 1:], array[part, 1:])
    chosen = data.draw(st.lists(st.integers(-n, n - 1), max_size=5))
    np.testing.assert_array_equal(view[np.array(chosen, int)], array[np.array(chosen, int)])
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    np.testing.assert_array_equal(view[mask], array[mask])


@given(view_and_array())
def test_numpy_takes_a_view_for_an_array(pair) -> None:
    view, array = pair
    np.testing.assert_array_equal(view * 2 + 1, array * 2 + 1)
    np.testing.assert_array_equal(np.mean(view, axis=0), array.mean(0))
    np.testing.assert_allclose(view @ np.ones((3, 2)), array @ np.ones((3, 2)))
    assert np.asarray(view, dtype=np.float64).dtype == np.float64


def test_past_the_end() -> None:
    with pytest.raises(IndexError):
        LayerView([np.zeros((2, 3))])[2]


def test_blocks_stream_all_rows_of_all_layers(tiny, sample, tmp_path) -> None:
    acts = lmkin.extract(tiny, sample[:30], tmp_path / "a", shard_bytes=20_000, batch_tokens=32)
    blocks = list(acts.blocks(rows=37))
    assert [len(b[0]) for b in blocks[:-1]] == [37] * (len(blocks) - 1)
    for layer in acts.layers:
        np.testing.assert_array_equal(
            np.concatenate([b[layer] for b in blocks]), np.asarray(acts.layer(layer))
        )


def test_layers_are_mapped_not_read(tiny, sample, tmp_path) -> None:
    lmkin.extract(tiny, sample[:30], tmp_path / "a")
    acts = lmkin.open_activations(tmp_path / "a")
    piece = acts._pieces[0][0]
    while piece.base is not None and not isinstance(piece, np.memmap):
        piece = piece.base
    assert isinstance(piece, np.memmap)


def test_select_and_sentence(tiny, sample) -> None:
    acts = lmkin.extract(tiny, sample[:10])
    some = acts.select(np.arange(len(acts)) % 2 == 0).select([3, 1])
    assert some.units.texts == [acts.units.texts[6], acts.units.texts[2]]
    np.testing.assert_array_equal(np.asarray(some.layer(1)), acts.layer(1)[[6, 2]])
    assert acts.sentence(4)[1].shape == (len(sample[4]), 32)


def test_tags_follow_the_rows(tiny, sample) -> None:
    acts = lmkin.extract(tiny, sample[:10])
    assert acts.units.tags("upos") == sample[:10].tags("upos")
    nouns = acts.select(np.array(acts.units.tags("upos")) == "NOUN")
    assert set(nouns.units.tags("upos")) == {"NOUN"}
