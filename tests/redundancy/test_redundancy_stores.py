"""Stored activations as the analysis of redundancy opens them: which do, and what is said of those that do not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import lmkin
from lmkin.analysis import Running, Source, find_analysis
from lmkin.models import Reading
from lmkin.rows import Workspace


@pytest.fixture(scope="module")
def stores(
    bert: lmkin.LanguageModel, sample: lmkin.Corpus, tmp_path_factory: Any
) -> dict[str, Path]:
    """Of 8 sentences two layers, of 9 all; and one that was not finished."""
    folder = tmp_path_factory.mktemp("stores")
    lmkin.extract(bert, sample[:8], folder / "a", layers="0,2", progress=False)
    lmkin.extract(bert, sample[:9], folder / "b", progress=False)
    shutil.copytree(folder / "b", folder / "partial")
    manifest = folder / "partial" / "manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "status": "partial"}))
    return {name: folder / name for name in ("a", "b", "partial", "nothing")}


@pytest.mark.parametrize("how", ["plan", "run"])
@pytest.mark.parametrize(
    ("given", "layers", "options", "says"),
    [
        ("ab", "all", {}, "cannot be compared row by row"),
        ("a", "0,1", {}, "has the layers 0, 2, and no layer 1"),
        ("a", "7", {}, "no layer 7"),
        ("a", "0", {}, r"one layer here \(0\)"),
        (["nothing"], "all", {}, "is no folder of activations"),
        (["partial"], "all", {}, "partial"),
    ],
)
def test_stores_that_do_not_fit(
    stores: dict[str, Path], how: str, given: Any, layers: str, options: Any, says: str
) -> None:
    analysis = find_analysis("redundancy")
    source = Source([stores[name] for name in given], reading=Reading(layers=layers))
    arguments: list[Any] = [source, analysis.Options(**options), Running()]
    if how == "run":
        arguments.append(Workspace())
    with pytest.raises(lmkin.LmkinError, match=says):
        getattr(analysis, how)(*arguments)


def test_a_sentence_that_their_corpus_lacks(stores: dict[str, Path]) -> None:
    analysis = find_analysis("redundancy")
    options = analysis.Options(sentence="9", thresholds=(0.5,), layer_regressions=False)
    source = Source([stores["a"]])
    analysis.check_run(source, options, Running())
    with pytest.raises(lmkin.LmkinError, match="the corpus has sentences 1 to 8"):
        analysis.run(source, options, Running(), Workspace())


def test_one_layer_is_enough_where_layers_are_not_compared(stores: dict[str, Path]) -> None:
    analysis = find_analysis("redundancy")
    options = analysis.Options(thresholds=(0.5,), layer_regressions=False)
    source = Source([stores["a"]], reading=Reading(layers="2"))
    result = analysis.run(source, options, Running(), Workspace())
    assert result["layer"].values.tolist() == [2]
    direct = lmkin.cluster_neurons(
        lmkin.open_activations(stores["a"]), thresholds=[0.5], layers=[2], progress=False
    )
    assert result["left"].values.tolist() == direct.tables()["left"].values.tolist()
