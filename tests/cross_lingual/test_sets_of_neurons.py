"""Sets of layers, what each probe reads, and what does not change a result."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import lmkin
from cross_lingual.treebanks import WIDTH, WordVectors, treebanks
from lmkin.analyses.cross_lingual import fits
from lmkin.analyses.cross_lingual.ablations import ABLATIONS, ablation_layers

SMALL: dict[str, Any] = {
    "tags": "upos",
    "thresholds": [0.5],
    "l1": 0.02,
    "parts": 4,
    "progress": False,
}


@given(st.integers(1, 40))
def test_sets_of_layers(n: int):
    layers = list(range(n))
    top, bottom, alternate, embedding, above = (
        list(ablation_layers(name, layers))
        for name in ("top", "bottom", "alternate", "embedding", "above-embedding")
    )
    assert bottom + top == layers
    assert len(bottom) - len(top) in (0, 1)
    assert alternate == [k for k in layers if k % 2 == 0]
    assert embedding + above == layers
    assert embedding == [0]


def test_without_layer_0_there_is_no_embedding():
    assert ablation_layers("embedding", (3, 6, 9)) == ()
    assert ablation_layers("above-embedding", (3, 6, 9)) == ()
    assert ablation_layers("alternate", (3, 6, 9)) == (3, 9)


def test_every_set_is_recorded_with_its_layers_and_neurons(transfer: lmkin.CrossLingual):
    layers = transfer.attrs["layers_read"]["teacher"]
    assert layers == {
        "all": [0, 1, 2], "0.1": [0, 1, 2], "0.5": [0, 1, 2], "alternate": [0, 2], "top": [2], "bottom": [0, 1],
        "embedding": [0], "above-embedding": [1, 2],
    }  # fmt: skip
    widths = transfer.width.sel(model="teacher", source="en", task="upos")
    for name in ABLATIONS:
        assert int(widths.sel(neurons=name)) == WIDTH * len(layers[name])
    assert int(widths.sel(neurons="all")) == 3 * WIDTH
    assert (transfer.used <= transfer.width).all()
    records = transfer.find_table("neurons").to_records()
    assert {r["neurons"]: r["layers"] for r in records if r["model"] == "teacher"}[
        "alternate"
    ] == "0,2"


def test_a_probe_of_some_layers_is_that_of_a_model_that_has_no_others(transfer: lmkin.CrossLingual):
    alone = lmkin.cross_lingual(
        WordVectors("teacher", 0.8), treebanks(), tags="upos", thresholds=[0.5], ablations="none", parts=5, l1=0.01,
        l2=0.005, kkt=1e-4, layers="1,2", progress=False,
    )  # fmt: skip
    at = {"model": "teacher", "source": "en", "task": "upos"}
    xr.testing.assert_allclose(
        alone.accuracy.sel(**at, neurons="all", drop=True),
        transfer.accuracy.sel(**at, neurons="above-embedding", drop=True),
    )


def test_the_order_of_corpora_and_of_their_sentences_does_not_matter():
    banks = treebanks(("en", "de", "fi"), 40)
    results = []
    for order in list(permutations(banks))[::2]:
        turned = {n: banks[n] for n in order}
        if len(results) == 1:  # by their ids they come back to the order of the first
            turned[order[1]] = turned[order[1]][::-1]
        results.append(lmkin.cross_lingual(WordVectors(), turned, train_on="en", **SMALL))
    first = results[0].dataset.drop_vars("family_of")
    for other in results[1:]:
        again = other.dataset.drop_vars("family_of").reindex_like(first)
        for name in map(str, first):
            np.testing.assert_allclose(again[name], first[name], atol=1e-9, err_msg=name)


def test_all_languages_in_turn_are_what_each_gives_alone():
    banks = treebanks(("en", "fi"), 40)
    both = lmkin.cross_lingual(WordVectors(), banks, train_on="all", **SMALL)
    assert both.sources == ["en", "fi"]
    with pytest.raises(lmkin.LmkinError, match="Say which source"):
        both.classes()
    for source in banks:
        alone = lmkin.cross_lingual(WordVectors(), banks, train_on=source, **SMALL)
        for name in ("accuracy", "macro_f1", "width", "majority"):
            xr.testing.assert_allclose(both[name].sel(source=[source]), alone[name])


def test_rows_may_stay_on_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    banks = treebanks(("en", "fi"), 40)
    whole = lmkin.cross_lingual(WordVectors(), banks, **SMALL)
    in_memory: list[bool] = []
    design_of = fits.design_of
    monkeypatch.setattr(fits, "bytes_of_fits", lambda *_: 10**18)
    monkeypatch.setattr(
        fits, "design_of",
        lambda X, *rest: (in_memory.append(isinstance(X, np.ndarray)), design_of(X, *rest))[1],
    )  # fmt: skip
    streamed = lmkin.cross_lingual(WordVectors(), banks, workspace=tmp_path, **SMALL)
    assert in_memory
    assert not any(in_memory)
    for name in ("accuracy", "width", "train_accuracy"):
        np.testing.assert_allclose(streamed[name], whole[name], atol=1e-3, err_msg=name)


def test_what_is_finished_is_not_done_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    banks = treebanks(("en", "fi"), 40)
    options = {**SMALL, "ablations": "top", "ceiling": True, "workspace": tmp_path}
    fit, calls = fits.fit_probe, []

    def counted(*args: Any, **more: Any) -> Any:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return fit(*args, **more)

    monkeypatch.setattr(fits, "fit_probe", counted)
    with pytest.raises(KeyboardInterrupt):
        lmkin.cross_lingual(WordVectors(), banks, **options)
    calls[:] = [1] * 5
    first = lmkin.cross_lingual(WordVectors(), banks, **options)
    assert len(calls) - 5 == 2  # of four probes two were finished
    monkeypatch.setattr(fits, "fit_probe", None)
    monkeypatch.setattr("lmkin.analyses.cross_lingual.neuron_sets.cluster_neurons", None)
    again = lmkin.cross_lingual(WordVectors(), banks, **options)
    xr.testing.assert_equal(again.dataset, first.dataset)


def test_a_language_may_be_called_like_a_split():
    banks = treebanks(("en", "fi"), 30)
    renamed = {"train": banks["en"], "dev": banks["fi"]}
    one = lmkin.cross_lingual(WordVectors(), renamed, **SMALL)
    other = lmkin.cross_lingual(WordVectors(), banks, **SMALL)
    np.testing.assert_array_equal(one.accuracy, other.accuracy)
