"""What cannot be meant, or should be known: each a message, before a model is loaded where that is possible."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lmkin
from cli.command_line import call
from lmkin.corpus.spans import join_words
from probing.tagged_activations import activations_of, tagged_activations

Stores = dict[str, lmkin.Activations]
QUICK: dict[str, Any] = {
    "l1": 0.01, "fit": "all", "code_length": False, "control": False, "parts": 3, "progress": False,
}  # fmt: skip


def corpus_of(*sentences: list[tuple[str, str]], labels: Any = None) -> lmkin.Corpus:
    made = []
    for k, pairs in enumerate(sentences):
        words = [word for word, _ in pairs]
        text, spans = join_words(words)
        tags = {"upos": tuple(tag for _, tag in pairs)}
        label = labels[k] if labels else None
        made.append(lmkin.Sentence(text, spans, tuple(words), tags, f"s{k}", label=label))
    return lmkin.Corpus(made, name="made")


def some(count: int, tags: str = "AB") -> lmkin.Corpus:
    return corpus_of(
        *[[(f"w{k}x{j}", tags[(k + j) % len(tags)]) for j in range(3)] for k in range(count)]
    )


@pytest.mark.usefixtures("no_models")
@pytest.mark.parametrize(
    ("corpus", "options", "says"),
    [
        (some(30), {"tag": "pos"}, r"no tag 'pos'.*upos"),
        (some(30, "A"), {"tag": "upos"}, "only 'A'.*two classes at least"),
        (some(30, "_"), {"tag": "upos"}, "train has 0 rows with a label"),
        ({"train": some(20), "test": some(9, "CD")}, {"tag": "upos"}, "No label of test occurs in train"),
        ({"train": some(20), "tset": some(9)}, {"tag": "upos"}, "Did you mean 'test'"),
        ({"train": some(20)}, {"tag": "upos"}, "Give train, and test"),
        (corpus_of(*[[("w", f"T{k}")] for k in range(30)]), {"tag": "upos"}, "as many different labels"),
        (some(30), {}, "Say what is to be predicted"),
        (some(30), {"tag": "upos", "label": "class"}, "one of the two"),
        (some(30), {"label": "class"}, "Labels are of sentences"),
        (some(30), {"label": "class", "units": "sentence"}, "No sentence of the corpus has a label"),
        (some(30), {"tag": "upos", "units": "sentence"}, "Tags are of words"),
        (some(30), {"tag": "upos", "fit": "every"}, "Unknown fit 'every'. Known: all, each, upto"),
        (some(30), {"tag": "upos", "fit": ()}, "fit names at least one"),
        (some(30), {"tag": "upos", "l1": -1}, "l1"),
        (some(30), {"tag": "upos", "tolerance": 2}, "fraction between 0 and 1; got 2"),
        (some(30), {"tag": "upos", "convention": "papers"}, "papers"),
        (some(30), {"tag": "upos", "train_limit": 1}, "train_limit|2"),
    ],
)  # fmt: skip
def test_mistakes_are_found_before_a_model_is_loaded(
    corpus: Any, options: dict[str, Any], says: str
) -> None:
    with pytest.raises(lmkin.LmkinError, match=says):
        lmkin.probe("nowhere", corpus, progress=False, **options)


@pytest.mark.usefixtures("no_models")
@pytest.mark.parametrize(
    ("labels", "kind", "says"),
    [
        (["1.5", "high"] * 15, "score", "is no number: 'high'"),
        ([float("nan"), 1.0] * 15, "score", "NaN or infinite"),
        ([2.0] * 30, "score", "All scores of train are the same"),
        (["yes"] * 30, "class", "only 'yes'"),
        (["yes", 1, "no"] * 10, "class", r"Labels of train are of several types: text .*a number"),
    ],
)
def test_labels_of_sentences_that_cannot_be_learned(labels: Any, kind: Any, says: str) -> None:
    corpus = corpus_of(*[[(f"w{k}", "A"), ("x", "B")] for k in range(30)], labels=labels)
    with pytest.raises(lmkin.LmkinError, match=says):
        lmkin.probe("nowhere", corpus, label=kind, units="sentence", progress=False)


def kinds(result: lmkin.Probes) -> dict[str, str]:
    return {alert.kind: alert.text for alert in result.alerts}


def planted_in(corpora: dict[str, lmkin.Corpus]) -> Stores:
    return {name: tagged_activations(corpus) for name, corpus in corpora.items()}


def test_a_test_sentence_inside_train_is_told_with_the_count() -> None:
    train, dev, test = some(40), some(60)[40:], some(80)[60:]
    stores = planted_in({"train": train, "dev": dev, "test": lmkin.Corpus([*test, *train[:3]])})
    said = kinds(lmkin.probe(stores, tag="upos", **QUICK))
    assert "3 of the 23 sentences of test stand in train" in said["test in train"]
    clean = planted_in({"train": train, "dev": dev, "test": test})
    assert "test in train" not in kinds(lmkin.probe(clean, tag="upos", **QUICK))


def test_labels_that_are_rare_missing_or_not_in_train_are_counted() -> None:
    train = corpus_of(
        *[[(f"a{k}", "A"), (f"b{k}", "B"), (f"c{k}", "_")] for k in range(20)],
        [("z", "Z"), ("", "A")][:1],
    )
    test = corpus_of(*[[(f"d{k}", "A"), (f"e{k}", "X"), (f"f{k}", "")] for k in range(6)])
    dev = corpus_of(*[[(f"g{k}", "A"), (f"h{k}", "B")] for k in range(6)])
    result = lmkin.probe(
        planted_in({"train": train, "dev": dev, "test": test}), tag="upos", **QUICK
    )
    said = kinds(result)
    assert "1 of the 3 classes of 'upos' occur once in train (Z)" in said["rare classes"]
    assert (
        "26 rows have no 'upos' and are left out (20 in train, 6 in test)" in said["missing labels"]
    )
    assert "6 of 12 rows of test (X)" in said["unseen labels"]
    at = {"task": "upos", "split": "test"}
    assert {n: int(result.dataset[n].sel(at)) for n in ("rows", "missing", "unseen")} == {
        "rows": 12, "missing": 6, "unseen": 6,
    }  # fmt: skip
    # What train has not can only be wrong.
    assert float(result.dataset["accuracy"].sel(probe="all", **at).squeeze()) <= 0.5
    assert result.classes() == ["A", "B", "Z"]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_no_probe_can_read_are_named(read: lmkin.Corpus, bad: float) -> None:
    acts = tagged_activations(read)
    layers = {n: acts.layer(n)[:].copy() for n in acts.layers}
    layers[1][7, 4] = bad
    broken = activations_of(acts.units, layers, "broken")
    with pytest.raises(
        lmkin.LmkinError, match=r"broken has NaN or infinite values.* layer 1, neuron 4"
    ):
        lmkin.probe(broken, tag="upos", **QUICK)


def test_probes_of_another_model_are_refused(planted: Stores, read: lmkin.Corpus) -> None:
    result = lmkin.probe(planted, tag="upos", **QUICK)
    other = tagged_activations(read, weights="others")
    with pytest.raises(lmkin.LmkinError, match=r"fitted on 'planted'.*of another model"):
        result.predict(other)
    less = activations_of(other.units, {0: other.layer(0)[:]}, "planted")
    with pytest.raises(lmkin.LmkinError, match="reads layer 1, which is not there"):
        result.predict(less)


def test_splits_of_different_models_are_refused(read: lmkin.Corpus) -> None:
    stores = {
        "train": tagged_activations(read[:50], "one"),
        "test": tagged_activations(read[50:], "two"),
    }
    with pytest.raises(lmkin.LmkinError, match="of different models: one, two"):
        lmkin.probe(stores, tag="upos", **QUICK)
    stores["test"] = tagged_activations(read[50:], "one", weights="others")
    with pytest.raises(lmkin.LmkinError, match="'test' is of other weights than 'train'"):
        lmkin.probe(stores, tag="upos", **QUICK)


def test_splits_that_were_read_in_different_ways_are_refused(
    tiny: Any, sample: lmkin.Corpus
) -> None:
    stores = {
        "train": lmkin.extract(tiny, sample[:50], progress=False),
        "test": lmkin.extract(tiny, sample[50:80], progress=False, pooling="mean"),
    }
    with pytest.raises(lmkin.LmkinError, match="'train' has pooling='last', 'test' pooling='mean'"):
        lmkin.probe(stores, tag="upos", **QUICK)


def test_arrays_have_no_words() -> None:
    with pytest.raises(lmkin.LmkinError, match=r"lmkin\.Probe"):
        lmkin.probe({"a/0": np.zeros((9, 2))}, tag="upos", progress=False)


def test_what_a_result_has_not(probes: lmkin.Probes, tmp_path: Path) -> None:
    with pytest.raises(lmkin.LmkinError, match="no probe of '7'"):
        probes.weights(7)
    with pytest.raises(lmkin.LmkinError, match="no task 'deprel'"):
        probes.classes("deprel")
    with pytest.warns(lmkin.core.LmkinWarning, match="main table alone"):
        probes.save(tmp_path / "p.nc")
    alone = lmkin.load(tmp_path / "p.nc")
    with pytest.raises(lmkin.LmkinError, match="has no weights"):
        alone.weights()


def test_weights_of_another_result_are_refused(
    probes: lmkin.Probes, planted: Stores, tmp_path: Path
) -> None:
    probes.save(tmp_path / "one")
    fewer = {
        n: activations_of(a.units, {k: a.layer(k)[:, :5] for k in a.layers})
        for n, a in planted.items()
    }
    lmkin.probe(fewer, tag="upos", **{**QUICK, "fit": ("all", "each", "upto")}).save(
        tmp_path / "two"
    )
    data = (tmp_path / "two" / "probes.safetensors").read_bytes()
    (tmp_path / "one" / "probes.safetensors").write_bytes(data)
    with pytest.raises(lmkin.LmkinError, match="of another result"):
        lmkin.load(tmp_path / "one")


def test_subtypes_can_be_cut_off() -> None:
    corpus = corpus_of(
        *[[(f"a{k}", "x:one"), (f"b{k}", "x:two"), (f"c{k}", "y")] for k in range(30)]
    )
    acts = tagged_activations(corpus)
    assert lmkin.probe(acts, tag="upos", **QUICK).classes() == ["x:one", "x:two", "y"]
    assert lmkin.probe(acts, tag="upos", subtypes=False, **QUICK).classes() == ["x", "y"]


def test_a_limit_of_train_takes_the_first_rows(planted: Stores) -> None:
    result = lmkin.probe(planted, tag="upos", train_limit=100, **QUICK)
    assert int(result.dataset["rows"].sel(task="upos", split="train")) == 100
    first = planted["train"].select(np.arange(100))
    same = lmkin.probe({**planted, "train": first}, tag="upos", **QUICK)
    np.testing.assert_allclose(result.weights().values, same.weights().values, atol=1e-6)


def test_the_paper_takes_its_own_penalty_and_words(planted: Stores) -> None:
    from lmkin.analyses.probing.options import ProbeOptions

    options = ProbeOptions(tag=("upos",), convention="paper")
    resolved = options.resolved()
    assert (resolved.train_limit, resolved.l1, resolved.l2) == (150_000, 1e-5, 1e-5)
    assert resolved.solver == "adam"
    given = replace(options, l1=0.1, train_limit=7).resolved()
    assert (given.train_limit, given.l1, given.l2) == (7, 0.1, 1e-5)
    one = lmkin.probe(
        planted,
        tag="upos",
        convention="paper",
        train_limit=200,
        **{**QUICK, "l1": 0.05, "l2": 0.02},
    )
    given = {**QUICK, "l1": 0.05, "l2": 0.02, "train_limit": 200, "solver": "adam"}
    other = lmkin.probe(planted, tag="upos", **given)
    np.testing.assert_array_equal(one.weights().values, other.weights().values)
    code = lmkin.probe(planted, tag="upos", **given, convention="released")
    assert not np.array_equal(one.weights().values, code.weights().values)


def test_what_is_no_source_no_threshold_and_no_label_is_said(planted: Stores) -> None:
    with pytest.raises(lmkin.LmkinError, match="Give models, stored activations"):
        lmkin.probe(None, tag="upos")
    some = lmkin.probe(planted, tag="upos", **QUICK)
    for wrong in ("0:0.5:0.1", "a", None, ["a"]):
        with pytest.raises(lmkin.LmkinError, match="Thresholds are numbers"):
            lmkin.probe_clusters(some, wrong)
    X = np.random.default_rng(0).normal(size=(30, 4))
    with pytest.raises(
        lmkin.LmkinError, match=r"1 rows have no label \(None\), the first is row 4"
    ):
        lmkin.Probe(l1=0.1).fit(
            X, np.array([*"abab", None, *"abababababababababababab", "a"], object)
        )


@pytest.mark.usefixtures("no_models")
@pytest.mark.parametrize(
    ("corpora", "tag", "says"),
    [
        ({"corpus": some(30)}, "pos", "has no tag 'pos'. Did you mean 'upos'? Known: upos, deprel."),
        ({"corpus": some(30, "A")}, "upos", "Train has only 'A' as 'upos'"),
        ({"corpus": corpus_of(*[[("w", f"T{k}")] for k in range(30)])}, "upos", "as many different labels"),
        ({"train": some(20), "test": some(9, "CD")}, "upos", "No label of test occurs in train ('upos': 'C'"),
    ],
)  # fmt: skip
def test_mistakes_are_one_paragraph_on_the_command_line(
    corpora: dict[str, lmkin.Corpus], tag: str, says: str, tmp_path: Path
) -> None:
    flags: list[Any] = []
    for name, corpus in corpora.items():
        path = tmp_path / f"{name}.conllu"
        lines = [
            "\n".join(
                f"{k}\t{word}\t_\t{upos}\t_\t_\t{k - 1}\tdep\t_\t_"
                for k, (word, upos) in enumerate(zip(s.words, s.tags["upos"], strict=True), start=1)
            )
            for s in corpus
        ]
        path.write_text("\n\n".join(lines) + "\n\n")
        flags += [f"--{name}", path]
    outcome = call("probe", "nowhere", *flags, "--tag", tag, "-o", tmp_path / "out")
    assert outcome.code == 1
    assert says in outcome.said
    assert len(outcome.err.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_arrays_that_no_probe_can_read_are_said() -> None:
    X = np.random.default_rng(0).normal(size=(30, 4))
    broken = X.copy()
    broken[[3, 7], 2] = np.nan, np.inf
    probe = lmkin.Probe(l1=0.1)
    for use in (
        lambda: probe.fit(broken, ["a", "b"] * 15),
        lambda: probe.fit(X, ["a", "b"] * 15).predict(broken),
    ):
        with pytest.raises(lmkin.LmkinError, match=r"NaN or infinite values: 2 .* row 3, column 2"):
            use()
    with pytest.raises(lmkin.LmkinError, match="30 rows, and as many different labels"):
        probe.fit(X, [f"c{k}" for k in range(30)])
    with pytest.raises(lmkin.LmkinError, match="one class only, 'a'"):
        probe.fit(X, ["a"] * 30)
