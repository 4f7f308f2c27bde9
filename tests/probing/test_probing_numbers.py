"""Numbers of a run against scikit-learn on the same rows, and against definitions written out."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef

import lmkin
from lmkin.analyses.probing import ProbeCells
from lmkin.analyses.probing.baselines import control_task
from lmkin.analyses.probing.fits import PORTIONS
from lmkin.analyses.probing.tasks import Task
from lmkin.core import blocks_of_owners
from probing.naive_probing import jackknife_error, online_code, tag_of_the_word
from probing.tagged_activations import activations_of, tagged_activations

Stores = dict[str, lmkin.Activations]
L1, L2 = 0.004, 0.002


def joined(acts: lmkin.Activations, layers: Any) -> Any:
    return np.hstack([acts.layer(n)[:] for n in layers]).astype(np.float64)


def by_sklearn(stores: Stores, layers: Any, labels: dict[str, Any] | None = None) -> Any:
    """Multinomial elastic net of standardized columns: the labels that it predicts, by split."""
    y = labels or {n: np.array(a.units.tags("upos")) for n, a in stores.items()}
    X = {n: joined(a, layers) for n, a in stores.items()}
    mean, std = X["train"].mean(0), X["train"].std(0)
    n = len(X["train"])
    model = LogisticRegression(
        solver="saga", C=1 / (n * (L1 + 2 * L2)), l1_ratio=L1 / (L1 + 2 * L2), max_iter=3000, tol=1e-6
    ).fit((X["train"] - mean) / std, y["train"])  # fmt: skip
    return {name: (y[name], model.predict((x - mean) / std)) for name, x in X.items()}


@pytest.mark.parametrize(("probe", "layers"), [("all", (0, 1, 2)), ("1", (1,)), ("0-1", (0, 1))])
def test_scores_are_those_of_scikit_learn(
    probes: lmkin.Probes, planted: Stores, probe: str, layers: Any
) -> None:
    found = by_sklearn(planted, layers)
    for split, (true, predicted) in found.items():
        at = {"model": "planted", "task": "upos", "probe": probe, "split": split}
        mine = probes.predict(planted[split], probe)
        assert np.mean(np.array(mine) == predicted) > 0.995  # both are solved to a tolerance
        labels = sorted({*true.tolist(), *mine})
        expected = {
            "accuracy": accuracy_score(true, mine),
            "macro_f1": f1_score(true, mine, average="macro", labels=labels),
            "matthews": matthews_corrcoef(true, mine),
        }
        for name, value in expected.items():
            assert float(probes.dataset[name].sel(at)) == pytest.approx(value), name
        part = blocks_of_owners(planted[split].units.sentence.astype(np.int64), 6)
        error = jackknife_error(lambda k: accuracy_score(true[k], np.array(mine)[k]), part)  # noqa: B023
        assert float(probes.dataset["accuracy_se"].sel(at)) == pytest.approx(error)


def test_weights_say_what_is_predicted(probes: lmkin.Probes, planted: Stores) -> None:
    W = probes.weights("0-1")
    assert W.sizes == {"class": len(probes.classes()), "neuron": 24}
    assert W["layer"].values.tolist() == [0] * 12 + [1] * 12
    assert W["number"].values.tolist() == [*range(12)] * 2
    estimator = probes.estimator("0-1")
    X = joined(planted["test"], (0, 1))
    scores = X @ W.values.T + estimator.intercept_
    mine = np.array(probes.classes())[scores.argmax(1)]
    assert probes.predict(planted["test"], "0-1") == mine.tolist()
    assert estimator.predict(X).tolist() == mine.tolist()


def test_unseen_words_and_classes(probes: lmkin.Probes, planted: Stores) -> None:
    seen = set(planted["train"].units.texts)
    test = planted["test"].units
    new = np.array([word not in seen for word in test.texts])
    right = np.array(probes.predict(planted["test"], "2")) == np.array(test.tags("upos"))
    assert 5 < new.sum() < len(new)
    at = {"model": "planted", "task": "upos", "probe": "2", "split": "test"}
    assert float(probes.dataset["accuracy_unseen"].sel(at)) == pytest.approx(right[new].mean())
    assert int(probes.dataset["unseen_words"].sel(task="upos", split="test")) == new.sum()
    mine = np.array(probes.predict(planted["test"], "2"))
    by_class = f1_score(
        test.tags("upos"), mine, average=None, labels=probes.classes(), zero_division=np.nan
    )
    found = probes.dataset["f1"].sel(model="planted", probe="2")
    names = [f"upos/{c}" for c in probes.classes()]
    np.testing.assert_allclose(found.sel({"class": names}).values, by_class)


def test_baselines(probes: lmkin.Probes, planted: Stores) -> None:
    words, tags = (planted["train"].units.texts, planted["train"].units.tags("upos"))
    for split, acts in planted.items():
        true = np.array(acts.units.tags("upos"))
        usual = max(sorted(set(tags)), key=tags.count)
        at = {"task": "upos", "split": split}
        assert float(probes.dataset["majority"].sel(at)) == pytest.approx(np.mean(true == usual))
        told = tag_of_the_word(words, tags, acts.units.texts)
        value = float(probes.dataset["word_majority"].sel(at))
        assert value == pytest.approx(np.mean(true == np.array(told)))


def test_redundant_layers_are_those_within_the_tolerance(probes: lmkin.Probes) -> None:
    accuracy = probes.dataset["accuracy"].sel(model="planted", task="upos")
    dev = accuracy.sel(split="dev")
    kept = probes.dataset["kept"].sel(model="planted", task="upos")
    redundant = probes.dataset["redundant"].sel(model="planted", task="upos")
    for name in map(str, dev["probe"].values):
        share = float(dev.sel(probe=name) / dev.sel(probe="all"))
        assert float(kept.sel(probe=name)) == pytest.approx(share)
        assert bool(redundant.sel(probe=name)) == (share >= 0.99)
    behind = probes.dataset["behind"].sel(model="planted", task="upos", probe="0")
    test = accuracy.sel(split="test")
    assert float(behind) == pytest.approx(float(test.sel(probe="all") - test.sel(probe="0")))
    assert redundant.sel(probe="0") == 0
    assert redundant.sel(probe="all") == 1


def task_of(stores: Stores) -> tuple[Task, dict[str, list[str]]]:
    classes = tuple(sorted(set(stores["train"].units.tags("upos"))))
    numbers = {
        n: np.array([classes.index(t) if t in classes else -1 for t in a.units.tags("upos")])
        for n, a in stores.items()
    }
    rows = {n: np.arange(len(a)) for n, a in stores.items()}
    words = {n: a.units.texts for n, a in stores.items()}
    return Task("upos", classes, numbers, rows, dict.fromkeys(stores, 0)), words


def test_the_control_task_gives_each_word_one_label_from_the_tags(planted: Stores) -> None:
    task, words = task_of(planted)
    control = control_task(task, words, 0)
    label: dict[str, int] = {}
    for split, mine in words.items():
        for word, drawn in zip(mine, control.target[split].tolist(), strict=True):
            assert label.setdefault(word, drawn) == drawn
    # Of many word types, labels are as frequent as tags.
    many = {"train": [f"w{k}" for k in range(40_000)], "dev": ["w0"], "test": ["w1"]}
    drawn = control_task(task, many, 3).target["train"]
    share = np.bincount(drawn, minlength=len(task.classes)) / len(drawn)
    np.testing.assert_allclose(share, task.counts / task.counts.sum(), atol=0.01)
    assert (control_task(task, many, 4).target["train"] != drawn).any()
    np.testing.assert_array_equal(control_task(task, many, 3).target["train"], drawn)


def test_control_and_selectivity(probes: lmkin.Probes, planted: Stores) -> None:
    """The control task's probe is that of scikit-learn with the labels of the control task."""
    task, words = task_of(planted)
    control = control_task(task, words, 0)
    found = by_sklearn(planted, (2,), {n: np.asarray(y) for n, y in control.target.items()})
    for split, (true, predicted) in found.items():
        at = {"model": "planted", "task": "upos", "probe": "2", "split": split}
        mine = float(probes.dataset["control"].sel(at))
        assert mine == pytest.approx(accuracy_score(true, predicted), abs=0.005)
        accuracy = float(probes.dataset["accuracy"].sel(at))
        assert float(probes.dataset["selectivity"].sel(at)) == pytest.approx(accuracy - mine)


