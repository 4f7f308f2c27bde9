"""Wrong maps, options and models: one paragraph that says what to do, and no traceback."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import families
import lmkin
from attention.random_maps import random_layer

GOOD = random_layer(1, 2, [5, 4, 6])
D = {"a/1": GOOD, "b/1": GOOD}


def compare(maps: Any, *args: Any, **options: Any) -> Any:
    return lmkin.attention_similarity(maps, *args, **options)


def with_number(value: float) -> list[Any]:
    """The second sentence has one number that is wrong."""
    maps = [m.copy() for m in GOOD]
    maps[1][0, 2, 1] = value
    return maps


MISTAKES: dict[str, tuple[Callable[[], object], str]] = {
    # maps
    "an array": (lambda: compare({"a/1": np.zeros((3, 2, 4, 4))}), "a list of arrays is expected"),
    "no list": (lambda: compare({"a/1": None}), "a list of arrays is expected"),
    "two axes": (lambda: compare({"a/1": [np.eye(3)]}), r"a/1, sentence 0: .* shape \(3, 3\)"),
    "four axes": (lambda: compare({"a/1": [GOOD[0][None]]}), r"heads × words × words expected"),
    "not square": (lambda: compare({"a/1": [np.full((2, 3, 4), 0.25)]}), "as many words twice"),
    "no words": (lambda: compare({"a/1": [np.zeros((2, 0, 0))]}), r"shape \(2, 0, 0\)"),
    "no heads": (lambda: compare({"a/1": [np.zeros((0, 2, 2))]}), r"shape \(0, 2, 2\)"),
    "a number": (lambda: compare({"a/1": [0.5]}), r"got the shape \(\)"),
    "text": (lambda: compare({"a/1": ["dog"]}), "real numbers"),
    "complex": (lambda: compare({"a/1": [GOOD[0] * 1j]}), "real numbers"),
    "none": (lambda: compare({"a/1": [None]}), "real numbers"),
    "ragged": (lambda: compare({"a/1": [[[[1.0], [0.5, 0.5]]]]}), "rows differ in length"),
    "sums": (lambda: compare({"a/1": [GOOD[0], GOOD[1] * 1.01]}), "sentence 1: .* sums to 1.01"),
    "not a number": (lambda: compare({"a/1": with_number(np.nan)}), "sentence 1: .* finite"),
    "infinite": (lambda: compare({"a/1": with_number(np.inf)}), "sentence 1: .* finite"),
    "negative": (lambda: compare({"a/1": with_number(-0.2)}), "sentence 1: .* not negative"),
    "heads": (
        lambda: compare({"a/1": [GOOD[0], GOOD[1][:1]]}),
        "sentence 1: 1 heads; the first sentence had 2",
    ),
    "sentences": (lambda: compare({"a/1": GOOD, "b/1": GOOD[:2]}), "a/1: 3, b/1: 2"),
    "words": (
        lambda: compare({"a/1": GOOD, "b/1": [GOOD[0], GOOD[2], GOOD[1]]}),
        "Sentence 1 has maps of 4 and 6 words",
    ),
    "no sentences": (lambda: compare({"a/1": [], "b/1": []}), "no sentences"),
    "no layers": (lambda: compare({}), "at least one"),
    "causal layer": (lambda: compare(D, causal=["c/1"]), "no layer 'c/1'"),
    "causal number": (lambda: compare(D, causal=3), "True, False, or a list of layers"),
    "causal ahead": (lambda: compare(D, causal=["a/1"]), "a/1 is said to be causal"),
    "causal models": (
        lambda: compare(["nobody/nothing"], "sample", causal=True),
        "for a dict of maps",
    ),
    "even layer": (
        lambda: compare(
            {"a/1": random_layer(1, 2, [5, 4], "even"), "b/1": GOOD[:2]}, measures="ckasim"
        ),
        "All heads of a/1 attend to all positions alike",
    ),
    "one word each": (lambda: compare({"a/1": random_layer(1, 2, [1, 1])}), "longer sentences"),
    "twice the same name": (lambda: compare({"a/1": GOOD, ("a", 1): GOOD}), "called 'a/1'"),
    # measures and options
    "a measure": (lambda: compare(D, measures="jss"), "Did you mean 'js'"),
    "a measure of neurons": (lambda: compare(D, measures="neuronsim"), "Known: js, pearson, norm"),
    "no measure": (lambda: compare(D, measures=None), "list of names"),
    "one of the measures": (
        lambda: lmkin.attention_similarity(D, measures="js,pearsn"),
        "Did you mean 'pearson'",
    ),
    "a number of measures": (lambda: lmkin.attention_similarity(D, measures=5), "list of names"),
    "no measures": (lambda: lmkin.attention_similarity(D, measures=[]), "at least one measure"),
    "an option of another measure": (
        lambda: compare(D, measures="js", measure_options={"variance": 0.9}),
        "No option 'variance' of js",
    ),
    "variance": (
        lambda: compare(D, measures="svsim", measure_options={"variance": 7}),
        "between 0 and 1",
    ),
    "estimator": (
        lambda: compare(D, measures="ckasim", measure_options={"estimator": "no"}),
        "Unknown estimator",
    ),
    "level": (lambda: compare(D, level=95), "level is a fraction"),
    "text as level": (lambda: compare(D, level="x"), "level is a fraction"),
    "intervals": (lambda: compare(D, intervals="no"), "intervals is True or False"),
    "convention": (lambda: compare(D, convention="no"), "'paper' or 'released'"),
    "parts": (lambda: compare(D, parts=-1), "parts is a whole number"),
    "labels": (lambda: compare(D, parts=[0, 1]), "3 rows, but labels"),
    "sink": (lambda: compare(D, sink="drop"), "'dropped' or 'kept'"),
    "heads of layers": (
        lambda: compare(D, measures="svsim").head_matrix(),
        "compares whole layers",
    ),
    "layers of arrays": (lambda: compare(D, layers=[1]), "layers= chooses layers of models"),
    # sources
    "a corpus for arrays": (lambda: compare(D, "sample"), "for models to read"),
    "no corpus": (lambda: compare(["some-model"]), "Give a corpus"),
    "a list of arrays": (lambda: compare(GOOD, "sample"), "list of models"),
    "nothing": (lambda: compare(None), "list of models"),
    "no models": (lambda: compare([], "sample"), "list of models"),
    "no corpus there": (lambda: compare(["some-model"], "no-such.txt"), "no corpus at"),
    "an empty corpus": (lambda: compare(["some-model"], lmkin.Corpus([])), "corpus is empty"),
    "a list as corpus": (lambda: compare(["some-model"], ["a dog"]), "A corpus is"),
    # heads, and one sentence
    "heads without js": (
        lambda: lmkin.attention_heads(lmkin.attention_similarity(D, measures="norm")),
        "measures='js'",
    ),
    "heads of a table": (
        lambda: lmkin.attention_heads(compare(D, measures="js").matrix()),
        "measures='js'",
    ),
    "a sink of heads": (lambda: heads(sink="no"), "'dropped' or 'kept'"),
    "a large threshold": (lambda: heads(threshold=1.5), "from 0 to 1"),
    "threshold": (lambda: heads(threshold="x"), "from 0 to 1"),
    "an empty sentence": (lambda: lmkin.sentence_attention("some-model", " "), "is empty"),
    "no sentence": (lambda: lmkin.sentence_attention("some-model", 7), "got int"),  # type: ignore[arg-type]
    "a sentence for no model": (lambda: lmkin.sentence_attention([], "A dog."), "list of models"),
}


def heads(**options: Any) -> object:
    return lmkin.attention_heads(lmkin.attention_similarity(D, measures="js"), **options)


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake(name: str) -> None:
    call, message = MISTAKES[name]
    with pytest.raises(lmkin.LmkinError, match=message):
        call()


def test_an_unknown_option() -> None:
    with pytest.raises(TypeError, match="parst"):
        compare(D, parst=3)


def test_options_are_checked_before_models_are_loaded() -> None:
    wrong = (
        {"measure_options": {"variance": 7}},
        {"level": 7},
        {"convention": 7},
        {"threshold": 7},
    )
    for options in wrong:
        with pytest.raises(lmkin.MeasureError, match="7"):
            lmkin.attention_similarity(
                ["no-such-model"], "no-such-file", measures="svsim", **options
            ).matrix()


# -- models that have no attention to show -----------------------------------------------------------


@pytest.fixture(scope="module")
def corpus() -> lmkin.Corpus:
    texts = ["The dog barked at the man", "It rains today again"]
    return lmkin.Corpus([families.sentence(t, t.split(), t) for t in texts], name="two")


def test_a_model_that_was_loaded_without(model_folder: Any, corpus: lmkin.Corpus) -> None:
    one = lmkin.load_model(model_folder("bert"))
    with pytest.raises(lmkin.ModelError, match="attention=True"):
        lmkin.attention_similarity([one], corpus)
    with pytest.raises(lmkin.ModelError, match="attention=True"):
        lmkin.sentence_attention(one, corpus[0])


def test_activations_on_disk(model_folder: Any, corpus: lmkin.Corpus, tmp_path: Path) -> None:
    lmkin.extract(model_folder("bert"), corpus, tmp_path / "store")
    with pytest.raises(lmkin.ModelError, match="no attention to show"):
        lmkin.attention_similarity([tmp_path / "store"], corpus, measures="js").matrix()


def test_a_kind_of_attention_that_is_not_token_by_token(
    model_folder: Any, corpus: lmkin.Corpus
) -> None:
    with pytest.raises(lmkin.ModelError, match="no token-by-token attention"):
        lmkin.attention_similarity([model_folder("longformer")], corpus, measures="js").matrix()


def test_a_corpus_that_the_model_cannot_read(model_folder: Any) -> None:
    long = families.sentence(" ".join(["dog"] * 100), ["dog"] * 100, "long")
    with pytest.raises(lmkin.MeasureError, match="no attention map for any sentence of 'long'"):
        lmkin.attention_similarity(
            [model_folder("bert")], lmkin.Corpus([long] * 25, name="long"), measures="js"
        ).matrix()


def test_a_layer_that_is_not_there(model_folder: Any, corpus: lmkin.Corpus) -> None:
    for layers, message in ((7, "no layer 7"), ("x", "Cannot understand"), (0, "layers 1 to 2")):
        with pytest.raises(lmkin.LmkinError, match=message):
            lmkin.attention_similarity(
                [model_folder("bert")], corpus, measures="js", layers=layers
            ).matrix()
