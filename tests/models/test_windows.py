from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import families
import lmkin
from lmkin.models.layout import fit_pair
from lmkin.models.rule import UnitRule
from lmkin.models.windows import cut, owners


def rule(long: str = "window", overlap: int | None = None) -> UnitRule:
    return UnitRule.make(long=long, overlap=overlap)


@given(st.integers(1, 200), st.integers(2, 50), st.integers(1, 60))
def test_windows_cover_everything_and_overlap(length: int, size: int, overlap: int) -> None:
    overlap = min(overlap, size // 2)
    windows = cut(length, size, rule(overlap=overlap))
    assert {t for a, b in windows for t in range(a, b)} == set(range(length))
    assert all(b - a <= size for a, b in windows)
    for (_, end), (start, _) in itertools.pairwise(windows):
        assert end - start >= overlap


@given(st.integers(1, 200), st.integers(2, 50), st.integers(1, 60), st.booleans())
def test_owner_sees_most_context(length: int, size: int, overlap: int, causal: bool) -> None:
    windows = cut(length, size, rule(overlap=min(overlap, size // 2)))

    def context(token: int, window: tuple[int, int]) -> float:
        a, b = window
        if not a <= token < b:
            return -1
        left = np.inf if a == 0 and not causal else token - a
        right = np.inf if b == length or causal else b - 1 - token
        return min(left, right)

    for token, owner in enumerate(owners(length, windows, causal=causal)):
        assert context(token, windows[owner]) == max(context(token, w) for w in windows)


@given(st.integers(1, 100), st.integers(2, 50))
def test_truncation_keeps_the_beginning(length: int, size: int) -> None:
    windows = cut(length, size, rule("truncate"))
    owner = owners(length, windows, causal=False)
    assert owner == [0 if t < size else -1 for t in range(length)]


@given(st.integers(0, 60), st.integers(0, 60), st.integers(2, 60))
def test_pairs_fit_and_the_longer_text_is_cut_first(a: int, b: int, room: int) -> None:
    x, y = fit_pair(a, b, room)
    assert x <= a
    assert y <= b
    assert x + y == min(a + b, room)
    if x < a and y < b:
        assert abs(x - y) <= 1


@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_vectors_of_a_long_sentence_come_from_the_best_window(model_folder, name: str) -> None:
    """Each word's vector is that of a run of its window alone, tokenized by hand."""
    model = lmkin.load_model(model_folder(name))
    words = [w for w in lmkin.read_corpus("sample").words if w.isalpha()][:120]
    sentence = families.sentence(" ".join(words), words, "long")
    acts = lmkin.extract(model, lmkin.Corpus([sentence]), max_length=32, overlap=10)
    template = model.tokenizer.single
    tokens = model.tokenizer.encode([sentence.text])[0]
    room = 32 - template.size
    windows = cut(len(tokens), room, rule(overlap=10))
    assert len(windows) > 3
    states = []
    for a, b in windows:
        ids, types = template.wrap(tokens.ids[a:b])
        states.append([s[0].numpy() for s in model.forward([ids], [types]).hidden_states])
    owner = owners(len(tokens), windows, causal=model.causal)
    for row in range(len(acts)):
        start, end = acts.units.start[row], acts.units.end[row]
        last = max(t for t, (c, d) in enumerate(tokens.spans) if c < end and d > start)
        window = owner[last]
        position = last - windows[window][0] + len(template.prefix)
        for layer in acts.layers:
            expected = states[window][layer][position]
            np.testing.assert_allclose(acts.layer(layer)[row], expected, atol=1e-4)


def test_an_overlap_of_more_than_half_is_refused() -> None:
    with pytest.raises(lmkin.LmkinError, match="Choose at most 10"):
        cut(100, 20, rule(overlap=11))
