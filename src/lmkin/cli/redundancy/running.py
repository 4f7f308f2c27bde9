"""Activations of every model, its clusters and layers, each written down when finished, so that a run can go on."""

from __future__ import annotations

import csv
import hashlib
import json
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from ... import __version__
from ...errors import LmkinError
from ..output import busy, say
from .reading import Choice, Shown, usual

CLUSTERS = "clusters.safetensors"
_LAYERS = "layers.nc"
_OF_LAYERS = ("ridge", "seed", "memory", "parts", "level", "layers")
_OF_CLUSTERS = ("thresholds", "linkage", "representative", "seed", "memory", "layers")


@dataclass
class Folders:
    """Where results go, and where activations lie meanwhile."""

    out: Path
    keep_activations: bool = False
    stores: list[Path] = field(default_factory=list)
    """Activations that were made here."""

    @property
    def unfinished(self) -> Path:
        """What a run that goes on begins with."""
        return self.out / "unfinished"

    def store(self, slug: str) -> Path:
        """The folder for the activations of a model."""
        return (self.out if self.keep_activations else self.unfinished) / f"{slug}.acts"


@dataclass(frozen=True)
class Found:
    """Everything that is written."""

    clustering: Any
    layers: xr.Dataset | None
    strips: list[xr.Dataset]
    alerts: list[str]
    masks: list[dict[str, Any]] = field(default_factory=list)
    """Of what is kept: model, threshold, neurons, hash, file."""

    @property
    def tables(self) -> xr.Dataset:
        """Neurons left, by model, threshold and layer."""
        tables: xr.Dataset = self.clustering.tables()
        return tables


# -- activations ------------------------------------------------------------------------------------


def extract_all(
    models: list[Any], corpus: Any, folders: Folders, options: dict[str, Any]
) -> list[Any]:
    """Activations of one model after another; each model is let go when it has read everything."""
    from ...activations import extract
    from ...moments.groups import unique_names
    from ...report.view import slugs

    found = []
    for slug in slugs(unique_names(m.name for m in models)):
        model = models.pop(0)
        store = folders.store(slug)
        earlier = _shards(store)
        acts = extract(model, corpus, store, overwrite=True, **options)
        folders.stores.append(store)
        if earlier.get("key") == acts.manifest["key"]:
            say(
                f"Going on: {earlier['there']} of {len(acts.manifest['shards'])} files of activations of {acts.name} "
                f"were there from an earlier run."
            )
        found.append(acts)
        del model
    return found


def _shards(store: Path) -> dict[str, Any]:
    """The key of a store, and how many of its shards are there."""
    from ...activations.store import read_manifest

    try:
        manifest = read_manifest(store)
    except LmkinError:
        return {}
    there = sum((store / entry["file"]).exists() for entry in manifest["shards"])
    return {"key": manifest["key"], "there": there} if there else {}


# -- clusters and layers ----------------------------------------------------------------------------


def compute(
    acts: Sequence[Any], shown: list[Shown] | None, choice: Choice, folders: Folders
) -> Found:
    """Clusters of every model, what its layers add, and some clusters over a sentence."""
    clustering = _clusters(acts, choice, folders)
    layers = _layers(acts, choice, folders) if choice.layer_maps else None
    strips, alerts = _strips(clustering, shown or [], choice)
    reached = clustering.thresholds
    lost = [f"{t:g}" for t in choice.keep_at or () if t not in reached]
    if lost:
        alerts.append(f"no masks: clusters were not reached at {', '.join(lost)} (--keep-at).")
    found = [*clustering.alerts, *([] if layers is None else layers.attrs["alerts"]), *alerts]
    return Found(clustering, layers, strips, list(dict.fromkeys(found)))


def _clusters(acts: Sequence[Any], choice: Choice, folders: Folders) -> Any:
    from ...redundancy import Clustering, cluster_neurons

    path, key = folders.unfinished / CLUSTERS, _key(acts, choice, _OF_CLUSTERS)
    try:
        found = Clustering.load(path)
        if found.attrs.get("key") != key:
            raise LmkinError("These are of another command.")
        say("Going on: the clusters are there from an earlier run.")
    except LmkinError:
        found = cluster_neurons(
            list(acts),
            choice.thresholds,
            linkage=choice.linkage,
            representative=choice.representative,
            seed=choice.seed,
            layers=choice.layers,
            memory=choice.memory,
            say=say,
        )
        found.attrs["key"] = key
        folders.unfinished.mkdir(parents=True, exist_ok=True)
        found.save(path)
        # Read back, so that a run that goes on gives the same to the letter.
        found = Clustering.load(path)
    del found.attrs["key"]
    return found


