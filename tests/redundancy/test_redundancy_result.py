"""`redundancy`: everything in one call, step by step on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import lmkin
from lmkin.analyses.redundancy import compute_redundancy
from lmkin.analyses.redundancy.memory_plan import ClusterRoute
from lmkin.rows import Workspace

quiet = {"progress": False}


def test_is_what_its_parts_give(bert: lmkin.LanguageModel, read: lmkin.Corpus) -> None:
    result = lmkin.redundancy(
        bert, read, thresholds=[0.2, 0.5], keep_at=0.4, sentence=2, strips_at=0.6, parts=3, **quiet
    )
    acts = lmkin.extract(bert, read, **quiet)
    thresholds = [0.2, 0.4, 0.5, 0.6]
    clusters = lmkin.cluster_neurons(acts, thresholds=thresholds, **quiet)
    xr.testing.assert_equal(result.clustering.tables(), clusters.tables())
    xr.testing.assert_equal(result.layers, lmkin.layer_redundancy(acts, parts=3, **quiet))
    (strip,) = result.strips
    expected = lmkin.cluster_strips(acts, 1, clusters, 0.6)
    np.testing.assert_allclose(strip["activation"], expected["activation"], atol=1e-4)
    assert result.keep_at == [0.4]
    assert [m.hash for m in result.masks()] == [clusters.keep(0.4).hash]
    assert [m.hash for m in result.masks([0.2, 0.5])] == [clusters.keep(t).hash for t in (0.2, 0.5)]


def test_stores_give_the_same(
    bert: lmkin.LanguageModel, read: lmkin.Corpus, tmp_path: Path
) -> None:
    stored = lmkin.extract(bert, read, tmp_path / "acts", **quiet)
    options: dict[str, Any] = {
        "thresholds": [0.3],
        "layer_regressions": False,
        "sentence": "2",
        **quiet,
    }
    one = lmkin.redundancy(tmp_path / "acts", **options)
    other = lmkin.redundancy([stored], **options)
    xr.testing.assert_equal(one.dataset, other.dataset)
    xr.testing.assert_equal(one.strips[0], other.strips[0])
    one.save(tmp_path / "result")
    again = lmkin.load(tmp_path / "result")
    xr.testing.assert_equal(again.strips[0], one.strips[0])
    assert again.strips[0].attrs == one.strips[0].attrs
    assert again.layers is None


def test_finished_steps_are_not_computed_again(
    bert: lmkin.LanguageModel,
    read: lmkin.Corpus,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", "lmkin")
    options: dict[str, Any] = {"thresholds": [0.3], "parts": 2, **quiet}
    first = lmkin.redundancy(bert, read, workspace=tmp_path / "w", **options)
    computed: list[str] = []
    for name in ("cluster_neurons", "layer_redundancy"):

        def refuse(*arguments: Any, name: str = name, **given: Any) -> Any:
            computed.append(name)
            raise RuntimeError(name)

        monkeypatch.setattr(f"lmkin.analyses.redundancy.computation.{name}", refuse)
    assert "Going on" not in caplog.text
    again = lmkin.redundancy(bert, read, workspace=tmp_path / "w", **options)
    xr.testing.assert_identical(again.dataset, first.dataset)
    assert not computed
    for what in ("activations of bert are", "the step clusters is", "the step layers is"):
        assert f"Going on: {what} there from an earlier run." in caplog.messages
    # Another ridge is another fit, of the same clusters.
    with pytest.raises(RuntimeError, match="layer_redundancy"):
        lmkin.redundancy(bert, read, workspace=tmp_path / "w", ridge=0.5, **options)
    with pytest.raises(RuntimeError, match="cluster_neurons"):
        lmkin.redundancy(bert, read, workspace=tmp_path / "w", linkage="single", **options)
    Workspace(tmp_path / "w").clear()
    assert not (tmp_path / "w").exists()


def test_of_arrays_nothing_is_kept(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    for _ in range(2):
        rows = {("m", k): random.normal(size=(200, 4)) for k in range(2)}
        found = compute_redundancy(rows, thresholds=[0.5], work=Workspace(tmp_path / "w"), **quiet)
        expected = lmkin.cluster_neurons(rows, thresholds=[0.5], **quiet)
        assert found.clustering is not None
        np.testing.assert_array_equal(found.clustering.labels(0.5), expected.labels(0.5))
    assert not (tmp_path / "w").exists()


def test_what_cannot_be_shown_is_an_alert(bert: lmkin.LanguageModel, read: lmkin.Corpus) -> None:
    result = lmkin.redundancy(
        bert,
        read,
        thresholds=[0.3],
        sentence="a b c",
        strips_at=0.0,
        layer_regressions=False,
        **quiet,
    )
    assert result.strips == []
    assert [(a.kind, a.where) for a in result.alerts if a.kind == "no strips"] == [
        ("no strips", "bert")
    ]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"sentence": " "}, "sentence is empty"),
        ({"sentence": 10_000}, "no sentence 10000"),
        ({"sentence": 0}, "no sentence 0"),
        ({"sentence": "one"}, "two words at least"),
        ({"sentence": 1, "units": "sentence"}, "one row for all of it"),
        ({"keep_at": 1.5}, "numbers from 0 to 1"),
        ({"level": 2}, "level"),
        ({"lvel": 0.9}, "no option 'lvel'. Did you mean 'level'"),
    ],
)
def test_mistakes(
    bert: lmkin.LanguageModel, read: lmkin.Corpus, options: dict[str, Any], says: str
) -> None:
    with pytest.raises(lmkin.LmkinError, match=says):
        lmkin.redundancy(bert, read, layer_regressions=False, **options, **quiet)


def test_a_text_needs_the_model(bert: lmkin.LanguageModel, read: lmkin.Corpus) -> None:
    acts = lmkin.extract(bert, read, **quiet)
    with pytest.raises(lmkin.LmkinError, match="its number in their corpus"):
        lmkin.redundancy(acts, sentence="a dog", **quiet)
    with pytest.raises(lmkin.LmkinError, match="leave it out"):
        lmkin.redundancy(acts, read, **quiet)


def test_thresholds_that_were_not_reached_have_no_masks_and_no_strips(
    bert: lmkin.LanguageModel, read: lmkin.Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No two clusters fit into memory: nothing can be merged, and below the first merge nothing need be."""
    monkeypatch.setattr(
        "lmkin.analyses.redundancy.clusters.plan_clustering",
        lambda *_, **__: ClusterRoute("tiles", 1, 1),
    )
    result = lmkin.redundancy(
        bert,
        read,
        thresholds=[0.05, 0.9],
        keep_at=[0.05, 0.9],
        sentence=1,
        strips_at=0.9,
        layer_regressions=False,
        **quiet,
    )
    assert result.keep_at == [0.05]
    assert [name for name in result.files() if name.startswith("keep/")] == [
        "keep/bert-0.05.safetensors"
    ]
    assert result.strips == []
    told = {a.kind: a.text for a in result.alerts}
    assert "At 0.9 " in told["thresholds left out"]
    assert "not reached at 0.9" in told["no masks"]
    assert "not reached at 0.9" in told["no strips"]


