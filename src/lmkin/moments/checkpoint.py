"""Moments in the making, part by part on disk: a run that is killed goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any

from ..errors import MomentsError
from .groups import Group
from .moments import Moments
from .sources import RowSource


class Checkpoint:
    """A folder with one file for every part that is finished, of one source and its settings."""

    def __init__(self, folder: Path, source: RowSource, settings: dict[str, Any]):
        self.folder = folder
        # What the numbers depend on: not the time or the machine.
        what = {
            "groups": [[*g, w] for g, w in source.widths.items()],
            "part": hashlib.blake2b(source.part.tobytes(), digest_size=16).hexdigest(),
            "units": source.info.get("units_hash"),
            "keys": [m.get("key") for m in source.info.get("manifests", {}).values()],
            "settings": settings,
        }
        text = json.dumps(what, sort_keys=True, default=str)
        self.key = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

    def _file(self, part: Hashable) -> Path:
        return self.folder / f"part-{part}.safetensors"

    def load(self, part: Hashable) -> Moments | None:
        """A finished part of the same run; None if it is not there, of another run, or damaged."""
        try:
            found = Moments.load(self._file(part))
        except MomentsError:
            return None
        return found if found.info.get("checkpoint") == self.key else None

    def save(self, part: Hashable, moments: Moments) -> None:
        """Keep a finished part."""
        moments.info = {"checkpoint": self.key}
        moments.save(self._file(part))

    def remove(self) -> None:
        """Forget everything, once the result is safe."""
        for file in self.folder.glob("part-*.safetensors"):
            file.unlink()
        if self.folder.is_dir() and not any(self.folder.iterdir()):
            self.folder.rmdir()


def accumulate_by_parts(
    source: RowSource,
    groups: Sequence[Group] | None,
    checkpoint: Checkpoint,
    new: Callable[..., Moments],
    advance: Callable[[int], None],
    steps_per_row: int,
    say: Callable[[str], None] | None = None,
) -> Moments:
    """Moments of a source; each part is kept in ``checkpoint`` as soon as it is finished.

    ``new`` makes empty moments from a reference (and the number of a part, for its seed): that of the first part
    serves all, so that they add up exactly.
    """
    result: Moments | None = None
    reference: Any = None
    done: dict[int, Moments] = {}
    for part in sorted(set(source.part.tolist())):
        found = checkpoint.load(part)
        if found is not None:
            done[part] = found
            advance(steps_per_row * int((source.part == part).sum()))
    if done and say is not None:
        say(
            f"Going on: {len(done)} of {len(set(source.part.tolist()))} parts are there from an earlier run."
        )
    for found in done.values():
        reference = reference or found.reference
        result = _joined(result, found, new, reference)
    done_parts = set(done)
    done.clear()
    current: Moments | None = None
    open_part: int | None = None
    for part, blocks in source.blocks(groups, advance, done_parts):
        if part != open_part:
            if current is not None:
                result, reference = _close(checkpoint, open_part, current, result, new, reference)
            current, open_part = new(reference, part), part
        assert current is not None
        current.update(blocks, part=part)
    if current is not None:
        result, reference = _close(checkpoint, open_part, current, result, new, reference)
    assert result is not None
    return result


def _close(
    checkpoint: Checkpoint,
    part: Hashable,
    current: Moments,
    result: Moments | None,
    new: Callable[..., Moments],
    reference: Any,
) -> tuple[Moments, Any]:
    checkpoint.save(part, current)
    reference = reference or current.reference
    return _joined(result, current, new, reference), reference


def _joined(
    result: Moments | None, part: Moments, new: Callable[..., Moments], reference: Any
) -> Moments:
    return (new(reference) if result is None else result).absorb(part)
