"""Writing a store shard by shard; one that is killed goes on, and one that replaces another waits until it is whole."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save

from ..core import (
    LEFT_BEHIND,
    ActivationsError,
    FolderLock,
    LmkinError,
    Unfit,
    fingerprint,
    parse_json,
    read_file,
    remove_left_behind,
    replacing,
    to_json,
)
from ..corpus import Units
from .activations import Activations
from .manifest import manifest_checksum, what_differs
from .shards import ShardImage
from .store import COLUMNS, MANIFEST, open_shard, read_manifest

_log = logging.getLogger(__name__)
REPLACEMENT = ".replacement"
"""Where a run that replaces another is written, until it is whole."""
_OUR_FILES = re.compile(
    r"manifest\.json|corpus\.jsonl|units\.safetensors|shard-[0-9]+\.safetensors"
)


def check_store_folder(folder: Path) -> None:
    """Raise if activations cannot be put there: it is a file, or holds something else."""
    if folder.exists() and not folder.is_dir():
        raise ActivationsError(f"{folder} is a file; give a folder for the activations.")
    foreign = _foreign(folder) if folder.exists() else None
    if foreign is not None:
        raise ActivationsError(
            f"The folder {folder} holds something else than activations of lmkin (there is {foreign.name}). Choose "
            f"another folder; nothing was touched."
        )


class StoreWriter:
    """Writes a store shard by shard; a shard that is finished is never computed again."""

    def __init__(self, folder: Path, manifest: dict[str, Any], units: Units, *, overwrite: bool):
        self.folder = folder
        self.manifest = manifest
        self._target: Path | None = None
        """Where the store goes when it is whole, if another one is there until then."""
        self._lock = FolderLock(folder)
        try:
            self._prepare(units, overwrite=overwrite)
        except BaseException:
            self.close()
            raise
        self.finished = {
            number for number in range(len(self.manifest["shards"])) if self._is_finished(number)
        }

    def _prepare(self, units: Units, *, overwrite: bool) -> None:
        """Take up an earlier try at the same run, or begin anew."""
        earlier = self._earlier(overwrite=overwrite)
        content = _unit_files(units)
        self.manifest["files"] = {name: fingerprint(data) for name, data in content.items()}
        if earlier is not None:
            # The same run as before: keep its cuts, whatever the shard size is now.
            self.manifest["shards"] = earlier["shards"]
        for name, data in content.items():
            if earlier is None or not _is_whole(self.folder / name, data):
                with replacing(self.folder / name) as temporary:
                    temporary.write_bytes(data)
        if earlier is None:
            self._write_manifest("partial")
        remove_left_behind(self.folder)

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """Rows (start, stop) of each shard."""
        return [(entry["rows"][0], entry["rows"][1]) for entry in self.manifest["shards"]]

    def _earlier(self, *, overwrite: bool) -> dict[str, Any] | None:
        """The manifest of an earlier try at the same run. Raise if anything else is in the way."""
        folder = self.folder
        check_store_folder(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self._lock.acquire()
        inner = folder / REPLACEMENT
        if inner.is_symlink() or (inner.exists() and not inner.is_dir()):
            raise ActivationsError(f"{inner} is in the way. Remove it, or choose another folder.")
        if not (folder / MANIFEST).exists():
            if _manifest(inner)["status"] != "complete":
                return None
            _take_place(inner, folder)  # a run was killed while it did so
        try:
            earlier = read_manifest(folder)
        except ActivationsError:
            if not overwrite:
                raise
            earlier = {"key": None}
        if earlier["key"] == self.manifest["key"]:
            _remove(inner)
            return earlier
        if not overwrite:
            raise ActivationsError(
                f"{folder} holds activations of another run ({what_differs(earlier, self.manifest)}). Choose "
                f"another folder, or replace them with overwrite=True."
            )
        # What is there stays until the new store is whole, in a folder of its own.
        earlier = _manifest(inner)
        if earlier["key"] != self.manifest["key"]:
            _remove(inner)
        inner.mkdir(exist_ok=True)
        self.folder, self._target = inner, folder
        return earlier if earlier["key"] == self.manifest["key"] else None

    def _is_finished(self, number: int) -> bool:
        """Whether a shard is there and whole; one that is damaged is computed anew."""
        entry = self.manifest["shards"][number]
        if not (self.folder / entry["file"]).exists():
            return False
        try:
            shard = open_shard(self.folder, entry, self.manifest)
            shard.verify()
        except ActivationsError:
            return False
        entry["crc32"] = shard.crc32
        return True

    def write(self, number: int, image: ShardImage) -> None:
        """Write one shard."""
        entry = self.manifest["shards"][number]
        start, stop = entry["rows"]
        file = self.folder / entry["file"]
        entry["crc32"] = image.write(file, key=self.manifest["key"], start=start, stop=stop)
        _log.debug("wrote %s: rows %d to %d", entry["file"], start, stop)

    def finish(self, units: Units) -> Activations:
        """Declare the store complete, put it in the place of another one, and open it."""
        self._write_manifest("complete")
        if self._target is not None:
            _take_place(self.folder, self._target)
            self.folder, self._target = self._target, None
        shards = [
            open_shard(self.folder, entry, self.manifest) for entry in self.manifest["shards"]
        ]
        layers = [shard.layers for shard in shards]
        self.close()
        return Activations(units, layers, self.manifest, path=self.folder)

    def close(self) -> None:
        """Let others write to the folder."""
        self._lock.release()

    def _write_manifest(self, status: str) -> None:
        self.manifest["status"] = status
        plain = parse_json(to_json(self.manifest))  # as it will be read
        self.manifest["checksum"] = manifest_checksum(plain)
        with replacing(self.folder / MANIFEST) as temporary:
            temporary.write_text(to_json(self.manifest, indent=1) + "\n", encoding="utf-8")


def _unit_files(units: Units) -> dict[str, bytes]:
    """What a store holds beside its shards and its manifest, the same bytes every time."""
    lines = "".join(to_json(s.to_dict()) + "\n" for s in units.corpus)
    columns = {n: np.ascontiguousarray(getattr(units, n)) for n in COLUMNS}
    return {"corpus.jsonl": lines.encode(), "units.safetensors": save(columns)}


def _is_whole(path: Path, data: bytes) -> bool:
    """Whether a file is there, and holds these bytes."""
    try:
        return read_file(path, max(len(data), 1), links=False) == data
    except LmkinError:
        return False


def _manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a store; one that says nothing, if there is none."""
    try:
        return read_manifest(folder)
    except ActivationsError:
        return {"key": None, "status": None}


