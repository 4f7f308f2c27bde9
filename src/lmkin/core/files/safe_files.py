"""The gate for what is read: regular files only, of a size that was expected, and none outside its folder."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import BinaryIO

from ..errors import LmkinError
from ..quotation import quoted

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,200}")
MANIFEST_BYTES = 256 * 2**20
"""More than any manifest, list or description has."""


def open_file(path: Path, *, links: bool = True, error: type[LmkinError] = LmkinError) -> BinaryIO:
    """A regular file, opened for reading. Raise if it is none (a folder, pipe or device), or cannot be opened.

    ``links=False``: nor a link, as for the files of a folder that lmkin wrote, which are none.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    if not links:
        flags |= getattr(os, "O_NOFOLLOW", 0)
    try:
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        raise error(f"There is no file {path}.") from None
    except (OSError, ValueError) as problem:
        if not links and path.is_symlink():
            raise error(f"{path} is a link; lmkin writes none there, and follows none.") from None
        said = getattr(problem, "strerror", None) or str(problem)
        raise error(f"{path} cannot be opened: {said}.") from None
    try:
        require_regular(descriptor, path, error)
    except BaseException:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def require_regular(descriptor: int, path: Path, error: type[LmkinError] = LmkinError) -> int:
    """The size of an open file. Raise if it is no regular one."""
    mode = os.fstat(descriptor)
    if stat.S_ISDIR(mode.st_mode):
        raise error(f"{path} is a folder; a file is expected.")
    if not stat.S_ISREG(mode.st_mode):
        raise error(
            f"{path} is no regular file but a pipe, device or socket, which lmkin does not read."
        )
    return mode.st_size


def require_file(path: Path, error: type[LmkinError] = LmkinError) -> None:
    """Raise if something is no regular file, before a library opens it by its name."""
    open_file(path, error=error).close()


def read_file(
    path: Path,
    limit: int = MANIFEST_BYTES,
    *,
    links: bool = True,
    error: type[LmkinError] = LmkinError,
) -> bytes:
    """The bytes of a regular file. Raise if it has more than ``limit``."""
    with open_file(path, links=links, error=error) as file:
        size = os.fstat(file.fileno()).st_size
        if size > limit:
            raise error(
                f"{path} has {size:,} bytes, {limit:,} at most are expected. It was not read."
            )
        try:
            return file.read(size)
        except (OSError, MemoryError) as problem:
            said = (
                problem.strerror if isinstance(problem, OSError) else "it does not fit into memory"
            )
            raise error(f"{path} cannot be read: {said}.") from None


def member(folder: Path, name: object, error: type[LmkinError] = LmkinError) -> Path:
    """A file of a folder by the name that a manifest gives. Raise if the name could lead out of the folder.

    >>> member(Path("store"), "shard-00000.safetensors").name
    'shard-00000.safetensors'
    """
    if not isinstance(name, str) or not _PLAIN_NAME.fullmatch(name):
        raise error(
            f"{folder} names a file {quoted(name)}, which is no name of a file inside it. It was changed, or is not "
            f"lmkin's."
        )
    path = folder / name
    # Not Path.resolve, which raises for links that go in a circle.
    if (
        path.is_symlink()
        and Path(os.path.realpath(folder)) not in Path(os.path.realpath(path)).parents
    ):
        raise error(f"{path} is a link that leads out of its folder; lmkin does not follow it.")
    return path
