"""Checksums made right again after a change, so that what lies behind them is reached."""

from __future__ import annotations

import io
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from safetensors.numpy import load

from fuzz import netcdf_mutators
from fuzz.tensor_mutators import arrays_of, join, split
from lmkin.activations.manifest import manifest_checksum
from lmkin.analyses.redundancy import Clustering, NeuronMask, cluster_files
from lmkin.core import fingerprint
from lmkin.core.files import tensors
from lmkin.corpus import Corpus, Sentence, Units
from lmkin.results import storage


def seal_tensors(folder: Path) -> None:
    """Of every safetensors file that has a head of lmkin."""
    for path in sorted(folder.rglob("*.safetensors")):
        if path.is_file() and not path.is_symlink():
            seal_tensors_file(path)


def seal_tensors_file(path: Path) -> None:
    """The checksum in the head of one file, of its kind, data and arrays as they are now."""
    data = path.read_bytes()
    try:
        header, body, length = split(data)
        head = json.loads(header["__metadata__"]["lmkin"])
        arrays = load(data)
        _seal_inside(head, arrays)
        head["checksum"] = tensors._checksum(head["kind"], head["format"], head["data"], arrays)
        header["__metadata__"]["lmkin"] = json.dumps(head, sort_keys=True)
        path.write_bytes(join(header, body, length))
    except Exception:  # so broken that it has no checksum: it stays as it is
        return


def _seal_inside(head: dict[str, Any], arrays: dict[str, Any]) -> None:
    """The hashes of the neurons that a mask, or clusters, keep: they are among the data."""
    data = head["data"]
    try:
        if head["kind"] == "neurons to keep":
            masks = {int(n): arrays[str(n)].astype(bool) for n in data["layers"]}
            mask = NeuronMask(data["model"], float(data["threshold"]), masks, data["identity"])
            data["hash"] = mask.hash
        elif head["kind"] == "clustering":
            thresholds = [float(t) for t in data["thresholds"]]
            for k, about in enumerate(data["models"]):
                mine = {n.partition("/")[2]: a for n, a in arrays.items() if n.startswith(f"{k}/")}
                neurons = cluster_files._neurons(cluster_files._Numbers(mine), about, thresholds)
                made = Clustering(
                    {about["name"]: neurons},
                    thresholds,
                    linkage="",
                    representative="",
                    seed=0,
                    attrs={},
                )
                about["keep"] = {f"{t:.12g}": made.keep(t).hash for t in thresholds}
    except Exception:  # so broken that nothing can be kept
        return


def seal_store(folder: Path) -> None:
    """The checksums of shards, of corpus and units, and of the manifest."""
    try:
        manifest = json.loads((folder / "manifest.json").read_bytes())
    except Exception:  # so broken that it has no checksum: it stays as it is
        return
    for seal in (_seal_shards, _seal_files, _seal_hashes):
        try:
            seal(folder, manifest)
        except Exception:  # so broken that it has no checksum: it stays as it is
            continue
    try:
        manifest["checksum"] = manifest_checksum(manifest)
        (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")
    except Exception:  # so broken that it has no checksum: it stays as it is
        return


def _seal_shards(folder: Path, manifest: dict[str, Any]) -> None:
    for entry in manifest["shards"]:
        path = folder / entry["file"]
        data = path.read_bytes()
        header, body, length = split(data)
        value = 0
        for _, array in sorted(arrays_of(data).items()):
            value = zlib.crc32(np.ascontiguousarray(array).tobytes(), value)
        header["__metadata__"]["crc32"] = entry["crc32"] = f"{value:08x}"
        path.write_bytes(join(header, body, length))


def _seal_files(folder: Path, manifest: dict[str, Any]) -> None:
    for name in manifest["files"]:
        manifest["files"][name] = fingerprint((folder / name).read_bytes())


def _seal_hashes(folder: Path, manifest: dict[str, Any]) -> None:
    lines = (folder / "corpus.jsonl").read_text("utf-8").split("\n")
    corpus = Corpus([Sentence.from_dict(json.loads(line)) for line in lines if line])
    manifest["corpus"]["hash"] = corpus.hash
    columns = load((folder / "units.safetensors").read_bytes())
    names = ("sentence", "index", "start", "end")
    units = Units(corpus, manifest["units"]["kind"], *(columns[n] for n in names))
    manifest["units"]["hash"] = units.hash


def seal_result(folder: Path) -> None:
    """Of every netCDF file, of tensors beside them, and of ``lmkin.json``."""
    seal_tensors(folder)
    seal_manifest(folder / "lmkin.json")
    for path in sorted(folder.rglob("*.nc")):
        if path.is_file() and not path.is_symlink():
            seal_netcdf_file(path)


def seal_manifest(path: Path) -> None:
    """The checksum in the manifest of a result folder."""
    if not path.is_file() or path.is_symlink():
        return
    try:
        said = json.loads(path.read_bytes())
        said.pop("checksum", None)
        path.write_text(json.dumps({**said, "checksum": fingerprint(said)}, indent=1), "utf-8")
    except Exception:  # so broken that it has no checksum: it stays as it is
        return


def seal_netcdf_file(path: Path) -> None:
    """The checksum among the attributes, of what xarray reads from the file now."""
    data = path.read_bytes()
    try:
        with xr.open_dataset(io.BytesIO(data), engine="scipy", decode_times=False) as stored:
            dataset = stored.load()
        old, new = str(dataset.attrs.pop("checksum")).encode(), storage._checksum(dataset).encode()
        if len(old) == len(new):
            path.write_bytes(data.replace(old, new))
            return
        model = netcdf_mutators.read(data)
        model.attributes["checksum"] = new
        path.write_bytes(netcdf_mutators.write(model))
    except Exception:  # so broken that it has no checksum: it stays as it is
        return
