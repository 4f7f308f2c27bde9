"""Every reader has a fuzz target; a slice of the mutants, and all that once failed, do no harm."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import lmkin
from fuzz.mutant import Mutant, draw_mutant, write_mutant
from fuzz.mutators import DRAWS
from fuzz.targets import TARGETS, registered

TESTS = Path(__file__).parent.parent
SOURCE = Path(lmkin.__file__).parent
REGRESSIONS = json.loads((TESTS / "fuzz" / "regressions.json").read_text())
SLICE = 5 * len(TARGETS)
OPENERS = {
    "load_tensors",
    "load_result",
    "read_json",
    "read_file",
    "open_file",
    "open_dataset",
    "safe_open",
}
"""What a module calls that reads a file."""
BY_OTHERS = {
    "corpus.reader": "every corpus",
    "activations.store_writer": "store",
    "models.vocabulary": "model",
    "cli.inspect": "neurox-json, of which it reads the first bytes",
    "interchange.hdf5": "contextual-repr, neurox-hdf5",
    "interchange.jsonlines": "neurox-json",
    "analyses.attention.result": "attention folder",
    "analyses.dependency.result": "dependency folder",
    "analyses.dependency.portfolio_tables": "dependency folder",
    "analyses.probing.weights_file": "probe folder, cross-lingual folder",
    "analyses.redundancy.result": "redundancy folder",
    "analyses.probing.result": "probe folder",
    "analyses.redundancy.computation": "redundancy file, in a workspace",
    "results.file_kinds": "every result",
    "results.result": "every result",
}
"""Modules that open files, and whose target is known by another name."""


def covered() -> set[str]:
    return {name for target in TARGETS.values() for name in target.covers}


def test_everything_that_is_registered_is_covered() -> None:
    missing = registered() - covered()
    assert not missing, f"write a fuzz target for {sorted(missing)}"


def modules_that_open_files() -> set[str]:
    found = set()
    for path in SOURCE.rglob("*.py"):
        room = path.relative_to(SOURCE).with_suffix("")
        if room.parts[0] in ("core", "corpus") and room.parts[1:2] != ("reader",):
            continue  # the functions themselves; formats are registered
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                called = getattr(node.func, "id", getattr(node.func, "attr", ""))
                if called in OPENERS:
                    found.add(".".join(room.parts))
    return found


def test_every_module_that_opens_files_is_covered() -> None:
    known = {name.removeprefix("module ") for name in covered()} | set(BY_OTHERS)
    missing = modules_that_open_files() - known
    assert not missing, f"write a fuzz target for {sorted(missing)}"


def test_forms_are_known() -> None:
    assert {form for target in TARGETS.values() for form in target.files.values()} <= set(DRAWS)


@pytest.mark.parametrize("name", ["CoNLL-U", "Parquet", "moments", "mask"])
def test_a_number_gives_the_same_mutant(name: str, tmp_path: Path) -> None:
    target = TARGETS[name]
    (tmp_path / "valid").mkdir()
    target.make(tmp_path / "valid")
    changed = 0
    for seed in range(12):
        one, two = (draw_mutant(target, seed, tmp_path / "valid") for _ in range(2))
        assert one == two == Mutant.from_dict(json.loads(one.to_json()))
        changed += write_mutant(one, target, tmp_path / "valid", tmp_path / "mutant")
    assert changed > 8


def run_python(*arguments: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own: it forks."""
    paths = os.pathsep.join([str(SOURCE.parent), str(TESTS)])
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=600,
    )


HARM = """
import ctypes, os, sys, time
import lmkin
from fuzz import campaign, worker
from fuzz.mutant import Mutant
from fuzz.target import Target

def harm(folder):
    said = (folder / "a.txt").read_text()
    if said == "XX": raise KeyError("x")
    if said == "YX": raise lmkin.LmkinError("no")
    if said == "ZX": time.sleep(60)
    if said == "VX": return len(bytearray(2**33))
    if said == "WX": ctypes.string_at(0)
    if said == "TX": return len(b"x" * 2**27)
    return said[-1]

worker.SECONDS, worker.RESIDENT = 1, 2**26
target = Target("harm", lambda folder: (folder / "a.txt").write_text("AX"), harm, {"a.txt": "text"}, (), sealed=True)
campaign.TARGETS["harm"] = target
with campaign.Campaign(["harm"]) as made:
    steps = [["put", 0, ord(letter).to_bytes().hex()] for letter in "XYZVWTBA"] + [["flip", 1, 0]]
    mutants = [Mutant("harm", "a.txt", [step]) for step in steps]
    tried = made.run([(i, "harm", lambda m=m: m) for i, m in enumerate(mutants)], 1)
for one in sorted(tried, key=lambda t: t.number):
    print(one.outcome.status)
"""


def test_what_goes_wrong_is_seen() -> None:
    done = run_python("-c", HARM)
    statuses = ["FOREIGN", "refused", "HANG", "MEMORY", "CRASH", "MEMORY", "same", "idle", "SILENT"]
    assert done.stdout.split() == statuses, done.stdout + done.stderr


BEHIND = {
    "moments": ["tensors", "array", "shift", "value", 0, 2],
    "mask": ["tensors", "lmkin", "set", ["data", "model"], "text"],
    "similarity folder": ["json", "set", ["run"], "text"],
    "dependency file": ["netcdf", "special", "r2_group", 0, "0"],
}


@pytest.mark.parametrize("name", BEHIND)
@pytest.mark.filterwarnings("ignore::lmkin.core.errors.LmkinWarning")
def test_checksums_are_made_right_again(name: str, tmp_path: Path) -> None:
    """What is behind a checksum is reached where it is made right, and else it is said what is wrong."""
    target = TARGETS[name]
    (tmp_path / "valid").mkdir()
    target.make(tmp_path / "valid")
    for resign in (True, False):
        mutant = Mutant(name, next(iter(target.files)), [BEHIND[name]], resign)
        assert write_mutant(mutant, target, tmp_path / "valid", tmp_path / "mutant")
        said = ""
        try:
            target.read(tmp_path / "mutant")
        except lmkin.LmkinError as error:
            said = str(error)
        assert ("damaged" in said) == (not resign), said


@pytest.mark.slow
def test_a_slice_does_no_harm() -> None:
    done = run_python("-m", "fuzz.run", "--regressions", "--mutants", str(SLICE), "--jobs", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{SLICE + len(REGRESSIONS):,} mutants" in done.stdout
