"""A cache between processes that only the user can have written: text that takes long to make, by name."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from pathlib import Path

from ..errors import LmkinError
from .atomic import remove_left_behind, replacing
from .safe_files import read_file

_MOST = 64 * 2**20
"""Bytes of a text that is kept."""


def cache_folder() -> Path | None:
    """``$XDG_CACHE_HOME/lmkin``, or ``~/.cache/lmkin``; None where there is no such place.

    As the standard says, a relative ``XDG_CACHE_HOME`` does not count. A home that does not exist is not made.
    """
    root = Path(os.environ.get("XDG_CACHE_HOME") or ".")
    if not root.is_absolute():
        try:
            home = Path("~").expanduser()
        except RuntimeError:  # nobody's home
            return None
        if home == Path(home.anchor):  # what an empty HOME becomes
            return None
        root = home / ".cache"
    return root / "lmkin" if root.is_absolute() and root.parent.is_dir() else None


def read_cached(name: str) -> str | None:
    """A text as `keep_cached` kept it; None where it is absent, damaged, or may have been written by somebody else."""
    folder = cache_folder()
    if folder is None or not _is_private(folder):
        return None
    try:
        digest, _, text = read_file(folder / name, _MOST, links=False).partition(b"\n")
        # It finds what was cut off; against people stands the folder, which nobody else can write to.
        return text.decode() if digest == _first_line(text) else None
    except (LmkinError, UnicodeDecodeError):
        return None


def keep_cached(name: str, text: str) -> None:
    """Keep a text for later processes; where there is no place, no room or no permission, nothing happens."""
    folder = cache_folder()
    if folder is None:
        return
    with contextlib.suppress(OSError, LmkinError):
        folder.parent.mkdir(mode=0o700, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        if not _is_private(folder):
            return
        remove_left_behind(folder)
        with replacing(folder / name) as temporary:
            temporary.write_bytes(_first_line(text.encode()) + b"\n" + text.encode())


def _is_private(folder: Path) -> bool:
    """Whether it is a folder of this user's, and no link, that nobody else can write to."""
    try:
        about = folder.lstat()
    except OSError:
        return False
    mine = not hasattr(os, "geteuid") or about.st_uid == os.geteuid()
    return stat.S_ISDIR(about.st_mode) and mine and not about.st_mode & 0o022


def _first_line(text: bytes) -> bytes:
    return f"// sha256 {hashlib.sha256(text).hexdigest()}".encode()
