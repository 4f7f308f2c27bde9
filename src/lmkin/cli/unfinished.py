"""What a run that was broken off has left: of what it is, how far it is, and how to go on."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from pathlib import Path
from typing import Any

from ..core import LmkinError
from ..rows import UNFINISHED, Workspace
from .descriptions import Described

_NUMBERS = re.compile(r"(-\d+)+$")
"""Of the layers, or whatever else, that a step is of."""


def unfinished_in(path: Path) -> Workspace | None:
    """The unfinished work in a folder of results, or in a workspace; None where there is none."""
    for folder in (path / UNFINISHED, path):
        if folder.is_dir() and not folder.is_symlink():
            work = Workspace(folder)
            if work.finished() or work.about():
                return work
    return None


def describe_unfinished(work: Workspace) -> Described:
    """Of which run it is, how many steps are finished, and how to go on."""
    about, finished = work.about(), work.finished()
    counts = Counter(_NUMBERS.sub("", path.name.partition(".")[0]) for path in finished)
    stores = [
        manifest.parent
        for path in finished
        if path.is_dir()
        for manifest in sorted(path.rglob("manifest.json"))
    ]
    for path in finished:
        if path.is_dir():
            counts.pop(path.name.partition(".")[0], None)
    planned = {name: int(count) for name, count in about.get("steps", {}).items()}
    steps = {name: counts.get(name, 0) for name in (*planned, *sorted(set(counts) - set(planned)))}
    rows = {
        "what": _said_of(about),
        "begun": about.get("begun", ""),
        "command": about.get("command", ""),
    }
    for k, store in enumerate(stores):
        rows[f"activations {k + 1}"] = _state_of(store)
    rows["finished"] = (
        ", ".join(
            f"{name} {count:,}{f' of {planned[name]:,}' if name in planned else ''}"
            for name, count in steps.items()
        )
        or "nothing yet"
    )
    if finished:
        last = max(path.stat().st_mtime for path in finished)
        rows["last"] = datetime.datetime.fromtimestamp(last, datetime.UTC).isoformat(
            timespec="seconds"
        )
    rows["to go on"] = (
        "Run the same command again: what is finished is not computed again."
        if "analysis" in about
        else f"Make the same call again with workspace={str(work.folder)!r}: what is finished is not computed again."
    )
    data = {
        "run": about,
        "finished": dict(steps),
        "planned": planned,
        "activations": [str(store) for store in stores],
    }
    return {name: value for name, value in rows.items() if value}, data


def _said_of(about: dict[str, Any]) -> str:
    name = about.get("analysis")
    return (
        f"a run of lmkin {name} that was broken off, or still runs"
        if name
        else "unfinished work of a call"
    )


def _state_of(store: Path) -> str:
    """A store of activations: whole, or how many of its shards are there."""
    from ..activations import open_activations

    try:
        acts = open_activations(store, verify=False)
    except LmkinError as error:
        return str(error).split(". ")[0]
    return f"{acts.name}, whole: {len(acts):,} {acts.units.kind}s"
