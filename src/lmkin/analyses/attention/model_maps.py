"""Attention maps of models that run over a corpus side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import (
    LayerId,
    Layout,
    MeasureError,
    choose_layers,
    parts_of_rows,
    quoted,
    unique_names,
)
from ...corpus import Corpus, Units, first_difference
from ...models import AlignedCorpus, AttentionUnit, LanguageModel, UnitRule, load_model
from ...rows import SHARDS, Advance, parts_of_units
from .maps import NOTHING, SentenceMaps
from .sources import MapSource


class ModelMaps(MapSource):
    """Models side by side over the same sentences; nothing is kept. What one lacks is left out of all.

    ``units``: between words, or between tokens; then all tokenizers must cut the corpus alike.
    """

    reread = False

    def __init__(
        self,
        models: Sequence[str | Path | LanguageModel],
        corpus: Corpus,
        parts: int | Sequence[Any],
        *,
        units: AttentionUnit = "word",
        layers: Any = "all",
        batch_tokens: int = 2048,
    ):
        if not len(corpus):
            raise MeasureError("The corpus is empty: there is nothing to attend to.")
        self.models = [
            m if isinstance(m, LanguageModel) else load_model(m, attention=True) for m in models
        ]
        self.corpus = corpus
        self.units = units
        self.batch_tokens = batch_tokens
        names = unique_names(m.name for m in self.models)
        readings = [_reading(model, corpus, units) for model in self.models]
        if units == "token":
            _require_same_tokens(names, [r.units for r in readings])
        shapes = self._shapes = [_heads(model, corpus, units) for model in self.models]
        heads: dict[LayerId, int] = {}
        causal: list[bool] = []
        self._layers: list[list[int]] = []
        for name, model, counts in zip(names, self.models, shapes, strict=True):
            numbers = range(1, len(counts) + 1)
            asked = (
                numbers
                if isinstance(layers, str) and layers == "all"
                else choose_layers(layers, len(counts) + 1)
            )
            layer_numbers = [n for n in asked if n in numbers]
            if not layer_numbers:
                raise MeasureError(
                    f"{name} has attention in layers 1 to {len(counts)}; none of those was asked for."
                )
            self._layers.append([n - 1 for n in layer_numbers])
            heads |= {LayerId(name, n): counts[n - 1] for n in layer_numbers}
            causal += [sees_past_only(model)] * len(layer_numbers)
        self.layout = Layout(heads)
        self.causal = np.array(causal)
        every = Units.all_words(corpus) if units == "word" else readings[0].units
        self.counts = np.bincount(every.sentence, minlength=len(corpus))
        """Of every sentence, its words or tokens, those that are lost included."""
        if isinstance(parts, int | np.integer):
            part, made_of = parts_of_units(every, parts)
            first = np.searchsorted(every.sentence, np.arange(len(corpus)))
            self.part = part[np.minimum(first, len(part) - 1)]
        else:
            self.part, made_of = parts_of_rows(len(corpus), parts), "labels"
        self.shown: dict[int, str] = {}
        """Of the sentence that was read last: number and name of the words or tokens that all models have."""
        self.info = {
            "units": units,
            "corpus": corpus.name,
            "corpus_hash": corpus.hash,
            "sentences": len(corpus),
            "parts_of": made_of,
            "models": {n: m.identity() for n, m in zip(names, self.models, strict=True)},
            "offered": len(every),
            # Of a reading of its own: what runs later may skip the shards that an earlier run has finished.
            "unknown": {
                n: unknown
                for n, reading in zip(names, readings, strict=True)
                if (unknown := reading.unknown)
            },
        }

    def heads_of(self, model: LanguageModel) -> list[int]:
        """Heads of every layer of a model, asked for or not."""
        return self._shapes[self.models.index(model)]

    def require_two(self) -> None:
        """Raise if no sentence has two words, or tokens: there is nothing to attend to but the word itself."""
        if (self.counts >= 2).any():
            return
        told = (
            f"No sentence of {quoted(self.corpus.name)} has two {self.units}s or more, and attention is compared from "
            f"{self.units} to {self.units}."
        )
        if self.units == "token":
            raise MeasureError(f"{told} Give longer sentences.")
        raise MeasureError(
            f"{told} Plain text is split into words at spaces: for a script without them, such as Chinese, compare "
            f"attention between the models' own tokens (units='token'), or give a corpus that names its words "
            f"(CoNLL-U, column files)."
        )

    def starts(self) -> NDArray[np.int64]:
        """Sentences at which a document begins; every one, where documents are few."""
        documents = np.array([s.document or "" for s in self.corpus], dtype=object)
        begins = np.flatnonzero(np.concatenate([[True], documents[1:] != documents[:-1]]))
        return begins if len(begins) >= 2 * SHARDS else np.arange(len(documents))

    def sentences(
        self, start: int = 0, stop: int | None = None, advance: Advance | None = None
    ) -> Iterator[tuple[int, SentenceMaps]]:
        """Run all models over a few sentences, then over the next."""
        some = self.corpus[start:stop]
        streams = [
            # What is left out is told once, of all sentences, by the alerts of the result.
            iter(m.attention(some, units=self.units, batch_tokens=self.batch_tokens, warn=False))
            for m in self.models
        ]
        current = [next(s, None) for s in streams]
        for number in range(len(some)):
            attentions = []
            for k, stream in enumerate(streams):
                item = current[k]
                if item is not None and item.sentence == number:
                    attentions.append(item)
                    current[k] = next(stream, None)
            if advance:
                advance(1)
            if len(attentions) < len(self.models):
                continue
            first = attentions[0]
            shared = set(first.index).intersection(*(f.index for f in attentions[1:]))
            if shared:
                called = dict(zip(first.index, first.names, strict=True))
                self.shown = {k: called[k] for k in sorted(shared)}
                yield start + number, self._joined(attentions, list(self.shown))

    def _joined(self, attentions: Sequence[Any], shared: list[int]) -> SentenceMaps:
        weights, sinks = [], []
        for item, layers in zip(attentions, self._layers, strict=True):
            mine = [item.index.index(k) for k in shared]
            W = item.weights[layers][:, :, mine][..., mine]
            sink = item.left_out[layers][:, :, mine]
            W = np.where(sink[..., None] < 1, W, 0)  # shown as even, where all goes to the sink
            if len(mine) < len(item.index):
                total = W.sum(-1)
                some = total > NOTHING  # else all goes to the sink, or to what is left out
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


def _reading(model: LanguageModel, corpus: Corpus, units: AttentionUnit) -> AlignedCorpus:
    """What a model makes of the corpus; of tokens all that there are, so that they can be compared."""
    if units == "word":
        return model.read(corpus, UnitRule.make("word", long="truncate"))
    return model.read(corpus, UnitRule.make("token", first_token="keep"))


def _require_same_tokens(names: Sequence[str], units: Sequence[Units]) -> None:
    """Raise if tokenizers do not cut the corpus alike, with the first place where they differ."""
    for name, other in zip(names[1:], units[1:], strict=True):
        difference = first_difference(units[0], other)
        if difference is not None:
            raise MeasureError(
                f"{names[0]} and {name} do not give the same tokens, for their tokenizers cut the text differently: "
                f"{difference}. Compare attention between words (units='word'), or models of one tokenizer."
            )


def _heads(model: LanguageModel, corpus: Corpus, units: AttentionUnit) -> list[int]:
    """Heads of every layer, from a look at the first sentence that the model can read."""
    for start in range(0, len(corpus), 20):
        some = corpus[start : start + 20]
        item = next(iter(model.attention(some, units=units, batch_tokens=1, warn=False)), None)
        if item is not None:
            layers, heads = item.weights.shape[:2]
            return [heads] * layers
    limit = getattr(model, "limit", None)
    reads = f" ({limit:,} tokens)" if isinstance(limit, int) else ""
    raise MeasureError(
        f"{model.name} has no attention map for any sentence of {quoted(corpus.name)} ({len(corpus):,} in all): they "
        f"are longer than it reads at once{reads}, or it has none of their {units}s. Give shorter sentences, one "
        f"a line."
    )
