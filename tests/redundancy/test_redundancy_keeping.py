"""Which neurons are kept: masks, hashes, files, and models that are not meant."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import save_file

import lmkin
from lmkin.core.files.tensors import _checksum
from redundancy import naive_redundancy as naive

ARRAYS = naive.layered(naive.blocks(80, 40, 0), [12, 20, 8])


def cluster(source: Any = ARRAYS, thresholds: Any = (0.2, 0.5, 0.8), **options: Any) -> Any:
    return lmkin.cluster_neurons(source, thresholds=thresholds, progress=False, **options)


def rewritten(
    path: Path, change: Callable[[dict[str, Any], dict[str, Any]], None], *, signed: bool = False
) -> None:
    """The same file after someone changed tensors or what it says of them; ``signed``: with the checksum made right."""
    with safe_open(path, "numpy") as file:
        head = json.loads(file.metadata()["lmkin"])
        tensors = {name: file.get_tensor(name).copy() for name in file.keys()}  # noqa: SIM118
    change(tensors, head["data"])
    if signed:
        head["checksum"] = _checksum(head["kind"], head["format"], head["data"], tensors)
    save_file(tensors, path, {"lmkin": json.dumps(head)})


# -- what is kept ---------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["random", "medoid"])
def test_a_mask_for_every_layer(how: str) -> None:
    found = cluster(representative=how)
    for t in found.thresholds:
        kept = found.keep(t)
        assert {n: len(m) for n, m in kept.masks.items()} == {0: 12, 1: 20, 2: 8}
        expected = sorted(found.representatives(t))
        assert kept.neurons == expected
        assert len(kept) == len(expected) == len(found.members(t))
        assert [(n, i) for n, m in kept.masks.items() for i in range(len(m)) if m[i]] == expected
        assert (kept.model, kept.threshold) == ("m", t)
        assert f"{len(kept)} of 40 neurons of 'm'" in repr(kept)


def test_reducing_is_picking_columns() -> None:
    found = cluster()
    for t in found.thresholds:
        kept = found.keep(t)
        by_hand = np.stack([ARRAYS[f"m/{n}"][:, i] for n, i in kept.neurons], axis=1)
        assert np.array_equal(found.reduce(ARRAYS, t), by_hand)
        assert np.array_equal(kept.apply(ARRAYS), by_hand)
        assert np.array_equal(kept.apply(dict(reversed(ARRAYS.items()))), by_hand)
        tuples = {("m", int(k[-1])): a for k, a in ARRAYS.items()}
        assert np.array_equal(kept.apply(tuples), by_hand)


def test_reducing_activations_is_picking_columns(
    acts: lmkin.Activations, clustered: lmkin.Clustering, tmp_path: Path, bert: lmkin.LanguageModel
) -> None:
    stored = lmkin.extract(bert, acts.units.corpus, tmp_path / "a.acts", progress=False)
    for t in (0.0, 0.3, 0.9):
        kept = clustered.keep(t)
        by_hand = np.stack([acts.layer(n)[:, :][:, i] for n, i in kept.neurons], axis=1)
        for rows in (acts, stored, acts.select(np.arange(len(acts)))):
            assert np.array_equal(clustered.reduce(rows, t), by_hand)
            assert np.array_equal(kept.apply(rows), by_hand)
    some = acts.select(np.arange(5))
    assert clustered.reduce(some, 0.3).shape == (5, len(clustered.keep(0.3)))


def test_layers_of_which_nothing_is_kept_are_not_needed() -> None:
    X = ARRAYS["m/0"]
    found = cluster({"m/0": X, "m/1": np.ones((80, 3))}, 0.5)
    assert found.keep(0.5).apply({"m/0": X}).shape == (80, len(found.keep(0.5)))


def test_arrays_of_other_models_may_lie_beside() -> None:
    kept = cluster().keep(0.5)
    beside = {"other/0": np.zeros((80, 3)), **ARRAYS, "m/9": np.zeros((80, 2))}
    assert np.array_equal(kept.apply(beside), kept.apply(ARRAYS))


# -- the hash -------------------------------------------------------------------------------------


def test_a_hash_changes_with_everything_that_matters() -> None:
    kept = cluster().keep(0.5)
    masks = kept.masks
    flipped = {n: m.copy() for n, m in masks.items()}
    flipped[1][3] ^= True
    longer = {**masks, 2: np.append(masks[2], False)}
    others = {
        "a bit": replace(kept, masks=flipped),
        "the threshold": replace(kept, threshold=0.51),
        "the weights": replace(kept, identity="another"),
        "the name, where nothing else is known": replace(kept, model="n"),
        "a wider layer": replace(kept, masks=longer),
        "another layer": replace(kept, masks={n + 1: m for n, m in masks.items()}),
        "a layer less": replace(kept, masks={n: m for n, m in masks.items() if n < 2}),
    }
    hashes = {what: other.hash for what, other in others.items()}
    for what, value in hashes.items():
        assert value != kept.hash, what
    assert len(set(hashes.values())) == len(hashes)
    assert replace(kept).hash == kept.hash
    assert cluster().keep(0.5).hash == kept.hash


@given(layer=st.integers(0, 2), bit=st.integers(0, 7))
def test_any_bit(layer: int, bit: int) -> None:
    kept = KEPT
    masks = {n: m.copy() for n, m in kept.masks.items()}
    masks[layer][bit] ^= True
    assert replace(kept, masks=masks).hash != kept.hash


KEPT = cluster().keep(0.5)


def test_two_models_of_the_same_shape_have_different_hashes(
    acts: lmkin.Activations, twin_acts: lmkin.Activations
) -> None:
    """At threshold 0 all neurons of both are kept: only the weights differ."""
    first, second = (cluster(a, 0.0).keep(0.0) for a in (acts, twin_acts))
    assert first.neurons == second.neurons
    assert first.hash != second.hash


# -- wrong rows -----------------------------------------------------------------------------------


def test_another_model_is_refused(
    acts: lmkin.Activations, twin_acts: lmkin.Activations, clustered: lmkin.Clustering
) -> None:
    assert twin_acts.layer(0).shape == acts.layer(0).shape
    for function in (clustered.keep(0.3).apply, lambda a: clustered.reduce(a, 0.3)):
        with pytest.raises(lmkin.MeasureError, match=r"another model.*other weights"):
            function(twin_acts)


def test_a_single_weight_makes_another_model(
    model_folder: Any, read: lmkin.Corpus, clustered: lmkin.Clustering, tmp_path: Path
) -> None:
    shutil.copytree(model_folder("bert"), tmp_path / "bert")
    path = tmp_path / "bert" / "model.safetensors"
    with safe_open(path, "numpy") as file:
        about = file.metadata()
        weights = {name: file.get_tensor(name).copy() for name in file.keys()}  # noqa: SIM118
    weights["encoder.layer.0.output.dense.bias"][3] += 1e-3
    save_file(weights, path, about)
    model = lmkin.load_model(tmp_path / "bert", name="bert")
    rows = lmkin.extract(model, read, progress=False)
    with pytest.raises(lmkin.MeasureError, match="another model"):
        clustered.reduce(rows, 0.3)


def test_the_same_model_under_another_name(
    model_folder: Any, read: lmkin.Corpus, clustered: lmkin.Clustering, acts: lmkin.Activations
) -> None:
    renamed = lmkin.load_model(model_folder("bert"), name="renamed")
    rows = lmkin.extract(renamed, read, progress=False)
    assert np.array_equal(clustered.reduce(rows, 0.3), clustered.reduce(acts, 0.3))


def test_of_several_models_activations_find_their_own(
    acts: lmkin.Activations, twin_acts: lmkin.Activations
) -> None:
    found = lmkin.cluster_neurons([acts, twin_acts], thresholds=[0.3, 0.6], progress=False)
    assert found.models == ["bert", "bert#2"]
    for each, name in ((acts, "bert"), (twin_acts, "bert#2")):
        by_hand = [each.layer(n)[:, :][:, i] for n, i in found.keep(0.3, name).neurons]
        assert np.array_equal(found.reduce(each, 0.3), np.stack(by_hand, axis=1))
    with pytest.raises(lmkin.MeasureError, match="another model"):
        found.reduce(acts, 0.3, "bert#2")
    with pytest.raises(lmkin.MeasureError, match="several models"):
        found.reduce({"bert/0": np.zeros((3, 32))}, 0.3)


def test_rows_that_do_not_fit() -> None:
    kept = KEPT
    wide = {**ARRAYS, "m/1": np.zeros((80, 21))}
    with pytest.raises(
        lmkin.MeasureError, match=r"Layer 1 of 'm' had 20 neurons .* here it has 21"
    ):
        kept.apply(wide)
    with pytest.raises(lmkin.MeasureError, match="Layer 2 of 'm' is needed"):
        kept.apply({k: a for k, a in ARRAYS.items() if k != "m/2"})
    with pytest.raises(lmkin.MeasureError, match="These neurons are of 'm'; the arrays are of n"):
        kept.apply({f"n/{k}": a for k, a in enumerate(ARRAYS.values())})
    with pytest.raises(lmkin.MeasureError, match="got ndarray"):
        kept.apply(ARRAYS["m/0"])


@pytest.mark.parametrize(
    "wrong",
    [
        {**ARRAYS, "m/0": ARRAYS["m/0"][:40]},
        {**ARRAYS, "m/0": ARRAYS["m/0"][0]},
        {**ARRAYS, "m/0": None},
        {},
    ],
    ids=["other rows", "one row", "nothing", "no arrays"],
)
def test_rows_that_are_none(wrong: Any) -> None:
    with pytest.raises(lmkin.LmkinError):
        KEPT.apply(wrong)


def test_lists_of_lists_are_taken_or_refused() -> None:
    """As `cluster_neurons` itself treats them."""
    lists = {k: a.tolist() for k, a in ARRAYS.items()}
    try:
        cluster(lists)
    except lmkin.LmkinError:
        with pytest.raises(lmkin.LmkinError):
            KEPT.apply(lists)
    else:
        assert np.array_equal(KEPT.apply(lists), KEPT.apply(ARRAYS))


def test_a_missing_layer_of_activations(
    bert: lmkin.LanguageModel, read: lmkin.Corpus, clustered: lmkin.Clustering
) -> None:
    rows = lmkin.extract(bert, read[:5], layers=[0, 2], progress=False)
    with pytest.raises(lmkin.MeasureError, match="Layer 1 of 'bert' is needed"):
        clustered.reduce(rows, 0.3)


def test_nothing_is_kept() -> None:
    with pytest.raises(lmkin.MeasureError, match="No neuron is kept"):
        lmkin.NeuronMask("m", 0.3, {0: np.zeros(12, bool)}).apply(ARRAYS)


# -- files of Keep --------------------------------------------------------------------------------


def test_kept_neurons_come_back_as_they_were(
    tmp_path: Path, clustered: lmkin.Clustering, acts: lmkin.Activations
) -> None:
    for kept in (KEPT, clustered.keep(0.3), cluster({"org/m/10": ARRAYS["m/0"]}).keep(0.2)):
        kept.save(tmp_path / "kept.safetensors")
        back = lmkin.NeuronMask.load(tmp_path / "kept.safetensors")
        assert (back.model, back.threshold) == (kept.model, kept.threshold)
        assert (back.identity, back.hash) == (kept.identity, kept.hash)
        assert list(back.masks) == list(kept.masks)
        assert all(np.array_equal(back.masks[n], m) for n, m in kept.masks.items())
        assert back.neurons == kept.neurons
    back = lmkin.NeuronMask.load(tmp_path / "kept.safetensors")
    assert list(tmp_path.iterdir()) == [tmp_path / "kept.safetensors"]
    clustered.keep(0.3).save(tmp_path / "kept.safetensors")
    applied = lmkin.NeuronMask.load(tmp_path / "kept.safetensors").apply(acts)
    assert np.array_equal(applied, clustered.reduce(acts, 0.3))


def edit_tensor(tensors: dict[str, Any], _: dict[str, Any]) -> None:
    tensors["1"][4] ^= 1


def edit(name: str, value: Any) -> Any:
    def change(_: dict[str, Any], about: dict[str, Any]) -> None:
        if value is None:
            del about[name]
        else:
            about[name] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        edit_tensor,
        edit("threshold", 0.2),
        edit("threshold", "much"),
        edit("threshold", None),
        edit("identity", "0123"),
        edit("model", "another"),
        edit("model", None),
        edit("layers", [0, 2, 1]),
        edit("layers", [0, 1]),
        edit("layers", [0, 1, 2, 3]),
        edit("layers", [0, 1, "2"]),
        edit("layers", None),
        edit("hash", "0" * 32),
        edit("hash", None),
    ],
)
@pytest.mark.parametrize("signed", [False, True])
def test_a_changed_file_of_kept_neurons_is_refused(
    change: Any, signed: bool, tmp_path: Path
) -> None:
    path = tmp_path / "kept.safetensors"
    KEPT.save(path)
    rewritten(path, change, signed=signed)
    with pytest.raises(lmkin.MeasureError):
        lmkin.NeuronMask.load(path)


@pytest.mark.parametrize("kind", ["keep", "clustering"])
def test_broken_files(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "file.safetensors"
    written: Any = KEPT if kind == "keep" else cluster()
    load = lmkin.NeuronMask.load if kind == "keep" else lmkin.Clustering.load
    written.save(path)
    whole = path.read_bytes()
    for broken in (b"", whole[:7], whole[: len(whole) // 2], whole[:-1], b"{}", b"\xff" * 200):
        path.write_bytes(broken)
        with pytest.raises(lmkin.MeasureError, match=r"file\.safetensors"):
            load(path)
    for absent in (tmp_path / "nothing", tmp_path):
        with pytest.raises(lmkin.MeasureError):
            load(absent)
    path.write_bytes(whole)
    assert load(str(path))
    other: Any = cluster() if kind == "keep" else KEPT
    other.save(path)
    with pytest.raises(lmkin.MeasureError, match="holds no"):
        load(path)


def test_any_changed_byte_is_refused_or_changes_nothing(tmp_path: Path) -> None:
    """Of header and numbers: what is not refused gives the same neurons."""
    path = tmp_path / "kept.safetensors"
    KEPT.save(path)
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        try:
            mask = lmkin.NeuronMask.load(path)
        except lmkin.MeasureError:
            continue
        assert mask.hash == KEPT.hash


def test_files_are_the_same_bytes_every_time(tmp_path: Path) -> None:
    for save in (KEPT.save, cluster(representative="medoid").save):
        written = []
        for number in range(4):
            save(tmp_path / f"{number}.safetensors")
            written.append((tmp_path / f"{number}.safetensors").read_bytes())
        assert len(set(written)) == 1


# -- files of Clustering --------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["random", "medoid"])
@pytest.mark.parametrize("linkage", ["average", "complete"])
def test_a_clustering_comes_back_as_it_was(
    how: str, linkage: str, tmp_path: Path, acts: lmkin.Activations, twin_acts: lmkin.Activations
) -> None:
    for source in (ARRAYS, [acts, twin_acts]):
        found = cluster(source, representative=how, linkage=linkage, seed=5)
        found.save(tmp_path / "c.safetensors")
        back = lmkin.Clustering.load(tmp_path / "c.safetensors")
        assert back.models == found.models
        assert back.thresholds == found.thresholds
        assert back.limit == found.limit
        assert back.alerts == found.alerts
        assert (back.linkage, back.representative, back.seed) == (linkage, how, 5)
        assert repr(back) == repr(found)
        assert back.tables().equals(found.tables())
        assert back.tables().attrs["corpus"] == found.tables().attrs["corpus"]
        for name in found.models:
            for t in found.thresholds:
                assert np.array_equal(back.labels(t, name), found.labels(t, name))
                assert back.representatives(t, name) == found.representatives(t, name)
                assert back.keep(t, name).hash == found.keep(t, name).hash
            assert np.array_equal(back.linkage_matrix(name), found.linkage_matrix(name))
        if how == "random":
            assert np.array_equal(back.labels(0.33, name), found.labels(0.33, name))
        else:
            with pytest.raises(lmkin.MeasureError, match="Medoids"):
                back.keep(0.33, name)


def test_a_limit_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lmkin.analyses.redundancy import memory_plan as planning

    def planned(*_: Any, **__: Any) -> Any:
        return planning.ClusterRoute("tiles", 0, 1000)

    monkeypatch.setattr("lmkin.analyses.redundancy.clusters.plan_clustering", planned)
    found = cluster(thresholds=[0.1, 0.45])
    assert found.limit == 0.45
    found.save(tmp_path / "c.safetensors")
    back = lmkin.Clustering.load(tmp_path / "c.safetensors")
    assert back.limit == 0.45
    assert np.array_equal(back.labels(0.3), found.labels(0.3))
    with pytest.raises(lmkin.MeasureError, match=r"known up to the threshold 0\.45"):
        back.labels(0.5)


def test_a_seed_of_numpy_comes_back_as_a_number(tmp_path: Path) -> None:
    found = cluster(seed=np.int64(3))
    found.save(tmp_path / "c.safetensors")
    assert lmkin.Clustering.load(tmp_path / "c.safetensors").seed == 3


def test_kept_neurons_of_a_loaded_clustering_are_bound_to_their_model(
    tmp_path: Path, clustered: lmkin.Clustering, twin_acts: lmkin.Activations
) -> None:
    clustered.save(tmp_path / "c.safetensors")
    with pytest.raises(lmkin.MeasureError, match="another model"):
        lmkin.Clustering.load(tmp_path / "c.safetensors").reduce(twin_acts, 0.3)


def _change(name: str, value: Any) -> Any:
    def changed(tensors: dict[str, Any], _: dict[str, Any]) -> None:
        tensors[name][0] = value

    return changed


def _edit(**values: Any) -> Any:
    return lambda _, head: head.update(values)


def _edit_model(**values: Any) -> Any:
    return lambda _, head: head["models"][0].update(values)


WRONG = {
    "a layer that is none": _change("0/layer", -1),
    "neither moves nor not": _change("0/moves", 7),
    "beyond the leaves": _change("0/first", 10**6),
    "before the leaves": _change("0/second", -3),
    "a height that falls": _change("0/height", 5.0),
    "not a number": _change("0/height", np.nan),
    "a medoid that is none": _change("0/medoid/0", 10**9),
    "a sign that is none": _change("0/sign/0", 5),
    "a tensor less": lambda tensors, _: tensors.pop("0/turn"),
    "other thresholds": _edit(thresholds=[0.2, 0.5, 0.9]),
    "thresholds that are none": _edit(thresholds=["a"]),
    "a linkage that is none": _edit(linkage="ward"),
    "no models": _edit(models=[]),
    "another identity": _edit_model(identity="another"),
    "a limit that is none": _edit_model(limit="much"),
    "no masks": _edit_model(keep={}),
}


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("name", WRONG)
def test_a_changed_clustering_is_refused(name: str, signed: bool, tmp_path: Path) -> None:
    """With the checksum made right too, before a compiled loop sees a number that points out of its range."""
    path = tmp_path / "c.safetensors"
    cluster(representative="medoid").save(path)
    rewritten(path, WRONG[name], signed=signed)
    with pytest.raises(lmkin.MeasureError, match=r"c\.safetensors"):
        lmkin.Clustering.load(path)


def test_a_tensor_of_another_shape_or_type_is_refused(tmp_path: Path) -> None:
    """The same bytes, read as other numbers."""
    path = tmp_path / "c.safetensors"
    for change in (
        lambda tensors, _: tensors.update({"0/height": tensors["0/height"].view(np.int64)}),
        lambda tensors, _: tensors.update({"0/layer": tensors["0/layer"].reshape(2, -1)}),
    ):
        for signed in (False, True):
            cluster().save(path)
            rewritten(path, change, signed=signed)
            with pytest.raises(lmkin.MeasureError):
                lmkin.Clustering.load(path)
