"""Scores, baselines and intervals against what scikit-learn, scipy and plain counting give."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, precision_recall_fscore_support
from sklearn.preprocessing import StandardScaler

import lmkin
from cross_lingual.conftest import L1, L2
from cross_lingual.treebanks import WordVectors, sentence, treebanks


@pytest.fixture(scope="module")
def rows(banks: dict[str, lmkin.Corpus], models: list[WordVectors]) -> dict[str, Any]:
    """Of each language all neurons, tags and sentences, by the first model."""
    found = {}
    for language, corpus in banks.items():
        acts = lmkin.extract(models[0], corpus, progress=False)
        X = np.concatenate([acts.layer(n)[:] for n in acts.layers], axis=1)
        found[language] = (X, np.array(acts.units.tags("upos")), acts.units.sentence)
    return found


def by_sklearn(X: Any, y: Any) -> Any:
    """The same objective, of Σ loss / n + λ₁ Σ|w| + λ₂ Σw², for standardized columns."""
    scaler = StandardScaler().fit(X)
    strength = L1 + 2 * L2
    model = LogisticRegression(
        solver="saga", l1_ratio=L1 / strength, C=1 / (len(X) * strength), max_iter=5000, tol=1e-7,
        penalty="elasticnet", random_state=0,
    )  # fmt: skip
    model.fit(scaler.transform(X), y)
    return lambda other: model.predict(scaler.transform(other))


@pytest.mark.filterwarnings("ignore")
def test_accuracy_and_macro_f1_are_those_of_scikit_learn(
    transfer: lmkin.CrossLingual, rows: dict[str, Any]
):
    held_out = transfer["held_out"].values.astype(bool)
    X, y, owner = rows["en"]
    predict = by_sklearn(X[~held_out[owner]], y[~held_out[owner]])
    at = transfer.dataset.sel(model="teacher", source="en", task="upos", neurons="all")
    for language, (Z, true, sentence_of) in rows.items():
        for test in ("all", "held-out"):
            some = held_out[sentence_of] if test == "held-out" else slice(None)
            here = at.sel(language=language, test=test)
            if language == "en" and test == "all":
                assert np.isnan(here["accuracy"])  # most of it was fitted
                continue
            told = predict(Z[some])
            assert float(here["accuracy"]) == pytest.approx(
                accuracy_score(true[some], told), abs=0.005
            )
            assert float(here["macro_f1"]) == pytest.approx(
                f1_score(true[some], told, average="macro"), abs=0.01
            )
            assert int(transfer.rows.sel(task="upos", language=language, test=test)) == len(told)


def test_classes_are_scored_as_scikit_learn_does(
    transfer: lmkin.CrossLingual, rows: dict[str, Any]
):
    """By what the kept probes predict: precision, recall, F1 and words of each class, in every language and test."""
    held_out = transfer["held_out"].values.astype(bool)
    labels = transfer.classes("upos")
    model = WordVectors("teacher", 0.8)
    records = {
        (r["class"], r["language"], r["test"]): r
        for r in transfer.data()["class_scores"]
        if r["model"] == "teacher"
    }
    for language, corpus in treebanks().items():
        _, true, sentence_of = rows[language]
        told = np.array(transfer.predict(lmkin.extract(model, corpus, progress=False)))
        for test in ("all", "held-out"):
            if (language, test) == ("en", "all"):
                assert not any(key[1:] == ("en", "all") for key in records)
                continue
            some = held_out[sentence_of] if test == "held-out" else slice(None)
            wanted = precision_recall_fscore_support(
                true[some], told[some], labels=labels, zero_division=np.nan
            )
            occurs = [label in true[some] or label in told[some] for label in labels]
            for label, there, *scores in zip(labels, occurs, *wanted, strict=True):
                row = records[label, language, test]
                mine = [np.nan if row[n] is None else row[n] for n in ("precision", "recall", "f1")]
                assert row["support"] == scores[3]
                np.testing.assert_allclose(mine[:2], scores[:2], atol=1e-12)
                np.testing.assert_allclose(mine[2], scores[2] if there else np.nan, atol=1e-12)
    counts = Counter(rows["en"][1][~held_out[rows["en"][2]]])
    table = transfer.find_table("classes").to_records()
    assert [r["class"] for r in table if r["model"] == "teacher"] == [
        c for c, _ in counts.most_common()
    ]
    assert {r["class"]: r["train"] for r in table} == counts


def test_intervals_of_classes_leave_out_the_same_blocks(
    transfer: lmkin.CrossLingual, rows: dict[str, Any]
):
    acts = lmkin.extract(WordVectors("teacher", 0.8), treebanks()["fi"], progress=False)
    told = np.array(transfer.predict(acts))
    _, true, sentence_of = rows["fi"]
    left = []
    for block in np.array_split(np.arange(60), 5):
        kept = ~np.isin(sentence_of, block)
        left.append(f1_score(true[kept], told[kept], labels=["VERB"], average="macro"))
    se = np.sqrt(4 / 5 * ((np.array(left) - np.mean(left)) ** 2).sum())
    at = {"model": "teacher", "source": "en", "language": "fi", "test": "all", "class": "upos/VERB"}
    assert float(transfer.f1_se.sel(at)) == pytest.approx(se)


@pytest.mark.filterwarnings("ignore")
def test_standard_errors_leave_out_blocks_of_sentences(
    transfer: lmkin.CrossLingual, rows: dict[str, Any]
):
    """For equal parts: (g − 1)/g Σ (θ₋ⱼ − mean)²; of a difference between languages, that of the differences."""
    held_out = transfer["held_out"].values.astype(bool)
    X, y, owner = rows["en"]
    predict = by_sklearn(X[~held_out[owner]], y[~held_out[owner]])
    right = {name: predict(Z) == true for name, (Z, true, _) in rows.items()}

    def without(language: str, block: Any, among: Any) -> float:
        kept = np.isin(rows[language][2], among) & ~np.isin(rows[language][2], block)
        return float(right[language][kept].mean())

    blocks = np.array_split(np.arange(60), 5)
    left = np.array([without("fi", block, np.arange(60)) for block in blocks])
    se = np.sqrt(4 / 5 * ((left - left.mean()) ** 2).sum())
    at = {"model": "teacher", "source": "en", "task": "upos", "neurons": "all"}
    assert float(transfer.accuracy_se.sel(**at, language="fi", test="all")) == pytest.approx(
        se, abs=1e-3
    )
    gap = float(transfer.gap.sel(**at, language="fi"))
    value = {n: float(right[n][held_out[rows[n][2]]].mean()) for n in ("en", "fi")}
    assert gap == pytest.approx(value["en"] - value["fi"], abs=0.005)


def test_differences_are_those_of_the_scores(transfer: lmkin.CrossLingual):
    accuracy, all_neurons = transfer.accuracy, transfer.accuracy.sel(neurons="all")
    others = [label for label in transfer["neurons"].values if label != "all"]
    np.testing.assert_allclose(
        transfer.behind.sel(neurons=others),
        (all_neurons - accuracy).transpose(*transfer.behind.dims).sel(neurons=others),
    )
    difference = accuracy.sel(model="teacher") - accuracy.sel(model="student")
    np.testing.assert_allclose(
        transfer.model_difference.sel(model="student"),
        difference.transpose(*transfer.model_difference.dims[1:]),
    )
    # The interval of a difference that is always the same is nothing, whatever the scores' own are.
    same = lmkin.cross_lingual(
        [WordVectors("a", 1.4), WordVectors("b", 1.4)], treebanks(("en", "fi"), 40), tags="upos", thresholds=[0.5],
        ablations="none", parts=4, l1=0.02, progress=False,
    )  # fmt: skip
    at = {"source": "en", "task": "upos", "neurons": "all", "language": "fi", "test": "all"}
    assert float(same.accuracy_se.sel(**at, model="b")) > 0
    assert float(same.model_difference_se.sel(**at, model="b")) == 0


def test_means_over_languages_and_families(transfer: lmkin.CrossLingual):
    at = {"model": "student", "source": "en", "task": "upos", "neurons": "0.5", "test": "all"}
    by_language = transfer.accuracy.sel(**at)
    mean = float(by_language.sel(language=["de", "fi", "ja"]).mean())
    assert float(transfer.mean_accuracy.sel(**at)) == pytest.approx(mean)
    families = {"de": "Germanic", "fi": "Uralic", "ja": "Japonic"}
    for language, family in families.items():
        own = float(by_language.sel(language=language))
        assert float(transfer.family_accuracy.sel(**at, family=family)) == pytest.approx(own)
    joined = lmkin.cross_lingual(
        WordVectors("student", 1.4), treebanks(), tags="upos", thresholds=[0.5], ablations="none", l1=L1, l2=L2,
        kkt=1e-4, parts=5, families={"fi": "far", "ja": "far"}, progress=False,
    )  # fmt: skip
    far = float(joined.family_accuracy.sel(**at, family="far"))
    assert far == pytest.approx(float(by_language.sel(language=["fi", "ja"]).mean()))


def most_frequent(words: list[str], tags: list[str]) -> Any:
    """The tag that a word has most often; else the most frequent of all; of equals the first by name."""
    counts: dict[str, Counter[str]] = {}
    for word, tag in zip(words, tags, strict=True):
        counts.setdefault(word, Counter())[tag] += 1
    every = Counter(tags)
    other = min(every, key=lambda t: (-every[t], t))
    best = {w: min(c, key=lambda t: (-c[t], t)) for w, c in counts.items()}
    return lambda word: best.get(word, other)


def test_baselines_are_counted(transfer: lmkin.CrossLingual, banks: dict[str, lmkin.Corpus]):
    held_out = transfer["held_out"].values.astype(bool)
    parts = {n: (c[~held_out], c[held_out]) for n, c in banks.items()}
    source = most_frequent(parts["en"][0].words, parts["en"][0].tags("upos"))
    at = {"task": "upos", "source": "en", "test": "held-out"}
    for language, (train, held) in parts.items():
        true = held.tags("upos")
        own = most_frequent(train.words, train.tags("upos"))
        here = {"language": language}

        def share(told: list[str], true: list[str] = true) -> float:
            return float(np.mean([a == b for a, b in zip(told, true, strict=True)]))

        assert float(transfer.word_source.sel(**at, **here)) == pytest.approx(
            share([source(w) for w in held.words])
        )
        assert float(transfer.word_own.sel(task="upos", **here)) == pytest.approx(
            share([own(w) for w in held.words])
        )
        assert float(transfer.majority.sel(**at, **here)) == pytest.approx(
            share([source("?")] * len(true))
        )


@pytest.mark.filterwarnings("ignore")
def test_the_ceiling_is_a_probe_of_the_language_itself(
    transfer: lmkin.CrossLingual, rows: dict[str, Any]
):
    held_out = transfer["held_out"].values.astype(bool)
    X, y, owner = rows["ja"]
    predict = by_sklearn(X[~held_out[owner]], y[~held_out[owner]])
    own = accuracy_score(y[held_out[owner]], predict(X[held_out[owner]]))
    at = {"model": "teacher", "task": "upos"}
    assert float(transfer.ceiling.sel(**at, language="ja")) == pytest.approx(own, abs=0.005)
    here = {**at, "source": "en", "neurons": "all", "language": "en", "test": "held-out"}
    assert float(transfer.ceiling.sel(**at, language="en")) == float(transfer.accuracy.sel(**here))


def test_clusters_are_of_what_is_fitted_on_and_of_nothing_else(
    transfer: lmkin.CrossLingual, rows: dict[str, Any]
):
    held_out = transfer["held_out"].values.astype(bool)
    X, _, owner = rows["en"]
    X, _, owner = rows["en"]
    D = 1 - np.abs(np.corrcoef(X[~held_out[owner]].astype(float).T))
    tree = linkage(squareform(np.round(np.maximum(D, 0), 6), checks=False), "average")
    count = [len(set(fcluster(tree, t, "distance"))) for t in (0.1, 0.5)]
    at = {"model": "teacher", "source": "en", "task": "upos"}
    assert transfer.width.sel(**at, neurons=["0.1", "0.5"]).values.tolist() == count
    changed = treebanks()
    train_ids = {
        str(s) for s, out in zip(transfer["sentence"].values, held_out, strict=True) if not out
    }
    changed["de"] = lmkin.Corpus(
        [sentence(s.id, [w[::-1] for w in s.words], s.tags["upos"]) for s in changed["de"]],
        name="reversed",
    )
    changed["en"] = lmkin.Corpus(
        [
            s
            if s.id in train_ids
            else sentence(s.id, [f"DET0{'x' * k}en" for k in range(len(s))], s.tags["upos"])
            for s in changed["en"]
        ],
        name="en",
    )
    other = lmkin.cross_lingual(
        WordVectors("teacher", 0.8), changed, tags="upos", thresholds=[0.1, 0.5], parts=5, l1=L1, l2=L2, kkt=1e-4,
        progress=False,
    )  # fmt: skip
    for name in ("width", "used", "weights", "train_accuracy"):
        np.testing.assert_array_equal(other[name].sel(**at), transfer[name].sel(**at))
    unchanged = {**at, "language": "fi", "test": "all"}
    np.testing.assert_array_equal(
        other.accuracy.sel(**unchanged), transfer.accuracy.sel(**unchanged)
    )


# -- labels ------------------------------------------------------------------------------------------


def with_particles(banks: dict[str, lmkin.Corpus]) -> dict[str, lmkin.Corpus]:
    """German determiners are called particles, a tag that English has not; Finnish ones have none."""
    names = {"de": "PART", "fi": "_"}
    return {
        language: lmkin.Corpus(
            [
                dataclasses.replace(
                    s,
                    tags={
                        **s.tags,
                        "upos": tuple(
                            names.get(language, t) if t == "DET" else t for t in s.tags["upos"]
                        ),
                    },
                )
                for s in corpus
            ],
            name=language,
        )
        for language, corpus in banks.items()
    }


def test_labels_that_train_has_not_are_wrong_or_the_most_frequent(banks: dict[str, lmkin.Corpus]):
    changed = with_particles(banks)
    options: Any = {
        "tags": "upos",
        "thresholds": [0.5],
        "ablations": "none",
        "l1": L1,
        "l2": L2,
        "progress": False,
    }
    model = WordVectors("teacher", 0.8)
    plain, wrong, most = (
        lmkin.cross_lingual(model, corpora, unseen=unseen, **options)
        for corpora, unseen in ((banks, "wrong"), (changed, "wrong"), (changed, "most-frequent"))
    )
    at = {
        "model": "teacher",
        "source": "en",
        "task": "upos",
        "neurons": "all",
        "language": "de",
        "test": "all",
    }
    count = changed["de"].tags("upos").count("PART")
    n = banks["de"].n_words
    assert int(wrong.unseen.sel(source="en", task="upos", language="de", test="all")) == count > 0
    assert wrong.classes("upos") == plain.classes("upos") == sorted(set(banks["en"].tags("upos")))
    scores = [float(r.accuracy.sel(**at)) for r in (plain, wrong, most)]
    assert scores[0] - count / n <= scores[1] + 1e-9 <= scores[0] + 2e-9
    assert scores[1] <= scores[2] <= scores[1] + count / n + 1e-9
    acts = lmkin.extract(model, changed["de"], progress=False)
    assert acts.units.tags("upos").count("PART") == count
    kinds = {a.kind for a in wrong.alerts}
    assert {"unseen labels", "missing labels"} <= kinds
    assert any(f"{count:,} of {n:,} in de" in a.text for a in wrong.alerts)
    missing = changed["fi"].tags("upos").count("_")
    assert int(wrong.missing.sel(task="upos", language="fi")) == missing
    assert (
        int(wrong.rows.sel(task="upos", language="fi", test="all")) == banks["fi"].n_words - missing
    )


def test_subtypes_are_kept_or_cut(banks: dict[str, lmkin.Corpus]):
    options: Any = {
        "tags": "deprel",
        "thresholds": [0.5],
        "ablations": "none",
        "l1": 0.02,
        "progress": False,
    }
    some = {name: banks[name][:30] for name in ("en", "de")}
    model = WordVectors()
    whole, cut = (lmkin.cross_lingual(model, some, subtypes=s, **options) for s in (True, False))
    assert whole.classes() == sorted(set(some["en"].tags("deprel")))
    assert cut.classes() == sorted({t.partition(":")[0] for t in some["en"].tags("deprel")})
    at = {
        "model": "planted",
        "source": "en",
        "task": "deprel",
        "neurons": "all",
        "language": "de",
        "test": "all",
    }
    assert float(cut.accuracy.sel(**at)) > float(whole.accuracy.sel(**at))


def test_no_interval_leaves_the_range_of_its_score(
    banks: dict[str, lmkin.Corpus], models: list[WordVectors]
) -> None:
    result = lmkin.cross_lingual(
        models, banks, tags="upos", thresholds=[0.5], parts=2, l1=L1, l2=L2, progress=False
    )
    scores = (
        "accuracy", "macro_f1", "mean_accuracy", "family_accuracy", "majority", "word_source", "word_own", "ceiling",
    )  # fmt: skip
    ends = [str(n) for n in result.dataset if str(n).endswith(("_low", "_high"))]
    assert {"accuracy_low", "gap_high", "model_difference_low"} <= set(ends)
    for name in ends:
        values = result.dataset[name].values
        assert np.nanmin(values) >= (0 if name.rpartition("_")[0] in scores else -1), name
        assert np.nanmax(values) <= 1, name