def test_random_features_have_no_selectivity(read: lmkin.Corpus, planted: Stores) -> None:
    """A random vector for each word type: tags and random labels by type are learned from memory alike."""
    acts = tagged_activations(read)
    vectors: dict[str, Any] = {}
    random = np.random.default_rng(5)
    X = np.stack([vectors.setdefault(w, random.normal(size=150)) for w in acts.units.texts])
    noise = activations_of(acts.units, {0: X}, "random")
    sentence = acts.units.sentence
    stores = {
        "train": noise.select(sentence < 110),
        "dev": noise.select((sentence >= 110) & (sentence < 125)),
        "test": noise.select(sentence >= 125),
    }
    found = lmkin.probe(stores, tag="upos", l1=0.002, fit="all", code_length=False, progress=False)
    real = lmkin.probe(planted, tag="upos", l1=0.002, fit="all", code_length=False, progress=False)

    def selectivity(result: lmkin.Probes) -> float:
        return float(result.dataset["selectivity"].sel(probe="all", split="test").squeeze())

    assert abs(selectivity(found)) < 0.15
    assert selectivity(real) > 0.25


def test_online_code_as_defined(probes: lmkin.Probes, planted: Stores) -> None:
    train = planted["train"]
    task, _ = task_of(planted)
    y, sentence = np.asarray(task.target["train"]), train.units.sentence.astype(np.int64)
    classes = len(task.classes)

    def fit(X: Any, labels: Any) -> Any:
        probe = lmkin.Probe(l1=L1, l2=L2, tolerance=0.001)
        there = np.unique(labels)
        if len(there) < 2:
            raise AssertionError("the first portion has one class only")
        probe.fit(X, labels)

        def probability(rows: Any) -> Any:
            full = np.zeros(classes)
            full[probe.classes_] = probe.predict_proba(rows)[0]
            return full

        return probability

    bits = online_code(
        joined(train, (1,)), y, sentence, fit, classes=classes, portions=PORTIONS, seed=0
    )
    found = float(probes.dataset["bits"].sel(model="planted", task="upos", probe="1"))
    assert found == pytest.approx(bits, rel=0.01)
    uniform = len(y) * np.log2(classes)
    compression = float(probes.dataset["compression"].sel(model="planted", task="upos", probe="1"))
    assert compression == pytest.approx(uniform / found)


