"""A run that is killed for good: nothing is said, nothing is cleaned up, and the same command goes on."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest
import xarray as xr
from command_line import call

import lmkin
from loaded_processes import run_loaded

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills a process by signal")

KILLED = """
import os, signal, sys
from lmkin.cli import run
from lmkin.rows import Workspace

step = Workspace.step

def killed_after_clusters(self, name, *arguments, **options):
    value = step(self, name, *arguments, **options)
    if name == "clusters":
        os.kill(os.getpid(), signal.SIGKILL)
    return value

Workspace.step = killed_after_clusters
run(sys.argv[1:])
"""


@pytest.mark.slow
def test_a_killed_run_goes_on_to_the_same_result(model_folder, tmp_path: Path) -> None:
    def command(out: str) -> list[str]:
        options = ["-c", "sample", "--limit", "60", "--thresholds", "0.2,0.4", "--parts", "3"]
        folder = str(model_folder("bert"))
        return ["redundancy", folder, *options, "--no-charts", "-o", str(tmp_path / out)]

    killed = run_loaded(command("killed"), KILLED)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    out = tmp_path / "killed"
    assert {p.name for p in out.iterdir()} == {
        "unfinished",
        ".lock",
    }  # an empty file, which locks nobody out
    kept = {p.suffix for p in (out / "unfinished").iterdir()}
    assert kept == {".acts", ".safetensors", ".json"}  # what it is of, too
    seen = call("inspect", str(out))
    assert seen.code == 0, seen.err
    assert "a run of lmkin redundancy that was broken off" in seen.out
    assert "bert, whole" in seen.out
    assert "clusters 1" in seen.out
    assert "Run the same command again" in seen.out
    outcome = call(*command("killed"))
    assert outcome.code == 0, outcome.err
    assert "Going on: activations of bert are there" in outcome.said
    assert "Going on: the step clusters is there" in outcome.said
    assert not (out / "unfinished").exists()
    assert call(*command("whole")).code == 0
    one, other = (lmkin.load(tmp_path / name) for name in ("killed", "whole"))
    xr.testing.assert_equal(one.dataset, other.dataset)
    xr.testing.assert_equal(one.layers, other.layers)
    assert one.alerts == other.alerts
    assert one.findings() == other.findings()
