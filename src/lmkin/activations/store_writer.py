"""Writing a store shard by shard; one that is killed goes on, and one that replaces another waits until it is whole."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save

from ..core import (
    ActivationsError,
    FolderLock,
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
        if earlier is not None:
            # The same run as before: keep its cuts, whatever the shard size is now.
            self.manifest["shards"], self.manifest["files"] = earlier["shards"], earlier["files"]
        else:
            self._begin(units)
        remove_left_behind(self.folder)

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """Rows (start, stop) of each shard."""
        return [(entry["rows"][0], entry["rows"][1]) for entry in self.manifest["shards"]]

    def _earlier(self, *, overwrite: bool) -> dict[str, Any] | None:
        """The manifest of an earlier try at the same run. Raise if anything else is in the way."""
        folder = self.folder
        if folder.is_file():
            raise ActivationsError(f"{folder} is a file; give a folder for the activations.")
        folder.mkdir(parents=True, exist_ok=True)
        foreign = _foreign(folder)
        if foreign is not None:
            raise ActivationsError(
                f"The folder {folder} holds something else than activations of lmkin (there is {foreign.name}). Choose "
                f"another folder; nothing was touched."
            )
        self._lock.acquire()
        if not (folder / MANIFEST).exists():
            return self._replacement()
        try:
            earlier = read_manifest(folder)
        except ActivationsError:
            if not overwrite:
                raise
            earlier = {"key": None}
        if earlier["key"] == self.manifest["key"]:
            return earlier
        if not overwrite:
            raise ActivationsError(
                f"{folder} holds activations of another run ({what_differs(earlier, self.manifest)}). Choose "
                f"another folder, or replace them with overwrite=True."
            )
        return self._replacement(always=True)

    def _replacement(self, *, always: bool = False) -> dict[str, Any] | None:
        """Write beside what is there until all is whole; the manifest of an earlier try at that.

        Without ``always``: only if such a try was there, and was killed while it took its place.
        """
        inner = self.folder / REPLACEMENT
        if inner.is_symlink() or (inner.exists() and not inner.is_dir()):
            raise ActivationsError(f"{inner} is in the way. Remove it, or choose another folder.")
        if not always and not inner.exists():
            return None
        inner.mkdir(exist_ok=True)
        self.folder, self._target = inner, self.folder
        try:
            earlier = read_manifest(inner)
        except ActivationsError:
            earlier = {"key": None}
        if earlier["key"] == self.manifest["key"]:
            return earlier
        _remove_store(inner)
        return None

    def _begin(self, units: Units) -> None:
        lines = "".join(to_json(s.to_dict()) + "\n" for s in units.corpus)
        columns = {n: np.ascontiguousarray(getattr(units, n)) for n in COLUMNS}
        content = {"corpus.jsonl": lines.encode(), "units.safetensors": save(columns)}
        for name, data in content.items():
            with replacing(self.folder / name) as temporary:
                temporary.write_bytes(data)
        self.manifest["files"] = {name: fingerprint(data) for name, data in content.items()}
        self._write_manifest("partial")

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
            _remove_store(self._target)
            files = sorted(self.folder.iterdir(), key=lambda f: f.name == MANIFEST)  # it comes last
            for file in files:
                file.replace(self._target / file.name)
            self.folder.rmdir()
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


def _remove_store(folder: Path) -> None:
    """Remove the files of a store, the manifest first: without it the rest is nothing."""
    names = [MANIFEST, "corpus.jsonl", "units.safetensors"]
    names += [f.name for f in folder.iterdir() if _OUR_FILES.fullmatch(f.name)]
    for name in dict.fromkeys(names):
        (folder / name).unlink(missing_ok=True)


def _foreign(folder: Path) -> Path | None:
    """A file in a folder that no run of ours would have written: then nothing there is touched."""
    for file in sorted(folder.iterdir()):
        if not file.name.startswith(".") and not _OUR_FILES.fullmatch(file.name):
            return file
    try:
        content = parse_json(read_file(folder / MANIFEST, error=ActivationsError))
    except (Unfit, ActivationsError):
        return None  # not there, or cut off when it was written
    return None if isinstance(content, dict) and "lmkin_store" in content else folder / MANIFEST
