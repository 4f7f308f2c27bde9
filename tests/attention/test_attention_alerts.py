"""What a comparison of attention warns of, and what it does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lmkin
from attention.random_maps import random_layer

LENGTHS = [6] * 12


def alerts(maps: Any, measures: str = "js", **options: Any) -> list[str]:
    result = lmkin.attention_similarity(maps, measures=measures, **options)
    return [str(alert) for alert in result.alerts]


def looking_at_first(share: float, heads: int = 1) -> list[Any]:
    """That share of every row goes to the first word, the rest evenly to the others."""
    rest = (1 - share) / 5
    return [np.tile([share, *[rest] * 5], (heads, 6, 1)) for _ in LENGTHS]


def test_nothing_to_say() -> None:
    assert alerts({"a/1": random_layer(1, 3, LENGTHS), "b/1": random_layer(2, 2, LENGTHS)}) == []


def test_heads_that_give_more_than_half_to_the_sink() -> None:
    halves = [np.concatenate([looking_at_first(s)[0] for s in (0.49, 0.51, 0.9)]) for _ in LENGTHS]
    maps = {"a/1": halves, "a/2": looking_at_first(0.5), "b/1": random_layer(2, 2, LENGTHS)}
    (said,) = alerts(maps)
    assert said.startswith("attention sink: a has 2 heads ")
    assert "1/1 (51%), 1/2 (90%)" in said


def test_rows_of_which_nothing_is_left() -> None:
    dense = random_layer(3, 1, LENGTHS)  # a layer that never looks ahead would count as causal
    blind = [np.concatenate(m) for m in zip(looking_at_first(1.0, heads=2), dense, strict=True)]
    found = alerts({"a/1": blind, "b/1": random_layer(2, 2, LENGTHS)})
    assert any(a.startswith(f"nothing left: {2 * 6 * 12} rows") for a in found)
    nearly = alerts({"a/1": looking_at_first(0.999), "b/1": random_layer(2, 2, LENGTHS)})
    assert not any(a.startswith("nothing left") for a in nearly)


@pytest.mark.parametrize("measure", ["js", "pearson"])
def test_even_heads_have_no_correlation(measure: str) -> None:
    maps = {"a/1": random_layer(1, 2, LENGTHS, "even"), "b/1": random_layer(2, 2, LENGTHS)}
    found = alerts(maps, measure)
    said = [a for a in found if a.startswith("even heads: 2 heads")]
    assert len(said) == (measure == "pearson")
    if said:
        assert "a/1/0, a/1/1." in said[0]
        table = lmkin.attention_similarity(maps, measures="pearson").matrix()
        assert table.values[0].tolist() == [0, 0]
        assert table.values[1, 1] == pytest.approx(1)


def test_many_words_that_see_one_position() -> None:
    short = [3, 1, 2, 1, 3, 1] * 2
    found = alerts({"a/1": random_layer(1, 2, short), "b/1": random_layer(2, 2, short)})
    # Without the first word, two words see one other and one word none.
    assert any(a.startswith("words left out: 10 words (45%)") for a in found)
    assert not any(a.startswith("words left out") for a in alerts({"a/1": random_layer(1, 2, [6])}))


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (10, ""),
        (5, ""),
        (4, "few parts: The intervals rest on 4"),
        (2, "few parts: The intervals rest on 2"),
    ],
)
def test_few_parts(parts: int, said: str) -> None:
    maps = {"a/1": random_layer(1, 3, LENGTHS)}
    found = alerts(maps, parts=parts)
    assert (not found) if not said else found[0].startswith(said)
    assert alerts(maps, parts=parts, intervals=False) == []
    result = lmkin.attention_similarity(maps, measures="js", parts=parts)
    assert ("js_se" in result) == (parts > 1)
