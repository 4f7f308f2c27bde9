"""Moments on disk: one safetensors file, written whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import array_api_compat.numpy as np_namespace
import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from ..core import LayerId, Layout, MomentsError, quoted, replacing, to_numpy
from .moments import Moments
from .sums import Sums

_FORMAT = 1


def save_moments(moments: Moments, path: Path) -> None:
    """Write sums, reference, sampled rows and what they are of."""
    arrays, head = _packed(moments)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary:
            save_file(arrays, temporary, metadata={"lmkin-moments": json.dumps(head)})
    except (OSError, SafetensorError) as error:
        raise MomentsError(f"Cannot write {path}: {error}. Is there room on the disk?") from error


def pack_moments(moments: Moments, name: str) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Moments as arrays whose names begin with ``name``, and plain data about them; None if they are empty."""
    if not moments.n:
        return {}, None
    arrays, head = _packed(moments)
    return {f"{name}.{key}": array for key, array in arrays.items()}, head


def unpack_moments(arrays: dict[str, Any], head: dict[str, Any] | None, name: str) -> Moments:
    """What `pack_moments` gave, to the last bit. Raise if arrays and data do not fit together."""
    if head is None:
        return Moments()
    mine = {k.removeprefix(f"{name}."): a for k, a in arrays.items() if k.startswith(f"{name}.")}
    try:
        return _restored(head, mine)
    except (KeyError, TypeError, ValueError) as error:
        raise MomentsError(
            f"These moments are damaged ({type(error).__name__}: {error})."
        ) from None


def _packed(moments: Moments) -> tuple[dict[str, Any], dict[str, Any]]:
    state = moments.state
    assert state.reference is not None
    assert state.total is not None
    arrays: dict[str, Any] = {
        "shift": state.reference.shift,
        "scale": state.reference.scale,
        **_flat("total", state.total),
    }
    kept = list(state.parts.items())
    if not _is_total(kept, state.precision):
        for number, (_, sums) in enumerate(kept):
            arrays |= _flat(f"part{number}", sums)
    sample = state.sample
    if sample.rows is not None:
        arrays |= {
            "sample.rows": sample.rows,
            "sample.keys": sample.keys,
            "sample.parts": sample.parts,
        }
    head = {
        "format": _FORMAT,
        "groups": [[g.model, g.layer, w] for g, w in moments.widths.items()],
        "panels": [[p.start, p.stop] for p in state.layout.panels],
        "precision": state.precision,
        "n": state.total.n,
        "parts": [_plain(name) for name in state.numbers],
        "kept": [[_plain(name), sums.n] for name, sums in kept],
        "sample": [sample.size, sample.seed],
        "info": moments.info,
    }
    return {n: np.ascontiguousarray(to_numpy(array)) for n, array in arrays.items()}, head


def _is_total(kept: Sequence[Any], precision: str) -> bool:
    """Whether one part alone is the total, to the last bit: its sums are in the same precision."""
    return len(kept) == 1 and precision == "float64"


def load_moments(path: Path) -> Moments:
    """Read them back, as numpy arrays."""
    try:
        with safe_open(path, framework="numpy") as file:
            head = json.loads((file.metadata() or {}).get("lmkin-moments", "null"))
            if head is None:
                raise MomentsError(f"{path} is a safetensors file, but holds no moments.")
            if not isinstance(head, dict) or not isinstance(head.get("format"), int):
                raise MomentsError(f"{path} does not hold moments that lmkin wrote.")
            if head["format"] > _FORMAT:
                raise MomentsError(f"{path} was written by a newer lmkin; update lmkin to read it.")
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise MomentsError(f"There is no file {path}.") from None
    except (SafetensorError, json.JSONDecodeError, OSError) as error:
        raise MomentsError(f"{path} is no file of moments, or is damaged: {error}.") from None
    try:
        return _restored(head, arrays)
    except (KeyError, TypeError, ValueError) as error:
        raise MomentsError(
            f"{path} is damaged: its parts do not fit together ({type(error).__name__}: {error}). "
            "Make the moments again."
        ) from None


def _restored(head: dict[str, Any], arrays: dict[str, Any]) -> Moments:
    size, seed = head["sample"]
    moments = Moments(
        precision=head["precision"], keep_parts=bool(head["kept"]), sample_rows=size, seed=seed
    )
    layout = Layout(
        {LayerId(model, layer): width for model, layer, width in head["groups"]},
        [slice(start, stop) for start, stop in head["panels"]],
    )
    moments.info = head["info"]
    moments._begin(np_namespace, None, layout, head["precision"])
    state = moments._state
    assert state is not None
    state.numbers = {_hashable(name): i for i, name in enumerate(head["parts"])}
    state.set_reference(arrays["shift"], arrays["scale"])
    state.total = _sums(layout, arrays, "total", head["n"])
    # One part alone is the total; of float32 sums, files of earlier versions do not have it twice.
    alone = len(head["kept"]) == 1 and "part0.first" not in arrays
    for number, (name, n) in enumerate(head["kept"]):
        sums = _sums(layout, arrays, "total" if alone else f"part{number}", n)
        if alone:
            sums.panels = [panel.astype(state.dtype) for panel in sums.panels]
            sums.dtype = state.dtype
        state.parts[_hashable(name)] = sums
    if "sample.rows" in arrays:
        state.sample.restore(arrays["sample.keys"], arrays["sample.parts"], arrays["sample.rows"])
    return moments


_SMALL = ("first", "norm_total", "norm_pairs", "norm_first", "norm_square")


def _flat(name: str, sums: Sums) -> dict[str, Any]:
    small = {f"{name}.{part}": getattr(sums, part) for part in _SMALL}
    return small | {f"{name}.panel{i}": panel for i, panel in enumerate(sums.panels)}


def _sums(layout: Layout, arrays: dict[str, Any], name: str, n: int) -> Sums:
    sums = Sums(np_namespace, layout, dtype=arrays[f"{name}.panel0"].dtype, device=None)
    sums.n = n
    for part in _SMALL:
        getattr(sums, part)[...] = arrays[f"{name}.{part}"]
    sums.panels = [arrays[f"{name}.panel{i}"] for i in range(len(layout.panels))]
    return sums


def _plain(name: Hashable) -> Any:
    if isinstance(name, np.integer):
        return int(name)
    if not isinstance(name, str | int):
        raise MomentsError(
            f"To save moments, call their parts by numbers or texts; got {quoted(name)}."
        )
    return name


def _hashable(name: Any) -> Hashable:
    return str(name) if isinstance(name, str) else int(name)
