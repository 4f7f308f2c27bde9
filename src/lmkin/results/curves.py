"""One number a layer: average similarity, and the localization score."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ..core import LmkinError, quoted
from .intervals import jackknife, spread_of_folds
from .result import Result

FloatArray = NDArray[np.float64]
_OTHERS = ("all", "models")


def average_similarity(result: Result | xr.Dataset, *, others: str = "all") -> xr.Dataset:
    """For every measure the mean similarity of each layer to all other layers, with its own interval.

    ``others``: ``all`` other layers, or those of other ``models`` only. The layer is x: its neurons are matched,
    predicted or weighted. Gives (model, layer); a layer that a model lacks is NaN.
    """
    result = _checked(result, others)
    names = [n for n in result.data_vars if f"{n}" in _measures(result)]
    if not names:
        raise LmkinError("There are no measures in this result.")
    curves = {str(n): _curve(result, str(n), others) for n in names}
    return _as_dataset(result, curves, others)


def localization(result: Result | xr.Dataset, *, others: str = "all") -> xr.Dataset:
    """Localization score of each layer: mean `neuronsim` to all other layers, minus mean `svsim` to the same.

    High where single neurons are alike but layers as a whole are not (Wu et al. 2020). Gives (model, layer).
    """
    result = _checked(result, others)
    for needed in ("neuronsim", "svsim"):
        if needed not in result:
            raise LmkinError(
                f"Localization is neuronsim − svsim; {needed} is not in this result. Compute both."
            )
    near, far = _curve(result, "neuronsim", others), _curve(result, "svsim", others)
    value = near[0] - far[0]
    without = None
    # Held out, svsim has scores on single parts where neuronsim has values without them: no interval is known for both.
    if near[1] is not None and far[1] is not None and not result["svsim"].attrs.get("held_out", 0):
        without = near[1] - far[1]
    return _as_dataset(result, {"localization": (value, without)}, others)


def _measures(result: xr.Dataset) -> list[str]:
    return [str(n) for n, v in result.data_vars.items() if "summary" in v.attrs]


def _checked(result: Result | xr.Dataset, others: str) -> xr.Dataset:
    """The dataset of a comparison. Raise if it is none."""
    if isinstance(result, Result):
        result = result.dataset
    if not isinstance(result, xr.Dataset) or "model_x" not in result.dims:
        raise LmkinError(
            f"This takes what lmkin.similarity gives, or its dataset; got {type(result).__name__}."
        )
    if others not in _OTHERS:
        raise LmkinError(f"others is one of {', '.join(_OTHERS)}; got {quoted(others)}.")
    if others == "models" and result.sizes["model_x"] < 2:
        raise LmkinError(
            "There is one model here, and others='models' needs two; use others='all'."
        )
    return result


def _curve(result: xr.Dataset, name: str, others: str) -> tuple[xr.DataArray, xr.DataArray | None]:
    """Mean over the other layers: of the values, and of the values without each part."""
    models, layers = result.sizes["model_x"], result.sizes["layer_x"]
    mask = np.ones((models, layers, models, layers), bool)
    for m in range(models):
        for n in range(layers):
            if others == "all":
                mask[m, n, m, n] = False
            else:
                mask[m, n, m, :] = False
    other = xr.DataArray(mask, dims=("model_x", "layer_x", "model_y", "layer_y"))

    def mean(array: xr.DataArray) -> xr.DataArray:
        curve = array.where(other).mean(("model_y", "layer_y"), skipna=True)
        return curve.rename({"model_x": "model", "layer_x": "layer"})

    without = result.get(f"{name}_without")
    return mean(result[name]), None if without is None else mean(without)


def _as_dataset(
    result: xr.Dataset, curves: dict[str, tuple[xr.DataArray, xr.DataArray | None]], others: str
) -> xr.Dataset:
    variables: dict[str, Any] = {}
    sizes = result.attrs.get("part_sizes")
    level = float(result.attrs.get("level", 0.95))
    for name, (value, without) in curves.items():
        variables[name] = value.assign_attrs(result[name].attrs if name in result else {})
        if without is None or sizes is None:
            continue
        about = result[name].attrs if name in result else {}
        rule = spread_of_folds if about.get("held_out") else jackknife
        parts = about.get("part_sizes") or sizes
        interval = rule(value.values, without.transpose("part", *value.dims).values, parts, level)
        for part in ("se", "low", "high"):
            variables[f"{name}_{part}"] = (value.dims, getattr(interval, part))
    kept = {
        k: result.attrs[k] for k in ("n", "units", "parts", "level", "corpus") if k in result.attrs
    }
    return xr.Dataset(variables, attrs={**kept, "others": others})
