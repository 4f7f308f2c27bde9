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
REGISTRIES = {"results.file_kinds", "analysis.analysis"}
"""They walk through the folder of analyses, so that what lies there registers itself."""
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
        elif isinstance(node, ast.ImportFrom) and node.module == "lmkin":
            targets += [(a.name, node.lineno) for a in node.names]
        elif isinstance(node, ast.Import):
            whole = [a.name for a in node.names if a.name.split(".")[0] == "lmkin"]
            targets += [(name.removeprefix("lmkin").strip("."), node.lineno) for name in whole]
        elif isinstance(node, ast.Call) and _called(node) in ("import_module", "__import__"):
            targets += [(name, node.lineno) for name in _imported_by_name(node, package)]
    return targets


def _called(node: ast.Call) -> str:
    return str(getattr(node.func, "id", getattr(node.func, "attr", "")))


def _imported_by_name(node: ast.Call, package: list[str]) -> list[str]:
    """What ``import_module`` is given, as far as the code says it: the text before anything that is computed.

    ``f"{__name__}.{…}"`` and ``f"{package}.…"`` find plug-ins of their own folder.
    """
    first = node.args[0] if node.args else None
    pieces = first.values if isinstance(first, ast.JoinedStr) else [first]
    start = pieces[0].value if pieces and isinstance(pieces[0], ast.Constant) else ""
    start = str(start)
    if start.startswith("."):
        level = len(start) - len(start.lstrip("."))
        base = package[: len(package) - level + 1]
        return [".".join([*base, start.lstrip(".")]).strip(".")]
    start = start.rstrip(".")
    return [start.removeprefix("lmkin").strip(".")] if start.split(".")[0] == "lmkin" else []


FILES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize(
    ("line", "target"),
    [
        ("from ..report import x", "report"), ("from .. import report", "report"),
        ("from lmkin.report import x", "report"), ("from lmkin import report", "report"),
        ("import lmkin.report.page", "report.page"), ("import os, lmkin.cli as c", "cli"),
        ("import lmkin", ""), ("import_module('lmkin.report')", "report"),
        ("importlib.import_module('..report', __package__)", "report"),
        ("importlib.import_module(f'lmkin.report.kinds.{name}')", "report.kinds"),
        ("__import__('lmkin.report')", "report"),
        ("import lmkinder, numpy", None), ("import_module(name)", None),
        ("import_module(f'{__name__}.{name}')", None), ("import_module('numpy')", None),
    ],
)  # fmt: skip
def test_every_way_to_import_is_seen(monkeypatch, tmp_path, line: str, target: str | None):
    monkeypatch.setattr(f"{__name__}.SOURCE", tmp_path)
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "plan.py").write_text(f"def f():\n    {line}\n")
    found = [name for name, _ in imports_of(tmp_path / "core" / "plan.py")]
    assert found == ([] if target is None else [target])


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
            if other == room or (module in REGISTRIES and target.split(".")[0] == "analyses"):
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
