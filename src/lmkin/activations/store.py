"""A store: a folder with a manifest, the corpus, the units, and shards of activations.

::

    bert.acts/
      manifest.json            what, how, from which model and corpus; "status": partial or complete
      corpus.jsonl             the sentences, with their tags
      units.safetensors        sentence, index, start, end of every row
      shard-00000.safetensors  layer_000 … layer_012, each rows × neurons
"""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from ..core import ActivationsError, CorpusError, FolderLock, as_path, human_bytes, replacing
from ..corpus import Corpus, Sentence, Units
from .activations import Activations
from .manifest import FORMAT, what_differs
from .shards import Shard, ShardImage, read_shard

_log = logging.getLogger(__name__)
MANIFEST = "manifest.json"
_MANIFEST_KEYS = {"status", "key", "model", "corpus", "units", "layers", "shards"}
_OUR_FILES = re.compile(
    r"manifest\.json|corpus\.jsonl|units\.safetensors|shard-[0-9]+\.safetensors"
)
_VERIFY_BELOW = 1_000_000_000
"""Stores smaller than this are checked bit by bit when they are opened: it takes under a second."""


def open_activations(path: str | Path, *, verify: bool | None = None) -> Activations:
    """Open a store; layers are mapped into memory, not read.

    Missing, cut and foreign files are always found. Checksums (``verify``) are compared by default for
    stores under 1 GB.
    """
    folder = as_path(path)
    manifest = read_manifest(folder)
    if manifest["status"] != "complete":
        done = sum((folder / s["file"]).exists() for s in manifest["shards"])
        raise ActivationsError(
            f"{folder} is half-written: {done} of {len(manifest['shards'])} shards are there. Run the same "
            f"extraction again with this folder, and it goes on where it stopped."
        )
    units = _read_units(folder, manifest)
    shards = [_open_shard(folder, entry, manifest) for entry in manifest["shards"]]
    size = sum(shard.path.stat().st_size for shard in shards)
    if verify or (verify is None and size < _VERIFY_BELOW):
        for shard in shards:
            shard.verify()
    return Activations(units, [shard.layers for shard in shards], manifest, path=folder)


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a store, complete or partial."""
    if not folder.exists():
        raise ActivationsError(f"There is no store of activations at {folder}.")
    try:
        manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        version = manifest["lmkin_store"]
        if version == FORMAT and not manifest.keys() >= _MANIFEST_KEYS:
            raise KeyError
    except FileNotFoundError:
        raise ActivationsError(
            f"{folder} is no store of activations: it has no {MANIFEST}."
        ) from None
    except NotADirectoryError:
        raise ActivationsError(
            f"{folder} is a file; a store of activations is a folder. Files of other tools are opened "
            f"with load_model."
        ) from None
    except (ValueError, KeyError, TypeError):
        raise ActivationsError(f"{folder / MANIFEST} is damaged or not written by lmkin.") from None
    if version != FORMAT:
        raise ActivationsError(
            f"{folder} was written in store format {version}, this lmkin reads {FORMAT}. "
            f"Update lmkin, or extract again."
        )
    return manifest


def finished_key(folder: Path) -> str | None:
    """The key of the run whose activations a folder holds; None if they are not complete, or not there."""
    try:
        manifest = read_manifest(folder)
    except ActivationsError:
        return None
    return str(manifest["key"]) if manifest.get("status") == "complete" else None


def _open_shard(folder: Path, entry: dict[str, Any], manifest: dict[str, Any]) -> Shard:
    shard = read_shard(folder / entry["file"])
    if shard.key != manifest["key"] or (shard.start, shard.stop) != tuple(entry["rows"]):
        raise ActivationsError(
            f"{shard.path} belongs to another run: its key or rows are not those of {MANIFEST}. "
            f"Delete this file and extract again."
        )
    return shard


def _read_units(folder: Path, manifest: dict[str, Any]) -> Units:
    try:
        lines = (folder / "corpus.jsonl").read_text(encoding="utf-8").split("\n")
        info = manifest["corpus"]
        sentences = [Sentence.from_dict(json.loads(line)) for line in lines if line]
        corpus = Corpus(sentences, name=info["name"], format=info["format"])
        columns = load_file(folder / "units.safetensors")
        units = Units(
            corpus,
            manifest["units"]["kind"],
            *(columns[name] for name in ("sentence", "index", "start", "end")),
        )
        intact = corpus.hash == info["hash"] and units.hash == manifest["units"]["hash"]
    except (OSError, ValueError, KeyError, TypeError, IndexError, CorpusError, SafetensorError):
        intact = False
    if not intact:
        raise ActivationsError(
            f"{folder} is damaged: corpus.jsonl or units.safetensors is missing or was changed. "
            f"Extract again into a new folder."
        )
    return units


class StoreWriter:
    """Writes a store shard by shard; a shard that is finished is never computed again."""

    def __init__(self, folder: Path, manifest: dict[str, Any], units: Units, *, overwrite: bool):
        self.folder = folder
        self.manifest = manifest
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
            self.manifest["shards"] = earlier["shards"]
        else:
            self._begin(units)
        for leftover in self.folder.glob(".*.tmp"):  # of a process that was killed while it wrote
            leftover.unlink(missing_ok=True)

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
            return None
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
        for file in [folder / MANIFEST, *folder.glob("shard-*.safetensors")]:
            file.unlink(missing_ok=True)
        return None

    def _begin(self, units: Units) -> None:
        with replacing(self.folder / "corpus.jsonl") as temporary:
            lines = (json.dumps(s.to_dict(), ensure_ascii=False) + "\n" for s in units.corpus)
            temporary.write_text("".join(lines), encoding="utf-8", newline="\n")
        columns = {n: getattr(units, n) for n in ("sentence", "index", "start", "end")}
        with replacing(self.folder / "units.safetensors") as temporary:
            save_file(columns, temporary)
        self._write_manifest("partial")

    def _is_finished(self, number: int) -> bool:
        """Whether a shard is there and whole; one that is damaged is computed anew."""
        entry = self.manifest["shards"][number]
        if not (self.folder / entry["file"]).exists():
            return False
        try:
            shard = _open_shard(self.folder, entry, self.manifest)
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
        """Declare the store complete, and open it."""
        self._write_manifest("complete")
        shards = [
            _open_shard(self.folder, entry, self.manifest) for entry in self.manifest["shards"]
        ]
        layers = [shard.layers for shard in shards]
        self.close()
        return Activations(units, layers, self.manifest, path=self.folder)

    def close(self) -> None:
        """Let others write to the folder."""
        self._lock.release()

    def _write_manifest(self, status: str) -> None:
        self.manifest["status"] = status
        with replacing(self.folder / MANIFEST) as temporary:
            text = json.dumps(self.manifest, indent=1, ensure_ascii=False)
            temporary.write_text(text + "\n", encoding="utf-8")


def _foreign(folder: Path) -> Path | None:
    """A file in a folder that no run of ours would have written: then nothing there is touched."""
    for file in sorted(folder.iterdir()):
        if not file.name.startswith(".") and not _OUR_FILES.fullmatch(file.name):
            return file
    try:
        content = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None  # not there, or cut off when it was written
    return None if isinstance(content, dict) and "lmkin_store" in content else folder / MANIFEST


def store_size(folder: Path) -> str:
    """The size of a store on disk, as people read it."""
    return human_bytes(sum(f.stat().st_size for f in folder.iterdir() if f.is_file()))
