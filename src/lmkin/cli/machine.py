"""The machine: folders that can be written to, and threads."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ..errors import LmkinError


def require_folder(out: Path) -> None:
    """An error, before anything is computed, if results cannot be written there."""
    if out.exists() and not out.is_dir():
        raise LmkinError(f"{out} is a file; give the name of a folder with -o DIR.")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LmkinError(
            f"Cannot make the folder {out}: {error.strerror}. Give another one with -o DIR."
        ) from error
    if not os.access(out, os.W_OK):
        raise LmkinError(f"Cannot write to {out}: no permission. Give another folder with -o DIR.")


def limit_threads(threads: int) -> None:
    """So many threads for models and for products."""
    os.environ["OMP_NUM_THREADS"] = str(threads)
    import torch
    from threadpoolctl import threadpool_limits

    torch.set_num_threads(threads)
    threadpool_limits(threads)


def remove_unfinished(folder: Path) -> None:
    """Remove what was kept of an unfinished run, and nothing else; then the folder, if it is empty."""
    names = ("part-*.safetensors", "attention-*.safetensors", "attention-*.moments")
    # What a kill left half-written has a name of ours, or of the library that writes.
    for name in (*names, *(f".{n}.*.tmp" for n in names), ".tmp??????"):
        for path in folder.glob(name):
            path.unlink(missing_ok=True)
    shutil.rmtree(folder / "activations", ignore_errors=True)
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
