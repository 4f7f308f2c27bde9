"""A folder with everything that a result says, and a manifest (``lmkin.json``) of what lmkin wrote there."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ..core import LmkinError, __version__, as_path, replacing

MANIFEST = "lmkin.json"


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
        with replacing(folder / MANIFEST) as temporary:
            temporary.write_text(
                json.dumps({**said, "files": list(self.files)}, indent=1, ensure_ascii=False),
                "utf-8",
            )

    @staticmethod
    def load(folder: Path) -> FolderManifest | None:
        """That of a folder; None where there is none. Raise if it is damaged."""
        path = folder / MANIFEST
        if not path.is_file():
            return None
        try:
            said = json.loads(path.read_text("utf-8"))
            files = tuple(str(name) for name in said["files"])
            run = None if said.get("run") is None else str(said["run"])
            return FolderManifest(str(said["kind"]), files, run, str(said["lmkin"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise LmkinError(
                f"{path} is no manifest that lmkin wrote, or is damaged ({error}). Load the .nc file beside it by its "
                f"name, or remove {MANIFEST}."
            ) from None


def save_folder(
    kind: str,
    files: Mapping[str, Callable[[Path], None]],
    folder: str | Path,
    *,
    run: str | None = None,
) -> Path:
    """Write files into a folder, and a manifest of them; then remove what an earlier result of lmkin left there.

    Old tables beside new ones would mislead, but they go only when all new ones are there; files that lmkin did not
    write stay.
    """
    folder = as_path(folder)
    if folder.exists() and not folder.is_dir():
        raise LmkinError(f"{folder} is a file; give the name of a folder to write results to.")
    folder.mkdir(parents=True, exist_ok=True)
    before = written_in(folder)
    for name, write in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path)
    FolderManifest(kind, tuple(files), run).save(folder)
    _remove(folder, [name for name in before if name not in files])
    return folder


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
