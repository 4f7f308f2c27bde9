"""Before the run: what each route takes in memory, and which one fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from ..activations import SHARD_BYTES
from ..core import PANEL, Budget, LayerId, Layout, MomentsError, human_bytes, quoted
from ..core import budget as budget_of
from ..rows import CHUNK, RowSource
from .precision import choose_precision
from .resident import SLOTS
from .row_sample import ROWS

ROUTES = {
    "panels": "rows in memory, some layers with all others at a time",
    "joint": "all layers of all models at once",
    "pairs": "one pair of models at a time",
    "dual": "units × units instead of neurons × neurons, as there are fewer units than neurons",
}


_UNBOUNDED = 10**18
STORING = 2 * SHARD_BYTES
"""While models run and their rows are stored: two shards take turns."""


@dataclass(frozen=True)
class RoutePlan:
    """A route, and what all routes take."""

    route: str
    needs: dict[str, int]
    """Bytes of memory of every route that is possible."""
    budget: Budget
    n: int
    neurons: int
    layers: int
    parts: int

    def __str__(self) -> str:
        sizes = "; ".join(
            f"{name} {human_bytes(size)}" + (" (chosen)" if name == self.route else "")
            for name, size in self.needs.items()
        )
        return (
            f"{self.layers} layers, {self.neurons:,} neurons, {self.n:,} units"
            f"{f', {self.parts} parts' if self.parts > 1 else ''}: {ROUTES[self.route]}. "
            f"Memory: {sizes}; of the {human_bytes(self.budget.memory)} for the whole process, "
            f"{human_bytes(self.budget.left)} are left for this."
        )


def plan_moments(
    widths: Mapping[LayerId, int],
    n: int,
    *,
    parts: int = 1,
    precision: str | None = None,
    scalings: int = 1,
    memory: int | str | None = None,
    route: str | None = None,
    rows: int = ROWS,
    double: bool = False,
    resident: bool = False,
    spectra: bool = True,
    forward: int = 0,
    weights: int = 0,
) -> RoutePlan:
    """Pick the route that fits the memory. Raise if none does, saying the least that would.

    ``memory`` bounds the whole process: a number of bytes or a text such as ``"8GB"``; by default what the machine has
    free, less a tenth, on top of what the process holds.
    ``resident``: whether the rows can be held in memory; ``spectra``: whether the measures need principal components;
    ``forward``: bytes of a forward pass of the models that give the rows; ``weights``: of what they are loaded with.
    """
    budget = budget_of(memory, models=weights)
    if route is not None and route not in ROUTES:
        raise MomentsError(f"Unknown route {quoted(route)}. Known: {', '.join(ROUTES)}.")
    models: dict[str, dict[LayerId, int]] = {}
    for group, width in widths.items():
        models.setdefault(group.model, {})[group] = width
    wide = sum(widths.values())
    size = {
        "parts": parts,
        "scalings": scalings,
        "rows": min(rows, n),
        "itemsize": 8 if choose_precision(precision, double=double, width=wide) == "float64" else 4,
    }
    needs = {}
    if resident:
        needs["panels"] = _panel_bytes(Layout(widths), n, spectra=spectra, **size)
    needs["joint"] = forward + _joint_bytes(list(widths.values()), n, **size)
    if len(models) > 2:
        needs["pairs"] = max(
            _joint_bytes([*models[a].values(), *models[b].values()], n, **size)
            for a, b in combinations(models, 2)
        )
        if forward:  # models run first, and their rows are stored
            needs["pairs"] = max(needs["pairs"], forward + STORING)
    if n < max(widths.values()):
        needs["dual"] = forward + _dual_bytes(list(widths.values()), n)
    route_name = route or _choose(needs, budget)
    if route_name not in needs:
        why = {
            "dual": "there are more units than neurons",
            "pairs": "there are two models or fewer",
            "panels": "the rows are not there to be held in memory (they are, for numpy arrays and stored activations)",
        }
        raise MomentsError(
            f"The route {quoted(route_name)} is not possible here: {why[route_name]}."
        )
    if not budget.fits(needs[route_name]):
        fewer = ""
        if parts > 1:
            fewer = ", do without intervals or with fewer parts"
        what = f"{len(widths)} layers with {wide:,} neurons ({ROUTES[route_name]})"
        least = budget.least(needs[route_name]).replace(" ", "")
        raise MomentsError(
            f"{budget.refusal(needs[route_name], what)} "
            f"Compare fewer layers (layers='0,6,12'){fewer}, or raise the budget "
            f"(memory='{least}')."
        )
    return RoutePlan(route_name, needs, budget, n, wide, len(widths), parts)


def plan_source(source: RowSource, **options: Any) -> RoutePlan:
    """The plan for the rows of a source, as `plan_moments` makes it; batches of models shrink where that helps."""
    known = {
        "double": source.double,
        "resident": source.resident,
        "weights": source.weights,
        **options,
    }
    if source.forward_memory:
        generous = plan_moments(source.widths, source.n, **{**known, "memory": _UNBOUNDED})
        route = known.get("route")
        needs = [size for name, size in generous.needs.items() if route in (None, name)]
        left = budget_of(known.get("memory")).left
        source.fit_batches(left - min(needs, default=0))
    return plan_moments(source.widths, source.n, forward=source.forward_memory, **known)


def _choose(needs: dict[str, int], budget: Budget) -> str:
    for route in ("dual", "panels", "joint", "pairs"):
        if route in needs and budget.fits(needs[route]):
            return route
    return min(needs, key=lambda r: needs[r])


def _joint_bytes(
    widths: Sequence[int], n: int, *, parts: int, scalings: int, rows: int, itemsize: int
) -> int:
    """Sums (total in float64, parts as products are made), a chunk of rows and its squares, spectra, kept rows."""
    wide, widest = sum(widths), max(widths)
    triangle = wide * (wide + min(wide, PANEL + widest)) // 2
    sums = triangle * (8 + (itemsize * parts + 4 if parts > 1 else 0))
    chunk = min(CHUNK, max(n, 512))
    buffers = wide * itemsize * (2 * chunk + widest + rows)
    spectra = sum(w * w for w in widths) * 8 * (1 + scalings)
    return sums + buffers + spectra + 24 * widest * widest * 8


def _panel_bytes(
    layout: Layout,
    n: int,
    *,
    parts: int,
    scalings: int,
    rows: int,
    itemsize: int,
    spectra: bool,
) -> int:
    """Rows, products of a panel and of each layer with itself in every part, and spectra of all replicates."""
    wide, widest = layout.width, max(layout.widths)
    slots = parts if parts > 1 else min(SLOTS, -(-n // CHUNK))
    panel = int(max((p.stop - p.start) * (wide - p.start) for p in layout.panels)) * itemsize
    panel *= slots + (n > slots * CHUNK)  # one more to add up what is made in pieces
    own = sum(w * w for w in layout.widths)
    replicates = parts + 1 if parts > 1 else 1
    spectra_bytes = own * (8 + itemsize) * 2 * scalings * replicates if spectra else 0
    sums = wide * len(layout.groups) * 8 * (3 * (slots + 1) + 2 * replicates)
    kept = wide * itemsize * (n + slots + rows + 512)
    return (
        kept
        + panel
        + own * (8 + itemsize * slots)
        + spectra_bytes
        + sums
        + 48 * widest * widest * 8
    )


def _dual_bytes(widths: Sequence[int], n: int) -> int:
    """Rows, centred and standardized, with left and right singular vectors of each layer."""
    return sum(n * w * 8 * 5 + n * n * 8 * 3 for w in widths)
