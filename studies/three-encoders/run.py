"""Who resembles whom: MiniLM, e5-small, gte-small and an untrained twin, on two English treebanks.

    python studies/three-encoders/run.py [--shared FOLDER] [--out FOLDER] [--corpus pud|ewt]

Reads config.json; writes tables and pictures to results/, and the full reports, which are not kept in the
repository, to reports/.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

os.environ.setdefault("HF_HUB_OFFLINE", "1")
HERE = Path(__file__).parent


def main() -> None:
    """Run the study for the corpora asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    shared = os.environ.get("LMKIN_SHARED", str(HERE.parents[2] / "shared"))
    parser.add_argument("--shared", default=shared, help="folder with data/ and models/")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    parser.add_argument("--corpus", action="append", help="pud or ewt; default both")
    arguments = parser.parse_args()
    config = json.loads((HERE / "config.json").read_text())
    places = {"models": f"{arguments.shared}/models", "data": f"{arguments.shared}/data"}
    for name in arguments.corpus or config["corpora"]:
        run(name, config, places, arguments.out / name)


def run(name: str, config: dict[str, Any], places: dict[str, str], out: Path) -> None:
    """One corpus: everything in one pass, then the held-out scores and the null from the same moments."""
    import lmkin

    corpus = lmkin.read_corpus(config["corpora"][name].format(**places))
    models = [
        lmkin.load_model(spec.format(**places), name=label)
        for label, spec in config["models"].items()
    ]
    options = dict(config["options"])
    parts = options.pop("parts")
    sums = lmkin.compute_moments(models, corpus, parts=parts, seed=options["seed"])
    similar = lmkin.similarity(sums, measures=config["measures"], **options)
    result = similar.dataset
    held_out = lmkin.similarity(sums, held_out=True, **config["held_out"]).dataset
    null = lmkin.permutation_baseline(sums, seed=options["seed"], **config["null"])

    out.mkdir(parents=True, exist_ok=True)
    pairs(result, held_out).to_csv(out / "pairs.csv", index=False, float_format="%.4f")
    curves(similar.localization()).to_csv(
        out / "localization.csv", index=False, float_format="%.4f"
    )
    layers(result).to_csv(out / "layers.csv", index=False, float_format="%.4f")
    (out / "null.json").write_text(
        json.dumps(
            {
                "units": null.attrs["n"],
                "largest value": float(null["value"].max()),
                "smallest value": float(null["value"].min()),
                "mean of shuffled": float(null["null_mean"].mean()),
                "largest of shuffled": float(null["null_max"].max()),
                "largest p": float(null["p"].max()),
                "largest p, corrected for the search": float(null["p_max"].max()),
            },
            indent=1,
        )
        + "\n"
    )
    facts = {"n": result.attrs["n"], "alerts": [str(alert) for alert in similar.alerts]}
    (out / "alerts.json").write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n")
    reports = HERE / "reports" / name
    lmkin.write_result(similar, reports, overwrite=True)
    keep_pictures(reports / "charts", out)


def keep_pictures(charts: Path, out: Path) -> None:
    """The pictures that the README shows, small enough for a repository."""
    import vl_convert

    for name in ("heatmap-ckasim", "heatmap-neuronsim", "localization"):
        picture = (charts / f"{name}-raw.svg").read_text()
        (out / f"{name}.png").write_bytes(vl_convert.svg_to_png(picture, scale=0.75))


def pairs(result: xr.Dataset, held_out: xr.Dataset) -> pd.DataFrame:
    """For every two models and measure: mean over all layer pairs, and the pair of layers that is most alike."""
    rows = []
    raw = result.sel(scaling="raw")
    standardized = result.sel(scaling="standardized")
    names = [str(m) for m in result["model_x"].values]
    for measure in (str(n) for n, t in result.items() if "summary" in t.attrs):
        for a in names:
            for b in names:
                table = raw[measure].sel(model_x=a, model_y=b).values.copy()
                error = raw[f"{measure}_se"].sel(model_x=a, model_y=b).values
                scaled = standardized[measure].sel(model_x=a, model_y=b).values.copy()
                if a == b:
                    np.fill_diagonal(table, np.nan)
                    np.fill_diagonal(scaled, np.nan)
                i, j = np.unravel_index(np.nanargmax(table), table.shape)
                row = {
                    "measure": measure,
                    "x": a,
                    "y": b,
                    "mean": np.nanmean(table),
                    "mean standardized": np.nanmean(scaled),
                    "best": table[i, j],
                    "best se": error[i, j],
                    "layer x": i,
                    "layer y": j,
                }
                if measure in held_out:
                    fresh = held_out[measure].sel(model_x=a, model_y=b).values.copy()
                    if a == b:
                        np.fill_diagonal(fresh, np.nan)
                    row["mean held out"] = np.nanmean(fresh)
                rows.append(row)
    return pd.DataFrame(rows)


def curves(dataset: xr.Dataset) -> pd.DataFrame:
    """Localization of each layer, raw neurons."""
    frame = dataset.sel(scaling="raw").to_dataframe().reset_index().dropna()
    return frame.drop(columns=["scaling"])


def layers(result: xr.Dataset) -> pd.DataFrame:
    """The same layer of two models, at the same relative depth; how many neurons match their namesake."""
    rows = []
    depth = {
        str(m): int(result["layer_x"].values[np.isfinite(_own(result, str(m)))].max())
        for m in result["model_x"].values
    }
    for a in depth:
        for b in depth:
            if a >= b:
                continue
            for i in range(depth[a] + 1):
                j = round(i * depth[b] / depth[a])
                row = {"x": a, "y": b, "layer x": i, "layer y": j}
                for measure in ("ckasim", "neuronsim", "mixedsim", "svsim"):
                    cell = result.sel(scaling="raw", model_x=a, layer_x=i, model_y=b, layer_y=j)
                    row[measure] = float(cell[measure])
                    row[f"{measure} se"] = float(cell[f"{measure}_se"])
                match = cell["neuronsim_match"].values
                row["same neuron"] = float((match == np.arange(len(match))).mean())
                rows.append(row)
    return pd.DataFrame(rows)


def _own(result: xr.Dataset, model: str) -> np.ndarray[Any, Any]:
    own = result["ckasim"].isel(scaling=0).sel(model_x=model, model_y=model)
    return np.diag(own.values)


if __name__ == "__main__":
    main()
