"""Sums in the making, part by part on disk: a run that is killed goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from ..errors import MomentsError
from ..interchange.atomic import replacing
from ..moments import Moments
from .sources import MapSource
from .sums import HeadSums
from .views import ViewSums


class Checkpoint:
    """A folder with the sums of every part that is finished, of one source and its measures."""

    def __init__(self, folder: Path, source: MapSource, measures: Sequence[str]):
        self.folder = folder
        # What the numbers depend on: not the time or the machine.
        what = {
            "groups": list(zip(source.layout.groups, source.layout.widths, strict=True)),
            "part": hashlib.blake2b(source.part.tobytes(), digest_size=16).hexdigest(),
            "corpus": source.info.get("corpus_hash"),
            "models": {
                name: {k: v for k, v in identity.items() if k != "attention_implementation"}
                for name, identity in source.info.get("models", {}).items()
            },
            "measures": sorted(measures),
        }
        text = json.dumps(what, sort_keys=True, default=str)
        self.key = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

    def _file(self, part: int, number: int) -> Path:
        return self.folder / f"attention-{part}-{number}.safetensors"

    def save(self, part: int, views: Sequence[ViewSums]) -> None:
        """Keep a finished part."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for number, view in enumerate(views):
            sums = view.of_part(part)
            about = {"key": self.key, "counts": json.dumps(sums.counts)}
            if view.moments is not None and view.moments.n:
                view.moments.info = {"checkpoint": self.key}
                view.moments.save(self._moments(part, number))
            with replacing(self._file(part, number)) as temporary:
                save_file({**sums.tables, "sink": sums.sink}, temporary, metadata=about)

    def _moments(self, part: int, number: int) -> Path:
        return self.folder / f"attention-{part}-{number}.moments"

    def load(self, part: int, views: Sequence[ViewSums]) -> bool:
        """Put a finished part of the same run into ``views``; False if it is not there, of another run, or damaged."""
        found: list[tuple[HeadSums, Moments | None]] = []
        for number, view in enumerate(views):
            sums = self._read(self._file(part, number), view.heads, view.measures)
            if sums is None:
                return False
            moments = None
            if view.moments is not None and sums.counts["words"]:
                try:
                    moments = Moments.load(self._moments(part, number))
                except MomentsError:
                    return False
                if moments.info.get("checkpoint") != self.key:
                    return False
            found.append((sums, moments))
        for view, (sums, moments) in zip(views, found, strict=True):
            view.parts[part] = sums
            if moments is not None and view.moments is not None:
                view.moments.absorb(moments)
        return True

    def _read(self, path: Path, heads: int, measures: Sequence[str]) -> HeadSums | None:
        sums = HeadSums(heads, measures)
        try:
            with safe_open(path, "np") as file:
                about: dict[str, Any] = file.metadata() or {}
                if about.get("key") != self.key:
                    return None
                sums.tables = {name: file.get_tensor(name) for name in sums.tables}
                sums.sink = file.get_tensor("sink")
                sums.counts = json.loads(about["counts"])
        except (OSError, SafetensorError, KeyError, ValueError):
            return None
        return sums
