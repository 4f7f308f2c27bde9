"""Every mistake is told in one paragraph that says what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lmkin
from dependency import naive_dependency as naive

quiet = {"progress": False}


@pytest.fixture(scope="module")
def arrays() -> dict[str, Any]:
    return naive.related_models(120)


@pytest.fixture(scope="module")
def found(arrays: Any) -> Any:
    return lmkin.decompose(arrays, **quiet)


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


# -- splits ---------------------------------------------------------------------------------------

SPLITS: list[tuple[Any, tuple[str, ...]]] = [
    ({"training": 0.8, "test": 0.2}, ("training", "Did you mean 'train'")),
    ({"test": [1, 2, 3]}, ("'train'",)),
    ({}, ("'train'",)),
    ({"train": 0.8, "test": 0.3}, ("sum to 1",)),
    ({"train": 0.8, "test": 0.0}, ("above 0",)),
    ({"train": 1.2}, ("above 0",)),
    ({"train": -0.5, "test": 0.5}, ("above 0",)),
    ({"train": 0.8, "test": [1, 2]}, ("'train'", "0.8")),
    ({"train": range(100), "test": range(90, 120)}, ("Row 90", "'train'", "'test'")),
    ({"train": range(100), "test": [100, 120]}, ("row 120", "120 rows")),
    ({"train": range(100), "test": [100, -121]}, ("row -121", "120 rows")),
    ({"train": range(100), "test": [-1, 119]}, ("twice",)),
    ({"train": [1, 1, 2, 3], "test": [8, 9]}, ("twice",)),
    ({"train": np.ones(119, bool)}, ("mask", "120 rows")),
    ({"train": range(100), "test": [110]}, ("'test'", "1 rows")),
    ({"train": range(100), "test": []}, ("'test'",)),
    ({"train": slice(0, 0), "test": range(10)}, ("'train'",)),
    ({"train": "most", "test": "some"}, ("'train'",)),
    ({"train": [0.5, 1.5], "test": [3]}, ("'train'",)),
    ({"train": [[1, 2], [3, 4]]}, ("'train'",)),
    ({"train": None}, ("'train'",)),
    (0.8, ("split",)),
    ([range(100), range(100, 120)], ("split",)),
]


@pytest.mark.parametrize(("split", "words"), SPLITS, ids=[str(k) for k in range(len(SPLITS))])
def test_a_bad_split(arrays: Any, split: Any, words: tuple[str, ...]) -> None:
    told(lambda: lmkin.decompose(arrays, split=split, **quiet), *words)


# -- what is asked of the fits --------------------------------------------------------------------

OPTIONS: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    ({"ridge": "many"}, ("'auto'", "'many'")),
    ({"ridge": -1e-6}, ("0 or more",)),
    ({"ridge": float("nan")}, ("0 or more",)),
    ({"ridge": float("inf")}, ("0 or more",)),
    ({"ridge": True}, ("0 or more",)),
    ({"ridge": None}, ("0 or more",)),
    ({"ridge": 0.1, "ridge_rule": "relativ"}, ("Did you mean 'relative'",)),
    ({"ridge": 0.1, "ridge_rule": "validation"}, ("validation",)),
    ({"ridge": "validation", "split": {"train": 0.8, "test": 0.2}}, ("give 'validation'",)),
    ({"ridge": "validation", "convention": "released"}, ("released",)),
    ({"level": 95}, ("level", "0.95")),
    ({"level": 0}, ("level",)),
    ({"parts": -3}, ("parts",)),
    ({"precision": "float16"}, ("float32", "float16")),
    ({"row_lengths": [1, 2, 3]}, ("120 rows", "3 numbers")),
    ({"row_lengths": np.zeros(120)}, ("above 0",)),
    ({"row_lengths": np.full(120, np.nan)}, ("above 0",)),
    ({"row_lengths": np.full(120, 7)}, ("length",)),
    ({"layers": [0]}, ("layers",)),
    ({"pooled": "mean"}, ("pooled",)),
]


@pytest.mark.parametrize(
    ("options", "words"),
    OPTIONS,
    ids=[" ".join(map(str, o)) + str(k) for k, (o, _) in enumerate(OPTIONS)],
)
def test_a_bad_option(arrays: Any, options: Any, words: tuple[str, ...]) -> None:
    told(lambda: lmkin.decompose(arrays, **options, **quiet), *words)


@pytest.mark.parametrize(
    "options",
    [{"ridge": 0}, {"ridge": 0.0, "ridge_rule": "absolute"}, {"ridge": 0, "ridge_rule": "floor"}],
)
def test_no_more_rows_than_neurons_without_a_ridge(arrays: Any, options: Any) -> None:
    """The rest of the narrowest model has 15 neurons: 15 rows explain anything in full."""
    split = {"train": range(15), "test": range(15, 120)}
    told(lambda: lmkin.decompose(arrays, split=split, **options, **quiet), "15 rows", "15 neurons")
    enough = {"train": range(16), "test": range(16, 120)}
    lmkin.decompose(arrays, split=enough, intervals=False, **options, **quiet)
    lmkin.decompose(arrays, split=split, **quiet)  # with a ridge


def test_two_rows_to_fit_on(arrays: Any) -> None:
    told(
        lambda: lmkin.decompose(arrays, split={"train": [0, 1], "test": [2, 3, 4]}, **quiet),
        "Three rows",
    )


# -- what is decomposed ---------------------------------------------------------------------------


def test_one_model_only(arrays: Any) -> None:
    told(lambda: lmkin.decompose({"a": arrays["a"]}, **quiet), "two models", "'a'")
    layers = {"a/0": arrays["a"], "a/1": arrays["b"]}
    told(lambda: lmkin.decompose(layers, **quiet), "two models", "'a'")


def test_no_source(arrays: Any) -> None:
    told(lambda: lmkin.decompose({}, **quiet), "array")
    told(lambda: lmkin.decompose([], **quiet), "models")
    told(lambda: lmkin.decompose(None, **quiet), "models")
    told(lambda: lmkin.decompose(arrays["a"], **quiet), "names")
    told(lambda: lmkin.decompose([arrays["a"], arrays["b"]], **quiet), "names")


def test_rows_that_do_not_match(arrays: Any) -> None:
    told(lambda: lmkin.decompose({**arrays, "e": arrays["a"][:-1]}, **quiet), "same rows")
    told(lambda: lmkin.decompose({m: x[:0] for m, x in arrays.items()}, **quiet), "no rows")
    told(lambda: lmkin.decompose({**arrays, "e": arrays["a"][:, 0]}, **quiet), "e")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("row", [3, 119])
def test_values_that_are_no_numbers(arrays: Any, value: float, row: int) -> None:
    bad = arrays["b"].copy()
    bad[row, 2] = value
    told(lambda: lmkin.decompose({**arrays, "b": bad}, **quiet), "b", "NaN")


def test_a_model_that_never_moves(arrays: Any) -> None:
    still = {**arrays, "still": np.full((120, 3), 7.0)}
    told(lambda: lmkin.decompose(still, **quiet), "still", "constant")


def test_a_model_that_does_not_move_in_the_rows_fitted_on(arrays: Any) -> None:
    late = np.zeros((120, 2))
    late[100:] = np.random.default_rng(0).normal(size=(20, 2))
    split = {"train": range(100), "test": range(100, 120)}
    told(
        lambda: lmkin.decompose({**arrays, "late": late}, split=split, **quiet), "late", "constant"
    )


def test_models_without_a_corpus_and_the_other_way_round(tiny: Any, sample: Any) -> None:
    told(lambda: lmkin.decompose([tiny, tiny], **quiet), "corpus")
    told(lambda: lmkin.decompose([tiny], sample[:50], **quiet), "two models")


def test_an_empty_corpus(tiny: Any, model_folder: Any) -> None:
    nothing = lmkin.Corpus([], name="nothing")
    other = lmkin.load_model(model_folder("gpt2"))
    told(lambda: lmkin.decompose([tiny, other], nothing, **quiet))
    told(lambda: lmkin.cut_sequences(nothing, model_folder("bert"), 16), "16 tokens")


def test_a_corpus_of_a_few_sentences(tiny: Any, model_folder: Any, sample: Any) -> None:
    other = lmkin.load_model(model_folder("gpt2"))
    told(lambda: lmkin.decompose([tiny, other], sample[:3], **quiet))


# -- moments --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def given(arrays: Any) -> Any:
    return lmkin.compute_moments(arrays, parts=6, progress=False)


def test_moments_by_wrong_names(given: Any, arrays: Any) -> None:
    told(lambda: lmkin.decompose({"train": given, "tset": given}, **quiet), "'tset'")
    told(lambda: lmkin.decompose({"test": given}, **quiet), "'train'")
    told(lambda: lmkin.decompose({"train": given, "test": arrays["a"]}, **quiet), "'test'")


def test_moments_of_other_models(given: Any, arrays: Any) -> None:
    fewer = lmkin.compute_moments({m: arrays[m] for m in "abc"}, progress=False)
    order = lmkin.compute_moments({m: arrays[m] for m in "dcba"}, progress=False)
    wider = lmkin.compute_moments({**arrays, "d": arrays["b"]}, progress=False)
    for other in (fewer, order, wider):
        told(lambda: lmkin.decompose({"train": given, "test": other}, **quiet), "same models")  # noqa: B023


def test_moments_of_one_model(arrays: Any) -> None:
    one = lmkin.compute_moments({"a/0": arrays["a"], "a/1": arrays["b"]}, progress=False)
    told(lambda: lmkin.decompose({"train": one, "test": one}, **quiet), "two models")


def test_moments_without_any_rows(given: Any) -> None:
    told(lambda: lmkin.decompose({"train": lmkin.Moments(), "test": given}, **quiet))
    told(lambda: lmkin.decompose({"train": given, "test": lmkin.Moments()}, **quiet))


PARTS: list[tuple[Any, tuple[str, ...]]] = [
    (None, ("split",)),
    ({"train": [0, 1], "tset": [2]}, ("'tset'",)),
    ({"train": [0, 1], "test": [17]}, ("17",)),
    ({"test": [1]}, ("'train'",)),
    ({"train": [0, 1, 2], "test": [2, 3]}, ("2",)),
    ({"train": [0, 0, 1], "test": [2, 3]}, ("0",)),
    ({"train": [0, 1, 2], "test": []}, ("'test'",)),
    ({"train": 0.8, "test": 0.2}, ("parts",)),
    ({"train": 3, "test": 4}, ("parts",)),
]


@pytest.mark.parametrize(("split", "words"), PARTS, ids=[str(k) for k in range(len(PARTS))])
def test_bad_parts_of_moments(given: Any, split: Any, words: tuple[str, ...]) -> None:
    told(lambda: lmkin.decompose(given, split=split, **quiet), *words)


def test_one_set_of_moments_without_parts(arrays: Any) -> None:
    whole = lmkin.compute_moments(arrays, parts=0, progress=False)
    told(lambda: lmkin.decompose(whole, split={"train": [0], "test": [1]}, **quiet), "Moments")


# -- results --------------------------------------------------------------------------------------


def test_unknown_models(found: Any) -> None:
    for work in (found.weights, found.unexplained):
        told(lambda: work("A"), "'A'", "Did you mean 'a'")  # noqa: B023
        told(lambda: work("a", "z"), "'z'")  # noqa: B023
        told(lambda: work("a", ["b", "z"]), "'z'")  # noqa: B023
        told(lambda: work("a", "a"), "others")  # noqa: B023
        told(lambda: work("a", []), "others")  # noqa: B023
        told(lambda: work("a", ["b", "b"]), "once")  # noqa: B023


def test_rows_to_predict_from(found: Any, arrays: Any) -> None:
    told(lambda: found.predict({"b": arrays["b"]}, "a"), "c, d")
    told(lambda: found.predict({"b": arrays["c"]}, "a", "b"), "b", "6 neurons")
    told(lambda: found.predict({"b": arrays["b"][0]}, "a", "b"), "b")
    told(lambda: found.predict({"b": 3.0}, "a", "b"), "b")
    told(
        lambda: found.predict({"b": arrays["b"], "c": arrays["c"][:5]}, "a", ["b", "c"]), "c", "120"
    )


@pytest.mark.parametrize("sizes", [0, 4, -1, [1, 4]])
def test_sizes_of_subsets(found: Any, sizes: Any) -> None:
    told(lambda: found.best_subsets(sizes, progress=False), "1 to 3")
    told(lambda: found.best_subsets(sizes, exhaustive=False, progress=False), "1 to 3")


def test_no_sizes_of_subsets(found: Any) -> None:
    told(lambda: found.best_subsets([], progress=False))
    told(lambda: found.best_subsets([], exhaustive=False, progress=False))


def test_all_subsets_of_many_models() -> None:
    random = np.random.default_rng(0)
    arrays = {f"m{k}": random.normal(size=(200, 2)) for k in range(16)}
    many = lmkin.decompose(arrays, intervals=False, permutation_baseline=False, **quiet)
    told(lambda: many.best_subsets(2, exhaustive=True, progress=False), "15", "16")
    assert many.best_subsets(2, progress=False).attrs["method"] == "greedy"


def test_groups_of_models(found: Any) -> None:
    wrong: list[dict[str, Any]] = [
        {},
        {"x": ["b"], "y": ["b", "c"]},
        {"x": ["a"]},
        {"x": ["z"]},
        {"x": []},
        {"w": "b", "x": "c", "y": "d", "z": "b"},
    ]
    for groups in wrong:
        told(lambda: found.commonality("a", groups))  # noqa: B023
    told(lambda: found.commonality("z", {"x": ["b"]}), "'z'")


def test_directions_and_inputs(found: Any) -> None:
    told(lambda: found.unexplained("a", directions=0), "directions")
    told(lambda: found.unexplained("a", directions=-2), "directions")
    told(lambda: found.unexplained("a", inputs=-1), "inputs")


def test_a_field_that_is_not_there(found: Any) -> None:
    with pytest.raises(AttributeError, match=r"r2_grup.*Did you mean 'r2_group'"):
        _ = found.r2_grup


def test_a_file_of_something_else(tmp_path: Any, arrays: Any) -> None:
    other = lmkin.similarity({"a/0": arrays["a"], "b/0": arrays["b"]}, measures="ckasim")
    other.save(tmp_path / "other.nc")
    told(lambda: lmkin.Dependency.load(tmp_path / "other.nc"), "'dependency'")
    told(lambda: lmkin.Dependency.load(tmp_path / "none.nc"), "none.nc")


# -- sequences ---------------------------------------------------------------------


@pytest.mark.parametrize("length", [0, -5, 2.5, True, "16"])
def test_lengths_of_sequences(sample: Any, model_folder: Any, length: Any) -> None:
    told(lambda: lmkin.cut_sequences(sample[:20], model_folder("bert"), length), "tokens")


def test_reference_tokenizers(sample: Any, tmp_path: Any) -> None:
    told(lambda: lmkin.cut_sequences(sample[:20], 7, 16), "tokenizer")  # type: ignore[arg-type]
    told(lambda: lmkin.cut_sequences(sample[:20], tmp_path / "none", 16), "none")
    told(lambda: lmkin.cut_sequences(sample[:20], lmkin.load_model, 16), "tokenizer")  # type: ignore[arg-type]


def test_a_corpus_shorter_than_a_sequence(sample: Any, model_folder: Any) -> None:
    told(lambda: lmkin.cut_sequences(sample[:2], model_folder("bert"), 4096), "4096", "shorter")
    told(lambda: lmkin.cut_sequences(sample[:20], model_folder("bert"), 8, limit=0), "limit")


def test_tokens_of_two_tokenizers(tiny: Any, model_folder: Any, sample: Any) -> None:
    other = lmkin.load_model(model_folder("gpt2"))
    told(lambda: lmkin.decompose([tiny, other], sample[:5], units="token", **quiet), "tokenizers")
