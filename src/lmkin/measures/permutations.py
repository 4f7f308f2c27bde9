"""The permutation baseline: what chance alone would give, with the rows of one side shuffled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, Unpack

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ..core import (
    MeasureError,
    as_layer_id,
    check_seed,
    progress_bar,
    quoted,
    refuse_unused,
    workers,
)
from ..corpus import Corpus
from ..models import ReadingOptions, check_reading
from ..moments import Moments
from ..rows import row_source
from .evaluation import Task
from .from_rows import RowPair, RowSide
from .options import is_standardized
from .registry import check_options, measure_info
from .replicates import RowReplicates, sampled

ROWS = 2000
FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Null:
    """Values of pairs of layers, and of the same pairs with shuffled rows."""

    value: FloatArray
    """x × y."""
    shuffled: FloatArray
    """permutation × x × y."""

    @property
    def mean(self) -> FloatArray:
        """What chance gives."""
        mean: FloatArray = self.shuffled.mean(0)
        return mean

    @property
    def p(self) -> FloatArray:
        """(1 + shuffled values at least as large) / (1 + permutations)."""
        return self._share(self.shuffled)

    @property
    def largest(self) -> FloatArray:
        """Of all pairs of layers, in each permutation."""
        largest: FloatArray = self.shuffled.max(axis=(1, 2))
        return largest

    @property
    def p_max(self) -> FloatArray:
        """The same, compared with the largest of all pairs: for the best pair of a search over layers."""
        return self._share(self.largest[:, None, None])

    def _share(self, null: FloatArray) -> FloatArray:
        # What rounding alone tells apart counts as equal.
        as_large = null >= self.value - 1e-12 * np.abs(self.value)
        share: FloatArray = (1 + as_large.sum(0)) / (1 + len(null))
        return share


def permutation_baseline(
    source: Any,
    corpus: Corpus | str | Path | None = None,
    *,
    measure: str = "ckasim",
    neurons: Literal["raw", "standardized"] = "raw",
    measure_options: Mapping[str, Any] | None = None,
    permutations: int = 99,
    sample_rows: int = ROWS,
    x: str | Sequence[str] | None = None,
    y: str | Sequence[str] | None = None,
    seed: int = 0,
    progress: bool | None = None,
    **reading: Unpack[ReadingOptions],
) -> xr.Dataset:
    r"""Permutation baseline: how a value compares with those of shuffled rows, for every pair of layers.

    The units of y are put in random order, the same for all layers, ``permutations`` times. For each pair:
    ``value``; ``null_mean`` and ``null_sd`` of the shuffled values; ``p`` = (1 + shuffled values at least as large) /
    (1 + permutations). For a search over layers: ``p_max`` compares the value with the *largest* shuffled value of all
    pairs, so that the best of many pairs is not taken for more than it is.

    ``x`` and ``y`` restrict the layers of the two sides: a model, a ``"model/layer"``, or a list of these. For long
    corpora a random sample of ``sample_rows`` units is used, and ``value`` is the value there. ``source``, ``corpus``,
    ``neurons`` (one of the two), ``measure_options`` and the ways of ``reading`` are those of :func:`lmkin.similarity`;
    `Moments` must have kept rows.
    """
    info = measure_info(measure)
    options = dict(measure_options or {})
    check_options([info], options)
    check_permutations(permutations)
    check_seed(seed)
    standardized = is_standardized(neurons)
    check_reading(reading, permutation_baseline)
    kept = _rows(source, corpus, sample_rows, seed, progress, reading)
    groups = [as_layer_id(name) for name in kept.names]
    xs, ys = _choose(groups, x), _choose(groups, y)
    task = Task(info, options, standardized)
    steps = count_shuffles(task, xs, ys, permutations)
    with progress_bar("null", steps, "pairs", show=progress) as advance:
        null = shuffle(task, kept, xs, ys, permutations, seed, advance)
    tables = {
        "value": null.value,
        "null_mean": null.mean,
        "null_sd": null.shuffled.std(0, ddof=min(1, permutations - 1)),
        "p": null.p,
        "p_max": null.p_max,
    }
    return xr.Dataset(
        {
            **{name: (("x", "y"), table) for name, table in tables.items()},
            "null_max": ("permutation", null.largest),
        },
        coords={
            "x": [str(groups[i]) for i in xs],
            "y": [str(groups[j]) for j in ys],
        },
        attrs={
            "measure": measure,
            "n": kept.n,
            "permutations": permutations,
            "seed": seed,
            "neurons": neurons,
        },
    )


def shuffle(
    task: Task,
    rows: RowReplicates,
    xs: Sequence[int],
    ys: Sequence[int],
    permutations: int,
    seed: int,
    advance: Callable[[int], None],
) -> Null:
    """Values of all pairs of the layers ``xs`` and ``ys``, with rows as they are and shuffled."""
    sides: Any = rows.sides()
    random = np.random.default_rng(seed)
    orders = [None, *(random.permutation(rows.n) for _ in range(permutations))]
    table = np.empty((len(orders), len(xs), len(ys)))
    # A symmetric measure of the same layers on both sides is computed once for each pair: to shuffle one or the
    # other is the same game of chance.
    mirror = task.measure.symmetric and list(xs) == list(ys)

    def fill(number: int, place: tuple[int, int]) -> None:
        i, j = place
        pair = _pair(sides[xs[i]], sides[ys[j]], task, orders[number])
        table[number, i, j] = task(pair)[0]
        if mirror:
            table[number, j, i] = table[number, i, j]
        advance(1)

    places = [(i, j) for i in range(len(xs)) for j in range(i if mirror else 0, len(ys))]
    # Each layer with itself first: what belongs to a layer alone is then known.
    places.sort(key=lambda place: xs[place[0]] != ys[place[1]])
    with workers(rows.threads) as run:
        for number in range(len(orders)):
            run(partial(fill, number), places)
    return Null(table[0], table[1:])


def count_shuffles(task: Task, xs: Sequence[int], ys: Sequence[int], permutations: int) -> int:
    """How often `shuffle` will advance."""
    mirror = task.measure.symmetric and list(xs) == list(ys)
    pairs = len(xs) * (len(xs) + 1) // 2 if mirror else len(xs) * len(ys)
    return (permutations + 1) * pairs


def check_permutations(permutations: int) -> None:
    """Raise if the number of permutations is none."""
    if isinstance(permutations, bool) or not isinstance(permutations, int) or permutations < 1:
        raise MeasureError(
            f"A number of permutations is expected, such as 99; got {quoted(permutations)}."
        )


def _pair(a: RowSide, b: RowSide, task: Task, order: Any) -> RowPair:
    if order is not None and task.measure.needs == "rows":
        b = RowSide(b.raw[order], b.name)
        order = None
    return RowPair(a, b, standardized=task.standardized, order=order)


def _rows(
    source: Any,
    corpus: Any,
    count: int,
    seed: int,
    progress: bool | None,
    reading: ReadingOptions,
) -> RowReplicates:
    if isinstance(source, Moments):
        refuse_unused(
            {"corpus": corpus} if corpus is not None else dict(reading),
            "Moments are sums that were made before",
        )
        return sampled(source, count)
    rows = row_source(source, corpus, parts=1, **reading)
    with progress_bar("rows", rows.n, f"{rows.unit}s", show=progress) as advance:
        layers, part = rows.some_rows(count, seed, advance)
    return RowReplicates([(str(g), a) for g, a in layers.items()], part, keep_parts=False)


def _choose(groups: Sequence[Any], wanted: str | Sequence[str] | None) -> list[int]:
    """Numbers of the groups that a name, or some, ask for: a model, or one of its layers."""
    if wanted is None:
        return list(range(len(groups)))
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    numbers = [i for i, g in enumerate(groups) if g.model in names or str(g) in names]
    if not numbers:
        models = ", ".join(dict.fromkeys(g.model for g in groups))
        raise MeasureError(f"There is no model or layer {quoted(names[0])} here. Models: {models}.")
    return numbers
