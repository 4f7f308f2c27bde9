"""Which neurons of a model are kept, with a hash: a later step cannot use them on another model unnoticed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...activations import Activations
from ...core import (
    MeasureError,
    Number,
    Whole,
    as_rows,
    load_tensors,
    named_blocks,
    quoted,
    save_tensors,
    to_numpy,
)

KIND = "neurons to keep"
_HEAD = {
    "model": str,
    "threshold": (Number(0, 1), None),
    "identity": (str, None),
    "layers": [Whole(0, 10**6)],
    "hash": str,
}

_NAMES = ("name", "spec", "revision", "tokenizer_spec", "device")
"""What may differ although the model is the same."""
BoolArray = NDArray[np.bool_]


def identity_of(model: Mapping[str, Any] | None) -> str | None:
    """A hash of what a manifest says of a model, but for its names; None where nothing is known."""
    if not model:
        return None
    said = {k: v for k, v in model.items() if k not in _NAMES}
    text = json.dumps(said, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


@dataclass(frozen=True)
class NeuronMask:
    """The neurons of a model that are kept: a boolean mask for every layer."""

    model: str
    threshold: float | None
    """Of the clusters that these neurons stand for; None where they were chosen in another way."""
    masks: dict[int, BoolArray]
    identity: str | None = None
    """Hash of the model (its weights, its architecture); None for arrays, of which only the shape is known."""

    @property
    def hash(self) -> str:
        """Of the model, the shape of its layers, and the neurons kept."""
        at = "" if self.threshold is None else repr(float(self.threshold))
        parts = [self.model, self.identity or "", at]
        parts += [f"{layer}:{len(m)}:{m.tobytes().hex()}" for layer, m in self.masks.items()]
        return hashlib.blake2b("\n".join(parts).encode(), digest_size=16).hexdigest()

    @property
    def neurons(self) -> list[tuple[int, int]]:
        """(layer, neuron) of those that are kept, in the order of the columns that `apply` gives."""
        return [(n, int(i)) for n, mask in self.masks.items() for i in np.flatnonzero(mask)]

    def __len__(self) -> int:
        """How many are kept."""
        return sum(int(mask.sum()) for mask in self.masks.values())

    def __repr__(self) -> str:
        of = sum(len(mask) for mask in self.masks.values())
        return (
            f"<NeuronMask keeps {len(self):,} of {of:,} neurons of {self.model!r}, {self.hash[:8]}>"
        )

    def apply(self, rows: Activations | Mapping[Any, Any]) -> NDArray[Any]:
        """The kept neurons side by side, rows × neurons, of activations or a dict of arrays by ``model/layer``."""
        if isinstance(rows, Activations):
            self.require(rows)
            layers: dict[int, Any] = {n: rows.layer(n) for n in rows.layers}
        elif isinstance(rows, Mapping):
            blocks = named_blocks(rows)
            mine = {g.layer: as_rows(a, str(g)) for g, a in blocks.items() if g.model == self.model}
            if not mine:
                raise MeasureError(
                    f"These neurons are of {quoted(self.model)}; the arrays are of "
                    f"{', '.join(dict.fromkeys(g.model for g in blocks))}."
                )
            if len({len(a) for a in mine.values()}) > 1:
                raise MeasureError(
                    f"The layers of {quoted(self.model)} have different numbers of rows."
                )
            layers = mine
        else:
            raise MeasureError(
                f"Neurons are kept of activations, or of a dict of arrays by 'model/layer'; got {type(rows).__name__}."
            )
        columns = []
        for layer, mask in self.masks.items():
            if not mask.any():
                continue
            if layer not in layers:
                raise MeasureError(
                    f"Layer {layer} of {quoted(self.model)} is needed, and is not there."
                )
            width = layers[layer].shape[1]
            if width != len(mask):
                raise MeasureError(
                    f"Layer {layer} of {quoted(self.model)} had {len(mask)} neurons when these were chosen; here it "
                    f"has {width}. This is another model."
                )
            columns.append(to_numpy(layers[layer][:, :])[:, mask])
        if not columns:
            raise MeasureError("No neuron is kept.")
        return np.concatenate(columns, axis=1)

    def require(self, rows: Activations) -> None:
        """Raise if activations are of another model."""
        identity, name = identity_of(rows.manifest.get("model")), rows.name
        known = self.identity is not None and identity is not None
        if (identity != self.identity) if known else (name != self.model):
            raise MeasureError(
                f"These neurons were chosen in {quoted(self.model)}, and the activations are of another model "
                f"({quoted(name)}: other weights, or another way of loading them). Choose that model's own."
            )

    def save(self, path: str | Path) -> None:
        """Write the masks to a safetensors file, with their hash."""
        head = {
            "model": self.model,
            "threshold": None if self.threshold is None else float(self.threshold),
            "identity": self.identity,
            "layers": list(self.masks),
            "hash": self.hash,
        }
        tensors = {str(n): mask.astype(np.uint8) for n, mask in self.masks.items()}
        save_tensors(Path(path), tensors, head, kind=KIND, version=2, error=MeasureError)

    @staticmethod
    def load(path: str | Path) -> NeuronMask:
        """Read what `save` wrote. Raise if it was changed since."""
        tensors, head = load_tensors(
            Path(path), kind=KIND, schema=_HEAD, version=2, error=MeasureError
        )
        names = [str(n) for n in head["layers"]]
        fitting = len(set(names)) == len(names) and set(names) == set(tensors)
        if not fitting or any(
            a.ndim != 1 or not np.isin(a, (0, 1)).all() for a in tensors.values()
        ):
            raise MeasureError(f"{path} is damaged: a mask of it is none. Make it again.")
        masks = {int(n): tensors[n].astype(bool) for n in names}
        at = None if head["threshold"] is None else float(head["threshold"])
        mask = NeuronMask(head["model"], at, masks, head["identity"])
        if mask.hash != head["hash"]:
            raise MeasureError(
                f"{path} was changed since it was written: its hash does not fit its neurons. Make it again."
            )
        return mask
