"""Redundancy as an analysis runs it: from models with a corpus, or from stored activations."""

from __future__ import annotations

from dataclasses import asdict

from ...analysis import Running, Source
from ...core import LmkinError, choose_layers
from ...rows import Workspace
from .computation import compute_redundancy, extract_models
from .options import RedundancyOptions
from .plan import require_room, room_for_models
from .result import Redundancy
from .sentence_rows import check_number, read_sentence, sentence_number, stored_sentence
from .stores import chosen_layers, open_stores, require_two_layers


def check_source(source: Source, options: RedundancyOptions) -> None:
    """Raise if a sentence cannot be shown with such units, or is not in the corpus; before a model is loaded."""
    if options.keep_activations and source.corpus is None:
        raise LmkinError(
            "keep_activations=True is for models that read a corpus; what is stored stays where it is. "
            "Give a corpus (corpus=…), or leave it out."
        )
    if options.sentence is None:
        return
    if source.corpus is not None and source.reading.units == "sentence":
        raise LmkinError(
            "Clusters are shown over a sentence word by word, and with sentences as units there is one row for all of "
            "it. Leave out one of the two."
        )
    number = sentence_number(options.sentence)
    if source.corpus is None:
        if number is None:
            raise LmkinError(
                "Of stored activations a sentence is its number in their corpus, from 1; for a text of your own the "
                "models must run: give them, and a corpus (corpus=…)."
            )
    elif number is not None:
        check_number(number, len(source.sentences))


def run_redundancy(
    source: Source, options: RedundancyOptions, running: Running, work: Workspace
) -> Redundancy:
    """Activations of every model, then clusters, layers, and some clusters over a sentence."""
    layers = source.reading.layers
    shown = []
    if source.corpus is None:
        rows = open_stores(source, options)
        sizes = [([a.widths[n] for n in chosen_layers(a, layers)], len(a)) for a in rows]
        require_room(sizes, options, running)
        if options.sentence is not None:
            shown = stored_sentence(rows, options.sentence)
    else:
        models = source.models
        for model in models:
            require_two_layers(model.name, choose_layers(layers, model.n_layers), options)
        room = room_for_models(source, options, running)
        reading = {**asdict(source.reading), "batch_tokens": room["batch_tokens"]}
        if options.sentence is not None:
            shown = read_sentence(models, options.sentence, source.sentences, reading)
        keep = work.folder.parent if options.keep_activations and work.folder is not None else None
        rows = extract_models(
            models, source.sentences, work, keep=keep,
            dtype=options.store_dtype, shard_bytes=room["shard_bytes"], progress=running.progress, **reading,
        )  # fmt: skip
        layers = "all"
    return compute_redundancy(
        rows,
        thresholds=options.thresholds,
        linkage=options.linkage,
        representative=options.representative,
        keep_at=options.keep_at,
        shown=shown,
        strips_at=options.strips_at,
        clusters=options.clusters,
        layer_regressions=options.layer_regressions,
        ridge=options.ridge,
        intervals=options.intervals,
        parts=options.parts,
        level=options.level,
        layers=layers,
        memory=running.memory,
        seed=running.seed,
        work=work,
        progress=running.progress,
    )
