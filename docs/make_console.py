"""Run the analyses that pages show on the command line, and put what they print now into the pages.

    python docs/make_console.py [--check] [PAGE.md ...]

Takes some minutes; the tests only parse these commands. Every analysis in a block of ``console`` is run in a folder of
its page's own, in the order of the page. What is shown is replaced if it is whole; where lines are left out (a line
``…``), it is only said which lines are no longer printed. ``--check`` changes nothing.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).parent
ANALYSES = ("similarity", "attention", "dependency", "redundancy", "probe")
NEEDED = ("extract", *ANALYSES)
"""What later commands of a page may need the output of."""
TIMES = re.compile(r"\d+(\.\d+)? (min|s|MB|GB)\b( \d+ s)?")


def printed(command: str, folder: Path) -> str:
    """What a command prints, on both channels, without progress."""
    environment = {**os.environ, "COLUMNS": "80", "HF_HUB_OFFLINE": "1"}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command if "2>" in command else f"{command} 2>&1"],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if "\r" not in line]
    kept = [line.rstrip() for line in lines if not re.match(r"^[\w ]+: [\d,]+ of [\d,]+ ", line)]
    return "\n".join(line for line in kept if line)


def same(a: str, b: str) -> bool:
    """Whether two outputs differ in times and sizes only."""
    return TIMES.sub("", " ".join(a.split())) == TIMES.sub("", " ".join(b.split()))


def refresh(page: Path, folder: Path, *, check: bool) -> int:
    """Run a page's commands; how many blocks are not what is printed now."""
    text = page.read_text("utf-8")
    stale = 0
    for name, content in re.findall(
        r"```\{code-block\} \w+\n:caption: (\S+)\n(.*?)```", text, re.S
    ):
        (folder / name).write_text(content, "utf-8")
    for block in re.findall(r"```console\n(.*?)```", text, re.S):
        pieces = re.split(r"(?m)^\$ ", block)[1:]
        fresh = block
        for piece in pieces:
            command, _, shown = piece.partition("\n")
            words = shlex.split(command, comments=True)
            if len(words) < 2 or words[0] != "lmkin" or words[1] not in NEEDED or "&" in words:
                continue
            now = printed(command, folder)
            shown = "\n".join(line.rstrip() for line in shown.splitlines() if line.strip())
            if words[1] not in ANALYSES or not shown or same(shown, now):
                continue
            stale += 1
            plain = " ".join(now.split())
            lines = [x for x in shown.splitlines() if " ".join(x.split()) not in plain]
            print(f"{page.name}: {command}\n  no longer printed:")
            print("\n".join(f"    {line}" for line in lines))
            if "…" not in {line.strip() for line in shown.splitlines()} and "|" not in words:
                fresh = fresh.replace(piece, f"{command}\n{now}\n")
            else:
                print("  now:\n" + "\n".join(f"    {line}" for line in now.splitlines()))
        text = text.replace(block, fresh)
    if not check:
        page.write_text(text, "utf-8")
    return stale


def main() -> None:
    """Run the pages that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument(
        "--check", action="store_true", help="change nothing; exit with 1 if a page is stale"
    )
    given = parser.parse_args()
    stale = 0
    for page in given.pages or sorted([*DOCS.glob("*.md"), DOCS.parent / "README.md"]):
        with tempfile.TemporaryDirectory() as folder:
            stale += refresh(page, Path(folder), check=given.check)
    print(f"{stale} blocks differ.")
    sys.exit(bool(given.check and stale))


if __name__ == "__main__":
    main()
