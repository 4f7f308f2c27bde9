"""What a user may do wrong is said in a sentence, and before anything runs."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import lmkin
from lmkin.analyses.redundancy import THRESHOLDS
from lmkin.analyses.redundancy.options import parse_thresholds
from redundancy import naive_redundancy as naive

X = naive.blocks(60, 12, 0)
ARRAYS = naive.layered(X, [5, 7])


def cluster(source: Any = ARRAYS, thresholds: Any = THRESHOLDS, **options: Any) -> lmkin.Clustering:
    return lmkin.cluster_neurons(source, thresholds=thresholds, progress=False, **options)


def fails(match: str, function: Any, *arguments: Any, **options: Any) -> str:
    """A message of one paragraph, of one of our own errors."""
    with pytest.raises(lmkin.LmkinError, match=match) as caught:
        function(*arguments, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 500
    return message


# -- thresholds -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [[], (), None, "x", -0.1, 1.01, [0.3, 2], [0.3, float("nan")], float("inf"), {}, object(), [[0.1], 0.2], "much"],
)  # fmt: skip
def test_thresholds_that_are_none(wrong: Any) -> None:
    fails("Thresholds are numbers from 0 to 1, such as 0.3; got", cluster, ARRAYS, wrong)


@pytest.mark.parametrize("wrong", [float("nan"), "x", None, [0.1, 0.2]])
def test_a_threshold_that_is_none(wrong: Any) -> None:
    """Not a number would be above all merges, and all neurons one cluster."""
    for how in ("random", "medoid"):
        found = cluster(ARRAYS, [0.2, 0.5], representative=how)
        for ask in (found.labels, found.members, found.sizes, found.representatives, found.keep):
            with pytest.raises(lmkin.MeasureError, match=r"[Tt]hreshold"):
                ask(wrong)
        with pytest.raises(lmkin.MeasureError, match=r"[Tt]hreshold"):
            found.reduce(ARRAYS, wrong)


# -- options --------------------------------------------------------------------------------------


def test_unknown_names() -> None:
    fails("Unknown linkage 'ward'.*average, complete, single", cluster, linkage="ward")
    fails("Did you mean 'single'", cluster, linkage="singel")
    fails("Did you mean 'medoid'", cluster, representative="mediod")
    fails("precision is one of float32, float64; got 'float16'", cluster, precision="float16")
    fails("Cannot read 'lots' as a size of memory", cluster, memory="lots")
    fails("cluster_neurons has no option 'colour'", cluster, colour="red")


@pytest.mark.parametrize("wrong", [-1, "x", 1.5])
def test_a_seed_that_is_none(wrong: Any) -> None:
    fails("seed", cluster, seed=wrong)


def test_options_that_would_do_nothing_are_refused(
    read: lmkin.Corpus, acts: lmkin.Activations
) -> None:
    sums = lmkin.compute_moments(ARRAYS, progress=False)
    fails("no corpus", cluster, sums, corpus=read)
    fails("layers", cluster, sums, layers=[0])
    fails("colour", cluster, sums, colour="red")
    fails("precision", cluster, sums, precision="float16")
    fails("corpus", cluster, ARRAYS, corpus=read)
    fails("corpus", cluster, acts, corpus=read)
    fails("layers= chooses layers of models", cluster, ARRAYS, layers=[0])


# -- rows -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_values_that_are_no_numbers(wrong: float) -> None:
    broken = {k: a.copy() for k, a in ARRAYS.items()}
    broken["m/1"][17, 3] = wrong
    fails("m/1 holds NaN or infinite values", cluster, broken)
    fails("m/1 holds NaN or infinite values", cluster, broken, precision="float32")


@pytest.mark.parametrize("rows", [1, 2])
def test_two_rows_say_nothing(rows: int) -> None:
    few = {k: a[:rows] for k, a in ARRAYS.items()}
    fails(f"three rows at least; there are {rows}", cluster, few)
    fails("three rows", cluster, lmkin.compute_moments(few, parts=0, progress=False))


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_nothing_but_constant_neurons(precision: str) -> None:
    still = {"m/0": np.full((20, 3), 4.2), "m/1": np.zeros((20, 2))}
    fails("All neurons of m are constant", cluster, still, precision=precision)
    sums = lmkin.compute_moments(still, precision=precision, progress=False)
    fails("All neurons of m are constant", cluster, sums)
    beside = {"good/0": X[:20], **still}
    fails("All neurons of m are constant", cluster, beside, precision=precision)


def test_a_layer_of_nothing_but_constant_neurons_is_no_error() -> None:
    found = cluster({"m/0": X, "m/1": np.ones((60, 4)), "m/2": -X}, 0.0)
    assert found.labels(0).tolist() == [*range(12), *[-1] * 4, *range(12)]
    assert found.tables().left_by_layer.sel(layer=1).values.tolist() == [[0]]
    assert len(found.keep(0).masks) == 3


def test_sources_that_are_none() -> None:
    fails("Arrays need names", cluster, X)
    fails("Rows come from", cluster, None)
    fails("Rows come from", cluster, [])
    fails("no arrays", cluster, {})
    fails("no neurons", cluster, {"m/0": X[:, :0]})
    fails("no rows", cluster, {"m/0": X[:0]})
    fails("matrix of units × neurons", cluster, {"m/0": X[:, 0]})
    fails("same rows", cluster, {"m/0": X, "m/1": X[:30]})
    fails("three rows", cluster, lmkin.Moments())


# -- memory ---------------------------------------------------------------------------------------


def test_a_budget_that_is_too_small() -> None:
    message = fails("budget", cluster, memory="1kB")
    assert "Take fewer rows, fewer layers, or give more memory" in message
    message = fails("budget", cluster, lmkin.compute_moments(ARRAYS, progress=False), memory="1kB")
    assert "give activations, fewer layers, or more memory" in message


@pytest.mark.usefixtures("bare_process")
def test_a_budget_is_looked_at_before_rows_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two models the second is too wide: neither is begun."""
    begun: list[str] = []
    arrays = {"small/0": X[:, :2], "large/0": naive.blocks(60, 300, 0)}

    def reading(*_: Any) -> Any:
        begun.append("read")
        raise AssertionError("rows were read")

    monkeypatch.setattr("lmkin.analyses.redundancy.clusters.Scale", reading)
    fails("300 neurons", cluster, arrays, memory="100kB")
    assert not begun


