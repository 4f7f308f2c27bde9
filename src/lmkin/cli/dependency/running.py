"""Decompositions one length after another; each is written down when it is finished, so that a run can go on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import xarray as xr

from ... import __version__
from ...errors import LmkinError
from ..output import busy, say

EXHAUSTIVE = 8
"""Up to so many models all subsets are tried, unless sizes are asked for."""
PORTFOLIO = ("drop_order", "best_subsets", "unique", "unexplained")
_RESULT = "result.nc"
_SUMS = ("moments.safetensors", "shuffled.safetensors", "kept.safetensors", "kept.part")
Portfolio = dict[str, xr.Dataset]


@dataclass(frozen=True)
class Plan:
    """What is decomposed: models that read the texts of a corpus, at some lengths or as they are."""

    models: Sequence[Any]
    corpus: Any
    lengths: tuple[int, ...] = ()
    tokenizer: Any = None
    limit: int | None = None
    options: dict[str, Any] = field(default_factory=dict)
    """For `lmkin.decompose`."""
    subsets: str = "auto"

    @property
    def jobs(self) -> tuple[int | None, ...]:
        """Lengths, the largest first, so that a corpus that is too short for it is known at once; None: as they are."""
        return tuple(sorted(self.lengths, reverse=True)) or (None,)

    def texts(self, length: int | None) -> Any:
        """What the models read at a length."""
        if length is None:
            return self.corpus
        from ...dependency import cut_sequences

        with busy(f"Cutting texts of {length} tokens …"):
            return cut_sequences(self.corpus, self.tokenizer, length, limit=self.limit)

    def reading(self, length: int | None) -> dict[str, Any]:
        """How they are read: at a length, each model reads so many tokens of its own."""
        return {} if length is None else {"max_length": length, "long": "truncate"}


def decompose_all(plan: Plan, unfinished: Path) -> tuple[xr.Dataset, Portfolio]:
    """The result, with several lengths along ``length``, and the portfolio of the largest."""
    found: dict[int | None, xr.Dataset] = {}
    portfolio: Portfolio = {}
    for length in plan.jobs:
        corpus = plan.texts(length)
        folder = unfinished / ("texts" if length is None else f"length-{length}")
        key = _key(plan, corpus, length)
        wanted = length == plan.jobs[0]
        earlier = _load(folder, key, wanted)
        if earlier is not None:
            name = "what was computed" if length is None else f"the result for {length} tokens"
            say(f"Going on: {name} is there from an earlier run.")
        else:
            if length is not None:
                say(f"Length {length}: {len(corpus):,} texts.")
            _save(folder, key, *_decompose(plan, corpus, length, folder, portfolio=wanted))
            # Read back, so that a run that goes on gives the same to the letter.
            earlier = _load(folder, key, wanted)
            assert earlier is not None
        found[length] = earlier[0]
        portfolio |= earlier[1]
    from ...dependency import join_lengths

    if None in found:
        return found[None], portfolio
    return join_lengths({t: found[t] for t in sorted(plan.lengths)}, plan.corpus.name), portfolio


def _decompose(
    plan: Plan, corpus: Any, length: int | None, folder: Path, *, portfolio: bool
) -> tuple[xr.Dataset, Portfolio]:
    from ...dependency import decompose

    options = {**plan.options, **plan.reading(length)}
    found = decompose(plan.models, corpus, checkpoint=folder, say=say, **options)
    return found.data, make_portfolio(found, plan.subsets, length) if portfolio else {}


def limits_said(models: Sequence[Any], lengths: Sequence[int]) -> list[str]:
    """A sentence for each model that reads fewer tokens than a length asks for."""
    lines = []
    for model in models:
        limit = getattr(model, "limit", None)
        above = [t for t in lengths if limit is not None and t > limit]
        if above:
            asked = ", ".join(map(str, above))
            lines.append(
                f"{model.name} reads {limit} tokens at once: where {asked} are asked for, it reads the first {limit} "
                f"of each text."
            )
    return lines


# -- which models to keep ---------------------------------------------------------------------------


def make_portfolio(found: Any, subsets: str, length: int | None = None) -> Portfolio:
    """Drop order, best subsets, unique shares, and what is not explained of every model."""
    made = {"drop_order": found.drop_order(), "unique": found.unique()}
    sizes, exhaustive = _sizes(subsets, len(found.drop_order()["step"]) + 1)
    if sizes is None or sizes:
        made["best_subsets"] = found.best_subsets(sizes, exhaustive=exhaustive)
    made["unexplained"] = found.unexplained()
    for table in made.values():
        if length is not None:
            table.attrs["length"] = length
    return made


def _sizes(subsets: str, count: int) -> tuple[list[int] | None, bool | None]:
    """Sizes (None: all) and whether all subsets are tried (None: as the library does)."""
    if subsets == "auto":
        return None, count <= EXHAUSTIVE
    return subset_sizes(subsets), None


def subset_sizes(subsets: str) -> list[int] | None:
    """Sizes of subsets from ``all`` (or ``auto``), ``none`` or numbers such as ``1,3-5``."""
    if subsets in ("all", "auto"):
        return None
    if subsets == "none":
        return []
    sizes: list[int] = []
    try:
        for piece in subsets.split(","):
            low, _, high = piece.partition("-")
            sizes += range(int(low), int(high or low) + 1)
    except ValueError:
        sizes = []
    if not sizes or min(sizes) < 1:
        raise LmkinError(
            f"--subsets is all, none, or sizes such as 1,3-5; got {subsets!r}. Default: all sizes, every subset of up "
            f"to {EXHAUSTIVE} models."
        )
    return sorted(set(sizes))


def check_sizes(subsets: str, count: int) -> None:
    """An error for sizes that so many models do not have."""
    wrong = [k for k in subset_sizes(subsets) or () if k >= count]
    if wrong and count > 1:
        raise LmkinError(
            f"--subsets: a subset has 1 to {count - 1} of the {count} models; got {', '.join(map(str, wrong))}."
        )


# -- going on after a kill --------------------------------------------------------------------------


def _key(plan: Plan, corpus: Any, length: int | None) -> str:
    """Everything that the numbers depend on."""
    what = {
        "lmkin": __version__,
        "models": [m.identity() for m in plan.models],
        "corpus": corpus.hash,
        "length": length,
        "options": plan.options,
        "subsets": plan.subsets,
    }
    text = json.dumps(what, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _save(folder: Path, key: str, result: xr.Dataset, portfolio: Portfolio) -> None:
    """Write a finished length down; the result comes last, for it says that all is there."""
    from ...results import save_result

    for name, table in portfolio.items():
        save_result(table, folder / f"{name}.nc")
    marked = result.copy()
    marked.attrs = {**result.attrs, "key": key, "portfolio": list(portfolio)}
    save_result(marked, folder / _RESULT)
    for name in _SUMS:
        (folder / name).unlink(missing_ok=True)


def _load(folder: Path, key: str, wanted: bool) -> tuple[xr.Dataset, Portfolio] | None:
    """A finished length, with the portfolio if that is wanted; None if it is not there, or of another command."""
    from ...results import load_result

    try:
        result = load_result(folder / _RESULT)
        names = result.attrs.pop("portfolio", [])
        if result.attrs.pop("key", None) != key or (wanted and not names):
            return None
        return result, {name: load_result(folder / f"{name}.nc") for name in names if wanted}
    except LmkinError:
        return None


def remove_finished(unfinished: Path) -> None:
    """Remove what was kept of an unfinished run, and nothing else; then the folders, if they are empty."""
    names = (_RESULT, *_SUMS, *(f"{name}.nc" for name in PORTFOLIO))
    for folder in (unfinished / "texts", *unfinished.glob("length-*")):
        # What a kill left half-written has a name of ours, or of the library that writes.
        for name in (*names, *(f".{n}.*.tmp" for n in names), ".tmp??????"):
            for path in folder.glob(name):
                path.unlink(missing_ok=True)
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
    if unfinished.is_dir() and not any(unfinished.iterdir()):
        unfinished.rmdir()
