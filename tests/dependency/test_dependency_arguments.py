"""Arguments that are no good, or that would do nothing: one paragraph each, and never a traceback."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lmkin
from dependency import naive_dependency as naive
from lmkin.core.ridge import Ridge

quiet = {"progress": False}
plain = {"intervals": False, "permutation_baseline": False, "progress": False}


@pytest.fixture(scope="module")
def arrays() -> dict[str, Any]:
    return naive.related_models(120)


@pytest.fixture(scope="module")
def found(arrays: Any) -> Any:
    return lmkin.decompose(arrays, **plain)


@pytest.fixture(scope="module")
def layered(arrays: Any) -> Any:
    """Two models of two layers each."""
    rows = dict(zip(("a/0", "a/1", "b/0", "b/1"), arrays.values(), strict=True))
    return lmkin.decompose(rows, **plain)


def told(work: Callable[[], Any], *words: str) -> None:
    """A LmkinError, one paragraph, that speaks of some things."""
    with pytest.raises(lmkin.LmkinError) as caught:
        work()
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 500
    assert message.rstrip().endswith((".", "?"))
    for word in words:
        assert word in message, message


# -- numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [None, "x", 1.5, -1, True, [1]])
def test_a_seed_is_a_whole_number(arrays: Any, seed: Any) -> None:
    told(lambda: lmkin.decompose(arrays, seed=seed, **plain), "seed", "0 or more", repr(seed))


@pytest.mark.parametrize("parts", ["x", None, 2.5, True, -1, [1, 2]])
@pytest.mark.parametrize("intervals", [True, False])
def test_parts_are_a_whole_number(arrays: Any, parts: Any, intervals: bool) -> None:
    told(
        lambda: lmkin.decompose(arrays, parts=parts, intervals=intervals, **quiet),
        "parts",
        "such as 10",
        repr(parts),
    )


def test_numbers_of_numpy_are_numbers(arrays: Any) -> None:
    mine = lmkin.decompose(
        arrays, seed=np.int64(3), parts=np.int32(4), permutation_baseline=False, **quiet
    )
    theirs = lmkin.decompose(arrays, seed=3, parts=4, permutation_baseline=False, **quiet)
    assert mine.dataset.identical(theirs.dataset)


@pytest.mark.parametrize("lengths", [["a"] * 120, [None] * 120, [[1], [2, 3]], "many", {"a": 1}])
def test_lengths_are_numbers(arrays: Any, lengths: Any) -> None:
    told(lambda: lmkin.decompose(arrays, row_lengths=lengths, **plain), "lengths", "numbers")


# -- a corpus -------------------------------------------------------------------------------------


@pytest.mark.parametrize("corpus", [["A text.", "Another."], 7, {"a": "A text."}])
def test_what_is_no_corpus(two: Any, model_folder: Any, corpus: Any) -> None:
    words = ("a file", "'sample'", "lmkin.Corpus", type(corpus).__name__)
    told(lambda: lmkin.decompose(two, corpus, **plain), *words)
    told(lambda: lmkin.cut_sequences(corpus, model_folder("bert"), 16), *words)


def test_sequences_of_a_corpus_by_its_name(model_folder: Any, sample: Any, tmp_path: Path) -> None:
    model = model_folder("bert")
    expected = [s.text for s in lmkin.cut_sequences(sample, model, np.int64(16), limit=5)]
    assert [s.text for s in lmkin.cut_sequences("sample", model, 16, limit=5)] == expected
    file = tmp_path / "texts.txt"
    file.write_text("\n".join(s.text for s in sample[:50]) + "\n")
    assert [s.text for s in lmkin.cut_sequences(file, model, 16, limit=5)] == expected
    told(lambda: lmkin.cut_sequences("nowhere.txt", model, 16), "nowhere.txt")


@pytest.mark.parametrize("limit", ["x", 2.5, True, -1])
def test_a_limit_is_a_whole_number(sample: Any, model_folder: Any, limit: Any) -> None:
    told(lambda: lmkin.cut_sequences(sample, model_folder("bert"), 16, limit=limit), "limit")


# -- results --------------------------------------------------------------------------------------


def test_sizes_of_subsets(found: Any) -> None:
    expected = found.best_subsets(2, progress=False)
    assert found.best_subsets(np.int64(2), progress=False).equals(expected)
    assert found.best_subsets(np.array([2]), progress=False).equals(expected)
    for sizes in (1.5, "2", [1.5], ["2"], True, [1, None]):
        told(lambda: found.best_subsets(sizes, progress=False), "1 to 3")  # noqa: B023


def test_groups_of_models(found: Any) -> None:
    one = found.commonality("a", {"g": "b"})
    assert one == found.commonality("a", {"g": ["b"]})
    pair = float(found.r2_pair.sel(split="test", basis="b", target="a"))
    assert one["g"] == pytest.approx(pair, abs=1e-9)
    told(lambda: found.commonality("a", [["b"], ["c"]]), "dict", "[['b'], ['c']]")
    told(lambda: found.commonality("a", {"b": 1}), "dict", "{'b': 1}")
    told(lambda: found.commonality("a", "b"), "dict")
    told(lambda: found.commonality("a", {"g": [1]}), "no model 1")
    told(lambda: found.commonality(["a"], {"g": "b"}), "no model ['a']")
    told(lambda: found.commonality("A", {"g": "b"}), "Did you mean 'a'")
    told(lambda: found.commonality("a", {"g": ["b"], "h": ["b"]}), "one group at most")


@pytest.mark.parametrize("basis", [1, 1.5, True])
def test_a_basis_is_named(found: Any, arrays: Any, basis: Any) -> None:
    told(lambda: found.weights("a", basis), "basis", "list of names", repr(basis))
    told(lambda: found.unexplained("a", basis), "basis")
    told(lambda: found.predict(arrays, "a", basis), "basis")
    told(lambda: found.weights("a", [basis]), "no model")
    told(lambda: found.weights(basis), "no model")


@pytest.mark.parametrize("value", [1.5, "x", None, True, 0])
def test_directions_and_inputs(found: Any, value: Any) -> None:
    told(lambda: found.unexplained("a", directions=value), "directions", repr(value))
    told(lambda: found.unexplained("a", inputs=value), "inputs", repr(value))
    told(lambda: found.unexplained(directions=value), "directions", repr(value))


def test_rows_that_are_no_numbers(found: Any, arrays: Any) -> None:
    for rows in ("x", [["x"] * 6], [[1], [1, 2]], None, {"y": 1}):
        told(lambda: found.predict({"b": rows}, "a", "b"), "b: ")  # noqa: B023
    told(lambda: found.predict({"b": arrays["b"]}, "a", ["b", "c"]), "Rows of c", "got rows of b")


def test_a_place_that_cannot_be_written_to(found: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.nc").mkdir()
    for place in ("file/result.nc", "folder.nc"):
        told(lambda: found.save(tmp_path / place), "Cannot write", place)  # noqa: B023


def test_layers_and_models_have_names_of_their_own(layered: Any, arrays: Any) -> None:
    for work in (layered.weights, layered.unexplained):
        told(lambda: work("a"), "layers are named", "a/0, a/1", "'a/1'")  # noqa: B023
        told(lambda: work("a/0", "b"), "layers are named", "'b/1'")  # noqa: B023
        told(lambda: work("c"), "no model 'c'")  # noqa: B023
    told(lambda: layered.predict({"b": arrays["c"]}, "a"), "layers are named")
    told(lambda: layered.predict({"b": arrays["c"]}, "a/0"), "Rows of b/0, b/1", "rows of b.")
    told(lambda: layered.commonality("a/1", {"g": "b"}), "Models are named", "'a/1'", "a, b")
    told(lambda: layered.commonality("a", {"g": ["b/0", "b/1"]}), "Models are named", "'b/0'")


# -- options that would do nothing ----------------------------------------------------------------


@pytest.mark.parametrize("ridge", [0.5, 0, 1e-6, "relative"])
def test_the_ridge_of_the_authors_and_another(arrays: Any, ridge: Any) -> None:
    told(
        lambda: lmkin.decompose(arrays, ridge=ridge, convention="released", **plain),
        "released",
        "Leave one",
        repr(ridge),
    )
    assert Ridge.make("auto", released=True) == Ridge("absolute", 1e-6)


def test_two_rules(arrays: Any) -> None:
    for ridge, rule in (("validation", "floor"), ("validation", "absolute"), ("floor", "absolute")):
        told(
            lambda: lmkin.decompose(arrays, ridge=ridge, ridge_rule=rule, **plain),  # noqa: B023
            repr(ridge),
            repr(rule),
        )
    assert Ridge.make("validation", "validation").rule == "validation"
    assert Ridge.make("floor").rule == "floor"
    for rule in ("floor", "validation"):
        told(lambda: Ridge.make("auto", rule, released=True), "released", repr(rule))  # noqa: B023
    told(lambda: Ridge.make(0.25, "validation"), "0.25", "Leave one")


def test_no_validation_rows_are_said_before_any_row_is_read(two: Any, sample: Any) -> None:
    class Untouched(lmkin.Corpus):
        pass

    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("a model was run")

    corpus = Untouched(list(sample[:80]), name="untouched")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lmkin.analyses.dependency.decomposition.collect", never)
        told(
            lambda: lmkin.decompose(
                two, corpus, ridge="validation", split={"train": 0.8, "test": 0.2}, **plain
            ),
            "give 'validation' some",
        )


MADE: list[dict[str, Any]] = [
    {"parts": 5},
    {"layers": [0]},
    {"layers": "all"},
    {"layers": np.array([0, 1])},
    {"units": "word"},
    {"precision": "float32"},
    {"memory": "1GB"},
    {"seed": 1},
    {"workspace": "here"},
    {"pooling": "max"},
    {"max_length": 16},
]


@pytest.mark.parametrize("options", MADE, ids=lambda o: next(iter(o)))
def test_moments_were_made_before(arrays: Any, options: Any) -> None:
    given = {k: lmkin.compute_moments(arrays, parts=2, progress=False) for k in ("train", "test")}
    told(
        lambda: lmkin.decompose(given, **options, **quiet),
        "Moments",
        next(iter(options)),
        "leave out",
    )


def test_moments_and_options_that_nobody_knows(arrays: Any) -> None:
    given = {k: lmkin.compute_moments(arrays, parts=2, progress=False) for k in ("train", "test")}
    told(lambda: lmkin.decompose(given, ridgee=1, **quiet), "'ridgee'", "Did you mean 'ridge'")
    defaults = {"parts": 10, "layers": "last", "units": "sentence", "seed": 0, "pooling": None}
    assert lmkin.decompose(given, **defaults, **quiet).dataset.identical(
        lmkin.decompose(given, **quiet).dataset
    )


READ: list[dict[str, Any]] = [
    {"corpus": "sample"},
    {"units": "word"},
    {"pooling": "max"},
    {"max_length": 16},
    {"long": "truncate"},
    {"batch_tokens": 100},
]


@pytest.mark.parametrize("options", READ, ids=lambda o: next(iter(o)))
def test_rows_were_made_before(arrays: Any, options: Any) -> None:
    name = next(iter(options))
    told(lambda: lmkin.decompose(arrays, **options, **plain), "Arrays", "leave out", name)


def test_what_is_stored_was_made_before(two: Any, sample: Any, tmp_path: Path) -> None:
    for model in two:
        lmkin.extract(model, sample[:80], tmp_path / model.name, units="sentence", progress=False)
    stores = [str(tmp_path / m.name) for m in two]
    opened = [lmkin.open_activations(s) for s in stores]
    for source in (stores, opened, {"a": opened[0], "b": opened[1]}):
        for options in READ[1:]:
            told(
                lambda: lmkin.decompose(source, **options, **plain),  # noqa: B023
                "activations",
                "leave out",
                next(iter(options)),
            )
    told(lambda: lmkin.decompose({"a": opened[0], "b": opened[1]}, sample[:80], **plain), "corpus")
    kept = lmkin.decompose(stores, units="sentence", pooling=None, **plain)
    assert kept.dataset.equals(lmkin.decompose(opened, **plain).dataset)


# -- splits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("test", "count"), [([], 0), ([110], 1), (np.zeros(120, bool), 0)])
def test_a_split_with_too_few_rows(arrays: Any, test: Any, count: int) -> None:
    split = {"train": range(100), "test": test}
    told(
        lambda: lmkin.decompose(arrays, split=split, **plain),
        f"'test' has {count} rows",
        "more rows",
    )


def test_rows_of_uneven_lists(arrays: Any) -> None:
    told(lambda: lmkin.decompose(arrays, split={"train": [[1], [2, 3]]}, **plain), "'train'")
