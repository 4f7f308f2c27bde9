"""Where attention maps come from: models that run over a corpus side by side, or a user's own arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..corpus import Corpus
from ..corpus.units import Units
from ..errors import MeasureError, did_you_mean
from ..models import LanguageModel, load_model
from ..moments.arrays import to_numpy
from ..moments.groups import Group, Layout, named_blocks, unique_names
from ..moments.parts import blocks_at, check_parts, parts_of_rows, parts_of_units
from .maps import NOTHING, SentenceMaps

CLOSE = 1e-2
"""How far from 1 the sum of a row may be: that of a map in half precision. It is made 1."""


class MapSource(ABC):
    """Attention maps of several layers, sentence by sentence, with the part that each sentence belongs to."""

    layout: Layout
    """Layers, and how many heads each has."""
    causal: NDArray[np.bool_]
    """Of every layer: whether its heads see only what came before."""
    part: NDArray[np.int64]
    """Of every sentence."""
    info: dict[str, Any]

    @abstractmethod
    def sentences(
        self, advance: Callable[[int], None] | None = None, skip: Container[int] = ()
    ) -> Iterator[tuple[int, SentenceMaps]]:
        """(number of the sentence, its maps); ``skip`` names parts to leave out."""


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
        heads: dict[Group, int] = {}
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
        self.causal = seen if causal is None else _chosen_causal(self.layout, causal, ahead)
        self.part = _parts(parts, [m.shape[-1] for m in next(iter(self.maps.values()))])
        self.info = {"units": "word", "sentences": n, "parts_of": "sentences", "corpus": ""}

    def sentences(
        self, advance: Callable[[int], None] | None = None, skip: Container[int] = ()
    ) -> Iterator[tuple[int, SentenceMaps]]:
        """The maps as they are; what goes to the first word is the sink's."""
        for number in range(len(self.part)):
            if int(self.part[number]) not in skip:
                whole = np.concatenate([self.maps[g][number] for g in self.layout.groups])
                whole /= whole.sum(-1, keepdims=True)
                yield number, _with_first_as_sink(whole)
            if advance:
                advance(1)


def _chosen_causal(
    layout: Layout, causal: bool | Sequence[str], ahead: Mapping[Group, bool]
) -> NDArray[np.bool_]:
    """As the user says; an error for a layer that is not there, or that looks ahead all the same."""
    names = [str(g) for g in layout.groups]
    if isinstance(causal, bool):
        chosen = list(names) if causal else []
    else:
        listed = [causal] if isinstance(causal, str) else causal
        if not isinstance(listed, Iterable):
            raise MeasureError(
                f"causal is True, False, or a list of layers such as ['model/1']; got {causal!r}."
            )
        chosen = [str(c) for c in listed]
    for name in chosen:
        if name not in names:
            raise MeasureError(f"causal: there is no layer {name!r}. {did_you_mean(name, names)}")
        if ahead[layout.groups[names.index(name)]]:
            raise MeasureError(
                f"{name} is said to be causal, but some of its heads attend to words that come later. Set those to 0 "
                f"and make rows sum to 1, or leave it out of causal=."
            )
    return np.array([name in chosen for name in names])


def _parts(parts: int | Sequence[Any], words: Sequence[int]) -> NDArray[np.int64]:
    """Of sentences: blocks of neighbours with about as many words each, or as given."""
    if not isinstance(parts, int | np.integer):
        return parts_of_rows(len(words), parts)
    starts = np.concatenate([[0], np.cumsum(words)[:-1]]).astype(np.int64)
    return blocks_at(starts, int(np.sum(words)), check_parts(int(parts)))[starts]


def _listed(group: Group, maps: Any) -> list[NDArray[Any]]:
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


def _check(group: Group, number: int, array: NDArray[Any], heads: int) -> None:
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


