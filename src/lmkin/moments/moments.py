"""`Moments`: joint second moments of many layers, in sums that merge."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import array_api_compat

from ..core import (
    LayerId,
    Layout,
    MomentsError,
    as_double,
    as_rows,
    check_seed,
    is_double,
    is_whole,
    named_blocks,
    numpy_device,
    quoted,
)
from .accumulator import Accumulator
from .precision import check_precision, choose_precision
from .row_sample import ROWS, RowSample
from .snapshot import Snapshot, SumsSnapshot


class Moments:
    r"""Joint second moments (means and covariances) of the neurons of several layers, kept in parts of the corpus.

    With the rows of all groups side by side as one matrix X, it holds :math:`n`, :math:`\sum x`,
    :math:`\sum x x^\top`, and the sums of row norms that unbiased CKA needs. All are sums over rows, so
    they `merge` by addition; and as they are kept in parts, the moments *without* a part give jackknife
    standard errors without a second pass.

    Products are made of (x − shift) / scale, in float32 unless the arrays are float64 or there are few
    neurons, and added up in float64; each symmetric block once. Arrays may be numpy, or torch on any device: the
    sums stay there.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> m = Moments()
    >>> m.update({"a/0": X[:60], "b/0": X[:60] * 2}).update({"a/0": X[60:], "b/0": X[60:] * 2}).n
    100
    >>> np.allclose(m.cov("a/0", "b/0"), 2 * np.cov(X.T))
    True
    """

    def __init__(
        self,
        *,
        precision: str | None = None,
        reference: Mapping[Any, tuple[Any, Any]] | None = None,
        keep_parts: bool = True,
        sample_rows: int = ROWS,
        seed: int = 0,
    ):
        """Nothing yet; rows come with `update`.

        Parameters
        ----------
        precision
            Of the products: ``float32`` or ``float64``; by default what suits the first block.
        reference
            Mean and standard deviation of every group, ``{group: (shift, scale)}``, where known beforehand. Moments
            of several processes that are to be merged do well to have the same.
        keep_parts
            Hold the sums of every part, not only the total.
        sample_rows, seed
            How many rows to keep as they are, drawn at random: for RBF-CKA, permutations, your own functions.
        """
        check_precision(precision)
        if not is_whole(sample_rows) or sample_rows < 0:
            raise MomentsError(
                f"sample_rows is a number of rows to keep, 0 or more; got {quoted(sample_rows)}."
            )
        check_seed(seed)
        self.keep_parts = keep_parts
        self.info: dict[str, Any] = {}
        """Where the rows came from; for results and reports."""
        self._precision = precision
        self._given = reference
        self._rows, self._seed = sample_rows, seed
        self._state: Accumulator | None = None

    # -- what is in it ---------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """Rows so far."""
        return self._state.n if self._state else 0

    @property
    def state(self) -> Accumulator:
        """The sums themselves, with all rows in them. Raise if there are none."""
        if self._state is None or not self._state.n:
            raise MomentsError("These moments are empty: no rows have been added yet.")
        self._state.flush()
        return self._state

    @property
    def layout(self) -> Layout:
        """Which columns are whose."""
        return self.state.layout

    @property
    def xp(self) -> Any:
        """The namespace of the arrays that the sums are held in."""
        return self.state.xp

    @property
    def precision(self) -> str | None:
        """Of the products; None before the first rows."""
        return self._state.precision if self._state else self._precision

    @property
    def groups(self) -> tuple[LayerId, ...]:
        """(model, layer) of every group, in the order given."""
        return self._state.layout.groups if self._state else ()

    @property
    def widths(self) -> dict[LayerId, int]:
        """Neurons of every group."""
        layout = self._state.layout if self._state else None
        return dict(zip(layout.groups, layout.widths, strict=True)) if layout else {}

    @property
    def parts(self) -> tuple[Hashable, ...]:
        """Names of the parts, in the order they came."""
        return tuple(self._state.numbers) if self._state else ()

    @property
    def part_sizes(self) -> dict[Hashable, int]:
        """Rows of every part; empty if parts are not kept."""
        return {name: sums.n for name, sums in self.state.parts.items()} if self.n else {}

    @property
    def sample(self) -> RowSample:
        """Some rows as they are, minus the shift of the `reference`."""
        return self.state.sample

    @property
    def reference(self) -> dict[LayerId, tuple[Any, Any]] | None:
        """Shift and scale that products are made in, by group; for other moments that are to be merged with these."""
        if not self.n or self.state.reference is None:
            return None
        shift, scale = self.state.reference.shift, self.state.reference.scale
        places = zip(self.groups, self.layout.slices, strict=True)
        return {group: (shift[columns], scale[columns]) for group, columns in places}

    def __repr__(self) -> str:
        if self._state is None:
            return "<Moments: empty>"
        return (
            f"<Moments of {len(self.groups)} layers, {sum(self.widths.values()):,} neurons, over {self.n:,} rows "
            f"in {len(self.parts)} parts>"
        )

    def snapshot(
        self, *, without: Hashable | None = None, only: Hashable | None = None
    ) -> Snapshot:
        """The moments of all rows, of all but one part, or of one part only."""
        state = self.state
        assert state.total is not None
        assert state.reference is not None
        assert state.weights is not None
        for name in (without, only):
            if name is not None and name not in state.parts:
                raise MomentsError(
                    f"There is no part {quoted(name)} here. Parts: {', '.join(map(str, state.parts)) or 'none kept'}."
                )
        total = state.total if only is None else state.parts[only]
        less = None if without is None else state.parts[without]
        return SumsSnapshot(state.xp, state.layout, state.reference, state.weights, total, less)

    def parts_with_outliers(self) -> list[Hashable]:
        """Parts whose leaving out is not exact, as float32 sums have too few digits for what is left of a neuron."""
        if self.precision != "float32" or len(self.part_sizes) < 2:
            return []
        whole, parts = self._whole(), self.state.parts
        return [name for name, sums in parts.items() if whole.leaves_little(sums)]

    def _whole(self) -> SumsSnapshot:
        snapshot = self.snapshot()
        assert isinstance(snapshot, SumsSnapshot)
        return snapshot

    def mean(self, group: Hashable) -> Any:
        """Mean of every neuron of a group."""
        return self.snapshot().mean(self.layout.find(group))

    def cov(self, a: Hashable, b: Hashable) -> Any:
        """Covariances of the neurons of two groups, divided by n − 1."""
        if self.n < 2:
            raise MomentsError(f"Covariances need two rows at least; there are {self.n}.")
        return self.snapshot().cov(self.layout.find(a), self.layout.find(b))

    def corr(self, a: Hashable, b: Hashable) -> Any:
        """Pearson correlations of the neurons of two groups; 0 for a neuron that is constant."""
        if self.n < 2:
            raise MomentsError(f"Correlations need two rows at least; there are {self.n}.")
        return self.snapshot().corr(self.layout.find(a), self.layout.find(b))

    # -- how it grows ----------------------------------------------------------------------------

    def update(self, blocks: Mapping[Any, Any], *, part: Hashable = 0) -> Moments:
        """Add rows: for every group the same number, of the same units in the same order.

        ``part`` names the part that they belong to, such as a block of documents. Returns itself.
        """
        if part is None:
            raise MomentsError("None is no name of a part; leave part= out, or name it.")
        named = {g: as_rows(b, str(g)) for g, b in named_blocks(blocks).items()}
        rows = {b.shape[0] for b in named.values()}
        if len(rows) > 1:
            sizes = ", ".join(f"{g}: {b.shape[0]}" for g, b in list(named.items())[:6])
            raise MomentsError(f"All groups need the same rows; they have {sizes}.")
        n = rows.pop()
        layout = Layout({g: b.shape[1] for g, b in named.items()})
        if self._state is None:
            first = next(iter(named.values()))
            xp = array_api_compat.array_namespace(first)
            device = None if numpy_device(xp) else array_api_compat.device(first)
            double = any(is_double(b) for b in named.values())
            precision = choose_precision(self._precision, double=double, width=layout.width)
            self._begin(xp, device, layout, precision)
        else:
            self._require_same(layout)
        assert self._state is not None
        if n:
            self._state.fill({g: named[g] for g in self.groups}, n, part)
        return self

    def _begin(self, xp: Any, device: Any, layout: Layout, precision: str) -> None:
        sample = RowSample(self._rows, self._seed)
        self._state = Accumulator(
            xp, device, layout, precision, keep_parts=self.keep_parts, sample=sample
        )
        if self._given is None:
            return
        given = named_blocks(self._given)
        missing = [str(g) for g in layout.groups if g not in given]
        if missing:
            raise MomentsError(f"The reference says nothing of {', '.join(missing)}.")
        both = [
            xp.concat([as_double(xp, given[g][i], device) for g in layout.groups]) for i in (0, 1)
        ]
        self._state.set_reference(*both)

    def _require_same(self, layout: Layout) -> None:
        widths = self.widths
        missing = [str(g) for g in widths if g not in layout.number]
        new = [str(g) for g in layout.groups if g not in widths]
        if missing or new:
            what = f"{quoted(missing[0])} is missing" if missing else f"{quoted(new[0])} is new"
            raise MomentsError(f"Every update needs the groups of the first: {what}.")
        for group, width in zip(layout.groups, layout.widths, strict=True):
            if width != widths[group]:
                raise MomentsError(f"{group} has {width} neurons; it had {widths[group]} before.")

    def flush(self) -> None:
        """Put rows that wait for more of them into the sums now."""
        if self._state is not None:
            self._state.flush()

    # -- merging and storing ---------------------------------------------------------------------

    def merge(self, other: Moments) -> Moments:
        """Moments of the rows of both; parts of the same name are joined. Neither is changed.

        Associative and commutative up to rounding. The row norms of *standardized* neurons (unbiased CKA with
        ``standardize``) are exact if both have the same ``reference``, and else follow the change of unit to first
        order.
        """
        if not isinstance(other, Moments):
            raise MomentsError(f"Moments merge with moments; got {type(other).__name__}.")
        full = [m for m in (self, other) if m._state is not None]
        keep = all(m.keep_parts for m in full)
        # In the origin and unit of the larger: a few rows know little of either.
        largest = max(full, key=lambda m: m.n, default=self)
        known = largest._state is not None and largest._state.total is not None
        same = all(m.widths == largest.widths for m in full)
        reference = largest.reference if known and same else None
        merged = Moments(
            keep_parts=keep, sample_rows=self._rows, seed=self._seed, reference=reference
        )
        for moments in full:
            merged.absorb(moments)
        return merged

    def absorb(self, other: Moments) -> Moments:
        """Take in the rows of another, in place: `merge` without a copy. Returns itself."""
        if other._state is None:
            return self
        theirs = other._state
        if self._state is None:
            precision = self._precision or theirs.precision
            self._begin(theirs.xp, theirs.device, theirs.layout, precision)
            self.info = self.info or other.info
        assert self._state is not None
        if self._state.layout != theirs.layout:
            raise MomentsError(
                "Only moments of the same groups, in the same order and of the same widths, can be merged."
            )
        self._state.absorb(theirs)
        return self

    def save(self, path: str | Path) -> None:
        """Write everything to one safetensors file."""
        from .storage import save_moments

        save_moments(self, Path(path))

    @staticmethod
    def load(path: str | Path) -> Moments:
        """Read what `save` wrote."""
        from .storage import load_moments

        return load_moments(Path(path))
