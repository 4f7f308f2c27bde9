"""`attention_similarity`: how alike the heads of some models look."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from ...core import PARTS, Convention, MeasureError, as_data, check_intervals, quoted
from ...corpus import Corpus, Sentence, read_corpus
from ...models import AttentionUnit, attention_units
from ...results import Entry, Labels, as_dataset, make_provenance, plain
from ...rows import Workspace
from .alerts import find_alerts
from .array_maps import ArrayMaps
from .head_tables import Heads, sink_shares
from .heads import THRESHOLD, attention_heads, check_threshold
from .layer_values import Settings, by_columns, by_heads, useful_parts
from .map_sums import accumulate_maps, check_views
from .maps import SINKS, Sink
from .measure_choice import check_measure_options, choose_measures
from .measure_texts import describe
from .memory import require_memory_for
from .model_maps import ModelMaps, check_models
from .result import AttentionSimilarity
from .sentence_maps import choose_sentence, sentence_attention
from .sources import MapSource
from .sums import HEAD_MEASURES

BATCH_TOKENS = 2048


def attention_similarity(
    source: Any,
    corpus: Corpus | str | Path | None = None,
    *,
    measures: str | Iterable[str] = "all",
    sink: Sink | None = None,
    threshold: float = THRESHOLD,
    sentence: str | int | Sentence | None = None,
    convention: Convention = "paper",
    measure_options: Mapping[str, Any] | None = None,
    intervals: bool = True,
    level: float = 0.95,
    parts: int | Sequence[Any] = PARTS,
    units: AttentionUnit = "word",
    layers: str | int | Sequence[int] = "all",
    causal: bool | Sequence[str] | None = None,
    batch_tokens: int | None = None,
    memory: float | str | None = None,
    workspace: str | Path | Workspace | None = None,
    progress: bool | None = None,
) -> AttentionSimilarity:
    """Compare the attention of all layers and all heads by several measures, in one pass over the corpus.

    A causal layer is compared with any other on the positions that it sees. Words that see one position only say
    nothing; they are left out and counted.

    Parameters
    ----------
    source
        Models (loaded with ``attention=True``, or what `load_model` takes) with a ``corpus``; or a dict
        ``{"model/layer": [heads × words × words, one array a sentence]}``. Numbers of heads and layers may differ.
    corpus
        What the models are to read; not for arrays.
    measures
        ``"all"``, or some of ``js`` (1 − Jensen-Shannon divergence, base 2), ``pearson`` and ``norm`` (minus the
        Frobenius distance), which compare heads; ``svsim``, ``pwsim``, ``ckasim``, which compare layers with heads
        as columns and (word, word) pairs as rows.
    sink
        How single heads are compared, and what is shown first: attention to the sink ``dropped`` (by default for
        models) or ``kept`` (by default for arrays: maps as they are).
    threshold
        Heads that differ by at most so many bits are in one group; see :func:`lmkin.attention_heads`.
    sentence
        The sentence whose maps are kept to be drawn: its text, or its number in the corpus, from 1; by default one of
        middling length. Of models only.
    convention
        ``paper``; or ``released``, the authors' code: 1 − mean distance, divergence in natural units, and theirs of
        svsim and pwsim.
    measure_options
        Options of svsim, pwsim and ckasim: variance, top_k, estimator.
    intervals
        Standard errors and confidence intervals of every value, by a jackknife.
    level
        Confidence level of the intervals.
    parts
        How many blocks of whole documents the jackknife leaves out in turn; or one label a sentence.
    units
        Of the models: attention between ``word`` and word, so that models with any tokenizers can be compared; or
        between ``token`` and token, for models whose tokenizers cut the text alike, and for text without spaces.
    layers
        Of the models, such as ``"1-3,6"``. Attention has layers from 1.
    causal
        Of arrays: True, False, or the names of the layers that see only what came before. Left out, a layer is taken to
        be causal if it never looks ahead.
    batch_tokens
        Tokens in a padded batch.
    memory
        A budget such as ``"8GB"`` for the whole process; a run that cannot keep it is refused before it begins.
    workspace
        A folder for unfinished work: the same call goes on from there after a kill.
    progress
        Show progress bars; by default where there is a terminal or a notebook.

    Examples
    --------
    >>> import numpy as np, lmkin
    >>> maps = [np.random.default_rng(n).dirichlet(np.ones(n), size=(3, n)) for n in (4, 6, 9)]
    >>> result = lmkin.attention_similarity({"a/1": maps, "b/1": [m[::-1] for m in maps]}, measures="js")
    >>> result.matrix("js").attrs["match"][0, 1].tolist()
    [2, 1, 0]
    """
    names = choose_measures(measures)
    if sink not in (None, *SINKS):
        raise MeasureError(f"sink is 'dropped' or 'kept'; got {quoted(sink)}.")
    if convention not in ("paper", "released"):
        raise MeasureError(f"convention is 'paper' or 'released'; got {quoted(convention)}.")
    check_threshold(threshold)
    check_intervals(intervals, level, parts, labels=True)
    attention_units(units)
    own = dict(measure_options or {})
    check_measure_options(names, own)
    settings = Settings(
        measures=names,
        measure_options=own,
        intervals=intervals,
        level=level,
        parts=parts,
        units=units,
        layers=layers,
        causal=causal,
        convention=convention,
        batch_tokens=BATCH_TOKENS if batch_tokens is None else batch_tokens,
        workspace=workspace,
        progress=progress,
    )
    maps = map_source(source, corpus, settings)
    drawn = None
    if isinstance(maps, ModelMaps):
        require_memory_for(maps, names, memory, parts=len(np.unique(maps.part)))
        if "js" in names:
            shown = choose_sentence(sentence, maps.corpus, maps.counts.tolist())
            drawn = sentence_attention(maps.models, shown, units=units, layers=layers)
    elif sentence is not None:
        raise MeasureError(
            "A sentence is for models to read: maps of your own can be drawn as they are."
        )
    dataset = _as_dataset(_compare(maps, names, settings, own))
    shown_sink: Sink = sink or ("kept" if isinstance(maps, ArrayMaps) else "dropped")
    dataset.attrs["sink"] = shown_sink
    heads = None
    if "js" in names and np.isfinite(dataset["js_heads"].sel(sink=shown_sink).values).all():
        heads = attention_heads(dataset, sink=shown_sink, threshold=threshold)
    return AttentionSimilarity(dataset, heads, drawn)


@dataclass
class Comparison:
    """Everything that was found, before it is put into a table."""

    labels: Labels
    heads: Heads
    entries: dict[str, dict[str, Entry]]
    """By measure and sink."""
    head_tables: dict[str, dict[str, Any]]
    sink_share: Any
    attrs: dict[str, Any]
    sinks: Sequence[str]
    """The one that is shown first, and the other."""


def _compare(
    source: MapSource, measures: Sequence[str], settings: Settings, own: dict[str, Any]
) -> Comparison:
    if isinstance(source, ModelMaps):
        source.require_two()
    work = Workspace.of(settings.workspace)
    views = accumulate_maps(source, measures, work=work, progress=settings.progress)
    heads = Heads(source.layout)
    # Maps of one's own are shown as they are first, those of models without the sink.
    own_maps = isinstance(source, ArrayMaps)
    sinks = SINKS[::-1] if own_maps else SINKS
    views = check_views(views, source.info["units"], spare=sinks[1:] if own_maps else ())
    parts = useful_parts(views) if settings.intervals else []
    parts = parts if len(parts) > 1 else []
    entries: dict[str, dict[str, Entry]] = {}
    tables: dict[str, dict[str, Any]] = {}
    for sink in sinks:
        mine = [
            v for v in views if v.view.sink == sink
        ]  # none, where nothing is left without the sink
        for measure in measures:
            if measure in HEAD_MEASURES:
                entry, table = by_heads(mine, heads, measure, settings, parts)
                tables.setdefault(measure, {})[sink] = table
            else:
                entry = by_columns(mine, heads, measure, settings, own, parts)
            entry.attrs = describe(measure, source.info["units"], released=settings.released)
            entries.setdefault(measure, {})[sink] = entry
    shown = [v for v in views if v.view.sink == "kept"]
    totals = [v.total() for v in shown]
    share = sink_shares(shown, totals, heads)
    alerts = find_alerts(
        views, heads, share, source.info, len(parts) if settings.intervals else None
    )
    counts = {f"{v.view.sink}, {'past' if v.view.past else 'all'}": v.total().counts for v in views}
    attrs = {
        "n": max(c["words"] for c in counts.values()),
        "units": source.info["units"],
        "sentences": max(c["sentences"] for c in counts.values()),
        "corpus": source.info.get("corpus", ""),
        "models": Labels(source.layout.groups).models,
        "counts": plain(counts),
        "parts": len(parts),
        "level": settings.level,
        "widths": plain(
            {str(g): w for g, w in zip(source.layout.groups, source.layout.widths, strict=True)}
        ),
        "part_sizes": [sum(v.parts[p].counts["words"] for v in shown[:1]) for p in parts],
        "alerts": as_data(alerts),
        "provenance": _provenance(source, measures, settings, own),
    }
    return Comparison(Labels(source.layout.groups), heads, entries, tables, share, attrs, sinks)


def map_source(source: Any, corpus: Any, settings: Any) -> MapSource:
    """Attention maps of arrays, or of models with a corpus."""
    parts = settings.parts if settings.intervals else 1
    if isinstance(source, Mapping):
        if corpus is not None:
            raise MeasureError("A corpus is for models to read; maps are read already.")
        if settings.units != "word":
            raise MeasureError(
                "units= says between what models attend; maps of your own are between what they are between."
            )
        if not isinstance(settings.layers, str) or settings.layers != "all":
            raise MeasureError(
                "layers= chooses layers of models; of a dict of maps, give those that you want."
            )
        return ArrayMaps(source, parts, settings.causal)
    models = check_models(source)
    if settings.causal is not None:
        raise MeasureError("Models are known to be causal or not: causal= is for a dict of maps.")
    if corpus is None:
        raise MeasureError("Give a corpus for the models to read (corpus=…).")
    sentences = read_corpus(corpus) if isinstance(corpus, str | Path) else corpus
    if not isinstance(sentences, Corpus):
        raise MeasureError(
            f"A corpus is a Corpus, the path of a file, or 'sample'; got {type(corpus).__name__}."
        )
    return ModelMaps(
        models,
        sentences,
        parts,
        units=settings.units,
        layers=settings.layers,
        batch_tokens=settings.batch_tokens,
    )


def _as_dataset(run: Comparison) -> xr.Dataset:
    result = as_dataset(run.labels, run.entries, run.attrs, axis="sink", unit="head")
    names = run.heads.names
    result = result.assign_coords(head_name=names, head_other=names)
    for measure, by_sink in run.head_tables.items():
        both = np.stack([by_sink[s] for s in run.sinks])
        result[f"{measure}_heads"] = (("sink", "head_name", "head_other"), both)
    result["sink_share"] = ("head_name", run.sink_share)
    groups = run.heads.layout.groups
    layer = run.heads.layer
    result["head_model"] = ("head_name", [groups[i].model for i in layer])
    result["head_layer"] = ("head_name", [groups[i].layer for i in layer])
    result["head_number"] = (
        "head_name",
        np.concatenate([np.arange(w) for w in run.heads.layout.widths]),
    )
    return result


def _provenance(
    source: MapSource, measures: Sequence[str], settings: Settings, own: dict[str, Any]
) -> dict[str, Any]:
    names = ("convention", "intervals", "level")
    return make_provenance(
        analysis="attention",
        options={
            "measures": list(measures),
            **{name: getattr(settings, name) for name in names},
            "measure_options": own,
        },
        source=source.info,
    )
