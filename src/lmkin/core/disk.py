"""What a run needs and what the machine has: bytes on disk."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from .errors import ActivationsError
from .memory import human_bytes


def require_disk(needed: int, folder: Path) -> None:
    """Raise if ``needed`` bytes do not fit on the disk, before anything is computed."""
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
