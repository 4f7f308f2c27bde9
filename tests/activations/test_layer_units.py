"""Layers know their units: sentences stay whole in splits and parts, and layers of other units are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lmkin
from lmkin.activations.views import LayerView
from lmkin.core.folds import blocks_of_owners
from lmkin.core.splits import make_split
from lmkin.corpus import Units
from lmkin.rows.parts import owners_of, owners_of_units
from lmkin.rows.sources import ArraySource

quiet = {"progress": False}
ALERT = "rows without sentences"


@pytest.fixture(scope="module")
def pair(model_folder: Any, sample: lmkin.Corpus) -> Any:
    models = [lmkin.load_model(model_folder(f), name=f) for f in ("bert", "roberta")]
    return [lmkin.extract(m, sample[:150], progress=False) for m in models]


def views(pair: Any, rows: Any = None) -> dict[str, Any]:
    found = {a.name: a.layer(-1) for a in pair}
    return found if rows is None else {name: v.select(rows) for name, v in found.items()}


def alerted(result: Any) -> bool:
    return ALERT in [a["kind"] for a in result.attrs["alerts"]]


def straddling(sentence: Any, labels: Any) -> int:
    """Sentences with rows under two labels, one by one."""
    seen: dict[int, set[int]] = {}
    for s, label in zip(sentence.tolist(), labels.tolist(), strict=True):
        seen.setdefault(s, set()).add(label)
    return sum(len(some) > 1 for some in seen.values())


def test_a_view_carries_its_units_and_so_do_its_rows(pair: Any) -> None:
    acts = pair[0]
    view = acts.layer(1)
    assert view.units is acts.units
    for rows in (slice(3, 40, 2), [5, 2, 9], np.arange(len(acts)) % 3 == 0, []):
        some = view.select(rows)
        assert isinstance(some, LayerView)
        numbers = np.arange(len(acts))[rows if isinstance(rows, slice) or len(rows) else slice(0)]
        np.testing.assert_array_equal(np.asarray(some), np.asarray(view)[numbers])
        assert some.units is not None
        assert some.units.texts == [acts.units.texts[i] for i in numbers]
    twice = view.select(slice(10, 60)).select([4, 1])
    assert twice.units.texts == [acts.units.texts[14], acts.units.texts[11]]
    np.testing.assert_array_equal(np.asarray(twice), np.asarray(view)[[14, 11]])
    assert not hasattr(view[:5], "units")


def test_layers_as_arrays_give_what_activations_give(pair: Any) -> None:
    """The README's way to decompose, and the way that knew sentences all along."""
    by_view = lmkin.decompose(views(pair), **quiet)
    by_acts = lmkin.decompose(pair, **quiet)
    assert by_view.dataset.attrs["units"] == "word"
    np.testing.assert_array_equal(by_view.n, by_acts.n)
    for field in ("r2_group", "r2_group_se", "r2_pair", "r2_pair_low"):
        np.testing.assert_allclose(by_view.dataset[field], by_acts.dataset[field], atol=1e-9)
    assert by_view.alerts == by_acts.alerts
    sim = lmkin.similarity(
        {f"{n}/0": v for n, v in views(pair).items()}, measures="ckasim", neurons="raw", **quiet
    )
    expected = lmkin.similarity(pair, measures="ckasim", neurons="raw", layers="last", **quiet)
    assert sim.attrs["part_sizes"] == expected.attrs["part_sizes"]
    np.testing.assert_allclose(
        sim.ckasim_se.values.ravel(), expected.ckasim_se.values.ravel(), atol=1e-6
    )


@pytest.mark.parametrize("order", ["as they are", "shuffled", "every other"])
def test_no_sentence_is_in_two_splits_or_two_parts(pair: Any, order: str) -> None:
    n = len(pair[0])
    rows = {
        "as they are": np.arange(n),
        "shuffled": np.random.default_rng(0).permutation(n),
        "every other": np.arange(0, n, 2),
    }[order]
    source = ArraySource(views(pair, rows), 10)
    assert source.units is not None
    sentence = source.units.sentence
    assert source.part.max() == 9
    assert straddling(sentence, source.part) == 0
    split = make_split(source.n, parts=5, owner=owners_of(source))
    assert [len(p) for p in split.parts.values()] == [5, 5, 5]
    assert straddling(sentence, split.labels) == 0
    assert (split.labels >= 0).all()
    # Equal blocks of rows, as an array without units has them, do divide sentences.
    bare = ArraySource({"a": np.asarray(views(pair, rows)["bert"])}, 10)
    assert straddling(sentence, bare.part) > 0


