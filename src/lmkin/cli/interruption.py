"""What an interrupted run has kept, and how to go on."""

from __future__ import annotations

from pathlib import Path

_written: list[Path] = []
"""Folders that this run writes to."""
_ABOUT_A_STORE = ("manifest.json", "corpus.jsonl", "units.safetensors")
"""What a store of activations has before its first shard: no model has run for it."""


def forget_folders() -> None:
    """A new run begins, which writes to no folder yet."""
    _written.clear()


def will_write(out: Path) -> None:
    """Remember a folder that this run writes to, for what is said if it is interrupted."""
    _written.append(out)


def interruption_text() -> str:
    """What an interrupted run has kept, and how to go on."""
    kept = [str(out) for out in dict.fromkeys(_written) if _holds_work(out)]
    if kept:
        return (
            f"Interrupted. What was finished is kept in {' and '.join(kept)}; run the same command again to go on from "
            f"there."
        )
    return "Interrupted before anything was finished that could be kept; run the same command again to begin anew."


def _holds_work(out: Path) -> bool:
    """Whether a folder holds activations, or anything that the same run would go on from."""
    from ..rows import UNFINISHED

    return any(
        path.suffix == ".safetensors" or UNFINISHED in path.relative_to(out).parts
        for path in out.rglob("*")
        if path.is_file() and not path.name.startswith(".") and path.name not in _ABOUT_A_STORE
    )
