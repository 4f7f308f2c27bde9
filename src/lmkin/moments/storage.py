"""Moments on disk: one safetensors file, written whole or not at all."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import array_api_compat.numpy as np_namespace
import numpy as np
from numpy.typing import NDArray

from ..core import (
    Choice,
    LayerId,
    Layout,
    LmkinError,
    MomentsError,
    Unfit,
    Whole,
    checked,
    load_tensors,
    quoted,
    save_tensors,
    to_numpy,
)
from .moments import Moments
from .sums import Sums

KIND = "moments"
_FORMAT = 2
_PART = (str, Whole(-(2**53)))
_HEAD = {
    "groups": [[Any]],
    "panels": [[Whole()]],
    "precision": Choice(("float32", "float64")),
    "n": Whole(1),
    "parts": [_PART],
    "kept": [[Any]],
    "sample": [Whole()],
    "info": {
        "manifests?": {
            str: {"model?": {"layers?": Whole(1), "pre_norm?": (bool, None), str: Any}, str: Any}
        },
        str: Any,
    },
}


def save_moments(moments: Moments, path: Path) -> None:
    """Write sums, reference, sampled rows and what they are of."""
    arrays, head = _packed(moments)
    save_tensors(path, arrays, head, kind=KIND, version=_FORMAT, error=MomentsError)


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
    return _restored(head, mine, "These moments")


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
    arrays, head = load_tensors(path, kind=KIND, version=_FORMAT, error=MomentsError)
    return _restored(head, arrays, str(path))


def _restored(head: Any, arrays: Mapping[str, NDArray[Any]], what: str) -> Moments:
    """Moments of arrays and plain data. Raise if these do not fit together: a file may hold anything."""
    try:
        return _checked_moments(checked(head, _HEAD), arrays)
    except MomentsError:
        raise
    except (Unfit, LmkinError, KeyError, TypeError, ValueError, OverflowError) as error:
        said = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise MomentsError(
            f"{what} is damaged, its parts do not fit together: {said}. Make the moments again."
        ) from None


def _layout(head: dict[str, Any]) -> Layout:
    """The layers, and panels that cover all of their neurons one after another."""
    for group in head["groups"]:
        if len(group) != 3:
            raise Unfit("a layer is its model, its number and its width")
        checked(group[0], str, "groups")
        checked(group[1], Whole(0, 10**6), "groups")
        checked(group[2], Whole(1, 10**7), "groups")
    widths = {LayerId(model, layer): width for model, layer, width in head["groups"]}
    total = sum(widths.values())
    edges = [tuple(panel) for panel in head["panels"]]
    if not widths or len(widths) < len(head["groups"]):
        raise Unfit("its layers are none, or the same twice")
    starts = [0, *(panel[1] for panel in edges if len(panel) == 2)]
    if not edges or edges != list(pairwise(starts)) or starts[-1] != total:
        raise Unfit("its panels do not cover its neurons")
    if any(a >= b for a, b in edges):
        raise Unfit("a panel is empty")
    layout = Layout(widths, [slice(*edge) for edge in edges])
    if not {columns.start for columns in layout.slices} >= {a for a, _ in edges}:
        raise Unfit("a panel begins inside a layer")
    return layout


def _checked_moments(head: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Moments:
    if len(head["sample"]) != 2 or any(len(entry) != 2 for entry in head["kept"]):
        raise Unfit("its list of parts, or of its sample, is cut")
    size, seed = head["sample"]
    moments = Moments(
        precision=head["precision"], keep_parts=bool(head["kept"]), sample_rows=size, seed=seed
    )
    layout = _layout(head)
    take = _Arrays(arrays, layout)
    moments.info = head["info"]
    moments._begin(np_namespace, None, layout, head["precision"])
    state = moments._state
    assert state is not None
    state.numbers = {_hashable(name): i for i, name in enumerate(head["parts"])}
    if len(state.numbers) < len(head["parts"]):
        raise Unfit("a part is listed twice")
    scale = take("scale", (layout.width,))
    if not (scale > 0).all():
        raise Unfit("a neuron has no scale")
    state.set_reference(take("shift", (layout.width,)), scale)
    state.total = take.sums("total", head["n"])
    alone = len(head["kept"]) == 1 and "part0.first" not in arrays
    kept = [(checked(name, _PART, "kept"), checked(n, Whole(), "kept")) for name, n in head["kept"]]
    if kept and sum(n for _, n in kept) != head["n"]:
        raise Unfit("its parts do not have as many rows as all of it")
    for number, (name, n) in enumerate(kept):
        if _hashable(name) not in state.numbers or _hashable(name) in state.parts:
            raise Unfit("a part is not listed, or kept twice")
        sums = take.sums("total" if alone else f"part{number}", n)
        if alone:
            sums.panels = [panel.astype(state.dtype) for panel in sums.panels]
            sums.dtype = state.dtype
        state.parts[_hashable(name)] = sums
    if "sample.rows" in arrays:
        rows = take("sample.rows", (None, layout.width))
        keys, parts = take("sample.keys", (len(rows),)), take("sample.parts", (len(rows),))
        known = np.isin(parts, np.arange(len(head["parts"])))
        if len(rows) > size or parts.dtype.kind not in "iu" or not known.all():
            raise Unfit("its sample of rows is not what it says")
        state.sample.restore(keys, parts, rows)
    return moments


_SMALL = ("first", "norm_total", "norm_pairs", "norm_first", "norm_square")


def _flat(name: str, sums: Sums) -> dict[str, Any]:
    small = {f"{name}.{part}": getattr(sums, part) for part in _SMALL}
    return small | {f"{name}.panel{i}": panel for i, panel in enumerate(sums.panels)}


class _Arrays:
    """Arrays of a file by name, of the shape that the layers ask for."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], layout: Layout):
        self.arrays = arrays
        self.layout = layout

    def __call__(self, name: str, shape: tuple[int | None, ...]) -> NDArray[Any]:
        """Raise if an array has another shape, or holds what is no number."""
        array = self.arrays[name]
        wanted = tuple(n if m is None else m for m, n in zip(shape, array.shape, strict=False))
        if array.ndim != len(shape) or array.shape != wanted:
            raise Unfit(f"{name} has the shape {array.shape}")
        if array.dtype.kind not in "fiu" or not np.isfinite(array).all():
            raise Unfit(f"{name} holds what is no number")
        return array

    def sums(self, name: str, n: int) -> Sums:
        """The sums of some rows."""
        layout = self.layout
        panels = [
            self(f"{name}.panel{i}", (panel.stop - panel.start, layout.width - panel.start))
            for i, panel in enumerate(layout.panels)
        ]
        kinds = {panel.dtype for panel in panels}
        if len(kinds) > 1 or not kinds <= {np.dtype(np.float32), np.dtype(np.float64)}:
            raise Unfit(f"{name} is of no type that sums have")
        sums = Sums(np_namespace, layout, dtype=panels[0].dtype, device=None)
        sums.n = n
        for part in _SMALL:
            own = getattr(sums, part)
            own[...] = self(f"{name}.{part}", own.shape)
        sums.panels = panels
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
