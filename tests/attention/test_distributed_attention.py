"""svsim, pwsim and ckasim of attention: heads as columns, (word, word) pairs as rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lmkin
from attention.naive_attention import SINKS, columns_of, compared_rows, is_causal, of_arrays
from attention.random_maps import random_layer
from lmkin.results.intervals import jackknife
from measures.naive import NAIVE

LENGTHS = (5, 9, 1, 7, 3, 8, 2, 6, 9)
CASES: dict[str, dict[str, Any]] = {
    "both directions": {
        "a/1": random_layer(1, 3, LENGTHS),
        "a/2": random_layer(2, 5, LENGTHS, "sparse"),
        "b/1": random_layer(3, 4, LENGTHS),
    },
    "causal": {
        "a/1": random_layer(4, 3, LENGTHS, causal=True),
        "b/1": random_layer(5, 2, LENGTHS, causal=True),
    },
    "causal and not": {
        "a/1": random_layer(6, 3, LENGTHS),
        "b/1": random_layer(7, 4, LENGTHS, causal=True),
        "a/2": random_layer(8, 2, LENGTHS),
    },
}
OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("svsim", {}),
    ("svsim", {"variance": 0.6}),
    ("svsim", {"top_k": 2}),
    ("svsim", {"convention": "released"}),
    ("pwsim", {}),
    ("pwsim", {"variance": 0.6}),
    ("pwsim", {"convention": "released"}),
    ("ckasim", {}),
    ("ckasim", {"estimator": "biased"}),
]
PARTS = [0, 0, 0, 1, 1, 2, 2, 2, 2]


def keywords(options: dict[str, Any]) -> dict[str, Any]:
    """Options of the definitions as keywords of `lmkin.attention_similarity`."""
    own = {name: value for name, value in options.items() if name != "convention"}
    return {"convention": options.get("convention", "paper"), "measure_options": own}


def expected_table(
    maps: dict[str, Any],
    measure: str,
    sink: str,
    options: dict[str, Any],
    without: tuple[int, ...] = (),
) -> Any:
    """From plain matrices; where one of two layers is causal, those of the positions before."""
    layers = of_arrays(maps)
    causal = np.array([is_causal(listed) for listed in layers.values()])
    tables = {}
    for past in (False, True):
        matrices = columns_of(layers, sink=sink, past=past, without=without)
        tables[past] = (
            lmkin.similarity(
                matrices, measures=measure, neurons="raw", intervals=False, measure_options=options
            )
            .matrix()
            .values
        )
        for i, X in enumerate(matrices.values()):
            for j, Y in enumerate(matrices.values()):
                definition = NAIVE[measure](X, Y, **options)
                assert tables[past][i, j] == pytest.approx(definition, abs=1e-8)
    return np.where(causal[:, None] | causal[None, :], tables[True], tables[False])


@pytest.mark.parametrize(("measure", "options"), OPTIONS, ids=str)
@pytest.mark.parametrize("case", CASES)
def test_equals_the_similarity_of_plain_matrices(
    case: str, measure: str, options: dict[str, Any]
) -> None:
    maps = CASES[case]
    table = lmkin.attention_similarity(
        maps, measures=measure, intervals=False, **keywords(options)
    ).matrix()
    for sink in SINKS:
        expected = expected_table(maps, measure, sink, options)
        assert table.coords[sink].values == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("measure", ["svsim", "pwsim", "ckasim"])
def test_narrow_numbers(measure: str) -> None:
    maps = {
        name: [m.astype(np.float32) for m in listed]
        for name, listed in CASES["causal and not"].items()
    }
    for sink in SINKS:
        table = lmkin.attention_similarity(maps, measures=measure, intervals=False).matrix(
            sink=sink
        )
        expected = expected_table(maps, measure, sink, {})
        assert table.values == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("measure", ["svsim", "pwsim", "ckasim"])
@pytest.mark.parametrize("case", ["both directions", "causal and not"])
def test_standard_errors_leave_out_each_part(case: str, measure: str) -> None:
    """A part is as large as it has words that are compared."""
    maps = CASES[case]
    layers = of_arrays(maps)
    causal = np.array([is_causal(listed) for listed in layers.values()])
    past = causal[:, None] | causal[None, :]
    one = next(iter(layers.values()))
    for sink in SINKS:
        gone = [tuple(n for n, p in enumerate(PARTS) if p == part) for part in range(3)]
        values = np.array([expected_table(maps, measure, sink, {}, some) for some in gone])
        whole = expected_table(maps, measure, sink, {})
        sizes = [
            [
                sum(len(compared_rows(one[n], 0, past=before, sink=sink)) for n in some)
                for some in gone
            ]
            for before in (False, True)
        ]
        ends = [jackknife(whole, values, some, 0.95) for some in sizes]
        table = lmkin.attention_similarity(maps, measures=measure, parts=PARTS).matrix(sink=sink)
        assert table.attrs["without"] == pytest.approx(values, abs=1e-8)
        for name in ("se", "low", "high"):
            expected = np.where(past, getattr(ends[1], name), getattr(ends[0], name))
            assert table.coords[name].values == pytest.approx(expected, abs=1e-6), name


def test_all_measures_in_one_pass() -> None:
    maps = CASES["causal and not"]
    together = lmkin.attention_similarity(
        maps, measures="all", parts=PARTS, measure_options={"variance": 0.8}
    )
    for measure in ("js", "pearson", "norm", "svsim", "pwsim", "ckasim"):
        options = {"variance": 0.8} if measure in ("svsim", "pwsim") else {}
        alone = lmkin.attention_similarity(
            maps, measures=[measure], parts=PARTS, measure_options=options
        )
        for name in (measure, f"{measure}_se"):
            np.testing.assert_array_equal(together[name].values, alone[name].values)


def test_same_layer_in_another_order_is_the_same() -> None:
    X = CASES["both directions"]["a/1"]
    maps = {"a/1": X, "b/1": [m[[2, 0, 1]] for m in X]}
    for measure in ("svsim", "pwsim", "ckasim"):
        table = lmkin.attention_similarity(maps, measures=measure, intervals=False).matrix()
        assert table.dropped.values == pytest.approx(np.ones((2, 2)), abs=1e-9)
        assert table.kept.values == pytest.approx(np.ones((2, 2)), abs=1e-9)
