"""js, pearson and norm of heads against their definitions, written as loops."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import lmkin
from attention.naive_attention import (
    MEASURES,
    SINKS,
    best_matches,
    blocks,
    compared_rows,
    head_table,
    is_causal,
    layer_table,
    of_arrays,
)
from attention.random_maps import LENGTHS, random_layer, random_map, without
from lmkin.results.intervals import jackknife

TOLERANCE = {np.float64: 1e-12, np.float32: 1e-6}
CASES: dict[str, dict[str, Any]] = {
    "both directions": {
        "a/1": random_layer(1, 3),
        "a/2": random_layer(2, 3),
        "b/5": random_layer(3, 1),
        "c/1": random_layer(4, 4),
    },
    "causal": {
        "a/1": random_layer(5, 2, causal=True),
        "b/1": random_layer(6, 3, causal=True),
    },
    "causal and not": {
        "a/1": random_layer(7, 2),
        "b/1": random_layer(8, 3, causal=True),
        "a/2": random_layer(9, 1),
        "b/2": random_layer(10, 2, causal=True),
    },
    "zeros": {
        "a/1": random_layer(11, 3, kind="sparse"),
        "b/1": random_layer(12, 2, kind="one position"),
        "c/1": random_layer(13, 2, kind="sparse", causal=True),
    },
    "nothing but the first word": {
        "a/1": random_layer(14, 2, kind="first word only"),
        "b/1": random_layer(15, 3),
    },
    "even": {"a/1": random_layer(16, 2, kind="even"), "b/1": random_layer(17, 2)},
}
every_case = pytest.mark.parametrize("case", CASES)
every_measure = pytest.mark.parametrize("measure", MEASURES)


def compare(
    maps: Any,
    measure: str,
    *,
    released: bool = False,
    sink: str | None = None,
    heads: bool = False,
    **options: Any,
) -> Any:
    convention = "released" if released else "paper"
    result = lmkin.attention_similarity(
        maps, measures=measure, intervals=False, convention=convention, **options
    )
    return result.head_matrix(sink=sink) if heads else result.matrix(sink=sink)


@pytest.mark.parametrize("released", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@every_measure
@every_case
def test_equals_the_definition(case: str, measure: str, dtype: Any, released: bool) -> None:
    maps = {name: [m.astype(dtype) for m in listed] for name, listed in CASES[case].items()}
    layers = of_arrays(maps)
    table = compare(maps, measure, released=released)
    assert table.x.values.tolist() == table.y.values.tolist() == list(maps)
    for sink in SINKS:
        heads = head_table(measure, layers, sink=sink, released=released)
        found = compare(maps, measure, released=released, sink=sink, heads=True)
        assert found.values == pytest.approx(heads, abs=TOLERANCE[dtype])
        expected = pytest.approx(layer_table(heads, layers), abs=TOLERANCE[dtype])
        assert table.coords[sink].values == expected
        assert compare(maps, measure, released=released, sink=sink).values == expected
    assert (table.values == table.kept.values).all()


def test_the_cases_hold_what_they_say() -> None:
    found = {c: {n: is_causal(m) for n, m in of_arrays(maps).items()} for c, maps in CASES.items()}
    assert all(found["causal"].values())
    assert not any(found["both directions"].values())
    assert found["causal and not"] == {"a/1": False, "b/1": True, "a/2": False, "b/2": True}
    assert {1, 2} < set(LENGTHS)


@every_measure
@pytest.mark.parametrize("case", ["both directions", "causal and not"])
def test_matches(case: str, measure: str) -> None:
    maps = CASES[case]
    layers = of_arrays(maps)
    result = lmkin.attention_similarity(maps, measures=measure, intervals=False)
    for sink in SINKS:
        heads = head_table(measure, layers, sink=sink)
        match = compare(maps, measure, sink=sink).attrs["match"]
        for i, (x, rows) in enumerate(zip(maps, blocks(layers), strict=True)):
            for j, (y, columns) in enumerate(zip(maps, blocks(layers), strict=True)):
                expected = best_matches(heads, rows, columns)
                count = len(expected)
                assert match[i, j, :count].tolist() == expected
                assert (match[i, j, count:] == -1).all()
                (a, k), (b, m) = (name.split("/") for name in (x, y))
                place = {"model_x": a, "layer_x": int(k), "model_y": b, "layer_y": int(m)}
                there = result[f"{measure}_match"].sel(sink=sink, **place).values
                assert there[:count].tolist() == expected


@every_case
def test_words_that_see_one_position_are_counted(case: str) -> None:
    layers = of_arrays(CASES[case])
    one = next(iter(layers.values()))
    words = sum(LENGTHS)
    causal = [is_causal(listed) for listed in layers.values()]
    pasts = ([False] if not all(causal) else []) + ([True] if any(causal) else [])
    counts = json.loads(compare(CASES[case], "js").attrs["counts"])
    assert len(counts) == 2 * len(pasts)
    for sink in SINKS:
        for past in pasts:
            kept = [len(compared_rows(m, 0, past=past, sink=sink)) for m in one]
            found = counts[f"{sink}, {'past' if past else 'all'}"]
            assert found["words"] == sum(kept)
            assert found["single"] == words - sum(kept)
            assert found["sentences"] == sum(k > 0 for k in kept)
            assert found["all_words"] == words


@every_case
def test_share_of_the_sink(case: str) -> None:
    maps = CASES[case]
    result = lmkin.attention_similarity(maps, measures="js", intervals=False)
    expected = {
        f"{name}/{k}": np.mean([share for m in listed for share in m[k, :, 0]])
        for name, listed in maps.items()
        for k in range(len(listed[0]))
    }
    found = dict(zip(result.head_name.values.tolist(), result.sink_share.values, strict=True))
    assert found == pytest.approx(expected, abs=1e-12)


def test_rows_that_nearly_sum_to_one_are_made_to() -> None:
    maps = CASES["both directions"]
    rough = {name: [m * 1.0008 for m in listed] for name, listed in maps.items()}
    for measure in MEASURES:
        assert compare(rough, measure).values == pytest.approx(compare(maps, measure).values)


def test_other_libraries_and_narrow_numbers() -> None:
    torch = pytest.importorskip("torch")
    maps = CASES["both directions"]
    tensors = {
        name: [torch.tensor(m, requires_grad=True) for m in listed] for name, listed in maps.items()
    }
    assert compare(tensors, "js").values == pytest.approx(compare(maps, "js").values, abs=1e-12)
    half = {name: [m.astype(np.float16) for m in listed] for name, listed in maps.items()}
    exact = of_arrays(half)
    expected = layer_table(head_table("js", exact, sink="kept"), exact)
    assert compare(half, "js").values == pytest.approx(expected, abs=1e-6)


# -- batches, threads and parts change nothing ------------------------------------------------


@pytest.mark.parametrize("batch", [1, 40, 10**6])
@every_measure
def test_any_batch(measure: str, batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    maps = CASES["causal and not"]
    expected = compare(maps, measure, heads=True).values
    monkeypatch.setattr("lmkin.analyses.attention.sources.BATCH", batch)
    assert compare(maps, measure, heads=True).values == pytest.approx(expected, abs=1e-12)


def test_several_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    maps = CASES["causal and not"]
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    alone = compare(maps, "js", heads=True).values
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert (compare(maps, "js", heads=True).values == alone).all()


@every_measure
def test_the_order_of_sentences_does_not_matter(measure: str) -> None:
    maps = CASES["causal and not"]
    order = np.random.default_rng(0).permutation(len(LENGTHS))
    mixed = {name: [listed[i] for i in order] for name, listed in maps.items()}
    expected = compare(maps, measure, heads=True).values
    assert compare(mixed, measure, heads=True).values == pytest.approx(expected, abs=1e-12)


# -- the jackknife -----------------------------------------------------------------------------------


def naive_without(
    maps: dict[str, Any], measure: str, sink: str, parts: list[Any]
) -> tuple[list[Any], Any, Any]:
    """Values without each part, and how many words of it are compared: on all positions, on those before."""
    layers = of_arrays(maps)
    causal = {name: is_causal(listed) for name, listed in layers.items()}
    one = next(iter(layers.values()))
    values, sizes = [], {False: [], True: []}
    for part in sorted(set(parts)):
        gone = [number for number, p in enumerate(parts) if p == part]
        left = without(layers, gone)
        values.append(layer_table(head_table(measure, left, sink=sink, causal=causal), left))
        for past, listed in sizes.items():
            listed.append(sum(len(compared_rows(one[n], 0, past=past, sink=sink)) for n in gone))
    return values, sizes[False], sizes[True]


@every_measure
@pytest.mark.parametrize("case", ["both directions", "causal", "causal and not", "zeros"])
def test_standard_errors_leave_out_each_part(case: str, measure: str) -> None:
    maps = CASES[case]
    layers = of_arrays(maps)
    causal = np.array([is_causal(listed) for listed in layers.values()])
    past = causal[:, None] | causal[None, :]
    parts = ["b", "a", "b", "a", "c", "c", "c", "a", "b", "b"]  # unequal, and not in order
    for sink in SINKS:
        values, of_all, of_past = naive_without(maps, measure, sink, parts)
        table = lmkin.attention_similarity(maps, measures=measure, parts=parts, level=0.9).matrix(
            sink=sink
        )
        whole = layer_table(head_table(measure, layers, sink=sink), layers)
        assert table.values == pytest.approx(whole, abs=1e-12)
        assert table.attrs["without"] == pytest.approx(np.array(values), abs=1e-12)
        assert table.attrs["parts"] == 3
        ends = [jackknife(whole, np.array(values), sizes, 0.9) for sizes in (of_all, of_past)]
        for name in ("se", "low", "high"):
            expected = np.where(past, getattr(ends[1], name), getattr(ends[0], name))
            assert table.coords[name].values == pytest.approx(expected, abs=1e-11), name


def test_a_number_of_parts_cuts_between_sentences() -> None:
    """Neighbours, with about as many words each."""
    maps = {"a/1": random_layer(20, 2, [4] * 12), "b/1": random_layer(21, 3, [4] * 12)}
    numbered = lmkin.attention_similarity(maps, measures="js", parts=4).matrix()
    labelled = lmkin.attention_similarity(
        maps, measures="js", parts=np.repeat(range(4), 3)
    ).matrix()
    assert numbered.attrs["parts"] == 4
    assert (numbered.se.values == labelled.se.values).all()
    assert (numbered.se.values[0, 1] > 0).all()


def test_parts_without_words_to_compare_are_none() -> None:
    rng = np.random.default_rng(3)
    maps = {f"{m}/1": [random_map(rng, 2, n) for n in (4, 5, 1, 6, 1)] for m in "ab"}
    labels = [0, 1, 2, 3, 4]
    short = {name: [listed[i] for i in (0, 1, 3)] for name, listed in maps.items()}
    found = lmkin.attention_similarity(maps, measures="js", parts=labels).matrix()
    assert found.attrs["parts"] == 3
    assert found.se.values == pytest.approx(
        lmkin.attention_similarity(short, measures="js", parts=[0, 1, 2]).matrix().se.values
    )


def test_the_dataset_holds_the_same_numbers() -> None:
    maps = CASES["causal and not"]
    result = lmkin.attention_similarity(maps, measures="js, norm", parts=3)
    assert set(result.dataset.sizes) >= {
        "sink",
        "model_x",
        "layer_x",
        "model_y",
        "layer_y",
        "part",
        "head",
    }
    for measure in ("js", "norm"):
        for sink in SINKS:
            table = lmkin.attention_similarity(maps, measures=measure, parts=3).matrix(sink=sink)
            heads = lmkin.attention_similarity(maps, measures=measure, parts=3).head_matrix(
                sink=sink
            )
            there = result[f"{measure}_heads"].sel(sink=sink)
            assert (there.values == heads.values).all()
            assert there.head_name.values.tolist() == heads.head_x.values.tolist()
            for i, x in enumerate(maps):
                for j, y in enumerate(maps):
                    place = {
                        "sink": sink,
                        "model_x": x[0],
                        "layer_x": int(x[2:]),
                        "model_y": y[0],
                        "layer_y": int(y[2:]),
                    }
                    assert result[measure].sel(place).item() == table.values[i, j]
                    for end in ("se", "low", "high"):
                        found = result[f"{measure}_{end}"].sel(place).item()
                        assert found == table.coords[end].values[i, j]
                    found = result[f"{measure}_without"].sel(place).values
                    assert (found == table.attrs["without"][:, i, j]).all()


def test_layers_that_a_model_lacks_are_empty() -> None:
    maps = CASES["both directions"]
    result = lmkin.attention_similarity(maps, measures="js", intervals=False)
    lacking = result.dataset.sel(model_x="b", layer_x=1, model_y="a", layer_y=1)
    assert np.isnan(lacking.js.values).all()
    assert (lacking.js_match.values == -1).all()
    assert not np.isnan(result.js_heads.values).any()


# -- what the user says of maps, and maps too short to do without the first word ----------------------


def test_maps_that_never_look_ahead_by_chance_may_be_said_to_see_everything() -> None:
    """Heads that happen to look back only are compared on all positions where the user says that they see them."""
    maps = {"a/1": random_layer(1, 3, [4, 6], causal=True), "b/1": random_layer(2, 2, [4, 6])}
    past = lmkin.attention_similarity(maps, measures="js").head_matrix()
    everything = lmkin.attention_similarity(maps, measures="js", causal=False).head_matrix()
    assert (
        past == lmkin.attention_similarity(maps, measures="js", causal=["a/1"]).head_matrix()
    ).all()
    wanted = np.zeros((3, 2))
    for k in range(3):
        for m in range(2):
            rows = [
                (a[k, w], b[m, w])
                for a, b in zip(maps["a/1"], maps["b/1"], strict=True)
                for w in range(a.shape[1])
            ]
            wanted[k, m] = 1 - np.mean([jensen_shannon(p, q) for p, q in rows])
    np.testing.assert_allclose(everything.values[:3, 3:], wanted, atol=1e-12)
    assert not np.allclose(past.values[:3, 3:], wanted, atol=1e-3)


def jensen_shannon(p: Any, q: Any) -> float:
    middle = (p + q) / 2
    return sum(
        x * math.log2(x / m) / 2 for a in (p, q) for x, m in zip(a, middle, strict=True) if x > 0
    )


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("measure", ["js", "pearson", "norm", "ckasim"])
def test_two_words_are_enough_for_maps_as_they_are(measure: str, causal: bool) -> None:
    lengths = [2, 1, 2, 2, 2, 2, 2]
    maps = {
        "a/1": random_layer(1, 3, lengths),
        "b/1": random_layer(2, 2, lengths, causal=causal),
    }
    table = lmkin.attention_similarity(maps, measures=measure, parts=3).matrix()
    assert np.isfinite(table.values).all()
    assert np.isnan(table.coords["dropped"].values).all()
    assert any("no values with the sink dropped" in a["text"] for a in table.attrs["alerts"])
    result = lmkin.attention_similarity(maps, measures=[measure], parts=3)
    assert np.isnan(result[measure].sel(sink="dropped").values).all()
    assert np.isfinite(result[f"{measure}_se"].sel(sink="kept").values).all()


def test_heads_of_two_words_are_told_apart_with_the_sink_only() -> None:
    maps = {"a/1": random_layer(1, 3, [2, 2]), "b/1": random_layer(2, 2, [2, 2])}
    result = lmkin.attention_similarity(maps, measures="js", intervals=False)
    assert lmkin.attention_heads(result).attrs["sink"] == "kept"
    with pytest.raises(lmkin.MeasureError, match="sink='kept'"):
        lmkin.attention_heads(result, sink="dropped")
