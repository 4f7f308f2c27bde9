"""`attention_similarity` and `attention_similarities`: how alike the heads of some models look."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from .. import __version__
from ..corpus import Corpus, read_corpus
from ..errors import MeasureError, did_you_mean
from ..measures.options import check_value
from ..measures.registry import measure_info
from ..measures.settings import Settings, check_settings
from ..progress import progress_bar
from ..results.labelled import Entry, Labels, as_dataset, as_matrix, plain
from .accumulating import accumulate_maps, check_views
from .alerts import find_alerts
from .describing import ATTENTION, describe
from .evaluating import Options, by_columns, by_heads, useful_parts
from .maps import SINKS
from .sources import ArrayMaps, MapSource, ModelMaps, check_models
from .sums import HEAD_MEASURES
from .tables import Heads, sink_shares


def attention_similarity(
    source: Any,
    corpus: Corpus | str | Path | None = None,
    measure: str = "js",
    *,
    sink: str | None = None,
    heads: bool = False,
    **options: Any,
) -> xr.DataArray:
    """How alike the attention of all layers is, by one measure: a table of layers × layers, in the order given.

    Rows are x, columns y: the mean over the heads of layer x of the best match among the heads of layer y. The
    attribute ``match`` says which head that was, for every head of x; the coordinates ``dropped`` and ``kept`` hold
    the value without and with attention to the sink, of which the table itself is one: ``sink="dropped"`` by default
    for models, ``"kept"`` (maps as they are) for arrays. With ``heads=True`` the table is head × head.

    Takes what `attention_similarities` takes.

    >>> import numpy as np, lmkin
    >>> maps = [np.random.default_rng(n).dirichlet(np.ones(n), size=(3, n)) for n in (4, 6, 9)]
    >>> table = lmkin.attention_similarity({"a/1": maps, "b/1": [m[::-1] for m in maps]}, measure="js")
    >>> table.attrs["match"][0, 1].tolist()
    [2, 1, 0]
    """
    if not isinstance(measure, str) or measure not in _known():
        names = [measure] if isinstance(measure, str) else []
        raise MeasureError(
            f"Attention is compared by one of {', '.join(ATTENTION)}; got {measure!r}. "
            f"{did_you_mean(names[0], _known()) if names else ''}".strip()
        )
    if sink not in (None, *SINKS):
        raise MeasureError(f"sink is 'dropped' or 'kept'; got {sink!r}.")
    run = _compare(source, corpus, [measure], options)
    shown = sink or run.sinks[0]
    if heads:
        if measure not in HEAD_MEASURES:
            raise MeasureError(
                f"{measure} compares whole layers; head × head there are {', '.join(HEAD_MEASURES)}."
            )
        return _head_matrix(run, measure, shown)
    entries = run.entries[measure]
    table = as_matrix(run.labels, entries[shown], run.attrs, measure)
    both = {s: (("x", "y"), entries[s].value) for s in SINKS}
    table.attrs["sink"] = shown
    return table.assign_coords(both)


def attention_similarities(
    source: Any,
    corpus: Corpus | str | Path | None = None,
    measures: str | Iterable[str] = "all",
    **options: Any,
) -> xr.Dataset:
    """How alike the attention of all layers, and of all heads, is: by several measures, in one pass over the corpus.

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
    intervals, level, parts
        Jackknife standard errors and intervals over ``parts`` (10) blocks of documents, or as given, one label a
        sentence.
    layers
        Of the models, such as ``"1-3,6"``. Attention has layers from 1.
    causal
        Of arrays: True, False, or the names of the layers that see only what came before. Left out, a layer is taken to
        be causal if it never looks ahead.
    released
        The conventions of the authors' code: 1 − mean distance, divergence in natural units, and theirs of svsim and
        pwsim.
    checkpoint
        A folder in which finished parts are kept: the same call goes on from there after a kill.
    batch_tokens, progress
        How the models are run.
    **options
        All of these, and options of svsim, pwsim and ckasim: variance, top_k, estimator.

    Returns
    -------
    A Dataset over (sink, model_x, layer_x, model_y, layer_y) with ``M`` for every measure, ``M_se``, ``M_low``,
    ``M_high``, ``M_without``; ``M_match``, the head of y that is most like each head of x; ``M_heads``, head × head;
    and ``sink_share``, how much of its attention each head gives to the sink. ``sink`` is ``dropped`` (what goes to
    special tokens, or to a decoder's first token, left out and rows made to sum to 1 again) or ``kept`` (one position
    more). Of arrays, the first word counts as the sink.

    A causal layer is compared with any other on the positions that it sees. Words that see one position only say
    nothing; they are left out and counted.
    """
    return _as_dataset(_compare(source, corpus, choose_measures(measures), options))


def _known() -> list[str]:
    return list(ATTENTION)


def choose_measures(measures: str | Iterable[str]) -> list[str]:
    """Names of measures of attention, from a text with commas or a list; an error for an unknown one."""
    if isinstance(measures, str):
        measures = ATTENTION if measures == "all" else [m.strip() for m in measures.split(",")]
    if not isinstance(measures, Iterable):
        raise MeasureError(f"measures is 'all', a name, or a list of names; got {measures!r}.")
    chosen = list(dict.fromkeys(measures))
    for name in chosen:
        if name not in ATTENTION:
            raise MeasureError(
                f"Unknown measure of attention {name!r}. {did_you_mean(str(name), _known())}"
            )
    if not chosen:
        raise MeasureError(f"Name at least one measure: {', '.join(ATTENTION)}.")
    return chosen


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
    source: Any, corpus: Any, measures: Sequence[str], options: dict[str, Any]
) -> Comparison:
    known = Options.__dataclass_fields__
    settings = Options(**{k: v for k, v in options.items() if k in known})
    own = {k: v for k, v in options.items() if k not in known}
    distributed = [m for m in measures if m not in HEAD_MEASURES]
    allowed = {o for m in distributed for o in measure_info(m).options}
    for name, given in own.items():
        if name not in allowed:
            near = did_you_mean(name, [*known, *allowed])
            raise MeasureError(f"No option {name!r} of {', '.join(measures)}. {near}")
        check_value(name, given)
    check_value("released", settings.released)
    shared = {k: getattr(settings, k) for k in ("intervals", "level", "parts")}
    check_settings(Settings(**shared), [])
    found = map_source(source, corpus, settings)
    with progress_bar("attention", len(found.part), "sentences", show=settings.progress) as advance:
        # Arrays lie there to be read again, and say nothing of whether they are the same.
        keeps = settings.checkpoint is not None and isinstance(found, ModelMaps)
        folder = Path(str(settings.checkpoint)) if keeps else None
        views = accumulate_maps(
            found, measures, advance=advance, checkpoint=folder, say=settings.say
        )
    heads = Heads(found.layout)
    # Maps of one's own are shown as they are first, those of models without the sink.
    own_maps = isinstance(found, ArrayMaps)
    sinks = SINKS[::-1] if own_maps else SINKS
    views = check_views(views, spare=sinks[1:] if own_maps else ())
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
            entry.attrs = describe(measure, released=settings.released)
            entries.setdefault(measure, {})[sink] = entry
    shown = [v for v in views if v.view.sink == "kept"]
    totals = [v.total() for v in shown]
    share = sink_shares(shown, totals, heads)
    alerts = find_alerts(
        views, heads, share, found.info, len(parts) if settings.intervals else None
    )
    counts = {f"{v.view.sink}, {'past' if v.view.past else 'all'}": v.total().counts for v in views}
    attrs = {
        "n": max(c["words"] for c in counts.values()),
        "units": "word",
        "sentences": max(c["sentences"] for c in counts.values()),
        "corpus": found.info.get("corpus", ""),
        "models": Labels(found.layout.groups).models,
        "counts": plain(counts),
        "parts": len(parts),
        "level": settings.level,
        "alerts": [str(a) for a in alerts],
        "provenance": plain(_provenance(found, settings, own)),
    }
    return Comparison(Labels(found.layout.groups), heads, entries, tables, share, attrs, sinks)


def map_source(source: Any, corpus: Any, settings: Any) -> MapSource:
    """Attention maps of arrays, or of models with a corpus."""
    parts = settings.parts if settings.intervals else 1
    if isinstance(source, Mapping):
        if corpus is not None:
            raise MeasureError("A corpus is for models to read; maps are read already.")
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
        models, sentences, parts, layers=settings.layers, batch_tokens=settings.batch_tokens
    )


def _head_matrix(run: Comparison, measure: str, sink: str) -> xr.DataArray:
    names = run.heads.names
    return xr.DataArray(
        run.head_tables[measure][sink],
        dims=("head_x", "head_y"),
        coords={"head_x": names, "head_y": names, "sink_share": ("head_x", run.sink_share)},
        name=measure,
        attrs={**run.entries[measure][sink].attrs, **run.attrs, "sink": sink},
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


def _provenance(source: MapSource, settings: Options, own: dict[str, Any]) -> dict[str, Any]:
    chosen = {k: getattr(settings, k) for k in ("intervals", "level", "released")}
    return {"lmkin": __version__, "settings": chosen, "options": own, "source": source.info}
