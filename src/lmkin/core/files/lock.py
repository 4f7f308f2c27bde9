"""One writer for a folder at a time; the lock goes with the process, however it ends."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

from ..errors import ActivationsError

_NAME = ".lock"


class FolderLock:
    """Held while a store is written; a second process is told to wait or to go elsewhere."""

    def __init__(self, folder: Path):
        self.path = folder / _NAME
        self._file: IO[str] | None = None

    def acquire(self) -> None:
        """Take the lock, or say who has it."""
        try:
            import fcntl
        except ImportError:  # not on Windows: two writers there waste time, but harm nothing
            return
        while True:
            file = self.path.open("w")
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # Whoever had the lock may have removed the file between our opening and locking it.
                if self.path.exists() and os.fstat(file.fileno()).st_ino == self.path.stat().st_ino:
                    self._file = file
                    return
                file.close()
            except BlockingIOError:
                file.close()
                raise ActivationsError(
                    f"Another process is writing to {self.path.parent} at this moment. Wait until it is done, or "
                    f"choose another folder."
                ) from None

    def release(self) -> None:
        """Give the lock back."""
        if self._file is not None:
            self.path.unlink(missing_ok=True)
            self._file.close()
            self._file = None
