"""A store: a folder with a manifest, the corpus, the units, and shards of activations.

::

    bert.acts/
      manifest.json            what, how, from which model and corpus; "status": partial or complete
      corpus.jsonl             the sentences, with their tags
      units.safetensors        sentence, index, start, end of every row
      shard-00000.safetensors  layer_000 … layer_012, each rows × neurons
"""

from __future__ import annotations

import logging
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load

from ..core import (
    ActivationsError,
    CorpusError,
    Unfit,
    Whole,
    as_path,
    checked,
    fingerprint,
    human_bytes,
    member,
    parse_json,
    read_file,
)
from ..corpus import SENTENCE, Corpus, Sentence, Units
from .activations import Activations
from .manifest import FORMAT, SCHEMA, manifest_checksum
from .shards import Shard, ShardPlan, read_shard

_log = logging.getLogger(__name__)
MANIFEST = "manifest.json"
COLUMNS = ("sentence", "index", "start", "end")
_CORPUS_BYTES = 2**36
_VERIFY_BELOW = 1_000_000_000
"""Stores smaller than this are checked bit by bit when they are opened: it takes under a second."""


def open_activations(path: str | Path, *, verify: bool | None = None) -> Activations:
    """Open a store; layers are mapped into memory, not read.

    Missing, cut and foreign files are always found. Checksums (``verify``) are compared by default for
    stores under 1 GB.
    """
    folder = as_path(path)
    manifest = read_manifest(folder)
    if manifest["status"] != "complete":
        done = sum((folder / s["file"]).exists() for s in manifest["shards"])
        raise ActivationsError(
            f"{folder} is half-written: {done} of {len(manifest['shards'])} shards are there. Run the same "
            f"extraction again with this folder, and it goes on where it stopped."
        )
    units = _read_units(folder, manifest)
    shards = [open_shard(folder, entry, manifest) for entry in manifest["shards"]]
    size = sum(shard.path.stat().st_size for shard in shards)
    if verify or (verify is None and size < _VERIFY_BELOW):
        for shard in shards:
            shard.verify()
    return Activations(units, [shard.layers for shard in shards], manifest, path=folder)


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a store, complete or partial; everything in it is of its type, and within bounds."""
    if not folder.exists():
        raise ActivationsError(f"There is no store of activations at {folder}.")
    if not folder.is_dir():
        raise ActivationsError(
            f"{folder} is a file; a store of activations is a folder. Files of other tools are opened "
            f"with load_model."
        )
    path = folder / MANIFEST
    if not path.exists() and not path.is_symlink():
        raise ActivationsError(f"{folder} is no store of activations: it has no {MANIFEST}.")
    try:
        manifest = parse_json(read_file(path, links=False, error=ActivationsError))
        version = checked(manifest, {"lmkin_store": Whole(1), str: Any})["lmkin_store"]
        if version != FORMAT:
            raise ActivationsError(
                f"{folder} was written in store format {version}, this lmkin reads {FORMAT}. "
                f"Update lmkin, or extract again."
            )
        checked(manifest, SCHEMA)
        _require_whole(manifest)
    except Unfit as error:
        raise ActivationsError(
            f"{path} is damaged or not written by lmkin: {error}. Extract again into a new folder."
        ) from None
    known: dict[str, Any] = manifest
    return known


def _require_whole(manifest: dict[str, Any]) -> None:
    """Raise if a manifest was changed, or if its shards do not cover its rows one after another."""
    if manifest_checksum(manifest) != manifest["checksum"]:
        raise Unfit("its checksum is not the one that it was written with")
    edges = [0, *(entry["rows"][-1] for entry in manifest["shards"] if entry["rows"])]
    pairs = [list(pair) for pair in pairwise(edges)]
    names = {entry["file"] for entry in manifest["shards"]}
    if [entry["rows"] for entry in manifest["shards"]] != pairs or any(a >= b for a, b in pairs):
        raise Unfit("its shards do not follow each other")
    if edges[-1] != manifest["units"]["kept"] or len(names) < len(manifest["shards"]):
        raise Unfit("its shards are not of its rows")
    layers = manifest["layers"]
    if layers != sorted(set(layers)) or len(manifest["widths"]) != len(layers) or not layers:
        raise Unfit("its layers are not in order, or have no widths")


def finished_key(folder: Path) -> str | None:
    """The key of the run whose activations a folder holds; None if they are not complete, or not there."""
    try:
        manifest = read_manifest(folder)
    except ActivationsError:
        return None
    return str(manifest["key"]) if manifest.get("status") == "complete" else None


def open_shard(folder: Path, entry: dict[str, Any], manifest: dict[str, Any]) -> Shard:
    """A shard of a store, as its manifest describes it. Raise if it is another one, or damaged."""
    start, stop = entry["rows"]
    widths = dict(zip(manifest["layers"], manifest["widths"], strict=True))
    plan = ShardPlan(manifest["key"], start, stop, widths, np.dtype(manifest["dtype"]))
    path = member(folder, entry["file"], ActivationsError)
    return read_shard(path, plan, entry["crc32"])


def _read_units(folder: Path, manifest: dict[str, Any]) -> Units:
    """The units, from two files that are exactly as they were written."""
    content = {}
    for name, digest in manifest["files"].items():
        if not (folder / name).exists():
            raise ActivationsError(
                f"{folder} is damaged: {name} is missing. Extract again into a new folder."
            )
        content[name] = read_file(folder / name, _CORPUS_BYTES, links=False, error=ActivationsError)
        if fingerprint(content[name]) != digest:
            raise ActivationsError(
                f"{folder} is damaged: {name} was changed since it was written. Extract again into a new folder."
            )
    info = manifest["corpus"]
    try:
        lines = content["corpus.jsonl"].decode().split("\n")
        sentences = [Sentence.from_dict(checked(parse_json(x), SENTENCE)) for x in lines if x]
        corpus = Corpus(sentences, name=info["name"], format=info["format"])
        columns = load(content["units.safetensors"])
        columns = {name: _column(columns[name]) for name in COLUMNS}
        units = Units(corpus, manifest["units"]["kind"], *columns.values())
        units.require_valid()
        if corpus.hash != info["hash"] or units.hash != manifest["units"]["hash"]:
            raise Unfit("its hash is another one")
        if len(units) != manifest["units"]["kept"]:
            raise Unfit("it has another number of units")
    except (ValueError, KeyError, TypeError, IndexError, CorpusError, SafetensorError) as error:
        raise ActivationsError(
            f"{folder} is damaged: its corpus and units do not fit together ({error}). Extract again into a new folder."
        ) from None
    return units


def _column(array: NDArray[Any]) -> NDArray[Any]:
    if array.ndim != 1 or array.dtype != np.int32:
        raise Unfit("a column of the units is none")
    return array


def store_size(folder: Path) -> str:
    """The size of a store on disk, as people read it."""
    return human_bytes(sum(f.stat().st_size for f in folder.iterdir() if f.is_file()))
