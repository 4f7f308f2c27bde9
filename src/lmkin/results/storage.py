"""Results on disk: netCDF for programs, CSV for people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from ..core import LmkinError, quoted, replacing

_JSON = "json:"
_DETAILS = ("neuron", "part")
_HEADS = ("head", "head_name", "head_other")
"""Of these a line for a pair of layers has no room."""


def save_result(result: xr.Dataset | xr.DataArray, path: str | Path) -> None:
    """Write a result as netCDF (classic format, which every tool reads) or, by the extension, as CSV.

    The CSV has one line for every pair of layers that exists, and one column for every number.
    """
    path = Path(path)
    if isinstance(result, xr.DataArray):
        result = _as_dataset(result)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".csv":
        details = (*_DETAILS, *_HEADS) if "layer_x" in result.dims else _DETAILS
        flat = result.drop_dims(details, errors="ignore")
        frame = flat.to_dataframe().reset_index()
        values = [str(n) for n in flat.data_vars]
        with replacing(path) as temporary:
            frame.dropna(how="all", subset=values).to_csv(temporary, index=False)
        return
    if path.suffix != ".nc":
        raise LmkinError(f"A result is saved as .nc or .csv; got {quoted(path.name)}.")
    plain = result.copy()
    plain.attrs = {k: _plain(v) for k, v in result.attrs.items()}
    for name in plain.variables:
        attrs = plain[name].attrs
        plain[name].attrs = {k: _plain(v) for k, v in attrs.items()}
    with replacing(path) as temporary:
        plain.to_netcdf(temporary, engine="scipy")


def load_result(path: str | Path) -> xr.Dataset:
    """Read a result back from netCDF."""
    path = Path(path)
    if not path.is_file():
        raise LmkinError(f"There is no file {path}.")
    if path.suffix == ".csv":
        raise LmkinError(
            f"{path} is a table for people; load the .nc file, or read the table with pandas."
        )
    try:
        with xr.open_dataset(path, engine="scipy") as stored:
            result = stored.load()
    except (ValueError, TypeError, OSError, LookupError, EOFError, AssertionError) as error:
        raise LmkinError(f"{path} is no netCDF file that lmkin wrote: {error}.") from None
    result.attrs = {k: _back(v) for k, v in result.attrs.items()}
    for name in result.variables:
        result[name].attrs = {k: _back(v) for k, v in result[name].attrs.items()}
    return result


def _as_dataset(table: xr.DataArray) -> xr.Dataset:
    """One measure's table with its errors as variables; arrays among the attributes become variables too."""
    arrays = {k: v for k, v in table.attrs.items() if isinstance(v, np.ndarray)}
    plain = table.assign_attrs({}).copy()
    plain.attrs = {k: v for k, v in table.attrs.items() if k not in arrays}
    result = plain.to_dataset(name=str(table.name or "similarity")).reset_coords(
        [c for c in table.coords if c in ("se", "low", "high", "null_mean", "p", "p_max")]
    )
    for name, array in arrays.items():
        dims = ("part", "x", "y") if name == "without" else ("x", "y", "neuron")
        result[name] = (dims, array)
    return result


def _plain(value: Any) -> Any:
    """What netCDF can hold: numbers and text; the rest as JSON."""
    small = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**31
    if (
        small
        or isinstance(value, float)
        or (isinstance(value, str) and not value.startswith(_JSON))
    ):
        return value
    return _JSON + json.dumps(value, default=str)


def _back(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(_JSON):
        return json.loads(value.removeprefix(_JSON))
    return value.item() if hasattr(value, "item") and getattr(value, "size", 2) == 1 else value