def _layers(acts: Sequence[Any], choice: Choice, folders: Folders) -> xr.Dataset:
    from ...redundancy import layer_redundancy
    from ...results import load_result, save_result

    path, key = folders.unfinished / _LAYERS, _key(acts, choice, _OF_LAYERS)
    try:
        found = load_result(path)
        if found.attrs.get("key") != key:
            raise LmkinError("These are of another command.")
        say("Going on: the layers are there from an earlier run.")
    except LmkinError:
        found = layer_redundancy(
            list(acts),
            ridge=choice.ridge,
            parts=choice.parts,
            level=choice.level,
            seed=choice.seed,
            layers=choice.layers,
            memory=choice.memory,
            say=say,
        )
        save_result(found.assign_attrs(key=key), path)
        found = load_result(path)
    del found.attrs["key"]
    return found


def _key(acts: Sequence[Any], choice: Choice, names: Sequence[str]) -> str:
    """Everything that the numbers depend on."""
    what = {
        "lmkin": __version__,
        "activations": [[a.name, a.manifest["key"]] for a in acts],
        **{name: getattr(choice, name) for name in names},
    }
    return hashlib.blake2b(json.dumps(what).encode(), digest_size=16).hexdigest()


def _strips(
    clustering: Any, shown: Sequence[Shown], choice: Choice
) -> tuple[list[xr.Dataset], list[str]]:
    """The largest clusters of every model over the sentence; and why there are none."""
    from ...redundancy import cluster_strips

    threshold = usual(clustering.thresholds) if choice.strips_at is None else choice.strips_at
    if shown and threshold not in clustering.thresholds:
        return [], [f"no strips: clusters were not reached at {threshold:g} (--strips-at)."]
    strips, alerts = [], []
    for name, (acts, number) in zip(clustering.models, shown, strict=False):
        if clustering.sizes(threshold, name).max() < 2:
            alerts.append(
                f"no strips: at {threshold:g} every neuron of {name} is alone. Take a higher --strips-at."
            )
            continue
        made = cluster_strips(
            acts, number, clustering, threshold, clusters=choice.clusters, model=name
        )
        made.attrs["model"] = name
        strips.append(made)
    return strips, alerts


# -- writing ----------------------------------------------------------------------------------------


def write(found: Found, choice: Choice, folders: Folders, *, charts: bool) -> Path:
    """Clusters, members, masks of what is kept, tables and the report; the path of the report."""
    from ...report import write_redundancy

    command = shlex.join(["lmkin", *(sys.argv[1:] or ["redundancy"])])
    with busy("Writing …"):
        found.clustering.save(folders.out / CLUSTERS)
        reached = found.clustering.thresholds
        at = [usual(reached)] if choice.keep_at is None else choice.keep_at
        thresholds = [t for t in at if t in reached]
        found.masks.extend(_write_masks(found.clustering, thresholds, folders.out / "keep"))
        _write_members(found.clustering, thresholds, folders.out / "members.csv")
    return write_redundancy(
        folders.out, found.tables, found.layers, found.strips, charts=charts, command=command
    )


def _write_masks(
    clustering: Any, thresholds: Sequence[float], folder: Path
) -> list[dict[str, Any]]:
    """A file of masks for every model and threshold, without those of an earlier run."""
    from ...report.view import slugs

    for path in folder.glob("*-[0-9]*.safetensors"):
        path.unlink(missing_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, slug in zip(clustering.models, slugs(clustering.models), strict=True):
        for threshold in thresholds:
            keep = clustering.keep(threshold, name)
            path = folder / f"{slug}-{threshold:.12g}.safetensors"
            keep.save(path)
            about = {"model": name, "threshold": threshold, "neurons": len(keep)}
            written.append({**about, "hash": keep.hash, "file": str(path)})
    return written


def _write_members(clustering: Any, thresholds: Sequence[float], path: Path) -> None:
    """A line for every neuron at every threshold; constant neurons have no cluster."""
    from ...interchange.atomic import replacing

    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["model", "threshold", "cluster", "layer", "neuron", "kept"])
        for name in clustering.models:
            for threshold in thresholds:
                labels = clustering.labels(threshold, name)
                masks = clustering.keep(threshold, name).masks
                kept = np.concatenate(list(masks.values()))
                place = [(layer, k) for layer, mask in masks.items() for k in range(len(mask))]
                for i in np.argsort(np.where(labels < 0, len(labels), labels), kind="stable"):
                    cluster = "" if labels[i] < 0 else int(labels[i])
                    lines.writerow([name, f"{threshold:.12g}", cluster, *place[i], int(kept[i])])


def remove_finished(folders: Folders) -> None:
    """Remove what was kept of an unfinished run, and nothing else; then the folder, if it is empty."""
    unfinished = folders.unfinished
    if not folders.keep_activations:
        for store in folders.stores:
            shutil.rmtree(store, ignore_errors=True)
    # What a kill left half-written has a name of ours, or of the library that writes.
    names = (CLUSTERS, _LAYERS)
    for name in (*names, *(f".{n}.*.tmp" for n in names), ".tmp??????"):
        for path in unfinished.glob(name):
            path.unlink(missing_ok=True)
    if unfinished.is_dir() and not any(unfinished.iterdir()):
        unfinished.rmdir()
