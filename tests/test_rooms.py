"""The house rule: a room imports rooms above it, through their `__init__`, and nothing else."""

from __future__ import annotations

import ast
import pkgutil
from pathlib import Path

import pytest

import lmkin

SOURCE = Path(lmkin.__file__).parent
ROOMS = (
    "core", "interchange", "corpus", "models", "activations", "rows", "moments", "measures", "estimators",
    "results", "analysis",
    "analyses.similarity", "analyses.attention", "analyses.dependency", "analyses.redundancy", "analyses.probing",
    "analyses.cross_lingual", "report", "cli",
)  # fmt: skip
"""In the order of dependency."""
TO_THE_RIGHT = {("results", "report"), ("models", "activations")}
"""`.plot()` finds its charts by the kind of the result; the plug-in for activations on disk opens a store with the
room that wrote it."""
OUTSIDE = ("", "__main__")
"""The public face itself, and the entry point."""


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str:
    found = [r for r in ROOMS if module == r or module.startswith(f"{r}.")]
    return found[0] if found else module.partition(".")[0]


def imports_of(path: Path) -> list[tuple[str, int]]:
    """Modules of lmkin that a file imports from, below the root, lazily or not."""
    package = (
        module_name(path).split(".")
        if path.name == "__init__.py"
        else module_name(path).split(".")[:-1]
    )
    package = [p for p in package if p]
    targets = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            stem = ".".join([*base, *(node.module or "").split(".")]).strip(".")
            if not node.module:  # from . import x: each name may be a module
                targets += [(f"{stem}.{a.name}".strip("."), node.lineno) for a in node.names]
            else:
                targets.append((stem, node.lineno))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("lmkin."):
            targets.append((str(node.module).removeprefix("lmkin."), node.lineno))
    return targets


FILES = sorted(SOURCE.rglob("*.py"))


def test_every_folder_is_a_room():
    folders = {m.name for m in pkgutil.iter_modules([str(SOURCE)]) if m.ispkg}
    assert folders == {r.partition(".")[0] for r in ROOMS}
    kinds = {m.name for m in pkgutil.iter_modules([str(SOURCE / "analyses")])}
    assert kinds == {r.partition(".")[2] for r in ROOMS if r.startswith("analyses.")}


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_rooms_above_it_through_their_init(room: str):
    wrong = []
    for path in FILES:
        module = module_name(path)
        if room_of(module) != room or module in OUTSIDE:
            continue
        for target, line in imports_of(path):
            other = room_of(target)
            if other == room:
                continue
            where = f"{path.relative_to(SOURCE)}:{line} imports {target}"
            if other not in ROOMS:
                wrong.append(f"{where}: no room")
            elif ROOMS.index(other) > ROOMS.index(room) and (room, other) not in TO_THE_RIGHT:
                wrong.append(f"{where}: a room to the right")
            elif target != other:
                wrong.append(f"{where}: not through the room's __init__")
    assert not wrong, "\n".join(wrong)


def test_no_function_of_the_public_face_has_the_name_of_a_room():
    rooms = {r.partition(".")[0] for r in ROOMS}
    assert not rooms & set(lmkin.__all__)


def test_command_line_and_report_are_at_most_27_percent_of_the_code():
    lines = {path: len(path.read_text("utf-8").splitlines()) for path in FILES}
    front = sum(n for path, n in lines.items() if room_of(module_name(path)) in ("cli", "report"))
    assert front / sum(lines.values()) <= 0.27


def test_modules_are_short_and_named_by_nouns():
    long = [
        f"{p.relative_to(SOURCE)}: {n}"
        for p in FILES
        if (n := len(p.read_text("utf-8").splitlines())) > 340
    ]
    assert not long, "\n".join(long)
    nouns = {"clustering.py", "running.py"}
    """Of a class, and of how work is run (`Running`)."""
    gerunds = [
        str(p.relative_to(SOURCE))
        for p in FILES
        if p.name.endswith("ing.py") and p.name not in nouns
    ]
    assert not gerunds
