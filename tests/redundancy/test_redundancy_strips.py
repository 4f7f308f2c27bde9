"""Strips: what the neurons of a cluster do over a sentence, against activations taken by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lmkin
from redundancy import naive_redundancy as naive

TEXT = "The quick dog barked at an old tree in the garden ."


def by_hand(acts: lmkin.Activations, layer: int, neuron: int) -> Any:
    line = np.asarray(acts.layer(layer)[:, :], np.float64)[:, neuron]
    return (line - line.mean()) / line.std()


def assert_strips(
    found: Any, acts: lmkin.Activations, clustering: Any, t: float, whole: lmkin.Activations
) -> None:
    """Every row: its neuron, standardized, turned to its representative as in the corpus; members in their order."""
    members, chosen = clustering.members(t), clustering.representatives(t)
    assert found.text.values.tolist() == list(acts.units.texts)
    lead: dict[int, Any] = {}
    shown: dict[int, list[tuple[int, int]]] = {}
    for k in range(found.sizes["row"]):
        row = found.isel(row=k)
        cluster, place = int(row.cluster), (int(row.layer), int(row.neuron))
        expected = by_hand(acts, *place)
        if cluster not in lead:
            assert place == chosen[cluster]
            lead[cluster] = by_hand(whole, *place)
            assert int(row.sign) == 1
        sign = -1 if by_hand(whole, *place) @ lead[cluster] < 0 else 1
        assert int(row.sign) == sign
        assert row.activation.values == pytest.approx(sign * expected, abs=1e-5)
        assert int(row["size"]) == len(members[cluster])
        shown.setdefault(cluster, []).append(place)
    for cluster, places in shown.items():
        rest = [m for m in members[cluster] if m != chosen[cluster]]
        assert places[1:] == rest[: len(places) - 1]


def test_a_sentence_of_your_own(
    bert: lmkin.LanguageModel, acts: lmkin.Activations, clustered: lmkin.Clustering
) -> None:
    words = TEXT.split()
    spans, at = [], 0
    for word in words:
        spans.append((at, at + len(word)))
        at += len(word) + 1
    corpus = lmkin.Corpus([lmkin.Sentence(TEXT, tuple(spans), id="x")], name="x")
    mine = lmkin.extract(bert, corpus, progress=False)
    for sentence in (TEXT, corpus[0], f"  {TEXT.replace(' ', '   ')} "):
        found = lmkin.cluster_strips(bert, sentence, clustered, 0.7)
        assert found.text.values.tolist() == words
        assert_strips(found, mine, clustered, 0.7, acts)
        assert found.attrs == {"model": "bert", "threshold": 0.7}
        assert found.activation.dims == ("row", "word")


def test_a_sentence_of_the_corpus(acts: lmkin.Activations, clustered: lmkin.Clustering) -> None:
    for number in (0, 3, 59):
        mine = acts.select(np.flatnonzero(acts.units.sentence == number))
        found = lmkin.cluster_strips(acts, number, clustered, 0.8, clusters=2, most=30)
        assert found.sizes["word"] == len(acts.units.corpus[number].words)
        assert_strips(found, mine, clustered, 0.8, acts)


def test_the_same_from_model_and_activations(
    bert: lmkin.LanguageModel, acts: lmkin.Activations, clustered: lmkin.Clustering
) -> None:
    sentence = acts.units.corpus[4]
    first = lmkin.cluster_strips(acts, 4, clustered, 0.7)
    second = lmkin.cluster_strips(bert, sentence, clustered, 0.7)
    assert first.activation.values == pytest.approx(second.activation.values, abs=1e-4)
    for name in ("text", "cluster", "layer", "neuron", "sign", "size"):
        assert first[name].values.tolist() == second[name].values.tolist()


def test_a_model_by_its_folder(model_folder: Any, clustered: lmkin.Clustering) -> None:
    found = lmkin.cluster_strips(model_folder("bert"), TEXT, clustered, 0.7)
    assert found.sizes["word"] == len(TEXT.split())
    assert found.sizes["row"] > 3


def test_rows_are_standardized(acts: lmkin.Activations, clustered: lmkin.Clustering) -> None:
    values = lmkin.cluster_strips(acts, 2, clustered, 0.9, clusters=5, most=99).activation.values
    assert values.mean(1) == pytest.approx(0, abs=1e-9)
    assert values.std(1) == pytest.approx(1, abs=1e-9)


def test_the_largest_clusters_come_first(
    acts: lmkin.Activations, clustered: lmkin.Clustering
) -> None:
    sizes = clustered.sizes(0.6)
    order = sorted(range(len(sizes)), key=lambda c: (-sizes[c], c))
    for count in (1, 2, 4):
        found = lmkin.cluster_strips(acts, 1, clustered, 0.6, clusters=count)
        assert list(dict.fromkeys(found.cluster.values.tolist())) == order[:count]
    every = lmkin.cluster_strips(acts, 1, clustered, 0.6, clusters=1000)
    assert set(every.cluster.values.tolist()) == {c for c in order if sizes[c] > 1}


def test_clusters_by_number(acts: lmkin.Activations, clustered: lmkin.Clustering) -> None:
    alone = int(np.flatnonzero(clustered.sizes(0.5) == 1)[0])
    found = lmkin.cluster_strips(acts, 1, clustered, 0.5, clusters=[alone, 0])
    assert list(dict.fromkeys(found.cluster.values.tolist())) == [alone, 0]
    assert_strips(
        found, acts.select(np.flatnonzero(acts.units.sentence == 1)), clustered, 0.5, acts
    )
    again = lmkin.cluster_strips(acts, 1, clustered, 0.5, clusters=np.array([alone, 0]))
    assert again.equals(found)


def test_how_many_numbers_of_numpy_may_say(
    acts: lmkin.Activations, clustered: lmkin.Clustering
) -> None:
    expected = lmkin.cluster_strips(acts, 1, clustered, 0.7, clusters=2)
    found = lmkin.cluster_strips(acts, np.int64(1), clustered, 0.7, clusters=np.int64(2))
    assert found.equals(expected)


@pytest.mark.parametrize("most", [1, 2, 5])
def test_how_many_neurons(most: int, acts: lmkin.Activations, clustered: lmkin.Clustering) -> None:
    found = lmkin.cluster_strips(acts, 1, clustered, 0.8, clusters=3, most=most)
    sizes = clustered.sizes(0.8)
    for cluster in set(found.cluster.values.tolist()):
        assert (found.cluster == cluster).sum() == min(most, sizes[cluster])


def test_medoids_lead(acts: lmkin.Activations) -> None:
    found = lmkin.cluster_neurons(
        acts, thresholds=[0.5, 0.8], representative="medoid", progress=False
    )
    strips = lmkin.cluster_strips(acts, 1, found, 0.8)
    assert_strips(strips, acts.select(np.flatnonzero(acts.units.sentence == 1)), found, 0.8, acts)


def test_of_several_models_one_is_named(
    acts: lmkin.Activations, twin_acts: lmkin.Activations
) -> None:
    both = lmkin.cluster_neurons([acts, twin_acts], thresholds=0.7, progress=False)
    with pytest.raises(lmkin.MeasureError, match="several models"):
        lmkin.cluster_strips(acts, 1, both, 0.7)
    alone = lmkin.cluster_neurons(twin_acts, thresholds=0.7, progress=False)
    mine = lmkin.cluster_strips(twin_acts, 1, both, 0.7, model="bert#2")
    assert mine.equals(lmkin.cluster_strips(twin_acts, 1, alone, 0.7))


def letters() -> lmkin.Corpus:
    texts = ["a b c", "d e f g"] * 30
    return lmkin.Corpus(
        [
            lmkin.Sentence(t, tuple((2 * i, 2 * i + 1) for i in range(len(t.split()))), id=str(k))
            for k, t in enumerate(texts)
        ]
    )


def test_a_neuron_that_is_still_in_this_sentence() -> None:
    """It has no deviation there: its strip is 0, not NaN."""
    vectors = np.random.default_rng(0).standard_normal((210, 4))
    vectors[:3, 3] = 2
    acts = lmkin.extract(_Fixed(vectors), letters(), progress=False)
    found = lmkin.cluster_neurons(acts, thresholds=1.0, progress=False)
    strips = lmkin.cluster_strips(acts, 0, found, 1.0)
    assert np.isfinite(strips.activation.values).all()
    assert (strips.activation.values[strips.neuron.values == 3] == 0).all()


@pytest.mark.parametrize("seed", range(4))
def test_neurons_that_run_against_their_representative_are_turned_round(seed: int) -> None:
    """Whichever of them it is: after that, all strips are the same."""
    line = np.random.default_rng(1).standard_normal(210)
    signs = np.array([1, -1, 1, -1, -1])
    acts = lmkin.extract(_Fixed(line[:, None] * signs * 7 + 3), letters(), progress=False)
    found = lmkin.cluster_neurons(acts, thresholds=0.0, seed=seed, progress=False)
    for number in (0, 1, 7):
        strips = lmkin.cluster_strips(acts, number, found, 0.0)
        ((_, lead),) = found.representatives(0.0)
        expected = [int(signs[n] * signs[lead]) for n in strips.neuron.values]
        assert strips.sign.values.tolist() == expected
        assert sorted(strips.neuron.values.tolist()) == [0, 1, 2, 3, 4]
        for row in strips.activation.values[1:]:
            assert row == pytest.approx(strips.activation.values[0], abs=1e-5)


class _Fixed(lmkin.LanguageModel):
    """Vectors that are given."""

    def __init__(self, vectors: Any):
        self.name, self.widths = "fixed", (vectors.shape[1],)
        self.vectors = vectors.astype(np.float32)

    def read(self, corpus: lmkin.Corpus, rule: Any) -> Any:
        from lmkin.corpus import Units
        from lmkin.models.base import AlignedCorpus, Losses, Window

        units = Units.all_words(corpus)
        windows = []
        for number in range(len(corpus)):
            place = units.rows_of(number)
            rows = np.arange(place.start, place.stop, dtype=np.int32)
            own = np.arange(len(rows), dtype=np.int32)
            windows.append(
                Window(number, [0] * len(rows), [], own, rows, np.ones(len(rows), np.float32))
            )
        return AlignedCorpus(units, windows, Losses(), rule, len(units))

    def run(self, windows: Any, layers: Any, *, reduce: str = "sum") -> Any:
        rows = np.concatenate([w.rows for w in windows])
        return rows, [self.vectors[rows] for _ in layers]

    def identity(self) -> dict[str, Any]:
        return {"name": self.name, "class": "Fixed", "layers": 1, "widths": list(self.widths)}


# -- mistakes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"clusters": [999]}, "no cluster 999"),
        ({"clusters": [-1]}, "no cluster -1"),
        ({"clusters": []}, "cluster"),
        ({"clusters": 0}, "cluster"),
        ({"clusters": -1}, "cluster"),
        ({"clusters": "all"}, "cluster"),
        ({"clusters": None}, "cluster"),
        ({"clusters": [0.5]}, "cluster"),
        ({"most": 0}, "most"),
        ({"most": -1}, "most"),
        ({"most": "x"}, "most"),
        ({"model": "other"}, "no model 'other'"),
        ({"threshold": "x"}, "[Tt]hreshold"),
        ({"threshold": 0.0}, "alone"),
        ({"sentence": 999}, "no sentence 999"),
        ({"sentence": -1}, "no sentence -1"),
        ({"sentence": TEXT}, "number of a sentence"),
        ({"sentence": None}, "number of a sentence"),
        ({"source": {"bert/0": np.zeros((3, 4))}}, "model or of activations"),
        ({"clustering": None}, "[Cc]lustering"),
    ],
)
def test_mistakes(
    options: Any, match: str, acts: lmkin.Activations, clustered: lmkin.Clustering
) -> None:
    given = {"source": acts, "sentence": 1, "clustering": clustered, "threshold": 0.7, **options}
    with pytest.raises(lmkin.LmkinError, match=match) as caught:
        lmkin.cluster_strips(**given)
    assert "\n" not in str(caught.value)
    if options.get("clusters") in (0, -1):
        assert "alone" not in str(caught.value), "it is not so"


def test_sentences_that_are_none(bert: lmkin.LanguageModel, clustered: lmkin.Clustering) -> None:
    for sentence, match in (("  ", "empty"), ("Dog", "two words"), (3, "A sentence is a text")):
        with pytest.raises(lmkin.MeasureError, match=match):
            lmkin.cluster_strips(bert, sentence, clustered, 0.7)


def test_another_model_is_refused(
    twin: lmkin.LanguageModel,
    gpt2: lmkin.LanguageModel,
    twin_acts: lmkin.Activations,
    clustered: lmkin.Clustering,
) -> None:
    """Of the same shape, its neurons would be shown as if they were those of the cluster."""
    for source, sentence in ((twin, TEXT), (gpt2, TEXT), (twin_acts, 1)):
        with pytest.raises(lmkin.MeasureError, match="model"):
            lmkin.cluster_strips(source, sentence, clustered, 0.7)


def test_a_model_that_lacks_the_neuron(acts: lmkin.Activations) -> None:
    wide = lmkin.cluster_neurons(
        {"bert/0": naive.planted(50, [40], 0.2, 0)[0]}, thresholds=0.9, progress=False
    )
    with pytest.raises(lmkin.MeasureError, match="is it the model that was clustered"):
        lmkin.cluster_strips(acts, 1, wide, 0.9, most=40)


def test_signs_are_known_where_clusters_were_asked_for(
    acts: lmkin.Activations, clustered: lmkin.Clustering
) -> None:
    with pytest.raises(lmkin.MeasureError, match="ask for it in thresholds"):
        lmkin.cluster_strips(acts, 1, clustered, 0.65)


@pytest.mark.parametrize("route", ["matrix", "tiles", "moments"])
def test_signs_are_those_of_the_correlations(
    route: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    from lmkin.analyses.redundancy import clusters as grouping
    from lmkin.analyses.redundancy.memory_plan import ClusterRoute

    X = naive.planted(90, [7, 5, 9, 4], 0.4, 3)[0]
    X = X * np.where(np.arange(X.shape[1]) % 3 == 0, -2.0, 1.0)
    X[:, 2] = 1.5
    arrays: Any = {"m/0": X[:, :11], "m/1": X[:, 11:]}
    if route == "tiles":
        monkeypatch.setattr(
            grouping, "plan_clustering", lambda *_, **__: ClusterRoute("tiles", 1, 999)
        )
    found = lmkin.cluster_neurons(
        lmkin.compute_moments(arrays) if route == "moments" else arrays,
        thresholds=[0.1, 0.5],
        progress=False,
    )
    found.save(tmp_path / "x")
    both = 0
    for each in (found, lmkin.Clustering.load(tmp_path / "x")):
        for t in (0.1, 0.5):
            chosen, signs = each.representatives(t), each.signs(t)
            for cluster, members in zip(chosen, each.members(t), strict=True):
                lead = arrays[f"m/{cluster[0]}"][:, cluster[1]]
                for layer, neuron in members:
                    r = np.corrcoef(lead, arrays[f"m/{layer}"][:, neuron])[0, 1]
                    assert signs[layer, neuron] == np.sign(r)
                    both += r < 0
    assert both > 8