def test_documents_stay_whole_where_there_are_enough(sample: lmkin.Corpus) -> None:
    units = Units.all_words(sample)
    document = np.array([sample[int(s)].document for s in units.sentence])
    owner, made_of = owners_of_units(units, 60)
    assert made_of == "documents"
    assert len(np.unique(owner)) == len(set(document))
    split = make_split(len(units), parts=4, owner=owner)
    number = np.unique(document, return_inverse=True)[1]
    assert straddling(number, split.labels) == 0
    assert owners_of_units(units, 101)[1] == "sentences"
    blocks = blocks_of_owners(owner, 7)
    assert straddling(number, blocks) == 0
    assert np.bincount(blocks).min() > len(units) / 7 * 0.8


def test_one_sentence_in_train_and_test_is_a_leak() -> None:
    """Rows of a sentence that are nearly alike: rows drawn one by one promise what held-out sentences do not keep."""
    random = np.random.default_rng(0)
    spans = tuple((k, k + 1) for k in range(0, 14, 2))
    corpus = lmkin.Corpus([lmkin.Sentence(f"a b c d e f g {i}", spans) for i in range(80)])
    units = Units.all_words(corpus)
    means = {m: random.normal(size=(80, 20)) for m in "xy"}  # two models that share nothing
    arrays = {
        m: X[units.sentence] + 0.05 * random.normal(size=(len(units), 20)) for m, X in means.items()
    }
    known = {m: LayerView([X], units=units) for m, X in arrays.items()}
    grouped = lmkin.decompose(known, ridge=1e-6, **quiet)
    drawn = lmkin.decompose(arrays, ridge=1e-6, **quiet)
    assert float(drawn.rho_group.sel(split="test")) > 0.15
    assert float(grouped.rho_group.sel(split="test")) < 0
    assert alerted(drawn)
    assert not alerted(grouped)


def test_bare_arrays_are_told(pair: Any) -> None:
    bare = {name: np.asarray(v) for name, v in views(pair).items()}
    assert alerted(lmkin.decompose(bare, **quiet))
    n = len(pair[0])
    mine = {"train": np.arange(0, n // 2), "test": np.arange(n // 2, n)}
    assert not alerted(lmkin.decompose(bare, split=mine, **quiet))
    one_known = {"bert": pair[0].layer(-1), "roberta": bare["roberta"]}
    assert not alerted(lmkin.decompose(one_known, **quiet))
    layers = {f"m/{k}": np.asarray(pair[0].layer(k)) for k in (0, 1)}
    assert alerted(lmkin.layer_redundancy(layers, **quiet))
    assert not alerted(lmkin.layer_redundancy(pair[0], **quiet))
    assert not alerted(
        lmkin.layer_redundancy({f"m/{k}": pair[0].layer(k) for k in (0, 1)}, **quiet)
    )
    for held_out in (True, False):
        found = lmkin.similarity(
            bare, measures="mixedsim", neurons="raw", held_out=held_out, **quiet
        )
        assert alerted(found) == held_out
    labels = np.arange(n) // 30
    given = lmkin.similarity(
        bare, measures="mixedsim", neurons="raw", held_out=True, parts=labels, **quiet
    )
    assert not alerted(given)
    assert not alerted(
        lmkin.similarity(views(pair), measures="mixedsim", neurons="raw", held_out=True, **quiet)
    )


def test_views_of_other_units_are_refused_with_the_first_difference(pair: Any) -> None:
    one, other = pair[0].layer(1), pair[1].layer(1)
    rows = np.delete(np.arange(len(pair[0])), 7)
    moved = np.append(rows, 7)
    for work in (
        lambda x, y: lmkin.decompose({"x": x, "y": y}, **quiet),
        lambda x, y: lmkin.similarity({"x": x, "y": y}, measures="ckasim", neurons="raw", **quiet),
        lambda x, y: lmkin.compute_moments({"x": x, "y": y}, **quiet),
        lambda x, y: lmkin.cluster_neurons({"x": x, "y": y}, **quiet),
        lmkin.linear_cka,
    ):
        for some in (rows, moved):
            with pytest.raises(lmkin.LmkinError, match="different words") as error:
                work(one, other.select(some))
            assert "row 7 is" in str(error.value)
            assert "common_units" in str(error.value)
            assert "\n" not in str(error.value)