class ModelMaps(MapSource):
    """Models side by side over the same sentences; nothing is kept. Words that one lacks are left out of all."""

    def __init__(
        self,
        models: Sequence[str | Path | LanguageModel],
        corpus: Corpus,
        parts: int | Sequence[Any],
        *,
        layers: Any = "all",
        batch_tokens: int = 2048,
    ):
        from ..activations.extraction import choose_layers

        if not len(corpus):
            raise MeasureError("The corpus is empty: there is nothing to attend to.")
        self.models = [
            m if isinstance(m, LanguageModel) else load_model(m, attention=True) for m in models
        ]
        self.corpus = corpus
        self._batch_tokens = batch_tokens
        names = unique_names(m.name for m in self.models)
        shapes = [_heads(model, corpus) for model in self.models]
        heads: dict[Group, int] = {}
        causal: list[bool] = []
        self._chosen: list[list[int]] = []
        for name, model, counts in zip(names, self.models, shapes, strict=True):
            numbers = range(1, len(counts) + 1)
            asked = (
                numbers
                if isinstance(layers, str) and layers == "all"
                else choose_layers(layers, len(counts) + 1)
            )
            chosen = [n for n in asked if n in numbers]
            if not chosen:
                raise MeasureError(
                    f"{name} has attention in layers 1 to {len(counts)}; none of those was asked for."
                )
            self._chosen.append([n - 1 for n in chosen])
            heads |= {Group(name, n): counts[n - 1] for n in chosen}
            causal += [sees_past_only(model)] * len(chosen)
        self.layout = Layout(heads)
        self.causal = np.array(causal)
        units = Units.all_words(corpus)
        if isinstance(parts, int | np.integer):
            part, made_of = parts_of_units(units, parts)
            first = np.searchsorted(units.sentence, np.arange(len(corpus)))
            self.part = part[np.minimum(first, len(part) - 1)]
        else:
            self.part, made_of = parts_of_rows(len(corpus), parts), "labels"
        self.words: list[int] = []
        """Of the sentence that was read last: the words that all models have."""
        self.info = {
            "units": "word",
            "corpus": corpus.name,
            "corpus_hash": corpus.hash,
            "sentences": len(corpus),
            "parts_of": made_of,
            "models": {n: m.identity() for n, m in zip(names, self.models, strict=True)},
            "words": len(units),
        }

    def sentences(
        self, advance: Callable[[int], None] | None = None, skip: Container[int] = ()
    ) -> Iterator[tuple[int, SentenceMaps]]:
        """Run all models over a few sentences, then over the next."""
        wanted = [i for i in range(len(self.corpus)) if int(self.part[i]) not in skip]
        some = self.corpus[wanted]
        if advance:
            advance(len(self.corpus) - len(wanted))
        streams = [iter(m.attention(some, batch_tokens=self._batch_tokens)) for m in self.models]
        current = [next(s, None) for s in streams]
        for number, place in enumerate(wanted):
            found = []
            for k, stream in enumerate(streams):
                item = current[k]
                if item is not None and item.sentence == number:
                    found.append(item)
                    current[k] = next(stream, None)
            if advance:
                advance(1)
            if len(found) < len(self.models):
                continue
            shared = set(found[0].words).intersection(*(f.words for f in found[1:]))
            if shared:
                self.words = sorted(shared)
                yield place, self._joined(found, self.words)

    def _joined(self, found: Sequence[Any], words: list[int]) -> SentenceMaps:
        weights, sinks = [], []
        for item, chosen in zip(found, self._chosen, strict=True):
            mine = [item.words.index(w) for w in words]
            W = item.weights[chosen][:, :, mine][..., mine]
            sink = item.left_out[chosen][:, :, mine]
            W = np.where(sink[..., None] < 1, W, 0)  # shown as even, where all goes to the sink
            if len(mine) < len(item.words):
                total = W.sum(-1)
                some = total > NOTHING  # else all goes to the sink, or to words that are left out
                sink = np.where(some, sink / np.where(some, total * (1 - sink) + sink, 1), 1)
                W = np.where(some[..., None], W / np.where(some, total, 1)[..., None], 0)
            weights.append(W.reshape(-1, *W.shape[2:]))
            sinks.append(sink.reshape(-1, sink.shape[-1]))
        return SentenceMaps(np.concatenate(weights), np.concatenate(sinks))


def check_models(models: Any) -> list[str | Path | LanguageModel]:
    """A list of models, or of what `load_model` takes."""
    listed = [models] if isinstance(models, str | Path | LanguageModel) else models
    if (
        not isinstance(listed, Sequence)
        or not listed
        or not all(isinstance(m, str | Path | LanguageModel) for m in listed)
    ):
        raise MeasureError(
            "Attention comes from a list of models with a corpus, or from a dict {'model/layer': list of maps}."
        )
    return list(listed)


def sees_past_only(model: LanguageModel) -> bool:
    """Whether attention is causal: of decoders, and of the decoder side of an encoder-decoder."""
    return bool(getattr(model, "causal", False)) or getattr(model, "side", "") == "decoder"


def _heads(model: LanguageModel, corpus: Corpus) -> list[int]:
    """Heads of every layer, from a look at the first sentence that the model can read."""
    for start in range(0, len(corpus), 20):
        item = next(iter(model.attention(corpus[start : start + 20], batch_tokens=1)), None)
        if item is not None:
            layers, heads = item.weights.shape[:2]
            return [heads] * layers
    raise MeasureError(f"{model.name} can read none of the sentences of {corpus.name!r}.")
