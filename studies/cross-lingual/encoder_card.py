"""Print the multilingual encoder's tables, from results/encoder.json, as Markdown.

python studies/cross-lingual/encoder_card.py [LOG]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def main() -> None:
    """Print corpus and losses."""
    path = Path(sys.argv[1]) if sys.argv[1:] else HERE / "results" / "encoder.json"
    log = json.loads(path.read_text())
    print("\n".join(corpus_table(log["corpus"]["languages"])), end="\n\n")
    print("\n".join(loss_table(log)), end="\n\n")
    print("\n".join(course_table(log["evaluations"])))


def corpus_table(languages: dict[str, dict[str, dict[str, int]]]) -> list[str]:
    """Tokens by language and source."""
    sources = list(dict.fromkeys(s for found in languages.values() for s in found if s != "round"))
    lines = ["| thousand tokens | " + " | ".join(sources) + " | one round | times |"]
    lines.append("|" + " --- |" * (len(sources) + 3))
    for language, found in languages.items():
        cells = [thousands(found[s]["tokens"]) if s in found else "" for s in sources]
        cells += [thousands(found["round"]["tokens"]), str(found["round"]["times"])]
        lines.append(f"| {language} | " + " | ".join(cells) + " |")
    return lines


def loss_table(log: dict[str, Any]) -> list[str]:
    """Loss by language before and after, and what frequencies alone would give."""
    first, last = log["evaluations"][0], log["evaluations"][-1]
    lines = [
        "| loss in nats | manuals: start | frequencies | end | right "
        "| PUD: start | frequencies | end | right |"
    ]
    lines.append("|" + " --- |" * 9)
    for language in first["manuals"]:
        cells = []
        for kind in ("manuals", "pud"):
            if language in first[kind]:
                before, after = first[kind][language], last[kind][language]
                unigram = log["unigram loss"][kind][language]
                cells += [f"{before['loss']:.2f}", f"{unigram:.2f}", f"{after['loss']:.2f}"]
                cells.append(f"{100 * after['right']:.0f} %")
            else:
                cells += [""] * 4
        lines.append(f"| {language} | " + " | ".join(cells) + " |")
    return lines


def course_table(evaluations: list[dict[str, Any]]) -> list[str]:
    """Mean loss over languages as training went on."""
    lines = ["| minutes | steps | million tokens | manuals | PUD |", "|" + " --- |" * 5]
    for entry in evaluations:
        means = [
            sum(found["loss"] for found in entry[kind].values()) / len(entry[kind])
            for kind in ("manuals", "pud")
        ]
        cells = [f"{entry['minutes']:.0f}", f"{entry['steps']:,}", f"{entry['tokens'] / 1e6:.2f}"]
        lines.append("| " + " | ".join(cells + [f"{m:.2f}" for m in means]) + " |")
    return lines


def thousands(n: int) -> str:
    """A number in thousands."""
    return f"{n / 1000:,.0f}"


if __name__ == "__main__":
    main()