def _take_place(inner: Path, folder: Path) -> None:
    """Put a whole store into the place of another. After a kill on the way, the same again ends it.

    The old manifest goes first, the new one comes last: between the two there is no store but the one that is moved.
    """
    manifest = read_manifest(inner)
    (folder / MANIFEST).unlink(missing_ok=True)
    names = [*manifest["files"], *(entry["file"] for entry in manifest["shards"])]
    for name in (*names, MANIFEST):
        if (inner / name).exists():
            (inner / name).replace(folder / name)
    for file in folder.iterdir():
        if _OUR_FILES.fullmatch(file.name) and file.name not in (*names, MANIFEST):
            file.unlink()
    _remove(inner)


def _remove(folder: Path) -> None:
    """Remove a store that never took its place; files of others stay, and so does their folder."""
    if not folder.is_dir():
        return
    for file in folder.iterdir():
        if _OUR_FILES.fullmatch(file.name) or LEFT_BEHIND.fullmatch(file.name):
            file.unlink(missing_ok=True)
    if not any(folder.iterdir()):
        folder.rmdir()


def _foreign(folder: Path) -> Path | None:
    """A file in a folder that no run of ours would have written: then nothing there is touched."""
    for file in sorted(folder.iterdir()):
        ours = _OUR_FILES.fullmatch(file.name) and not (file.is_dir() and not file.is_symlink())
        if not file.name.startswith(".") and not ours:
            return file
    try:
        content = parse_json(read_file(folder / MANIFEST, error=ActivationsError))
    except (Unfit, ActivationsError):
        return None  # not there, or cut off when it was written
    return None if isinstance(content, dict) and "lmkin_store" in content else folder / MANIFEST
