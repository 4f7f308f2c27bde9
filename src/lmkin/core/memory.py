"""Memory: what the process holds, what it may still take, and the budget that bounds its peak.

The measure is the resident set of the whole process: Python, libraries, weights and rows alike. Pages of stored
activations are mapped from their files, and let go as soon as they are read, so they do not add up in it.
"""

from __future__ import annotations

import importlib
import math
import os
import re
from dataclasses import dataclass
from pathlib import Path

import psutil

from .errors import ActivationsError, LmkinError
from .quotation import quoted

LIBRARIES = 120_000_000
"""What libraries take after the plan: compiled loops, buffers of products for every thread, what an allocator keeps."""
REPORT = 230_000_000
"""What tables, the page and its charts take when the analysis is over; charts are drawn by a JavaScript engine."""
_LOADED = ("numba", "scipy.linalg", "scipy.cluster.hierarchy", "threadpoolctl", "xarray")
"""Every analysis comes to need these: loaded before the plan is made, they are measured, not guessed."""
_first: list[int] = []
"""What the process held when the first plan was made: what it has grown by since is no longer to come."""
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def human_bytes(n: float) -> str:
    """A size as people read it.

    >>> human_bytes(270_000_000)
    '270 MB'
    """
    for unit in ("B", "kB", "MB", "GB"):
        if n < 1000:
            return f"{n:.0f} {unit}" if unit in ("B", "kB", "MB") or n >= 100 else f"{n:.1f} {unit}"
        n /= 1000
    return f"{n:.1f} TB"


def process_memory() -> int:
    """Bytes of this process that are resident now."""
    return int(psutil.Process().memory_info().rss)


def available_memory() -> int:
    """Bytes that this process may still take: of the machine, its container, its own limit."""
    limits = [int(psutil.virtual_memory().available)]
    group = Path("/sys/fs/cgroup")
    try:
        limit = (group / "memory.max").read_text().strip()
        if limit != "max":
            limits.append(int(limit) - int((group / "memory.current").read_text()))
    except (OSError, ValueError):
        pass
    try:
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
        if soft != resource.RLIM_INFINITY:
            limits.append(soft - int(psutil.Process().memory_info().vms))
    except ImportError:  # not on Windows
        pass
    return max(0, min(limits))


def require_memory(needed: int, remedy: str) -> None:
    """Raise if ``needed`` bytes of memory are not to be had, before anything is computed."""
    free = available_memory()
    if needed > free:
        raise ActivationsError(
            f"This needs about {human_bytes(needed)} of memory and {human_bytes(free)} are free. {remedy}"
        )


def parse_memory(memory: float | str | None) -> int | None:
    """Bytes from ``"8GB"``, ``"500 MB"``, ``"4GiB"`` or a number; None stays None. Raise if it is no size.

    >>> parse_memory("8GB"), parse_memory("1.5 GiB")
    (8000000000, 1610612736)
    """
    if memory is None:
        return None
    if isinstance(memory, int | float) and not isinstance(memory, bool):
        amount = float(memory)
    else:
        match = re.fullmatch(
            r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?)b?\s*", f"{memory}", re.IGNORECASE
        )
        if not match:
            raise LmkinError(
                f"Cannot read {quoted(memory)} as a size of memory. Write it as 8GB or 500MB."
            )
        number, unit, binary = match.groups()
        power = "kmgt".find(unit.lower()) + 1 if unit else 0
        amount = float(number) * (1024**power if binary else _UNITS[unit.lower()])
    if not 0 < amount < math.inf:
        raise LmkinError(f"The memory must be more than nothing; got {quoted(memory)}.")
    return int(amount)


@dataclass(frozen=True)
class Budget:
    """The most that the whole process may come to hold, and what of it is spoken for before an analysis begins."""

    memory: int
    """The bound, in bytes."""
    process: int
    """Resident now."""
    models: int = 0
    """Weights, a part of ``process``."""
    libraries: int = LIBRARIES
    """What libraries are still to take."""

    @property
    def left(self) -> int:
        """What an analysis may take."""
        return max(0, self.memory - self.process - self.libraries)

    def fits(self, analysis: int) -> bool:
        """Whether an analysis of so many bytes, and the report after it, keep to the bound."""
        return max(analysis, REPORT) <= self.left

    def least(self, analysis: int) -> str:
        """The least bound that will do, with a little to spare: the process is not of the same size twice."""
        whole = 1.03 * (self.process + self.libraries + max(analysis, REPORT))
        steps = math.ceil(whole / 10_000_000)  # never rounded down: it is to be enough
        return f"{steps * 10} MB" if steps < 100 else f"{steps / 100:.2f} GB"

    def refusal(self, analysis: int, what: str) -> str:
        """What to tell about an analysis that does not fit; ``what`` names it."""
        python = self.process - self.models + self.libraries
        models = f", the models {human_bytes(self.models)}" if self.models else ""
        report = f" (the report after it {human_bytes(REPORT)})" if analysis < REPORT else ""
        return (
            f"The budget is {human_bytes(self.memory)} for the whole process, and at least "
            f"{self.least(analysis)} would do: Python and libraries take {human_bytes(python)}{models}, "
            f"{what} {human_bytes(analysis)}{report}."
        )


def budget(memory: float | str | None, *, models: int = 0) -> Budget:
    """The budget of an analysis that is about to begin; ``memory`` None: what is free, less a tenth.

    ``models``: bytes of the weights that are loaded.
    """
    for name in _LOADED:
        importlib.import_module(name)
    release_memory()
    bound = parse_memory(memory)
    process = process_memory()
    if bound is None:
        bound = process + available_memory() * 9 // 10
    _first[:] = _first or [process]
    grown = max(0, process - _first[0])
    return Budget(bound, process, models, max(0, LIBRARIES - grown))


def release_memory() -> None:
    """Give memory that was freed back to the system, where the C library keeps it."""
    if os.name != "posix":
        return
    import ctypes

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc alone has it
    if trim is not None:
        trim(0)
