"""What holds for any attention maps: random ones, with zeros, with one position, even ones, of one word and more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lmkin
from attention.naive_attention import MEASURES, SINKS, compared_rows, head_table, of_arrays
from attention.random_maps import KINDS, random_layer
from lmkin.analyses.attention.array_maps import ArrayMaps
from lmkin.analyses.attention.maps import Entries, SentenceMaps, View, entries_of
from lmkin.analyses.attention.sums import HeadSums
from lmkin.core.parallel import workers

few = settings(max_examples=50, deadline=None)
seeds = st.integers(0, 2**31)
# One sentence of three words at least: shorter ones hold nothing to compare without the first word.
lengths = st.tuples(
    st.lists(st.integers(1, 6), max_size=4), st.integers(3, 6), st.lists(st.integers(1, 4))
).map(lambda parts: [*parts[0], parts[1], *parts[2][:3]])
dtypes = st.sampled_from([np.float64, np.float32])


@st.composite
def layers(draw: Any, kinds: tuple[str, ...] = KINDS) -> dict[str, list[Any]]:
    """One to three layers with their own kinds and numbers of heads, some causal."""
    some = draw(lengths)
    dtype = draw(dtypes)
    return {
        f"m/{k}": random_layer(
            draw(seeds),
            draw(st.integers(1, 3)),
            some,
            draw(st.sampled_from(kinds)),
            causal=draw(st.booleans()),
            dtype=dtype,
        )
        for k in range(draw(st.integers(1, 3)))
    }


def tables(maps: Any, **options: Any) -> dict[tuple[str, str], Any]:
    """Head × head, by measure and sink."""
    result = lmkin.attention_similarity(
        maps, measures=MEASURES, intervals=False, progress=False, **options
    )
    return {(m, s): result[f"{m}_heads"].sel(sink=s).values for m in MEASURES for s in SINKS}


@few
@given(layers())
def test_finite_symmetric_and_within_range(maps: dict[str, list[Any]]) -> None:
    longest = max(len(m[0]) for m in maps["m/0"])
    for (measure, _), table in tables(maps).items():
        assert np.isfinite(table).all()
        assert table == pytest.approx(table.T, abs=1e-12)
        low = {"js": 0, "pearson": -1, "norm": -np.sqrt(2 * longest)}[measure]
        high = {"js": 1, "pearson": 1, "norm": 0}[measure]
        assert (table >= low - 1e-6).all()
        assert (table <= high + 1e-6).all()


@few
@given(layers())
def test_equals_the_loops(maps: dict[str, list[Any]]) -> None:
    naive = of_arrays(maps)
    for (measure, sink), table in tables(maps).items():
        expected = head_table(measure, naive, sink=sink)
        assert table == pytest.approx(expected, abs=2e-6), (measure, sink)


@few
@given(st.data())
@pytest.mark.slow
def test_the_same_model_twice(data: Any) -> None:
    maps = data.draw(layers(("dense",)))
    both = maps | {name.replace("m", "n"): listed for name, listed in maps.items()}
    sizes = [len(listed[0]) for listed in maps.values()]
    best = {"js": 1, "pearson": 1, "norm": 0}
    for measure in MEASURES:
        for sink in SINKS:
            table = lmkin.attention_similarity(both, measures=measure, intervals=False).matrix(
                sink=sink
            )
            for i, heads in enumerate(sizes):
                j = i + len(sizes)
                for x, y in ((i, j), (j, i), (i, i)):
                    assert table.values[x, y] == pytest.approx(best[measure], abs=1e-6)
                    if measure == "pearson" and min_positions(both, sink) < 3:
                        continue  # two positions: many heads correlate by 1
                    assert table.attrs["match"][x, y, :heads].tolist() == list(range(heads))


def min_positions(maps: dict[str, list[Any]], sink: str) -> int:
    """Of the longest row that is compared, in any view."""
    found = []
    for listed in of_arrays(maps).values():
        for past in (False, True):
            rows = [r for m in listed for r in compared_rows(m, 0, past=past, sink=sink)]
            found.append(max(len(r) for r in rows))
    return min(found)


@few
@given(layers(), st.sampled_from(MEASURES), st.sampled_from(SINKS))
@pytest.mark.slow
def test_any_head_is_nearest_to_itself(maps: dict[str, list[Any]], measure: str, sink: str) -> None:
    """Also with zeros and even rows, where several heads may be as near; a correlation of even rows is 0."""
    diagonal = np.diag(tables(maps)[measure, sink])
    if measure == "norm":
        assert (diagonal == 0).all()
    elif measure == "js":
        assert diagonal == pytest.approx(np.ones(len(diagonal)), abs=1e-6)
    else:
        off = np.minimum(np.abs(diagonal), np.abs(diagonal - 1))
        assert off == pytest.approx(np.zeros(len(diagonal)), abs=1e-6)


@few
@given(st.data())
@pytest.mark.slow
def test_permuted_heads_permute_the_matches(data: Any) -> None:
    some = data.draw(lengths)
    X, Y = (random_layer(data.draw(seeds), heads, some) for heads in (3, 4))
    order = data.draw(st.permutations(range(4)))
    measure = data.draw(st.sampled_from(MEASURES))
    plain, mixed = (
        lmkin.attention_similarity(
            {"x/1": X, "y/1": there}, measures=measure, intervals=False
        ).matrix()
        for there in (Y, [m[list(order)] for m in Y])
    )
    assert mixed.values == pytest.approx(plain.values, abs=1e-9)
    assert mixed.dropped.values == pytest.approx(plain.dropped.values, abs=1e-9)
    heads = head_table(measure, of_arrays({"x/1": X, "y/1": Y}), sink="kept")
    for k in range(3):
        row = np.sort(heads[k, 3:])
        if row[-1] - row[-2] > 1e-9:  # of equal matches the first is named
            best = plain.attrs["match"][0, 1, k]
            assert order[mixed.attrs["match"][0, 1, k]] == best
    for k in range(4):
        column = np.sort(heads[3 + k, :3])
        if column[-1] - column[-2] > 1e-9:
            there = mixed.attrs["match"][1, 0, order.index(k)]
            assert there == plain.attrs["match"][1, 0, k]


@few
@given(layers(), st.sampled_from(SINKS), st.booleans())
def test_compared_rows_sum_to_one(maps: dict[str, list[Any]], sink: str, past: bool) -> None:
    naive = of_arrays(maps)
    for number, sentence in ArrayMaps(maps, 1).sentences():
        entries = entries_of(sentence, View(sink, past))
        assert entries.single + len(entries.lengths) == sentence.weights.shape[1]
        expected = [
            compared_rows(m[number], k, past=past, sink=sink)
            for m in naive.values()
            for k in range(len(m[number].whole))
        ]
        for values, rows in zip(entries.values, expected, strict=True):
            assert entries.lengths.tolist() == [len(row) for row in rows]
            found = np.split(values, np.cumsum(entries.lengths))[:-1]
            for row, numbers in zip(found, rows, strict=True):
                assert len(row) > 1
                assert row.sum() == pytest.approx(1, abs=1e-5)
                # The first word, if it is kept, stands last here.
                assert sorted(row) == pytest.approx(sorted(numbers), abs=1e-6)


# -- running sums ------------------------------------------------------------------------------------


def entries_at_random(seed: int, heads: int, counts: list[int]) -> list[Entries]:
    found = []
    for k, n in enumerate(counts):
        (one,) = random_layer(seed + k, heads, [n])
        maps = SentenceMaps(one, np.full(one.shape[:2], 0.25))
        found.append(entries_of(maps, View("kept", past=False)))
    return found


def sums_of(some: list[Entries]) -> HeadSums:
    result = HeadSums(3, MEASURES)
    with workers(threads=False) as run:
        result.add(some, run)
    result.sink += 0.25 * sum(len(e.lengths) for e in some)
    result.counts["all_words"] += sum(len(e.lengths) for e in some)
    return result


def assert_same(a: HeadSums, b: HeadSums) -> None:
    assert a.counts == b.counts
    assert a.sink == pytest.approx(b.sink)
    assert set(a.tables) == set(b.tables) == {*MEASURES, "pearson_rows"}
    for name, table in a.tables.items():
        assert table == pytest.approx(b.tables[name], abs=1e-10)
    for measure in MEASURES:
        assert a.similarity(measure) == pytest.approx(b.similarity(measure), abs=1e-10)


@few
@given(seeds, st.lists(st.integers(1, 6), min_size=3, max_size=8), st.data())
def test_sums_merge_in_any_order_and_split(seed: int, counts: list[int], data: Any) -> None:
    entries = entries_at_random(seed, 3, counts)
    whole = sums_of(entries)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(entries)), min_size=2, max_size=2)))
    order = data.draw(st.permutations(entries))
    a, b, c = (
        sums_of(order[start:stop])
        for start, stop in zip([0, *cuts], [*cuts, len(entries)], strict=True)
    )
    assert_same(a.merge(b).merge(c), whole)
    assert_same(a.merge(b.merge(c)), whole)
    assert_same(c.merge(a).merge(b), whole)
    assert_same(whole.merge(c, -1), a.merge(b))
    assert_same(a.merge(HeadSums(3, MEASURES)), a)
    one_by_one = HeadSums(3, MEASURES)
    for each in entries:
        one_by_one = one_by_one.merge(sums_of([each]))
    assert_same(one_by_one, whole)
