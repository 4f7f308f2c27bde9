"""A mutant: which file of a target is changed, and how. Drawn from a number, or given as a recipe."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fuzz.mutators import MISHAPS, apply, draw, draw_flip
from fuzz.target import Target

FLIPS, MISHAP, SIGNED = 0.2, 0.03, 0.75
"""Shares of single-bit flips, of files that are something else, and (of the rest) of checksums made right."""


@dataclass(frozen=True)
class Mutant:
    """A recipe: the same file, if what it is applied to is the same."""

    target: str
    file: str
    steps: list[Any] = field(default_factory=list)
    resign: bool = False
    mishap: str | None = None

    @property
    def is_flip(self) -> bool:
        """Whether it is one bit, and nothing else."""
        return not self.resign and [step[0] for step in self.steps] == ["flip"]

    def to_json(self) -> str:
        """One line, to be replayed by ``--recipe``."""
        return json.dumps({k: v for k, v in asdict(self).items() if v})

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Mutant:
        """The inverse of `to_json`; keys of another purpose are left out."""
        names = ("target", "file", "steps", "resign", "mishap")
        return Mutant(**{k: v for k, v in data.items() if k in names})


def draw_mutant(target: Target, seed: int, folder: Path, *, flips: bool = False) -> Mutant:
    """The mutant of a number; ``folder`` holds the valid files. ``flips``: single bits alone."""
    chance = random.Random(f"{target.name} {seed}{' flip' if flips else ''}")
    file = chance.choice(list(target.files))
    data = (folder / file).read_bytes()
    kind = 0.0 if flips else chance.random()
    if kind < FLIPS:
        return Mutant(target.name, file, [draw_flip(data, chance)])
    if kind < FLIPS + MISHAP:
        return Mutant(target.name, file, mishap=chance.choice(MISHAPS))
    steps = draw(data, target.files[file], chance)
    return Mutant(target.name, file, steps, chance.random() < SIGNED)


def write_mutant(mutant: Mutant, target: Target, valid: Path, folder: Path) -> bool:
    """Lay the mutant into a folder; False where it is no different from the valid files."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(valid, folder)
    path = folder / mutant.file
    if mutant.mishap is not None:
        _mishap(path, mutant.mishap)
        return True
    before = path.read_bytes()
    after = apply(before, mutant.steps)
    path.write_bytes(after)
    if mutant.resign:
        target.resign(folder)
    return after != before


def _mishap(path: Path, kind: str) -> None:
    """Put something else in the place of a file."""
    path.unlink()
    if kind == "empty":
        path.touch()
    elif kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind != "missing":
        path.symlink_to(
            {"endless": "/dev/zero", "loop": path.name, "elsewhere": "/etc/passwd"}[kind]
        )
