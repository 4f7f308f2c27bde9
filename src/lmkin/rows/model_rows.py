"""Rows straight from models that run over a corpus; nothing of them is stored."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from ..activations import (
    Run,
    default_batch_tokens,
    extract,
    make_manifest,
    plan_extraction,
    read_units,
)
from ..core import LayerId, MomentsError, choose_layers, fingerprint, quoted, to_numpy, unique_names
from ..corpus import Corpus
from ..models import LanguageModel, UnitRule
from .parts import parts_of_units
from .passes import Advance, Chunk, chunk_ranges
from .row_source import Blocks, RowSource
from .sources import ActivationSource, describe_units


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
        self._columns: dict[LayerId, Any] = {}
        self._asked = (corpus, rule, parts, layers, batch_tokens)
        self.names = unique_names(m.name for m in models)
        readings = [read_units(model, corpus, rule) for model in models]
        keys = [_keys(r.units) for r in readings]
        shared = keys[0]
        for key in keys[1:]:
            shared = np.intersect1d(shared, key, assume_unique=True)
        if not len(shared):
            raise MomentsError(
                f"{', '.join(self.names)} have no {rule.kind} of {quoted(corpus.name)} in common."
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
            layer_numbers = choose_layers(layers, model.n_layers)
            batch = default_batch_tokens(model) if batch_tokens is None else batch_tokens
            self._runs.append(Run(model, reading, layer_numbers, "float32", batch))
            self.widths |= {LayerId(name, n): model.widths[n] for n in layer_numbers}
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
        self.info["unknown"] = {
            name: counts
            for name, reading in zip(self.names, readings, strict=True)
            if (counts := reading.unknown) is not None
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

    @property
    def weights(self) -> int:
        """Bytes of the models' weights, as far as they are in this process's memory."""
        return sum(model.memory for model in self.models if model.device_type == "cpu")

    @property
    def forward_memory(self) -> int:
        """Bytes of the largest forward pass."""
        return max(run.forward_memory for run in self._runs)

    def fit_batches(self, room: int) -> None:
        """Halve the batches of models, where nobody asked for their size, until a forward pass fits."""
        if self._asked[4] is None:
            for run in self._runs:
                run.fit_batches(room)

    def chunks(
        self, start: int = 0, stop: int | None = None, advance: Advance | None = None
    ) -> Iterator[Chunk[Blocks]]:
        """Run all models over some rows, then over the next."""
        stop = self.n if stop is None else stop
        for low, high in chunk_ranges(self.part, start, stop, mixed=self.relabelled):
            rows = np.arange(low, high)
            data = self._run_over(low, high, advance)
            data |= {layer: column[low:high] for layer, column in self._columns.items()}
            yield Chunk(rows, self.part[low:high], data)

    def _run_over(self, start: int, stop: int, advance: Advance | None) -> Blocks:
        """What all models make of some rows."""
        blocks: Blocks = {}
        for name, run, kept in zip(self.names, self._runs, self._kept, strict=True):
            if not any(LayerId(name, n) in self.widths for n in run.layers):
                continue
            # The model's own rows of this chunk, in whole sentences, as models read them: those that others
            # lack, or that belong to the next chunk, are computed too and left out.
            owner = run.reading.units.sentence
            low = int(np.searchsorted(owner, owner[kept[start]]))
            high = int(np.searchsorted(owner, owner[kept[stop - 1]], side="right"))
            buffers = run.buffers(high - low)
            count = [0]

            def tell(rows: int, count: list[int] = count) -> None:
                # Rows beside the chunk are no progress, nor are those that windows of long sentences touch again.
                new = min(rows, stop - start - count[0])
                count[0] += new
                if advance:
                    advance(new)

            run.fill(buffers, low, high, tell)
            if advance:
                advance(stop - start - count[0])
            mine = kept[start:stop] - low
            whole = len(mine) == high - low
            for n, array in buffers.items():
                if LayerId(name, n) in self.widths:
                    blocks[LayerId(name, n)] = array if whole else array[mine]
        return blocks

    @property
    def steps(self) -> int:
        """The models that run over each row."""
        return len({layer.model for layer in self.widths if layer not in self._columns})

    def with_columns(self, columns: Mapping[LayerId, Any]) -> Self:
        """The same rows, with more layers."""
        wider = copy.copy(self)
        wider._columns = {**self._columns, **columns}
        wider.widths = {**self.widths, **{layer: a.shape[1] for layer, a in columns.items()}}
        return wider

    def identity(self) -> dict[str, Any]:
        """Everything that the rows depend on."""
        columns = {str(layer): fingerprint(to_numpy(a)) for layer, a in self._columns.items()}
        return {**super().identity(), "columns": columns}

    def seconds(self) -> float:
        """About how long the models run, from a few batches of each."""
        corpus, rule, _, layers, batch_tokens = self._asked
        return sum(
            plan_extraction(model, corpus, rule, layers=layers, batch_tokens=batch_tokens).seconds
            for model in self.models
        )

    def to_read_again(self, folder: Path) -> RowSource:
        """Stored activations: each model runs once."""
        corpus, rule, parts, layers, _ = self._asked
        stores = [
            extract(
                model,
                corpus,
                folder / f"{number}.acts",
                layers=layers,
                batch_tokens=run.batch_tokens,
                **_options(rule),
            )
            for number, (model, run) in enumerate(zip(self.models, self._runs, strict=True))
        ]
        stored = ActivationSource(stores, parts)
        stored.part = self.part
        return stored.only(list(self.widths))


def _options(rule: UnitRule) -> dict[str, Any]:
    """A rule as `extract` takes it."""
    options = rule.to_dict()
    options["units"] = options.pop("kind")
    if options["units"] == "token":
        options["pooling"] = None
    return options


def _keys(units: Any) -> Any:
    return units.sentence.astype(np.int64) << 32 | units.index.astype(np.int64)
