"""Targets: files of activations that other tools wrote, and folders of models."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np

import lmkin
from fuzz.file_targets import corpus, make_store, model_folder
from fuzz.seals import seal_store
from fuzz.target import Target


def _activations(path: Path) -> Any:
    """As a model whose numbers were computed before."""
    return lmkin.extract(lmkin.load_model(path, name="other"), corpus(), progress=False)


def _use(acts: lmkin.Activations) -> Any:
    len(repr(acts))
    return [
        acts.units.hash,
        [np.asarray(acts.layer(n)) for n in acts.layers],
        acts.manifest["model"].get("weights"),
    ]


def _exported(name: str, file: str, form: str) -> Target:
    def make(folder: Path) -> None:
        acts = lmkin.extract(
            lmkin.load_model(model_folder(), name="tiny"), corpus(), progress=False
        )
        lmkin.export_activations(acts, folder / file, name)

    covers = (f"interchange {name}", "source precomputed")
    return Target(
        name, make, lambda folder: _activations(folder / file), {file: form}, covers, _use
    )


def _make_model(folder: Path) -> None:
    shutil.copytree(model_folder(), folder / "bert")


def _make_and_ask(folder: Path) -> Any:
    return lmkin.extract(lmkin.load_model(folder / "bert", name="tiny"), corpus(), progress=False)


def _untrained(folder: Path) -> Any:
    model = lmkin.load_model(f"untrained:{folder / 'bert'}", name="twin")
    return lmkin.extract(model, corpus(), progress=False)


_MODEL = {
    "bert/config.json": "json",
    "bert/tokenizer_config.json": "json",
    "bert/tokenizer.json": "json",
    "bert/model.safetensors": "tensors",
}
TARGETS = [
    _exported("contextual-repr", "a.hdf5", "hdf5"),
    _exported("neurox-hdf5", "a.hdf5", "hdf5"),
    _exported("neurox-json", "a.json", "lines of json"),
    Target("store as a model", make_store, lambda folder: _activations(folder / "a.acts"),
           {"a.acts/manifest.json": "json", "a.acts/corpus.jsonl": "lines of json",
            "a.acts/units.safetensors": "tensors", "a.acts/shard-00000.safetensors": "tensors"},
           ("source precomputed",), _use, lambda folder: seal_store(folder / "a.acts"), sealed=True),
    Target("model", _make_model, _make_and_ask, _MODEL, ("source huggingface", "source package"), _use),
    Target("untrained model", _make_model, _untrained,
           {k: v for k, v in _MODEL.items() if v == "json"}, ("source untrained",), _use),
]  # fmt: skip
