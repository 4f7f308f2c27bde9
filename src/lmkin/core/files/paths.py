"""Paths as they are given."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import LmkinError
from ..quotation import quoted

LONGEST_NAME, LONGEST_PATH = 255, 4096
"""Bytes that a file system takes: Linux; others take fewer, and say so."""


def as_path(given: str | Path) -> Path:
    """A path. Raise if it is longer than any file system takes.

    Asking such a path whether it exists would raise an error of the system, with all of it in the message.
    """
    path = Path(given)
    name = max((len(os.fsencode(part)) for part in path.parts), default=0)
    if name > LONGEST_NAME or len(os.fsencode(path)) > LONGEST_PATH:
        raise LmkinError(
            f"No file or folder can be called {quoted(str(given))}: a name has up to {LONGEST_NAME} bytes, a path up "
            f"to {LONGEST_PATH:,}."
        )
    return path


def require_new_file(path: Path, *, overwrite: bool = False) -> None:
    """Raise if something is at the place of a file to be written, unless it may be replaced, which a folder may not."""
    if path.is_dir() and not path.is_symlink():
        raise LmkinError(f"Cannot write {path}: it is a folder. Give the name of a file.")
    if os.path.lexists(path) and not overwrite:
        raise LmkinError(
            f"{path} is there already. Give another name, or replace it with overwrite=True."
        )