def test_a_budget_is_looked_at_before_a_model_runs(
    bert: lmkin.LanguageModel, read: lmkin.Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[int] = []
    monkeypatch.setattr(bert, "run", lambda *_, **__: ran.append(1))
    fails("budget", cluster, bert, corpus=read, memory="1kB")
    assert not ran


def test_a_wrong_seed_is_found_before_a_model_runs(
    bert: lmkin.LanguageModel, read: lmkin.Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[int] = []
    monkeypatch.setattr(bert, "run", lambda *_, **__: ran.append(1))
    fails("seed", cluster, bert, corpus=read, seed=-1)
    assert not ran


def test_two_rows_are_found_before_a_model_runs(
    bert: lmkin.LanguageModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = lmkin.Corpus([lmkin.Sentence("Yes .", ((0, 3), (4, 5)))], name="short")
    ran: list[int] = []
    monkeypatch.setattr(bert, "run", lambda *_, **__: ran.append(1))
    fails("three rows at least; there are 2", cluster, bert, corpus=corpus)
    assert not ran


# -- as text, for flags and study files ----------------------------------------------------------------


def test_thresholds_as_text() -> None:
    assert parse_thresholds("0:0.9:0.1") == (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    assert parse_thresholds("0.3, 0.1,0.3") == (0.1, 0.3)
    assert parse_thresholds("0:0.25:0.1,1") == (0, 0.1, 0.2, 1)


@pytest.mark.parametrize(
    "wrong",
    ["", "a", "0:1", "0:1:0", "0:1:-0.1", "1:0:0.1", "nan", "0:nan:0.1", "1.1", "-0.1", "0:1:1e-9", "0:inf:1",
     "0:1:1e-320", "0.1,,0.2", "0:1:0.1:2"],
)  # fmt: skip
def test_texts_that_are_no_thresholds(wrong: str) -> None:
    fails(
        f"Thresholds are numbers from 0 to 1.*got {re.escape(repr(wrong))}", parse_thresholds, wrong
    )