def test_models_of_one_name_have_masks_of_their_own(
    acts: lmkin.Activations, twin_acts: lmkin.Activations
) -> None:
    result = lmkin.redundancy([acts, twin_acts], thresholds=[0.5], layer_regressions=False, **quiet)
    assert result.models == ["bert", "bert#2"]
    kept = {e["model"]: e for e in result.data()["keep"]}
    assert len({e["file"] for e in kept.values()}) == 2
    for name in result.models:
        assert kept[name]["hash"] == result.clustering.keep(0.5, name).hash


def test_activations_are_left_in_the_folder_of_work(
    bert: lmkin.LanguageModel, read: lmkin.Corpus, acts: lmkin.Activations, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"thresholds": [0.5], "layer_regressions": False, **quiet}
    lmkin.redundancy(bert, read, workspace=tmp_path, keep_activations=True, **options)
    Workspace(tmp_path).clear()
    assert [p.name for p in tmp_path.iterdir()] == ["bert.acts"]
    kept = lmkin.open_activations(tmp_path / "bert.acts")
    for layer in acts.layers:
        np.testing.assert_allclose(kept.layer(layer)[:, :], acts.layer(layer)[:, :], atol=1e-5)
    with pytest.raises(lmkin.LmkinError, match="leave out keep_activations"):
        lmkin.redundancy(bert, read, keep_activations=True, **options)
