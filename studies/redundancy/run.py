"""Which neurons of three encoders, and of an untrained twin, say the same thing; and which layers.

    python studies/redundancy/run.py [--shared FOLDER] [--out FOLDER]

Reads config.json; writes tables and pictures to results/, and the full report, which is not kept in the repository, to
reports/. Activations are kept in reports/, and not made again.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

os.environ.setdefault("HF_HUB_OFFLINE", "1")
HERE = Path(__file__).parent


def main() -> None:
    """Run the study."""
    import lmkin

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    shared = os.environ.get("LMKIN_SHARED", str(HERE.parents[2] / "shared"))
    parser.add_argument("--shared", default=shared, help="folder with data/ and models/")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    arguments = parser.parse_args()
    config = json.loads((HERE / "config.json").read_text())
    places = {"models": f"{arguments.shared}/models", "data": f"{arguments.shared}/data"}
    corpus = lmkin.read_corpus(config["corpus"].format(**places))
    loaded = {
        name: lmkin.load_model(spec.format(**places), name=name)
        for name, spec in config["models"].items()
    }
    reports = HERE / "reports"
    acts = [
        lmkin.extract(model, corpus, out=reports / f"{name.replace(' ', '-')}.acts")
        for name, model in loaded.items()
    ]
    found = lmkin.cluster_neurons(acts, seed=config["seed"])
    tables = found.tables()
    layers = lmkin.layer_redundancy(acts, seed=config["seed"])
    strips = [
        lmkin.cluster_strips(
            model, config["sentence"], found, config["at"], clusters=2, most=8, model=name
        )
        for name, model in loaded.items()
        if not name.startswith("untrained")
    ]
    lmkin.write_result(lmkin.Redundancy.of(found, layers, strips), reports / "all", overwrite=True)
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in ("left", "left_by_layer", "spans", "layers"):
        shutil.copy(reports / "all" / f"{name}.csv", arguments.out)
    for chart in config["charts"]:
        shutil.copy(reports / "all" / "charts" / f"redundancy-{chart}.png", arguments.out)
    stability(acts, tables).to_dataframe().to_csv(arguments.out / "halves.csv", float_format="%.4f")
    same_number(found).to_dataframe().to_csv(arguments.out / "same_neuron.csv", float_format="%.4f")
    print(found, *found.alerts, sep="\n")


def same_number(found: Any) -> xr.Dataset:
    """Clusters of two neurons or more; and the share of them whose neurons have one number, in different layers."""
    counts = np.zeros((len(found.models), len(found.thresholds)), int)
    same = np.full(counts.shape, np.nan)
    for i, name in enumerate(found.models):
        for k, t in enumerate(found.thresholds):
            several = [m for m in found.members(t, name) if len(m) > 1]
            counts[i, k] = len(several)
            if several:
                same[i, k] = np.mean([len({neuron for _, neuron in m}) == 1 for m in several])
    dims = ("model", "threshold")
    return xr.Dataset(
        {"clusters": (dims, counts), "same_number": (dims, same)},
        coords={"model": found.models, "threshold": list(found.thresholds)},
    )


def stability(acts: list[Any], tables: xr.Dataset) -> xr.Dataset:
    """The same on two halves of the corpus, every second document each: neurons left, and whether clusters agree."""
    from sklearn.metrics import adjusted_rand_score

    import lmkin

    thresholds = tables["threshold"].values.tolist()
    documents = [s.document or str(k) for k, s in enumerate(acts[0].units.corpus)]
    number = {d: k for k, d in enumerate(dict.fromkeys(documents))}
    rows = []
    for each in acts:
        half = np.array([number[documents[s]] % 2 for s in each.units.sentence])
        a, b = (
            lmkin.cluster_neurons(
                each.select(np.flatnonzero(half == k)), thresholds=thresholds, progress=False
            )
            for k in (0, 1)
        )
        for t in thresholds:
            x, y = a.labels(t), b.labels(t)
            rows.append([len(a.sizes(t)), len(b.sizes(t)), adjusted_rand_score(x, y)])
    shaped = np.array(rows).reshape(len(acts), len(thresholds), 3)
    names = ("left_first", "left_second", "adjusted_rand")
    return xr.Dataset(
        {name: (("model", "threshold"), shaped[..., k]) for k, name in enumerate(names)},
        coords={"model": tables["model"].values, "threshold": thresholds},
    )


if __name__ == "__main__":
    main()
