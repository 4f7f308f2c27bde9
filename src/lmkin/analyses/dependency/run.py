"""A decomposition as an analysis runs it: from models with a corpus, stored activations, or moments by split."""

from __future__ import annotations

import re
from dataclasses import asdict, replace
from typing import Any

from ...analysis import Running, Source
from ...core import LmkinError, option_fields
from ...models import load_tokenizer
from ...rows import Workspace
from .decomposition import decompose_rows
from .lengths import decompose_lengths
from .options import DependencyOptions
from .portfolio_tables import check_sizes
from .published import compare_published
from .result import Dependency

_MADE_BEFORE = ("split", "parts", "memory", "seed", "permutation_baseline", "precision")
"""What moments are made with, and can no more be changed."""


def check_source(source: Source, options: DependencyOptions) -> None:
    """Raise if there is one model only, or if options of reading and lengths exclude each other."""
    reading = source.reading
    if options.token_lengths is not None:
        if source.corpus is None:
            raise LmkinError(
                "Lengths cut the text of a corpus that models read: give one (corpus=…)."
            )
        if (
            reading.max_length is not None
            or reading.overlap is not None
            or reading.long != "window"
        ):
            raise LmkinError(
                "With lengths (token_lengths=…) each model reads so many tokens and no more: leave out "
                "max_length=…, long=… and overlap=…."
            )
    if options.compare_published:
        if source.corpus is None or options.token_lengths is None or reading.units != "sentence":
            raise LmkinError(
                "The figures of the paper are of texts, by their length in tokens: comparing with them needs a corpus "
                "and lengths (token_lengths=[16, 32, 64, 128, 256, 512]), and sentences as units."
            )
        if str(reading.layers) not in ("last", "-1"):
            raise LmkinError(
                f"The figures of the paper are of last layers: leave layers=… out; got {reading.layers}."
            )
    if (
        source.files_by_split is None
        and isinstance(source.given, list | tuple)
        and re.fullmatch(r"last|-?\d+", str(reading.layers))
    ):
        # Of several layers each is explained by itself, and how many a model has is not known yet.
        count = len(source.specs) * (1 + source.untrained)
        if count < 2 and source.corpus is not None:
            raise LmkinError(
                "A decomposition needs two models at least: one is explained by the others. Give another MODEL, or its "
                "untrained twin (untrained=True)."
            )
        check_sizes(options.subsets, count)


def run_dependency(
    source: Source, options: DependencyOptions, running: Running, work: Workspace
) -> Dependency:
    """A decomposition for every length, or of texts as they are; and which models to keep."""
    fits: dict[str, Any] = {
        "split": options.split,
        "ridge": options.ridge,
        "ridge_rule": options.ridge_rule,
        "convention": options.convention,
        "intervals": options.intervals,
        "level": options.level,
        "parts": options.parts,
        "permutation_baseline": options.permutation_baseline,
        "precision": options.precision,
        "memory": running.memory,
        "seed": running.seed,
        "progress": running.progress,
    }
    if source.corpus is None:
        return _run_stored(source, options, fits)
    lengths = options.token_lengths
    texts = source.sentences if lengths is None else replace(source, limit=None).sentences
    tokenizer = None
    if options.reference_tokenizer is not None:
        trust = source.loading.trust_remote_code
        tokenizer = load_tokenizer(options.reference_tokenizer, trust_remote_code=trust)
    reading = asdict(source.reading)
    if lengths is not None:
        for name in ("max_length", "long", "overlap"):
            del reading[name]
    result = decompose_lengths(
        source.models,
        texts,
        lengths,
        tokenizer=tokenizer,
        limit=source.limit if lengths is not None else None,
        subsets=options.subsets,
        work=work,
        **fits,
        **reading,
    )
    if options.compare_published:
        specs = [str(s) for s in source.specs]
        every = [
            s
            for spec in specs
            for s in ([spec, f"untrained:{spec}"] if source.untrained else [spec])
        ]
        names = [m.name for m in source.models]
        result.published = compare_published(result.dataset, dict(zip(names, every, strict=True)))
    return result


def _run_stored(source: Source, options: DependencyOptions, fits: dict[str, Any]) -> Dependency:
    """From stored activations, or from files of moments as ``train=FILE``, ``test=FILE``."""
    moments = source.moments_by_split
    if moments is None:
        result = decompose_rows(source.given, layers=source.reading.layers, **fits)
    else:
        kept = {k: v for k, v in fits.items() if k not in _MADE_BEFORE}
        result = decompose_rows(moments, **kept)
    result.make_portfolio(options.subsets, progress=fits["progress"])
    return result


def check_moments(source: Source, options: DependencyOptions, running: Running) -> None:
    """Raise if moments are given and an option would do nothing, for sums of every split were made before."""
    if source.files_by_split is None:
        return
    unused = [
        f"{field.name}=…"
        for given in (options, running)
        for field in option_fields(type(given))
        if field.name in _MADE_BEFORE and getattr(given, field.name) != field.default
    ]
    unused += ["layers=…"] if source.reading.layers != "last" else []
    if unused:
        raise LmkinError(
            f"Moments are sums that were made before: leave out {', '.join(unused)}, which would do nothing."
        )
