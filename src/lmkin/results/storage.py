"""Results on disk: netCDF for programs, CSV for people."""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from ..core import (
    LmkinError,
    Unfit,
    available_memory,
    cell,
    fingerprint,
    parse_json,
    quoted,
    read_file,
    replacing,
)

_JSON = "json:"
_CHECKSUM = "checksum"
_CLASSIC = (b"CDF\x01", b"CDF\x02")
_UNREADABLE = (
    ValueError, TypeError, OSError, LookupError, EOFError, AssertionError, ArithmeticError, AttributeError, MemoryError,
    RecursionError, Warning,
)  # fmt: skip
"""What scipy and xarray raise for a damaged file."""
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
        save_frame(frame.dropna(how="all", subset=values), path)
        return
    if path.suffix != ".nc":
        raise LmkinError(f"A result is saved as .nc or .csv; got {quoted(path.name)}.")
    plain = result.copy()
    plain.attrs = {k: _plain(v) for k, v in result.attrs.items()}
    for name in plain.variables:
        attrs = plain[name].attrs
        plain[name].attrs = {k: _plain(v) for k, v in attrs.items()}
    plain.attrs[_CHECKSUM] = _checksum(plain)
    with replacing(path) as temporary:
        plain.to_netcdf(temporary, engine="scipy")


def save_frame(frame: Any, path: Path) -> None:
    """A data frame as CSV, whole or not at all; texts that would run as formulas are marked."""
    texts = frame.select_dtypes(include=["object", "string", "category"]).columns
    safe = frame.assign(**{str(name): frame[name].astype(object).map(cell) for name in texts})
    with replacing(path) as temporary:
        safe.to_csv(temporary, index=False)


def load_result(path: str | Path) -> xr.Dataset:
    """Read a result back from netCDF."""
    path = Path(path)
    if not path.is_file():
        raise LmkinError(f"There is no file {path}.")
    if path.suffix == ".csv":
        raise LmkinError(
            f"{path} is a table for people; load the .nc file, or read the table with pandas."
        )
    data = read_file(path, available_memory() // 4)
    if data[:4] not in _CLASSIC:
        raise LmkinError(f"{path} is no netCDF file that lmkin wrote: it is of another format.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # of dates and masks that lmkin never writes
            with xr.open_dataset(io.BytesIO(data), engine="scipy", decode_times=False) as stored:
                result = stored.load()
        said = result.attrs.pop(_CHECKSUM, None)
        if said is None or said != _checksum(result):
            raise Unfit("its checksum is missing, or is not the one that it was written with")
        result.attrs = {k: _back(v) for k, v in result.attrs.items()}
        for name in result.variables:
            result[name].attrs = {k: _back(v) for k, v in result[name].attrs.items()}
    except _UNREADABLE as error:
        raise LmkinError(
            f"{path} is no netCDF file that lmkin wrote, or is damaged: {str(error)[:200]}. Run the analysis again."
        ) from None
    return result


def _checksum(dataset: xr.Dataset) -> str:
    """Of every variable (its name, dimensions and values) and every attribute, as they come back from a file."""
    variables = {
        str(name): [[str(d) for d in array.dims], _values(array.values), _attributes(array.attrs)]
        for name, array in dataset.variables.items()
    }
    attributes = {k: v for k, v in dataset.attrs.items() if k != _CHECKSUM}
    return fingerprint([variables, sorted(map(str, dataset.coords)), _attributes(attributes)])


def _values(values: Any) -> Any:
    array = np.asarray(values)
    if array.dtype.kind in "biuf":
        return [list(array.shape), fingerprint(array.astype(np.float64))]
    return [list(array.shape), [str(v) for v in array.reshape(-1).tolist()]]


def _attributes(attributes: Mapping[Any, Any]) -> dict[str, str]:
    return {str(k): str(np.asarray(v).tolist()) for k, v in attributes.items() if k != "_FillValue"}


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
    return _JSON + json.dumps(value, default=str)  # ASCII: a text may hold what UTF-8 cannot


def _back(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(_JSON):
        return parse_json(value.removeprefix(_JSON))
    return value.item() if hasattr(value, "item") and getattr(value, "size", 2) == 1 else value
