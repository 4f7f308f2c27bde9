"""What a run needs and what the machine has: bytes on disk and in memory."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import psutil

from ..errors import ActivationsError


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
    """An error, before anything is computed, if ``needed`` bytes of memory are not to be had."""
    free = available_memory()
    if needed > free:
        raise ActivationsError(
            f"This needs about {human_bytes(needed)} of memory and {human_bytes(free)} are free. {remedy}"
        )


def require_disk(needed: int, folder: Path) -> None:
    """An error, before anything is computed, if ``needed`` bytes do not fit on the disk."""
    existing = folder.absolute()
    while not existing.exists():
        existing = existing.parent
    if not os.access(existing, os.W_OK):
        raise ActivationsError(f"Cannot write to {existing}: no permission.")
    free = shutil.disk_usage(existing).free
    if needed > free:
        raise ActivationsError(
            f"The activations take {human_bytes(needed)} on disk, and {folder} has {human_bytes(free)} free. "
            f"Keep fewer layers (layers=[…]), store them as float16, or choose another disk."
        )
