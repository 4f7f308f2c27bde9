"""One writer for a folder at a time; the lock goes with the process, however it ends."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from ..errors import ActivationsError

_NAME = ".lock"


class FolderLock:
    """Held while a folder is written; a second process is told to wait or to go elsewhere."""

    def __init__(self, folder: Path):
        self.path = folder / _NAME
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Take the lock. Raise if another process has it, or if something else is called like it."""
        try:
            import fcntl
        except ImportError:  # not on Windows: two writers there waste time, but harm nothing
            return
        while True:
            descriptor = self._open()
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # Whoever had the lock may have removed the file between our opening and locking it.
                if self._is_ours(descriptor):
                    self._descriptor = descriptor
                    return
                os.close(descriptor)
            except BlockingIOError:
                os.close(descriptor)
                raise ActivationsError(
                    f"Another process is writing to {self.path.parent} at this moment. Wait until it is done, or "
                    f"choose another folder."
                ) from None

    def _open(self) -> int:
        """The lock file, never emptied, never through a link."""
        try:
            descriptor = os.open(
                self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666
            )
        except OSError as error:
            raise ActivationsError(
                f"{self.path} is in the way ({error.strerror}): lmkin keeps a lock of that name while it writes. "
                f"Remove it, or choose another folder."
            ) from None
        if not stat.S_ISREG(os.fstat(descriptor).st_mode) or os.fstat(descriptor).st_size:
            os.close(descriptor)
            raise ActivationsError(
                f"{self.path} is no lock of lmkin, which is an empty file. Remove it, or choose another folder; "
                f"nothing was touched."
            )
        return descriptor

    def _is_ours(self, descriptor: int) -> bool:
        try:
            return os.fstat(descriptor).st_ino == self.path.stat(follow_symlinks=False).st_ino
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Give the lock back."""
        if self._descriptor is not None:
            self.path.unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = None


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Be the only process that writes to a folder. Raise if another one does."""
    lock = FolderLock(folder)
    lock.acquire()
    try:
        yield
    finally:
        lock.release()
