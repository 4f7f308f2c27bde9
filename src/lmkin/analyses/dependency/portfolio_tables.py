"""A portfolio: which models to keep, in which order to switch off, and what each alone knows, in one dict."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xarray as xr

from ...core import MeasureError, is_whole, quoted
from ...results import load_result

if TYPE_CHECKING:
    from .result import Dependency

PORTFOLIO = ("drop_order", "best_subsets", "unique", "unexplained")
"""Names of its tables, in the order in which people read them."""
FEW = 8
"""Up to so many models every subset is tried by default; above, one model is added at a time."""
SubsetSizes = str | int | Sequence[int]


def compute_portfolio(
    dependency: Dependency, subsets: SubsetSizes = "auto", *, progress: bool | None = None
) -> dict[str, xr.Dataset]:
    """Drop order, unique shares, best subsets (unless ``none``), and what is not explained of every model."""
    sizes = subset_sizes(subsets)
    order = dependency.drop_order(progress=progress)
    count = order.sizes["step"] + 1
    check_sizes(subsets, count)
    made = {"drop_order": order, "unique": dependency.unique()}
    if sizes is None or sizes:
        exhaustive = count <= FEW if subsets == "auto" else None
        made["best_subsets"] = dependency.best_subsets(
            sizes, exhaustive=exhaustive, progress=progress
        )
    made["unexplained"] = dependency.unexplained()
    return {name: made[name] for name in PORTFOLIO if name in made}


def subset_sizes(subsets: SubsetSizes) -> list[int] | None:
    """Sizes of subsets from ``all`` (or ``auto``): None; ``none``: no size; or numbers such as ``1,3-5``, or a list.

    >>> subset_sizes("1,3-5"), subset_sizes("none"), subset_sizes([2, 1])
    ([1, 3, 4, 5], [], [1, 2])
    """
    if isinstance(subsets, str):
        if subsets in ("all", "auto"):
            return None
        if subsets == "none":
            return []
    sizes: list[Any] = []
    try:
        if isinstance(subsets, str):
            for piece in subsets.split(","):
                low, dash, high = piece.partition("-")
                sizes += range(int(low), int(high if dash else low) + 1)
        else:
            sizes = [subsets] if isinstance(subsets, int) else list(subsets)
    except (TypeError, ValueError):
        sizes = []
    if not sizes or not all(is_whole(size) and size >= 1 for size in sizes):
        raise MeasureError(
            f"subsets is all, none, or sizes such as 1,3-5; got {quoted(subsets)}. Default: all sizes, every subset "
            f"of up to {FEW} models."
        )
    return sorted(set(sizes))


def check_sizes(subsets: SubsetSizes, count: int) -> None:
    """Raise if so many models have no subsets of such sizes."""
    wrong = [k for k in subset_sizes(subsets) or () if k >= count]
    if wrong and count > 1:
        raise MeasureError(
            f"subsets: a subset has 1 to {count - 1} of the {count} models; got {', '.join(map(str, wrong))}."
        )


def load_portfolio(name: str, path: Path) -> xr.Dataset:
    """A table of a portfolio; netCDF has no true and false."""
    table = load_result(path)
    truths = {"drop_order": "carried", "best_subsets": "kept"}
    if name in truths:
        table[truths[name]] = table[truths[name]].astype(bool)
    return table
