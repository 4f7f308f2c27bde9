"""Page-aligned memory, and files written from it past the system's page cache.

A store is written once and read later, so a copy of it in the page cache buys little, and costs: on a virtual
machine whose memory is given out page by page, copying into fresh pages took a quarter of the time of a small model.
"""

from __future__ import annotations

import errno
import mmap
import os
from pathlib import Path

PAGE = 4096


def round_up(n: int) -> int:
    """The next multiple of a page."""
    return -(-n // PAGE) * PAGE


def aligned_memory(size: int) -> mmap.mmap:
    """Memory that begins at a page; in large pages where the system has them."""
    if not hasattr(mmap, "MADV_HUGEPAGE"):
        return mmap.mmap(-1, max(size, PAGE))
    memory = mmap.mmap(-1, max(size, PAGE), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_HUGEPAGE)
    return memory


def write_file(path: Path, data: memoryview) -> None:
    """Write ``data``, which begins at a page, to a new file; unbuffered where that is possible."""
    direct = getattr(os, "O_DIRECT", 0)
    whole = len(data) // PAGE * PAGE if direct else 0
    flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0)
    done = 0
    if whole:
        try:
            done = _write(path, flags | direct, data[:whole], 0)
        except OSError as error:
            if error.errno != errno.EINVAL:  # a file system that cannot do it says so
                raise
    _write(path, flags, data[done:], done)


def _write(path: Path, flags: int, data: memoryview, position: int) -> int:
    """Write all of ``data`` from a position on; returns its length."""
    descriptor = os.open(path, flags, 0o666)
    try:
        os.ftruncate(descriptor, position)
        os.lseek(descriptor, position, os.SEEK_SET)
        rest = data
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    finally:
        os.close(descriptor)
    return len(data)
