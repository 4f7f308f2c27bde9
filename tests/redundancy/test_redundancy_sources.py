"""Arrays, activations, moments, models with a corpus: the same clusters from all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lmkin
from redundancy import naive_redundancy as naive

THRESHOLDS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


def by_hand(acts: lmkin.Activations) -> dict[str, Any]:
    return {f"{acts.name}/{n}": np.asarray(acts.layer(n)[:, :], np.float64) for n in acts.layers}


def test_all_sources_give_the_clusters_of_scipy(
    bert: lmkin.LanguageModel, acts: lmkin.Activations, read: lmkin.Corpus, tmp_path: Path
) -> None:
    arrays = by_hand(acts)
    Z = naive.tree(naive.distances(naive.side_by_side(arrays)))
    stored = lmkin.extract(bert, read, tmp_path / "bert.acts", progress=False)
    sources: dict[str, Any] = {
        "arrays": arrays,
        "activations": acts,
        "a list of activations": [acts],
        "activations by name": {"bert": acts},
        "stored": stored,
        "a folder": str(tmp_path / "bert.acts"),
        "moments of arrays": lmkin.compute_moments(arrays, progress=False),
        "moments of activations": lmkin.compute_moments(acts, progress=False),
        "moments of the model": lmkin.compute_moments(bert, read, progress=False),
        "moments without parts": lmkin.compute_moments(acts, parts=0, progress=False),
    }
    found = {k: lmkin.cluster_neurons(s, progress=False) for k, s in sources.items()}
    found["the model"] = lmkin.cluster_neurons(bert, corpus=read, progress=False)
    cuts = [t for t in naive.cuts(Z, apart=1e-5) if t > 0]
    assert len({len(set(naive.partition(Z, t))) for t in cuts}) > 20
    for name, each in found.items():
        assert each.models == ["bert"], name
        assert each.thresholds == THRESHOLDS
        for t in cuts:
            assert np.array_equal(each.labels(t), naive.partition(Z, t)), (name, t)
            assert each.representatives(t) == found["arrays"].representatives(t)
        assert each.attrs["n"] == len(acts)


def test_moments_that_were_saved_and_merged(acts: lmkin.Activations, tmp_path: Path) -> None:
    arrays = by_hand(acts)
    half = len(acts) // 2
    first = lmkin.compute_moments({k: a[:half] for k, a in arrays.items()}, parts=0, progress=False)
    second = lmkin.compute_moments(
        {k: a[half:] for k, a in arrays.items()}, parts=0, progress=False
    )
    merged = first.merge(second)
    whole = lmkin.compute_moments(acts, progress=False)
    whole.save(tmp_path / "moments")
    loaded = lmkin.Moments.load(tmp_path / "moments")
    direct = lmkin.cluster_neurons(acts, progress=False)
    Z = naive.tree(naive.distances(naive.side_by_side(arrays)))
    for t in naive.cuts(Z, apart=1e-5):
        if t > 0:
            for each in (merged, loaded):
                mine = lmkin.cluster_neurons(each, progress=False)
                assert np.array_equal(mine.labels(t), direct.labels(t))
    kept = lmkin.cluster_neurons(loaded, progress=False).keep(0.3)
    assert kept.hash == direct.keep(0.3).hash


def test_the_model_is_known_from_every_source_but_arrays(
    bert: lmkin.LanguageModel, acts: lmkin.Activations, read: lmkin.Corpus
) -> None:
    found = [
        lmkin.cluster_neurons(acts, progress=False),
        lmkin.cluster_neurons(bert, corpus=read, progress=False),
        lmkin.cluster_neurons(lmkin.compute_moments(bert, read, progress=False), progress=False),
        lmkin.cluster_neurons(lmkin.compute_moments(acts, progress=False), progress=False),
    ]
    assert len({c.keep(0.3).identity for c in found}) == 1
    assert found[0].keep(0.3).identity
    arrays = lmkin.cluster_neurons(by_hand(acts), progress=False)
    assert arrays.keep(0.3).identity is None


def test_what_is_said_of_the_corpus(clustered: lmkin.Clustering, read: lmkin.Corpus) -> None:
    tables = clustered.tables()
    for attrs in (clustered.attrs, tables.attrs):
        assert attrs["units"] == "word"
        assert attrs["corpus"] == read.name
        assert attrs["n"] == len(read.words)
        assert attrs["alerts"] == [a.to_dict() for a in clustered.alerts]
        assert attrs["provenance"]["lmkin"] == lmkin.__version__
        assert attrs["provenance"]["source"]["corpus_hash"] == read.hash
    assert tables.attrs["linkage"] == "average"
    assert tables.attrs["representative"] == "random"
    assert tables.attrs["seed"] == 0


def test_layers_can_be_chosen(
    bert: lmkin.LanguageModel, acts: lmkin.Activations, read: lmkin.Corpus
) -> None:
    arrays = by_hand(acts)
    expected = lmkin.cluster_neurons(
        {k: a for k, a in arrays.items() if k != "bert/1"}, progress=False
    )
    for source, corpus in ((acts, None), (bert, read)):
        found = lmkin.cluster_neurons(source, corpus=corpus, layers=[0, 2], progress=False)
        assert found.tables().layer.values.tolist() == [0, 2]
        for t in (0.3, 0.5, 0.7):
            assert found.members(t) == expected.members(t)
    last = lmkin.cluster_neurons(acts, layers=[2], progress=False)
    assert {layer for layer, _ in last.representatives(0.3)} == {2}


def test_units_and_options_reach_the_model(bert: lmkin.LanguageModel, read: lmkin.Corpus) -> None:
    for options in ({"units": "token"}, {"units": "sentence"}, {"pooling": "first"}):
        acts = lmkin.extract(bert, read, progress=False, **options)
        arrays = by_hand(acts)
        Z = naive.tree(naive.distances(naive.side_by_side(arrays)))
        found = lmkin.cluster_neurons(bert, corpus=read, progress=False, **options)
        assert found.attrs["n"] == len(acts)
        assert found.attrs["units"] == options.get("units", "word")
        for t in naive.cuts(Z, apart=1e-4):
            if t > 0:
                assert np.array_equal(found.labels(t), naive.partition(Z, t))


def test_models_beside_each_other(
    bert: lmkin.LanguageModel, gpt2: lmkin.LanguageModel, read: lmkin.Corpus
) -> None:
    """A decoder lacks the first word of each sentence: it is left out of both, and counted."""
    acts = [lmkin.extract(m, read, progress=False) for m in (bert, gpt2)]
    common = lmkin.common_units(*acts)
    lost = len(acts[0]) - len(common[0])
    assert lost > 0
    for source, corpus in ((acts, None), ([bert, gpt2], read)):
        found = lmkin.cluster_neurons(source, corpus=corpus, progress=False)
        assert found.models == ["bert", "gpt2"]
        dropped = [str(a) for a in found.alerts if a.kind == "dropped"]
        assert len(dropped) == 1
        assert f"gpt2 lacks {lost} (the first token of a decoder) of the words" in dropped[0]
        assert "first_token='keep'" in dropped[0]
        for each in common:
            Z = naive.tree(naive.distances(naive.side_by_side(by_hand(each))))
            for t in naive.cuts(Z, apart=1e-5):
                if t > 0:
                    assert np.array_equal(found.labels(t, each.name), naive.partition(Z, t))


def test_the_same_model_twice(acts: lmkin.Activations) -> None:
    found = lmkin.cluster_neurons([acts, acts], progress=False)
    assert found.models == ["bert", "bert#2"]
    assert found.representatives(0.3, "bert") == found.representatives(0.3, "bert#2")


def test_torch_arrays() -> None:
    import torch

    X = naive.real_shaped(100, 30, 0)
    found = lmkin.cluster_neurons({"m/0": torch.tensor(X)}, progress=False)
    Z = naive.tree(naive.distances(X))
    for t in naive.cuts(Z):
        assert np.array_equal(found.labels(t), naive.partition(Z, t))


@pytest.mark.parametrize("number", [np.float16, np.int32])
def test_other_numbers(number: Any) -> None:
    X = (20 * naive.blocks(200, 30, 0)).astype(number)
    Z = naive.tree(naive.distances(X))
    found = lmkin.cluster_neurons({"m/0": X}, progress=False)
    for t in naive.cuts(Z, apart=1e-5):
        if t > 0:
            assert np.array_equal(found.labels(t), naive.partition(Z, t))


@pytest.mark.slow
def test_real_neurons_against_scipy(shared: Any) -> None:
    model = lmkin.load_model(shared("models", "e5-small"), name="e5-small")
    corpus = lmkin.read_corpus(shared("data", "ud", "en_ewt-ud-dev.conllu"))[:100]
    acts = lmkin.extract(model, corpus, layers=[0, 1, 6, 11, 12], progress=False)
    X = np.concatenate([np.asarray(acts.layer(n)[:, :], np.float64) for n in acts.layers], axis=1)
    assert X.shape[1] == 5 * 384
    Z = naive.tree(naive.distances(X))
    found = {
        precision: lmkin.cluster_neurons(acts, precision=precision, progress=False)
        for precision in ("float32", "float64")
    }
    for precision, apart in (("float32", 2e-5), ("float64", 1e-9)):
        each = found[precision]
        assert each.linkage_matrix()[:, 2] == pytest.approx(Z[:, 2], abs=2e-5)
        checked = 0
        for t in THRESHOLDS[1:]:
            # Where a merge lies at the very threshold, digits decide: look a little above.
            while np.abs(Z[:, 2] - t).min() < apart:
                t += apart / 2
            assert np.array_equal(each.labels(t), naive.partition(Z, t)), (precision, t)
            checked += 1
        assert checked == 10
    left = found["float64"].tables().left.sel(model="e5-small").values
    assert left[0] == 5 * 384
    assert (np.diff(left) <= 0).all()
    assert left[3] < left[0]
