"""Attention maps of a user's own, as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import (
    LayerId,
    Layout,
    MeasureError,
    blocks_at,
    check_parts,
    did_you_mean,
    named_blocks,
    parts_of_rows,
    quoted,
    to_numpy,
)
from ...rows import Advance
from .maps import NOTHING, SentenceMaps
from .sources import MapSource

CLOSE = 1e-2
"""How far from 1 the sum of a row may be: that of a map in half precision. It is made 1."""


class ArrayMaps(MapSource):
    """Arrays of heads × words × words, one a sentence, by ``model/layer``. The first word counts as the sink."""

    def __init__(
        self,
        maps: Mapping[Any, Sequence[Any]],
        parts: int | Sequence[Any],
        causal: bool | Sequence[str] | None = None,
    ):
        self.maps = {g: _listed(g, m) for g, m in named_blocks(maps).items()}
        counts = {len(m) for m in self.maps.values()}
        if len(counts) > 1:
            some = ", ".join(f"{g}: {len(m)}" for g, m in list(self.maps.items())[:6])
            raise MeasureError(f"All layers need maps of the same sentences; they have {some}.")
        n = counts.pop()
        if n == 0:
            raise MeasureError("There are no sentences: every layer has an empty list of maps.")
        heads: dict[LayerId, int] = {}
        ahead = dict.fromkeys(self.maps, False)
        longer = False
        for number in range(n):
            words = {self.maps[g][number].shape[-1] for g in self.maps}
            if len(words) > 1:
                raise MeasureError(
                    f"Sentence {number} has maps of {' and '.join(map(str, sorted(words)))} words: all layers need "
                    f"maps of the same words."
                )
            longer |= max(words) > 1
            for group, listed in self.maps.items():
                _check(group, number, listed[number], heads.setdefault(group, len(listed[0])))
                ahead[group] |= bool(np.triu(listed[number], 1).any())
        self.layout = Layout(heads)
        seen = np.array([longer and not ahead[g] for g in self.layout.groups])
        self.causal = seen if causal is None else _causal_layers(self.layout, causal, ahead)
        self.part = _parts(parts, [m.shape[-1] for m in next(iter(self.maps.values()))])
        self.info = {"units": "word", "sentences": n, "parts_of": "sentences", "corpus": ""}

    def sentences(
        self, start: int = 0, stop: int | None = None, advance: Advance | None = None
    ) -> Iterator[tuple[int, SentenceMaps]]:
        """The maps as they are; what goes to the first word is the sink's."""
        for number in range(start, len(self.part) if stop is None else stop):
            whole = np.concatenate([self.maps[g][number] for g in self.layout.groups])
            whole /= whole.sum(-1, keepdims=True)
            yield number, _with_first_as_sink(whole)
            if advance:
                advance(1)


def _causal_layers(
    layout: Layout, causal: bool | Sequence[str], ahead: Mapping[LayerId, bool]
) -> NDArray[np.bool_]:
    """As the user says. Raise if a layer is not there, or looks ahead all the same."""
    names = [str(g) for g in layout.groups]
    if isinstance(causal, bool):
        causal_names = list(names) if causal else []
    else:
        listed = [causal] if isinstance(causal, str) else causal
        if not isinstance(listed, Iterable):
            raise MeasureError(
                f"causal is True, False, or a list of layers such as ['model/1']; got {quoted(causal)}."
            )
        causal_names = [str(c) for c in listed]
    for name in causal_names:
        if name not in names:
            raise MeasureError(
                f"causal: there is no layer {quoted(name)}. {did_you_mean(name, names)}"
            )
        if ahead[layout.groups[names.index(name)]]:
            raise MeasureError(
                f"{name} is said to be causal, but some of its heads attend to words that come later. Set those to 0 "
                f"and make rows sum to 1, or leave it out of causal=."
            )
    return np.array([name in causal_names for name in names])


def _parts(parts: int | Sequence[Any], words: Sequence[int]) -> NDArray[np.int64]:
    """Of sentences: blocks of neighbours with about as many words each, or as given."""
    if not isinstance(parts, int | np.integer):
        return parts_of_rows(len(words), parts)
    starts = np.concatenate([[0], np.cumsum(words)[:-1]]).astype(np.int64)
    return blocks_at(starts, int(np.sum(words)), check_parts(int(parts)))[starts]


def _listed(group: LayerId, maps: Any) -> list[NDArray[Any]]:
    if hasattr(maps, "ndim") or isinstance(maps, str | Mapping) or not hasattr(maps, "__iter__"):
        raise MeasureError(
            f"{group}: a list of arrays is expected, heads × words × words, one a sentence."
        )
    return [_as_map(f"{group}, sentence {number}", m) for number, m in enumerate(maps)]


def _as_map(where: str, given: Any) -> NDArray[Any]:
    try:
        array = to_numpy(given)
    except ValueError:
        raise MeasureError(
            f"{where}: heads × words × words expected; the rows differ in length."
        ) from None
    if array.dtype.kind not in "fiub":
        raise MeasureError(f"{where}: heads × words × words of real numbers expected.")
    if array.ndim != 3 or array.shape[1] != array.shape[2] or 0 in array.shape:
        raise MeasureError(
            f"{where}: heads × words × words expected, with as many words twice; got the shape {array.shape}."
        )
    return array if array.dtype == np.float64 else array.astype(np.float32)


def _check(group: LayerId, number: int, array: NDArray[Any], heads: int) -> None:
    where = f"{group}, sentence {number}"
    if len(array) != heads:
        raise MeasureError(f"{where}: {len(array)} heads; the first sentence had {heads}.")
    if not np.isfinite(array).all() or (array < 0).any():
        raise MeasureError(
            f"{where}: attention is finite and not negative; there are other numbers."
        )
    sums = array.sum(-1)
    if np.abs(sums - 1).max() > CLOSE:
        raise MeasureError(
            f"{where}: the rows of an attention map sum to 1; one of these sums to "
            f"{sums.flat[np.abs(sums - 1).argmax()]:.4g}. Divide each row by its sum."
        )


def _with_first_as_sink(whole: NDArray[Any]) -> SentenceMaps:
    rest = whole[..., 1:]
    mass = rest.sum(-1)
    some = mass > NOTHING
    share = np.where(some, 1 / np.where(some, mass, 1), 0)
    sink = np.minimum(whole[..., 0] / (whole[..., 0] + mass), np.nextafter(whole.dtype.type(1), 0))
    sink = np.where(some, sink, 1).astype(whole.dtype)
    return SentenceMaps((rest * share[..., None]).astype(whole.dtype), sink, first=1)
