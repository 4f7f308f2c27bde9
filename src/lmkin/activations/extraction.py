"""`extract`: run a model over a corpus, and keep a vector for every unit and layer."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import (
    ActivationsError,
    LmkinError,
    ModelError,
    as_path,
    check_layers,
    choose_layers,
    did_you_mean,
    is_whole,
    progress_bar,
    quoted,
    require_disk,
    require_memory,
)
from ..corpus import Corpus, read_corpus
from ..models import AlignedCorpus, LanguageModel, UnitRule, Window, load_model
from .activations import Activations
from .batches import batches, shard_ranges
from .manifest import make_manifest, shard_entries
from .shards import ShardImage
from .store_writer import StoreWriter, check_store_folder

_log = logging.getLogger(__name__)
DTYPES = ("float32", "float16")
BATCH_TOKENS = 1024
"""On a CPU: larger batches are no faster there, and are padded more."""
GPU_BATCH_TOKENS = 4096
_LEAST_BATCH = 128
SHARD_BYTES = 64_000_000
_BATCHES_PER_SHARD = 8
"""At least: batches are sorted by length inside a shard, and a few long ones would waste padding."""
_OVERHEAD = 1.05


def extract(
    model: LanguageModel | str | Path,
    corpus: Corpus | str | Path,
    out: str | Path | None = None,
    *,
    layers: str | int | Sequence[int] = "all",
    units: str = "word",
    pooling: str | None = None,
    first_token: str = "drop",
    special_tokens: str | None = None,
    long: str = "window",
    overlap: int | None = None,
    max_length: int | None = None,
    batch_tokens: int | None = None,
    dtype: str = "float32",
    shard_bytes: int = SHARD_BYTES,
    overwrite: bool = False,
    progress: bool | None = None,
) -> Activations:
    """Run ``model`` over ``corpus``: the activations of every unit and layer, in the order of the corpus.

    Parameters
    ----------
    model, corpus
        Loaded ones, or what `load_model` and `read_corpus` take.
    out
        A folder to store the activations in. A run that is broken off goes on where it stopped
        when it is started again. Without it they stay in memory.
    layers
        ``"all"``, a list, or a text such as ``"0,4-6,-1"``; 0 is the embedding output.
    units
        ``word`` (default), ``token`` or ``sentence``.
    pooling
        Words: ``last`` (default), ``first``, ``mean`` of their subword tokens. Sentences: ``mean`` (default),
        ``first``, ``last``, ``cls``, ``max`` of their tokens.
    first_token, special_tokens, long, overlap, max_length
        See :class:`lmkin.models.UnitRule`.
    batch_tokens
        Tokens in a padded batch; by default 1,024 on a CPU, 4,096 on a GPU.
    dtype
        ``float32``, or ``float16`` for half the size.
    shard_bytes
        About how large a file of the store becomes: what is recomputed at most after a kill.
    overwrite
        Replace the activations of another run in ``out``.
    progress
        Show a progress bar; by default where there is a terminal or a notebook.
    """
    check_numbers(1 if batch_tokens is None else batch_tokens, shard_bytes, dtype)
    check_layers(layers)
    rule = UnitRule.make(
        units,
        pooling,
        first_token=first_token,
        special_tokens=special_tokens,
        long=long,
        overlap=overlap,
        max_length=max_length,
    )
    if out is not None:
        check_store_folder(as_path(out))
    corpus = read_corpus(corpus) if isinstance(corpus, str | Path) else corpus
    model = load_model(model) if isinstance(model, str | Path) else model
    batch_tokens = default_batch_tokens(model) if batch_tokens is None else batch_tokens
    layer_numbers = choose_layers(layers, model.n_layers)
    reading = read_units(model, corpus, rule)
    width = sum(model.widths[n] for n in layer_numbers)
    row_bytes = width * np.dtype(dtype).itemsize
    manifest = make_manifest(model, reading, layer_numbers, dtype)
    size = len(reading.units) * row_bytes
    if out is None:
        remedy = (
            "Give a folder (out=…) to keep the activations on disk, or fewer layers (layers=[…])."
        )
        require_memory(int(size * _OVERHEAD), remedy)
        run = Run(model, reading, layer_numbers, dtype, batch_tokens)
        with progress_bar(model.name, len(reading.units), f"{units}s", show=progress) as advance:
            everything = run.buffers(len(reading.units))
            run.fill(everything, 0, len(reading.units), advance)
        for array in everything.values():
            array.flags.writeable = False  # as the layers of a store are
        return Activations(reading.units, [everything], manifest)

    folder = as_path(out)
    rows = rows_per_shard(shard_bytes, row_bytes, batch_tokens)
    manifest["shards"] = shard_entries(shard_ranges(_rows_by_sentence(reading), rows))
    if not folder.exists():
        require_disk(int(size * _OVERHEAD), folder)
    writer = StoreWriter(folder, manifest, reading.units, overwrite=overwrite)
    try:
        _fill(writer, Run(model, reading, layer_numbers, dtype, batch_tokens), units, progress)
        return writer.finish(reading.units)
    finally:
        writer.close()


def _fill(writer: StoreWriter, run: Run, units: str, progress: bool | None) -> None:
    """Compute the shards that are not there yet; one is written while the next is run."""
    done = sum(
        stop - start for i, (start, stop) in enumerate(writer.ranges) if i in writer.finished
    )
    total = len(run.reading.units)
    with (
        progress_bar(run.model.name, total, f"{units}s", done=done, show=progress) as advance,
        ThreadPoolExecutor(max_workers=1) as pool,
    ):
        if writer.finished and len(writer.finished) < len(writer.ranges):
            _log.info(
                "Going on: %s of %s shards of %s are there from an earlier run.",
                len(writer.finished),
                len(writer.ranges),
                run.model.name,
            )
        todo = [n for n in range(len(writer.ranges)) if n not in writer.finished]
        largest = max((stop - start for start, stop in writer.ranges), default=0)
        images = [run.image(largest) for _ in todo[:2]]  # they take turns
        pending: Future[None] | None = None
        for turn, number in enumerate(todo):
            start, stop = writer.ranges[number]
            image = images[turn % 2]
            run.fill(image.layers(stop - start), start, stop, advance)
            if pending is not None:
                pending.result()
            pending = pool.submit(writer.write, number, image)
        if pending is not None:
            pending.result()


Layers = dict[int, NDArray[Any]]


class Run:
    """A model, what it reads, and the options that its numbers depend on."""

    def __init__(
        self,
        model: LanguageModel,
        reading: AlignedCorpus,
        layers: Sequence[int],
        dtype: str,
        batch_tokens: int,
    ):
        self.model = model
        self.reading = reading
        self.layers = layers
        self.dtype = np.dtype(dtype)
        self.batch_tokens = batch_tokens
        self.reduce = "max" if reading.rule.pooling == "max" else "sum"
        self._firsts = np.array([w.rows.min() for w in reading.windows])

    @property
    def forward_memory(self) -> int:
        """About how many bytes the largest batch takes while the model runs over it."""
        longest = max(w.length for w in self.reading.windows)
        return self.model.forward_memory(max(self.batch_tokens, longest), longest)

    def fit_batches(self, room: int) -> None:
        """Halve the batches until one takes ``room`` bytes or less, or a few tokens."""
        while self.forward_memory > room and self.batch_tokens > _LEAST_BATCH:
            self.batch_tokens //= 2

    def windows(self, start: int, stop: int) -> list[Window]:
        """The windows that contribute to a range of rows."""
        low, high = np.searchsorted(self._firsts, [start, stop])
        return self.reading.windows[low:high]

    def buffers(self, rows: int) -> Layers:
        """Memory for so many rows of every layer."""
        return {n: np.empty((rows, self.model.widths[n]), self.dtype) for n in self.layers}

    def image(self, rows: int) -> ShardImage:
        """The same as the image of a shard file."""
        return ShardImage({n: self.model.widths[n] for n in self.layers}, rows, self.dtype)

    def fill(self, target: Layers, start: int, stop: int, advance: Any) -> None:
        """Compute all layers of a range of rows into ``target``."""
        # Sums are made in float32, whatever is stored.
        exact = self.dtype == np.float32
        parts = target if exact else {n: np.empty(a.shape, np.float32) for n, a in target.items()}
        # Without windows every row comes whole, from one batch; else its pieces are joined.
        joins = self.reading.losses.windowed > 0
        if joins:
            for part in parts.values():
                part.fill(-np.inf if self.reduce == "max" else 0.0)
        for batch, rows, vectors in self.batches(start, stop):
            places = rows - start
            for n, values in zip(self.layers, vectors, strict=True):
                self._check_finite(values, n, batch)
                if not joins:
                    parts[n][places] = values
                elif self.reduce == "max":
                    parts[n][places] = np.maximum(parts[n][places], values)
                else:
                    parts[n][places] += values
            advance(len(rows))
        if not exact:
            for n, part in parts.items():
                self._check_range(part, n)
                target[n][...] = part

    def batches(
        self, start: int, stop: int
    ) -> Iterator[tuple[list[Window], NDArray[np.int32], list[NDArray[np.float32]]]]:
        """Run all batches of a range of rows."""
        for batch in batches(self.windows(start, stop), self.batch_tokens):
            try:
                rows, vectors = self.model.run(batch, self.layers, reduce=self.reduce)
            except (MemoryError, RuntimeError) as error:
                if not _is_out_of_memory(error):
                    raise
                raise ModelError(
                    f"{self.model.name} ran out of memory on a batch of {len(batch)} × {batch[0].length} tokens. "
                    f"Lower batch_tokens=… (now {self.batch_tokens}), or max_length=…. "
                    f"Shards that are finished are kept."
                ) from error
            yield batch, rows, vectors

    def _check_finite(self, values: NDArray[np.float32], layer: int, batch: list[Window]) -> None:
        if not np.isfinite(values).all():
            corpus = self.reading.units.corpus
            names = ", ".join(repr(corpus[w.sentence].id) for w in batch[:3])
            raise ModelError(
                f"{self.model.name} gives NaN or infinite activations in layer {layer}, in a batch with the sentences "
                f"{names} …. Load it with dtype='float32'; if it runs in that already, its weights are damaged."
            )

    def _check_range(self, buffer: NDArray[np.float32], layer: int) -> None:
        if np.abs(buffer).max(initial=0) > np.finfo(self.dtype).max:
            raise ActivationsError(
                f"Layer {layer} of {self.model.name} has activations above 65,504, which float16 cannot hold. "
                f"Store float32."
            )


def read_units(model: LanguageModel, corpus: Corpus, rule: UnitRule) -> AlignedCorpus:
    """Let a model tokenize and align a corpus. Raise if nothing is left."""
    if not len(corpus):
        raise ActivationsError("The corpus is empty: there is nothing to extract.")
    if rule.kind == "word" and not corpus.n_words:
        raise ActivationsError(
            f"The corpus {quoted(corpus.name)} has no words; extract sentences instead."
        )
    reading = model.read(corpus, rule)
    _log.debug(
        "%s reads %s: %d tokens in %d windows, %d of %d %ss kept",
        *(model.name, corpus.name, reading.n_tokens, len(reading.windows)),
        *(len(reading.units), reading.n_offered, rule.kind),
    )
    if not len(reading.units):
        reasons = ", ".join(f"{count} {why}" for why, count in reading.losses.counts.items())
        raise ActivationsError(
            f"{model.name} can represent no {rule.kind} of {quoted(corpus.name)} ({reasons})."
        )
    return reading


def rows_per_shard(shard_bytes: int, row_bytes: int, batch_tokens: int) -> int:
    """Rows of a shard: by its size, but not fewer than a few batches are made of."""
    few = min(_BATCHES_PER_SHARD * batch_tokens, 4 * shard_bytes // row_bytes)
    return max(1, shard_bytes // row_bytes, few)


def _rows_by_sentence(reading: AlignedCorpus) -> list[int]:
    counts = np.bincount(reading.units.sentence, minlength=len(reading.units.corpus))
    return [int(c) for c in counts]


def default_batch_tokens(model: LanguageModel) -> int:
    """Tokens in a padded batch that suit the device."""
    return BATCH_TOKENS if model.device_type == "cpu" else GPU_BATCH_TOKENS


def check_numbers(batch_tokens: int, shard_bytes: int, dtype: str) -> None:
    """Raise if a batch, a shard or the type of the store makes no sense."""
    if dtype not in DTYPES:
        raise LmkinError(
            f"Unknown dtype {quoted(dtype)} for storage. {did_you_mean(dtype, DTYPES)}"
        )
    for name, value in {"batch_tokens": batch_tokens, "shard_bytes": shard_bytes}.items():
        if not is_whole(value) or value < 1:
            raise LmkinError(f"{name} is a whole number, 1 or more; got {quoted(value)}.")


def _is_out_of_memory(error: BaseException) -> bool:
    text = str(error).lower()
    return isinstance(error, MemoryError) or "out of memory" in text or "can't allocate" in text
