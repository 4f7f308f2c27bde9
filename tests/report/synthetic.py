"""Datasets of similarities made from random numbers, in the form of a result's dataset."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import xarray as xr

PLACE = ("model_x", "layer_x", "model_y", "layer_y")
MEASURES = {
    "neuronsim": ("best-matching neurons", False, 0.0, 1.0),
    "mixedsim": ("neurons from all neurons", False, 0.0, 1.0),
    "svsim": ("SVCCA", True, 0.0, 1.0),
    "pwsim": ("projection-weighted CCA", False, 0.0, 1.0),
    "ckasim": ("linear CKA, unbiased", True, -np.inf, 1.0),
    "procrustes": ("orthogonal Procrustes", True, 0.0, 1.0),
    "rbfcka": ("CKA with an RBF kernel", True, 0.0, 1.0),
}


def similarities(
    models: Sequence[str] = ("alpha", "beta"),
    layers: Sequence[int] = (7, 7),
    measures: Sequence[str] = ("neuronsim", "svsim", "ckasim"),
    *,
    scaling: bool = True,
    intervals: bool = True,
    alerts: Sequence[str] = (),
    corpus: str = "sample",
    seed: int = 0,
) -> xr.Dataset:
    """Similar layers of one model, less similar ones of two; models with fewer layers have NaN."""
    rng = np.random.default_rng(seed)
    n, most = len(models), max(layers)
    depth = np.arange(most) / max(most - 1, 1)
    far = np.abs(depth[:, None] - depth[None, :])
    scalings = ["raw", "standardized"] if scaling else ["raw"]
    data: dict[str, xr.DataArray] = {}
    for k, name in enumerate(measures):
        title, symmetric, low, high = MEASURES.get(name, (name, True, -np.inf, np.inf))
        table = np.empty((len(scalings), n, most, n, most))
        for s in range(len(scalings)):
            for a in range(n):
                for b in range(n):
                    block = np.exp(-(1.2 + 0.3 * k) * far) * (1 if a == b else 0.55 - 0.1 * s)
                    table[s, a, :, b, :] = block - 0.08 * (a != b) * rng.random(far.shape)
        if symmetric:
            table = (table + table.transpose(0, 3, 4, 1, 2)) / 2
        for a, count in enumerate(layers):
            table[:, a, count:] = np.nan
            table[:, :, :, a, count:] = np.nan
        attrs = {
            "long_name": title,
            "summary": f"Random numbers in the manner of {title}.",
            "symmetric": int(symmetric),
            "low": low,
            "high": high,
            "reference": "nobody, 2020",
            "options": json.dumps({"variance": 0.99}),
        }
        error = np.where(np.isnan(table), np.nan, 0.002 + 0.02 * rng.random(table.shape))
        arrays = {"": table}
        if intervals:
            arrays |= {"_se": error, "_low": table - 2 * error, "_high": table + 2 * error}
            near = np.stack([table + 0.01 * rng.normal(size=table.shape) for _ in range(5)])
            dims = ("part", "scaling", *PLACE) if scaling else ("part", *PLACE)
            data[f"{name}_without"] = xr.DataArray(near if scaling else near[:, 0], dims=dims)
        for suffix, values in arrays.items():
            dims = ("scaling", *PLACE) if scaling else PLACE
            data[name + suffix] = xr.DataArray(values if scaling else values[0], dims=dims)
        data[name].attrs = attrs
    coords: dict[str, list[str] | list[int]] = {
        "model_x": list(models),
        "model_y": list(models),
        "layer_x": list(range(most)),
        "layer_y": list(range(most)),
    }
    if scaling:
        coords["scaling"] = scalings
    widths = {f"{m}/{k}": 16 for m, count in zip(models, layers, strict=True) for k in range(count)}
    return xr.Dataset(
        data,
        coords,
        {
            "n": 12210,
            "units": "word",
            "parts": 20 if intervals else 0,
            "level": 0.95,
            **({"part_sizes": [2442] * 5} if intervals else {}),
            "alerts": [dict(zip(("kind", "text"), a.split(": ", 1), strict=True)) for a in alerts],
            "widths": json.dumps(widths),
            "models": list(models),
            "corpus": corpus,
            "provenance": {"seed": seed, "made": "by a test"},
        },
    )
