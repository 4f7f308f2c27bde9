"""Rows straight from models that run over a corpus; nothing of them is stored."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..activations.extraction import Run, choose_layers, default_batch_tokens, extract, read_units
from ..activations.manifest import make_manifest
from ..activations.planning import plan_extraction
from ..corpus import Corpus
from ..errors import MomentsError
from ..models import LanguageModel, UnitRule
from .accumulator import CHUNK
from .groups import Group, unique_names
from .parts import parts_of_units, runs
from .sources import ActivationSource, Blocks, RowSource, describe_units


class ModelSource(RowSource):
    """Models side by side over the same sentences: a word that one of them lacks is left out of all."""

    reread = False

    def __init__(
        self,
        models: Sequence[LanguageModel],
        corpus: Corpus,
        rule: UnitRule,
        *,
        parts: int | Sequence[Any],
        layers: Any = "all",
        batch_tokens: int | None = None,
    ):
        self.models = models
        self._asked = (corpus, rule, parts, layers, batch_tokens)
        self.names = unique_names(m.name for m in models)
        readings = [read_units(model, corpus, rule) for model in models]
        keys = [_keys(r.units) for r in readings]
        shared = keys[0]
        for key in keys[1:]:
            shared = np.intersect1d(shared, key, assume_unique=True)
        if not len(shared):
            raise MomentsError(
                f"{', '.join(self.names)} have no {rule.kind} of {corpus.name!r} in common."
            )
        kept = [np.flatnonzero(np.isin(key, shared)) for key in keys]
        units = readings[0].units.select(kept[0])
        for name, reading, mine in zip(self.names[1:], readings[1:], kept[1:], strict=True):
            if reading.units.select(mine).hash != units.hash:
                raise MomentsError(
                    f"{self.names[0]} and {name} do not give the same {rule.kind}s: their tokenizers cut the "
                    f"text differently. Compare words or sentences (units='word')."
                )
        self._kept = kept
        self._runs = []
        self.widths = {}
        for name, model, reading in zip(self.names, models, readings, strict=True):
            chosen = choose_layers(layers, model.n_layers)
            batch = default_batch_tokens(model) if batch_tokens is None else batch_tokens
            self._runs.append(Run(model, reading, chosen, "float32", batch))
            self.widths |= {Group(name, n): model.widths[n] for n in chosen}
        self.unit = rule.kind
        self.units = units
        self.part, made_of = parts_of_units(units, parts)
        self.info = describe_units(units, made_of)
        self.info["dropped"] = {
            name: len(reading.units) - len(units)
            for name, reading in zip(self.names, readings, strict=True)
            if len(reading.units) > len(units)
        }
        self.info["lost"] = {
            name: {why: int(c) for why, c in reading.losses.counts.items()}
            for name, reading in zip(self.names, readings, strict=True)
            if reading.losses.counts
        }
        self.info["manifests"] = {
            name: {
                k: v
                for k, v in make_manifest(
                    run.model, run.reading, list(run.layers), "float32"
                ).items()
                if k in ("model", "units", "corpus", "key", "versions")
            }
            for name, run in zip(self.names, self._runs, strict=True)
        }

    def blocks(
        self,
        groups: Sequence[Group] | None = None,
        advance: Callable[[int], None] | None = None,
        skip: Container[int] = (),
    ) -> Iterator[tuple[int, Blocks]]:
        """Run all models over some rows, then over the next."""
        wanted = set(self.widths if groups is None else groups)
        for part, start, stop in runs(self.part, CHUNK, skip):
            blocks: Blocks = {}
            for name, run, kept in zip(self.names, self._runs, self._kept, strict=True):
                if not any(Group(name, n) in wanted for n in run.layers):
                    continue
                # The model's own rows of this stretch, in whole sentences, as models read them: those that others
                # lack, or that belong to the next stretch, are computed too and left out.
                owner = run.reading.units.sentence
                low = int(np.searchsorted(owner, owner[kept[start]]))
                high = int(np.searchsorted(owner, owner[kept[stop - 1]], side="right"))
                buffers = run.buffers(high - low)
                count = [0]

                def tell(rows: int, count: list[int] = count) -> None:
                    count[0] += rows
                    if advance:
                        advance(rows)

                run.fill(buffers, low, high, tell)
                if advance:  # windows of long sentences may touch a row twice
                    advance(stop - start - count[0])
                mine = kept[start:stop] - low
                whole = len(mine) == high - low
                for n, array in buffers.items():
                    if Group(name, n) in wanted:
                        blocks[Group(name, n)] = array if whole else array[mine]
            yield part, blocks

    def seconds(self) -> float:
        """About how long the models run, from a few batches of each."""
        corpus, rule, _, layers, batch_tokens = self._asked
        return sum(
            plan_extraction(model, corpus, rule, layers=layers, batch_tokens=batch_tokens).seconds
            for model in self.models
        )

    def to_read_again(self, folder: Path) -> RowSource:
        """Stored activations: each model runs once."""
        corpus, rule, parts, layers, batch_tokens = self._asked
        stores = [
            extract(
                model,
                corpus,
                folder / f"{number}.acts",
                layers=layers,
                batch_tokens=batch_tokens,
                **_options(rule),
            )
            for number, model in enumerate(self.models)
        ]
        return ActivationSource(stores, parts)


def _options(rule: UnitRule) -> dict[str, Any]:
    """A rule as `extract` takes it."""
    options = rule.to_dict()
    options["units"] = options.pop("kind")
    if options["units"] == "token":
        options["pooling"] = None
    return options


def _keys(units: Any) -> Any:
    return units.sentence.astype(np.int64) << 32 | units.index.astype(np.int64)
