"""``python -m fuzz.run``: mutants of every file that lmkin reads; a table of what became of them, and recipes.

The same number gives the same mutant: ``python -m fuzz.run --target mask --seed 17`` tries one again.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count, islice
from pathlib import Path

# Before any library is loaded: one thread each, and allocations that the limit of addresses sees.
os.environ.update(
    HF_HUB_OFFLINE="1", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", ARROW_DEFAULT_MEMORY_POOL="system",
    TOKENIZERS_PARALLELISM="false", NUMBA_NUM_THREADS="1",
)  # fmt: skip

from fuzz.campaign import Campaign, Planned, Tried
from fuzz.mutant import Mutant
from fuzz.targets import TARGETS
from fuzz.worker import FAILURES

REGRESSIONS = Path(__file__).with_name("regressions.json")
STATUSES = ("same", "other", "refused", "idle", *FAILURES)


def main(arguments: list[str] | None = None) -> int:
    """Run, report, and give the number of failures, and of recipes that are of no use any more (at most 99)."""
    asked = _parser().parse_args(arguments)
    names = asked.target or list(TARGETS)
    recipes = [Mutant.from_dict(json.loads(text)) for text in asked.recipe]
    if asked.regressions:
        recipes += [Mutant.from_dict(entry) for entry in json.loads(REGRESSIONS.read_text())]
    if recipes and not asked.target:
        names = list(dict.fromkeys(r.target for r in recipes)) if asked.mutants == 0 else names
    began = time.monotonic()
    with Campaign(names) as campaign:
        print(
            f"{len(names)} targets are made and read ({time.monotonic() - began:.0f} s).",
            flush=True,
        )
        planned: list[Planned] = [(-1, recipe.target, partial(_same, recipe)) for recipe in recipes]
        planned += islice(
            _drawn(campaign, names, asked), len(names) if asked.seed is not None else asked.mutants
        )
        tried = campaign.run(planned, asked.jobs, _progress(len(planned)))
    print(f"{len(tried):,} mutants in {time.monotonic() - began:.0f} s.\n")
    print(_table(tried))
    stale = [t.mutant for t in tried if t.number < 0 and t.outcome.status == "idle"]
    for mutant in stale:
        print(f"This recipe no longer changes anything; write another: {mutant.to_json()[:300]}")
    failures = _failures(tried)
    print(failures or "\nNo failure.")
    if asked.seed is not None or asked.recipe:
        for one in tried:
            print(f"\n{one.mutant.to_json()}\n{one.outcome}")
    if asked.write:
        _write(asked.write, tried)
    return min(99, sum(t.outcome.failed for t in tried) + len(stale))


def _same(recipe: Mutant) -> Mutant:
    return recipe


def _drawn(campaign: Campaign, names: list[str], asked: argparse.Namespace) -> Iterator[Planned]:
    """Numbers from the first, a mutant of each target for each."""
    for seed in count(asked.seed if asked.seed is not None else asked.first):
        for name in names:
            yield campaign.seeded(name, seed, flips=asked.flips)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m fuzz.run", description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--mutants", type=int, default=20_000, help="how many, over all targets")
    add("--target", action="append", choices=list(TARGETS), help="one target; may be given again")
    add("--seed", type=int, help="one mutant of a target, by its number")
    add("--first", type=int, default=0, help="the number to begin with")
    add("--jobs", type=int, default=os.cpu_count() or 1, help="processes side by side")
    add("--flips", action="store_true", help="single-bit flips alone")
    add(
        "--recipe",
        action="append",
        default=[],
        help="a mutant as JSON, as it is printed; with --mutants 0, it alone",
    )
    add("--regressions", action="store_true", help="every mutant that once failed, too")
    add("--write", type=Path, help="write a recipe of each kind of failure to a JSON file")
    return parser


def _progress(total: int) -> Callable[[int], None]:
    """Say how far it is: on a terminal in one line, else now and then."""
    last, began = [0], time.monotonic()

    def say(done: int) -> None:
        step = max(1, total // 20)
        if done // step > last[0]:
            last[0] = done // step
            print(f"  {done:,} of {total:,} ({time.monotonic() - began:.0f} s)", flush=True)

    return say


def _table(tried: list[Tried]) -> str:
    """How many mutants of each target became what."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for one in tried:
        counts[one.mutant.target][one.outcome.status] += 1
        counts["all"][one.outcome.status] += 1
    order = [name for name in (*TARGETS, "all") if name in counts]
    width = max(len(name) for name in order)
    lines = [" " * width + "".join(f"{status:>9}" for status in STATUSES)]
    lines += [
        name.ljust(width) + "".join(f"{counts[name][s] or '.':>9}" for s in STATUSES)
        for name in order
    ]
    return "\n".join(lines)


def _failures(tried: list[Tried]) -> str:
    """Each kind of failure: how often, where, one recipe."""
    groups: dict[tuple[str, str, str, str], list[Tried]] = defaultdict(list)
    for one in tried:
        if one.outcome.failed:
            groups[one.outcome.group].append(one)
    lines = []
    for (status, _, place, stage), same in sorted(
        groups.items(), key=lambda g: (g[0][0], -len(g[1]))
    ):
        shortest = min(same, key=lambda t: len(t.mutant.to_json()))
        targets = ", ".join(dict.fromkeys(t.mutant.target for t in same))
        lines.append(f"\n{status} ×{len(same)} at {place} ({stage}): {shortest.outcome.what}")
        lines.append(f"  targets: {targets}")
        seed = f"  --target '{shortest.mutant.target}' --seed {shortest.number}"
        lines.append(
            (seed if shortest.number >= 0 else "  a regression")
            + f"\n  --recipe '{shortest.mutant.to_json()[:600]}'"
        )
    return "\n".join(lines)


def _write(path: Path, tried: list[Tried]) -> None:
    """The shortest recipe of each kind of failure in each target."""
    best: dict[tuple[str, ...], Tried] = {}
    for one in tried:
        key = (one.mutant.target, *one.outcome.group)
        if one.outcome.failed and (
            key not in best or len(one.mutant.to_json()) < len(best[key].mutant.to_json())
        ):
            best[key] = one
    entries = [
        {
            "was": f"{t.outcome.status} {t.outcome.what.split(':')[0]} at {t.outcome.place}",
            **json.loads(t.mutant.to_json()),
        }
        for t in best.values()
    ]
    path.write_text("[\n" + ",\n".join(json.dumps(entry) for entry in entries) + "\n]\n")


if __name__ == "__main__":
    sys.exit(main())
