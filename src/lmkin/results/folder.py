"""A folder with everything that a result says, and a manifest (``lmkin.json``) of what lmkin wrote there."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ..core import (
    LmkinError,
    Text,
    __version__,
    as_path,
    fingerprint,
    read_json,
    replacing,
    to_json,
)

MANIFEST = "lmkin.json"
REPLACING = "replacing"
"""The kind of a folder whose files are being replaced."""
_FRESH = re.compile(r"\.new-[0-9a-f]{16}")
_FILE = Text(r"(?!.*\.\.)[\w+@-][\w .+@-]*(/[\w+@-][\w .+@-]*){0,2}", 500)
_SCHEMA = {
    "lmkin": str,
    "kind": Text(r"[a-z_-]{1,40}"),
    "run": (str, None),
    "files": [_FILE],
    "checksum": str,
}


@dataclass(frozen=True)
class FolderManifest:
    """What lmkin wrote into a folder: the kind of the result, the key of the run, and the names of all files."""

    kind: str
    files: tuple[str, ...]
    run: str | None = None
    """Fingerprint of everything that the numbers depend on."""
    lmkin: str = __version__

    def save(self, folder: Path) -> None:
        """Write it; it comes last, for it says that all is there."""
        said: dict[str, Any] = {"lmkin": self.lmkin, "kind": self.kind, "run": self.run}
        said["files"] = list(self.files)
        with replacing(folder / MANIFEST) as temporary:
            temporary.write_text(
                to_json({**said, "checksum": fingerprint(said)}, indent=1), "utf-8"
            )

    @property
    def replacing(self) -> bool:
        """Whether a run was killed while its files took the place of others."""
        return self.kind == REPLACING

    @staticmethod
    def load(folder: Path) -> FolderManifest | None:
        """That of a folder; None where there is none. Raise if it is damaged."""
        path = folder / MANIFEST
        if not path.exists() and not path.is_symlink():
            return None
        remedy = f" Load the .nc file beside it by its name, or remove {MANIFEST}."
        said = read_json(path, _SCHEMA, what="manifest", remedy=remedy)
        checksum = said.pop("checksum")
        if checksum != fingerprint(said):
            raise LmkinError(f"{path} is damaged: it was changed since it was written.{remedy}")
        return FolderManifest(said["kind"], tuple(said["files"]), said["run"], said["lmkin"])


def save_folder(
    kind: str,
    files: Mapping[str, Callable[[Path], None]],
    folder: str | Path,
    *,
    run: str | None = None,
    overwrite: bool = False,
) -> Path:
    """Write files into a folder, and a manifest of them; then remove what an earlier result of lmkin left there.

    New files take the place of old ones when all of them are written: a failure leaves the old ones as they are. Raise
    if the folder holds the results of another run, unless ``overwrite``; and if a file that lmkin did not write has the
    name of one to be written: such files stay, whatever is asked.
    """
    folder = as_path(folder)
    if folder.exists() and not folder.is_dir():
        raise LmkinError(f"{folder} is a file; give the name of a folder to write results to.")
    require_same_run(folder, kind, run, overwrite=overwrite)
    require_places(folder, files, overwrite=overwrite)
    folder.mkdir(parents=True, exist_ok=True)
    before = written_in(folder)
    for left in folder.iterdir():  # of a process that was killed while it wrote
        if _FRESH.fullmatch(left.name) and left.is_dir() and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)
    fresh = folder / f".new-{secrets.token_hex(8)}"
    fresh.mkdir()
    try:
        for name, write in files.items():
            path = fresh / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write(path)
        require_places(folder, files, overwrite=overwrite)  # somebody may have been here
        # Whoever finds this folder while files take their places, or after a kill, is told that they are mixed.
        FolderManifest(REPLACING, tuple(dict.fromkeys([*before, *files]))).save(folder)
        for name in files:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (fresh / name).replace(folder / name)
        FolderManifest(kind, tuple(files), run).save(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    _remove(folder, [name for name in before if name not in files])
    return folder


def require_same_run(folder: Path, kind: str, run: str | None, *, overwrite: bool) -> None:
    """Raise if the folder holds the results of another run, unless those may be replaced."""
    if overwrite:
        return
    before = FolderManifest.load(folder)
    if before is None or before.replacing or (run and (before.kind, before.run) == (kind, run)):
        return
    other = before.kind != kind
    what = f"a run of another kind ({before.kind})" if other else "another run"
    raise LmkinError(
        f"{folder} holds the results of {what}: with other models, words or options. Give another folder (out=…), or "
        f"replace them with overwrite=True."
    )


def require_places(folder: Path, names: Iterable[str], *, overwrite: bool) -> None:
    """Raise if files of these names may not be put into a folder.

    A link or a folder may be in the way; or a file that lmkin did not write, which nothing replaces.
    """
    names = list(names)
    try:
        manifest = FolderManifest.load(folder)
        own = set(manifest.files if manifest else ())
    except LmkinError:
        if not overwrite:
            raise
        own = set(names)  # it no longer says which files are lmkin's: then those with its names
    for name in names:
        place = folder / name
        _require_free(place, folder)
        if os.path.lexists(place) and name not in own:
            raise LmkinError(
                f"{place} is there already, and lmkin did not write it: no {MANIFEST} lists it. Results have a file of "
                f"that name, which is not put in its place. Give another folder (out=…), or move the file away."
            )


def _require_free(place: Path, folder: Path) -> None:
    """Raise if a file cannot be put there: its subfolder is a link or a file, or a folder has its name."""
    inside = place.parent
    if inside != folder and (inside.is_symlink() or (inside.exists() and not inside.is_dir())):
        raise LmkinError(f"{inside} is in the way: results need a folder of that name. Remove it.")
    if place.is_dir() and not place.is_symlink():
        raise LmkinError(f"{place} is a folder, in the way of a file of the results. Remove it.")


def written_in(folder: Path) -> tuple[str, ...]:
    """The files that the manifest of a folder lists; none where it has no manifest, or a damaged one."""
    try:
        manifest = FolderManifest.load(folder)
    except LmkinError:
        return ()
    return () if manifest is None else manifest.files


def _remove(folder: Path, names: Sequence[str]) -> None:
    """Remove files of a folder, then subfolders that this leaves empty."""
    inside = [PurePosixPath(name) for name in names]
    # A manifest may have been edited: nothing outside the folder is ever touched.
    own = [p for p in inside if not p.is_absolute() and ".." not in p.parts and p.parts]
    for path in own:
        file = folder / path
        place = file.parent.resolve()
        if file.is_file() and folder.resolve() in (place, *place.parents):
            file.unlink()
    for parent in _parents(own):
        if (folder / parent).is_dir() and not any((folder / parent).iterdir()):
            (folder / parent).rmdir()


def _parents(paths: Sequence[PurePosixPath]) -> list[PurePosixPath]:
    every = {p for path in paths for p in path.parents if p.parts}
    return sorted(every, key=lambda p: -len(p.parts))
