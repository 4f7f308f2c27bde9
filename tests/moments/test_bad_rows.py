"""Bad rows and options: what is said, and what is kept."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import torch

import lmkin
from lmkin.measures import registry
from lmkin.rows import Workspace

X = np.random.default_rng(0).normal(size=(300, 4))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("earlier", [100, 0])
def test_rows_before_the_bad_ones_are_kept(bad: float, earlier: int) -> None:
    moments = lmkin.Moments()
    if earlier:
        moments.update({"a/0": X[:earlier], "b/0": X[:earlier]})
    worse = X[100:110].copy()
    worse[3, 2] = bad
    with pytest.raises(lmkin.MomentsError, match="b/0 holds NaN or infinite"):
        moments.update({"a/0": X[100:110], "b/0": worse}, part=1)
    assert moments.n == earlier
    moments.update({"a/0": X[110:], "b/0": X[110:]}, part=2)
    good = np.concatenate([X[:earlier], X[110:]])
    np.testing.assert_allclose(moments.cov("a/0", "b/0"), np.cov(good.T), atol=1e-12)


def test_layers_of_a_dict_are_not_chosen_by_number() -> None:
    with pytest.raises(lmkin.MomentsError, match="give those that you want"):
        lmkin.similarity(
            {"a/0": X, "a/1": X}, measures="ckasim", neurons="raw", layers=[0]
        ).matrix()


def test_a_broken_package_of_measures_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = EntryPoint("theirs", "no_such_module_of_measures", "lmkin.measures")
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [broken])
    registry._load_own.cache_clear()
    try:
        with pytest.raises(
            lmkin.MeasureError, match=r"no_such_module_of_measures.*remove the pack"
        ):
            lmkin.measures.measure_names()
    finally:
        monkeypatch.undo()
        registry._load_own.cache_clear()


def test_the_pairs_route_goes_on_after_a_kill(model_folder, tmp_path) -> None:
    """Models run into the place for unfinished work; a second run finds them there."""
    models = [model_folder(name) for name in ("bert", "gpt2", "roberta")]
    corpus = lmkin.read_corpus("sample")[:60]
    options = {"corpus": corpus, "route": "pairs", "workspace": tmp_path / "w", "progress": False}
    first = lmkin.similarity(models, measures="ckasim", neurons="raw", **options)
    (place,) = (p for p in (tmp_path / "w").iterdir() if p.is_dir())
    assert len(list((tmp_path / "w").glob("scores.*.safetensors"))) == 3
    stores = sorted(place.iterdir())
    assert len(stores) == 3
    before = {f: f.stat().st_mtime_ns for s in stores for f in s.glob("*.safetensors")}
    second = lmkin.similarity(models, measures="ckasim", neurons="raw", **options)
    after = {f: f.stat().st_mtime_ns for s in stores for f in s.glob("*.safetensors")}
    assert before == after
    np.testing.assert_array_equal(first["ckasim"], second["ckasim"])
    joint = lmkin.similarity(
        models, measures="ckasim", neurons="raw", corpus=corpus, route="joint", progress=False
    )
    np.testing.assert_allclose(first["ckasim"], joint["ckasim"], atol=1e-6)
    Workspace(tmp_path / "w").clear()
    assert not (tmp_path / "w").exists()


def test_parts_in_pieces_lose_no_rows_where_unfinished_work_is_kept(
    model_folder, tmp_path, monkeypatch
) -> None:
    """Labels that come again and again: a second run must not find a part with its last piece only."""
    monkeypatch.setattr("lmkin.rows.passes.CHUNK", 16)
    corpus = lmkin.read_corpus("sample")[:40]
    labels = np.arange(corpus.n_words) // 50 % 3
    options = {"parts": labels, "layers": "0", "progress": False, "first_token": "keep"}
    model = lmkin.load_model(model_folder("bert"))
    plain = lmkin.compute_moments([model], corpus, **options)
    for _ in range(2):
        kept = lmkin.compute_moments([model], corpus, workspace=tmp_path / "w", **options)
        assert kept.part_sizes == plain.part_sizes
        assert kept.n == plain.n
        np.testing.assert_allclose(
            kept.cov("bert/0", "bert/0"), plain.cov("bert/0", "bert/0"), atol=1e-6
        )
    assert len(list((tmp_path / "w").iterdir())) > 3


def odd_arrays() -> dict[str, tuple[Any, str]]:
    """Arrays that hide their numbers, have none, or keep them in another way; and what is said of them."""
    X = np.random.default_rng(0).normal(size=(60, 5))
    tensor = torch.tensor(X, dtype=torch.float32)
    return {
        "masked": (np.ma.masked_array(X, X > 2), "masked array, with 6 values hidden"),
        "nothing masked": (np.ma.masked_array(X), "masked array, with 0 values"),
        "sparse": (tensor.to_sparse(), "sparse"),
        "scipy": (scipy.sparse.csr_matrix(X), "sparse"),
        "meta": (torch.empty(60, 5, device="meta"), "no numbers"),
        "quantized": (torch.quantize_per_tensor(tensor, 0.1, 0, torch.qint8), "dequantize"),
    }


@pytest.mark.parametrize("name", odd_arrays())
def test_arrays_that_are_no_plain_numbers_are_refused(name: str) -> None:
    array, says = odd_arrays()[name]
    other = np.random.default_rng(1).normal(size=(60, 4))
    for ask in (
        lambda: lmkin.similarity({"a": array, "b": other}, measures="ckasim", progress=False),
        lambda: lmkin.decompose({"a": array, "b": other}, progress=False),
        lambda: lmkin.cluster_neurons({"a": array}, progress=False),
        lambda: lmkin.compute_moments({"a": array, "b": other}, progress=False),
        lambda: lmkin.linear_cka(array, other),
    ):
        with pytest.raises(lmkin.LmkinError, match=says):
            ask()


def test_the_smallest_numbers_there_are_give_the_same() -> None:
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(60, 5)), random.normal(size=(60, 4))
    small = (X * 1e-42).astype(np.float32)  # denormal: a few bits each
    for measure in ("ckasim", "svsim", "neuronsim", "procrustes"):
        expected, found = (
            lmkin.similarity({"a": a, "b": Y}, measures=measure, neurons="raw", progress=False)[
                measure
            ]
            for a in (X, small)
        )
        np.testing.assert_allclose(found, expected, atol=0.02)
