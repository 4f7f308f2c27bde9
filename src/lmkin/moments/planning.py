"""Before the run: what each route takes in memory, and which one fits."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from ..activations.resources import available_memory, human_bytes
from ..errors import MomentsError
from .accumulator import CHUNK
from .groups import PANEL, Group, Layout
from .precision import choose_precision
from .resident import SLOTS
from .sample import ROWS

ROUTES = {
    "panels": "rows in memory, some layers with all others at a time",
    "joint": "all layers of all models at once",
    "pairs": "one pair of models at a time",
    "dual": "units × units instead of neurons × neurons, as there are fewer units than neurons",
}


@dataclass(frozen=True)
class Plan:
    """A route, and what all routes take."""

    route: str
    needs: dict[str, int]
    """Bytes of memory of every route that is possible."""
    budget: int
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
            f"Memory: {sizes}; budget {human_bytes(self.budget)}."
        )


def plan_moments(
    widths: Mapping[Group, int],
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
) -> Plan:
    """Pick the route that fits the memory; an error that says what to change where none does.

    ``memory`` is a number of bytes or a text such as ``"8GB"``; by default what the machine has free, less a tenth.
    ``resident``: whether the rows can be held in memory; ``spectra``: whether the measures need principal components.
    """
    budget = parse_memory(memory)
    if route is not None and route not in ROUTES:
        raise MomentsError(f"Unknown route {route!r}. Known: {', '.join(ROUTES)}.")
    models: dict[str, dict[Group, int]] = {}
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
    needs["joint"] = _joint_bytes(list(widths.values()), n, **size)
    if len(models) > 2:
        needs["pairs"] = max(
            _joint_bytes([*models[a].values(), *models[b].values()], n, **size)
            for a, b in combinations(models, 2)
        )
    if n < max(widths.values()):
        needs["dual"] = _dual_bytes(list(widths.values()), n)
    chosen = route or _choose(needs, budget)
    if chosen not in needs:
        why = {
            "dual": "there are more units than neurons",
            "pairs": "there are two models or fewer",
            "panels": "the rows are not there to be held in memory (they are, for numpy arrays and stored activations)",
        }
        raise MomentsError(f"The route {chosen!r} is not possible here: {why[chosen]}.")
    if needs[chosen] > budget:
        sizes = " or ".join(f"{human_bytes(size)} ({ROUTES[r]})" for r, size in needs.items())
        fewer = ""
        if parts > 1:
            fewer = ", do without intervals or with fewer parts"
        raise MomentsError(
            f"{len(widths)} layers with {wide:,} neurons in all need {sizes}; the budget is {human_bytes(budget)}. "
            f"Compare fewer layers (layers='0,6,12'; on the command line --layers 0,6,12){fewer}, or raise the budget "
            f"(memory='16GB', --memory 16GB)."
        )
    return Plan(chosen, needs, budget, n, wide, len(widths), parts)


def _choose(needs: dict[str, int], budget: int) -> str:
    for route in ("dual", "panels", "joint", "pairs"):
        if route in needs and needs[route] <= budget:
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


_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def parse_memory(memory: float | str | None) -> int:
    """Bytes from ``"8GB"``, ``"500 MB"``, ``"4GiB"`` or a number; None: what is free, less a tenth.

    >>> parse_memory("8GB"), parse_memory("1.5 GiB")
    (8000000000, 1610612736)
    """
    if memory is None:
        return available_memory() * 9 // 10
    if isinstance(memory, int | float) and not isinstance(memory, bool):
        amount = float(memory)
    else:
        found = re.fullmatch(
            r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?)b?\s*", f"{memory}", re.IGNORECASE
        )
        if not found:
            raise MomentsError(
                f"Cannot read {memory!r} as a size of memory. Write it as 8GB or 500MB."
            )
        number, unit, binary = found.groups()
        power = "kmgt".find(unit.lower()) + 1 if unit else 0
        amount = float(number) * (1024**power if binary else _UNITS[unit.lower()])
    if not 0 < amount < math.inf:
        raise MomentsError(f"The memory must be more than nothing; got {memory!r}.")
    return int(amount)
