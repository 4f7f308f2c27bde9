"""The gate for what is written: files that appear whole or not at all, and never through a link."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path

from safetensors import SafetensorError

from ..errors import ActivationsError

LEFT_BEHIND = re.compile(r"\..+\.[0-9a-f]{16}\.tmp")
"""What a kill leaves behind: a temporary name of ours."""


def _umask() -> int:
    """The process's mask for new files; there is no way to read it but to set it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _disk_is_full(error: Exception) -> bool:
    """By its number; safetensors has an error of its own, with the number in the text."""
    numbers = (errno.ENOSPC, errno.EDQUOT)
    if isinstance(error, OSError):
        return error.errno in numbers
    return any(f"os error {n})" in str(error) for n in numbers)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary name to write to; when all went well it is flushed and renamed to ``path``.

    The name cannot be guessed, and the file is new (``O_EXCL``), so that no link that somebody laid there is followed;
    a link at ``path`` itself is replaced, not written through.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = _new_file(path)
    try:
        yield temporary
        _flush(temporary)
        temporary.chmod(0o666 & ~_umask())  # some libraries write for the owner alone
        temporary.replace(path)
        _flush(path.parent)
    except (OSError, SafetensorError) as error:
        if _disk_is_full(error):
            raise ActivationsError(
                f"The disk is full: {path} could not be written. What was finished before is kept; "
                f"make room and run the same command again to go on."
            ) from error
        raise
    finally:
        temporary.unlink(missing_ok=True)


def _new_file(path: Path) -> Path:
    """An empty file beside ``path`` that nobody else has open, or could have laid there."""
    # A long name has no room for a longer one: what matters is that the end cannot be guessed.
    stem = os.fsdecode(os.fsencode(path.name)[:200])
    temporary = path.with_name(f".{stem}.{secrets.token_hex(8)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    os.close(os.open(temporary, flags, 0o600))
    return temporary


def _flush(path: Path) -> None:
    """Hand a file, or the names in a folder, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EBADF):  # folders of some file systems
            raise
    finally:
        os.close(descriptor)


def remove_left_behind(folder: Path) -> None:
    """Remove what a process that was killed left half-written in a folder; links and folders stay."""
    for path in folder.iterdir():
        if LEFT_BEHIND.fullmatch(path.name) and path.is_file() and not path.is_symlink():
            path.unlink(missing_ok=True)
