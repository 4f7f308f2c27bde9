"""Targets: results of every kind, as a netCDF file and as a folder."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import lmkin
from fuzz.file_targets import layers
from fuzz.seals import seal_result
from fuzz.target import Target


@cache
def example(kind: str) -> Any:
    """A small result."""
    from results import example_results

    if kind == "similarity":
        return lmkin.similarity(layers(), permutations=3, progress=False)
    if kind == "redundancy":
        return lmkin.redundancy(layers(), thresholds=[0.1, 0.3], keep_at=[0.3], progress=False)
    return example_results.EXAMPLES[kind]()


def use_result(result: Any) -> Any:
    """What a report, a table and a command ask of a result."""
    len(repr(result))
    result.data()
    result.findings()
    tables = [table.to_html() for table in result.tables()]
    return [
        result.dataset,
        result.models,
        result.provenance,
        [str(a) for a in result.alerts],
        tables,
    ]


def use_folder(result: Any) -> Any:
    """The same, and what only the other files of a folder hold."""
    more = [getattr(result, name, None) for name in ("heads", "layers", "published")]
    if isinstance(result, lmkin.Probes):
        more += [result.weights(p, task=task, model=model) for model, task, p in result.fitted]
    clusters = getattr(result, "clustering", None)
    kept = (
        None
        if clusters is None
        else [clusters.tables(), [clusters.labels(0.3, m) for m in clusters.models]]
    )
    probes = getattr(result, "probes", {})
    weights = [[p.columns, p.fitted.weights, p.fitted.intercepts] for p in probes.values()]
    return [use_result(result), [m for m in more if m is not None], kept, weights]


def _file(kind: str) -> Target:
    file = f"{kind}.nc"
    return Target(
        f"{kind} file",
        lambda folder: example(kind).save(folder / file),
        lambda folder: lmkin.load(folder / file),
        {file: "netcdf"},
        (
            f"result {kind}",
            "loadable results (a folder, or its .nc file)",
            "module results.storage",
        ),
        use_result,
        seal_result,
        sealed=True,
    )


def _folder(kind: str, *files: str) -> Target:
    forms = {".nc": "netcdf", ".json": "json", ".safetensors": "tensors"}
    return Target(
        f"{kind} folder",
        lambda folder: example(kind).save(folder / "result"),
        lambda folder: lmkin.load(folder / "result"),
        {f"result/{f}": forms[Path(f).suffix] for f in ("lmkin.json", *files)},
        (f"result {kind}", "module results.folder"),
        use_folder,
        lambda folder: seal_result(folder / "result"),
        sealed=True,
    )


TARGETS = [
    _file("similarity"),
    _file("attention"),
    _file("dependency"),
    _file("redundancy"),
    _file("probe"),
    _file("cross-lingual"),
    _folder("similarity", "similarity.nc"),
    _folder("attention", "attention.nc", "heads.nc"),
    _folder(
        "dependency",
        "dependency.nc",
        "best_subsets.nc",
        "drop_order.nc",
        "unexplained.nc",
        "unique.nc",
    ),
    _folder("redundancy", "redundancy.nc", "layers.nc", "clusters.safetensors"),
    _folder("probe", "probe.nc", "probes.safetensors", "published.nc"),
    _folder("cross-lingual", "cross-lingual.nc", "probes.safetensors"),
]
