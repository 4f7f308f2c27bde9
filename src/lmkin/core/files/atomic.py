"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

from safetensors import SafetensorError

from ..errors import ActivationsError


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
    """A temporary name to write to; when all went well it is flushed and renamed to ``path``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.chmod(0o666 & ~_umask())  # some libraries write for the owner alone
        temporary.replace(path)
    except (OSError, SafetensorError) as error:
        if _disk_is_full(error):
            raise ActivationsError(
                f"The disk is full: {path} could not be written. What was finished before is kept; "
                f"make room and run the same command again to go on."
            ) from error
        raise
    finally:
        temporary.unlink(missing_ok=True)
