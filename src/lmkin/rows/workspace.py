"""`Workspace`: unfinished work on disk, so that a run that is killed goes on where it stopped."""

from __future__ import annotations

import logging
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from ..core import (
    LmkinError,
    Whole,
    as_path,
    fingerprint,
    quoted,
    read_json,
    replacing,
    to_json,
)

_log = logging.getLogger("lmkin")
Value = TypeVar("Value")
UNFINISHED = "unfinished"
"""The folder of unfinished work in a folder of results."""
_RUN = "run"
_ABOUT = {"analysis?": str, "command?": str, "begun?": str, "steps?": {str: Whole()}}
"""What a workspace says of the run that it is of; ``steps``: how many there are to be, by name."""
_NAME = r"[a-z0-9_-]+\.[0-9a-f]{32}\.[a-z]+"
_OWN = re.compile(_NAME)
_HALF_WRITTEN = re.compile(rf"\.{_NAME}\.[0-9a-z]+\.tmp|\.tmp\w{{6}}")
"""What a kill leaves behind: a temporary name of ours, or of the safetensors library."""


class Workspace:
    """A folder with a file for every finished step, under a name made of what the step depends on.

    Files of another run have other names, so they are never taken for this one's; a damaged file is made again. Without
    a folder nothing is kept.

    Parameters
    ----------
    folder
        Where finished steps are kept; None: nowhere.
    key
        Plain data: what the numbers of every step depend on.
    """

    def __init__(self, folder: str | Path | None = None, key: Mapping[str, Any] | None = None):
        if not isinstance(folder, str | Path | None):
            raise LmkinError(f"A workspace is a folder for unfinished work; got {quoted(folder)}.")
        self.folder = None if folder is None else as_path(folder)
        self.key = dict(key or {})

    @classmethod
    def of(cls, given: str | Path | Workspace | None) -> Workspace:
        """A workspace in a folder; one that is given as it is; None: one that keeps nothing."""
        return given if isinstance(given, Workspace) else cls(given)

    @property
    def keeps(self) -> bool:
        """Whether finished steps are kept."""
        return self.folder is not None

    def within(self, **key: Any) -> Workspace:
        """The same folder, for steps that depend on more."""
        return Workspace(self.folder, {**self.key, **key})

    def path(self, name: str, ending: str = "safetensors") -> Path:
        """Where a step is kept: its name, the fingerprint of what it depends on, and the kind of file."""
        if self.folder is None:
            raise ValueError("This workspace has no folder.")
        return self.folder / f"{name}.{fingerprint([name, self.key])}.{ending}"

    def load(
        self, name: str, load: Callable[[Path], Value], ending: str = "safetensors"
    ) -> Value | None:
        """A finished step; None where it is not there, or damaged."""
        if self.folder is None or not self.path(name, ending).exists():
            return None
        try:
            return load(self.path(name, ending))
        except LmkinError:
            return None

    def step(
        self,
        name: str,
        compute: Callable[[], Value],
        save: Callable[[Value, Path], None],
        load: Callable[[Path], Value],
        *,
        ending: str = "safetensors",
    ) -> Value:
        """The value of a step: loaded if it is finished, else computed, saved and loaded.

        It is always what was read back, so that a run that goes on gives the same to the last bit.
        """
        if self.folder is None:
            return compute()
        value = self.load(name, load, ending)
        if value is not None:
            _log.info("Going on: the step %s is there from an earlier run.", name)
            return value
        computed = compute()
        self.folder.mkdir(parents=True, exist_ok=True)
        save(computed, self.path(name, ending))
        return load(self.path(name, ending))

    def describe(self, **about: Any) -> None:
        """Say in the folder what its work is of (`_ABOUT`), beside what was said before; for whoever looks into it."""
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        with replacing(self._about_path()) as temporary:
            temporary.write_text(to_json({**self.about(), **about}, indent=1), "utf-8")

    def about(self) -> dict[str, Any]:
        """What the folder says of its run; nothing where that is not there, or damaged."""
        if self.folder is None or not self._about_path().is_file():
            return {}
        try:
            return dict(read_json(self._about_path(), _ABOUT, what="run"))
        except LmkinError:
            return {}

    def _about_path(self) -> Path:
        return Workspace(self.folder).path(_RUN, "json")

    def finished(self) -> list[Path]:
        """What is there of any run: files of steps, and folders of activations."""
        if self.folder is None or not self.folder.is_dir():
            return []
        return sorted(
            path
            for path in self.folder.iterdir()
            if _OWN.fullmatch(path.name) and not path.is_symlink() and path != self._about_path()
        )

    def clear_if_nothing_is_finished(self) -> None:
        """Remove what says of which run the folder is, where no step of it is there."""
        if not self.finished():
            self.clear()

    def clear(self) -> None:
        """Remove what any run kept here, and what a kill left half-written; then the folder, if it is empty.

        Files that no workspace wrote stay where they are, and so do links.
        """
        if self.folder is None or not self.folder.is_dir():
            return
        for path in self.folder.iterdir():
            if path.is_symlink():
                continue
            if path.is_dir() and _OWN.fullmatch(path.name):
                shutil.rmtree(path, ignore_errors=True)
            elif _OWN.fullmatch(path.name) or _HALF_WRITTEN.fullmatch(path.name):
                path.unlink(missing_ok=True)
        if not any(self.folder.iterdir()):
            self.folder.rmdir()