_RUN = """
import sys, lmkin
from probing.tagged_activations import tagged_activations
acts = tagged_activations(lmkin.read_corpus("sample")[:40])
result = lmkin.probe(acts, tag="upos", l1=0.01, fit="all", code_length=False, parts=3, progress=False)
result.save(sys.argv[1])
"""


def test_the_same_bytes_for_every_hash_seed(tmp_path: Any) -> None:
    written = []
    for seed in ("0", "12345"):
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        subprocess.run([sys.executable, "-c", _RUN, str(tmp_path / seed)], env=env, check=True)
        files = sorted(
            p for p in (tmp_path / seed).iterdir() if p.suffix in (".csv", ".safetensors", ".nc")
        )
        written.append({p.name: p.read_bytes() for p in files})
    assert len(written[0]) > 3
    assert written[0] == written[1]


def test_published_layers_are_those_of_the_paper(planted: Stores) -> None:
    options = {"l1": 0.05, "fit": "all", "code_length": False, "control": False, "progress": False}
    result = lmkin.probe(planted, tag="upos", compare_published=True, **options)
    assert result.published is not None
    layers, oracle = (
        lmkin.published("dalvi2020/table7-accuracy"),
        lmkin.published("dalvi2020/table7-oracle"),
    )
    for model in ("BERT", "XLNet"):
        mine = result.published.sel(model=model, task="upos")
        for layer in (0, 6, 12):
            there = float(layers.sel(model=model, layer=layer, task="POS")) / 100
            assert float(mine.sel(layer=str(layer))) == pytest.approx(there)
        best = float(oracle.sel(model=model, figure="oracle", task="POS")) / 100
        assert float(mine.sel(layer="all")) == pytest.approx(best)
    other = lmkin.probe(planted, tag="deprel", compare_published=True, **options)
    assert other.published is None


def test_the_penalty_is_the_best_of_a_path_on_dev(planted: Stores) -> None:
    """None of the penalties that were tried predicts dev better."""
    from sklearn.metrics import log_loss

    result = lmkin.probe(
        planted, tag="upos", fit="all", code_length=False, control=False, progress=False
    )
    probe = result.estimator("all")
    assert probe.l1_ == pytest.approx(float(result.dataset["l1"].squeeze()))
    X = {n: joined(a, (0, 1, 2)) for n, a in planted.items()}
    y = {n: np.array(a.units.tags("upos")) for n, a in planted.items()}
    known = np.isin(y["dev"], probe.classes_)

    def loss(fitted: lmkin.Probe) -> float:
        p = fitted.predict_proba(X["dev"][known])
        return float(log_loss(y["dev"][known], p, labels=fitted.classes_))

    chosen = loss(probe)
    for factor in (0.2, 5):
        other = lmkin.Probe(l1=probe.l1_ * factor).fit(X["train"], y["train"])
        assert chosen < loss(other)


def test_layer_0_by_itself_is_shown_once(probes: lmkin.Probes, planted: Stores) -> None:
    """Layers 0 to 0 are layer 0: no probe, row or finding of their own, and where layers 0 to l begin."""
    labels = ["all", "0", "1", "2", "0-1", "0-2"]
    assert probes.dataset["probe"].values.tolist() == labels
    assert [row["probe"] for row in probes.data()["probes"]] == labels
    cells = ProbeCells(probes.dataset)
    assert cells.probes("planted", "upos", "upto") == ["0", "0-1", "0-2"]
    assert cells.probes("planted", "upos", "each") == ["0", "1", "2"]
    known = dict(planted)
    for name, acts in planted.items():  # only the embedding knows anything
        layers = {n: acts.layer(2)[:] if n == 0 else 0 * acts.layer(n)[:] for n in acts.layers}
        layers |= {n: np.random.default_rng(n).normal(size=X.shape) for n, X in layers.items() if n}
        known[name] = activations_of(acts.units, layers)
    options = {"l1": 0.01, "control": False, "code_length": False, "progress": False}
    said = lmkin.probe(known, tag="upos", fit=("each", "upto"), tolerance=0.2, **options).findings()
    assert sum("Layer 0 of planted is enough" in sentence for sentence in said) == 1
    assert not any("Layers 0 of" in sentence for sentence in said)
    alone = lmkin.probe(planted, tag="upos", fit="upto", **options)
    assert alone.dataset["probe"].values.tolist() == ["all", "0-0", "0-1", "0-2"]
    each = lmkin.probe(planted, tag="upos", fit="each", **options)
    np.testing.assert_allclose(alone.weights("0-0").values, each.weights(0).values, atol=1e-6)
