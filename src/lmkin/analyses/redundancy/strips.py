"""What the neurons of a cluster do over a sentence, word by word."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import xarray as xr

from ...activations import Activations, extract
from ...core import MeasureError, is_whole, quoted
from ...corpus import Corpus, Sentence, split_words
from ...models import LanguageModel, ReadingOptions, load_model
from .clustering import Clustering


def cluster_strips(
    source: Any,
    sentence: str | Sentence | int,
    clustering: Clustering,
    threshold: float = 0.3,
    *,
    clusters: int | Sequence[int] = 3,
    most: int = 12,
    model: str | None = None,
    **reading: Unpack[ReadingOptions],
) -> xr.Dataset:
    """Activations of the neurons of some clusters over a sentence.

    Parameters
    ----------
    source
        The model, or activations of it.
    sentence
        A text, with words as a corpus of plain text has them; or a `Sentence`; of activations, the number of a sentence
        of their corpus.
    clustering, threshold, model
        Which clusters; the name of the model, where there are several.
    clusters
        Numbers of clusters; or how many, the largest first that are of two neurons at least.
    most
        Neurons of a cluster that are shown, its representative first.
    reading
        As for :func:`lmkin.extract`.

    Returns
    -------
    ``activation`` (row, word), each neuron with mean 0 and deviation 1 over the words of the sentence, turned round
    where, over the corpus, it runs against its representative (``sign`` -1); ``cluster``, ``layer`` and ``neuron`` of
    each row; ``size`` of its cluster.
    """
    if not isinstance(clustering, Clustering):
        raise MeasureError(
            f"Strips need a Clustering, as cluster_neurons gives it; got {type(clustering).__name__}."
        )
    if not is_whole(most) or most < 1:
        raise MeasureError(f"most is a number of neurons, 1 or more; got {quoted(most)}.")
    members = clustering.members(threshold, model)
    numbers = _choose(clusters, [len(m) for m in members])
    acts = _read(source, sentence, reading)
    clustering.keep(threshold, model).require(acts)
    if len(acts) < 2:
        raise MeasureError("A strip needs two words at least; the sentence has fewer.")
    first = dict(enumerate(clustering.representatives(threshold, model)))
    runs = clustering.signs(threshold, model)
    rows: list[dict[str, Any]] = []
    values = []
    for cluster in numbers:
        order = [first[cluster], *(m for m in members[cluster] if m != first[cluster])]
        for layer, neuron in order[:most]:
            sign = runs[layer, neuron]
            values.append(sign * _standardized(_column(acts, layer, neuron)))
            rows.append(
                {
                    "cluster": cluster,
                    "layer": layer,
                    "neuron": neuron,
                    "sign": sign,
                    "size": len(members[cluster]),
                }
            )
    words = acts.units.texts
    return xr.Dataset(
        {"activation": (("row", "word"), np.stack(values))},
        coords={
            "word": np.arange(len(words)),
            "text": ("word", list(words)),
            **{name: ("row", [r[name] for r in rows]) for name in rows[0]},
        },
        attrs={"model": model or clustering.models[0], "threshold": float(threshold)},
    )


def _choose(clusters: int | Sequence[int], sizes: Sequence[int]) -> list[int]:
    if isinstance(clusters, int | np.integer):
        if clusters < 1:
            raise MeasureError(f"How many clusters, 1 or more; got {clusters}.")
        order = np.argsort(-np.asarray(sizes), kind="stable")
        largest = [int(c) for c in order[:clusters] if sizes[c] > 1]
        if not largest:
            raise MeasureError(
                "Every neuron is alone at this threshold: there is no cluster to show. Take a higher one."
            )
        return largest
    if isinstance(clusters, str) or not isinstance(clusters, Iterable) or not len(list(clusters)):
        raise MeasureError(f"clusters is a number, or numbers of clusters; got {quoted(clusters)}.")
    for cluster in clusters:
        if not is_whole(cluster):
            raise MeasureError(f"A cluster is a whole number; got {quoted(cluster)}.")
        if not 0 <= cluster < len(sizes):
            raise MeasureError(f"There is no cluster {cluster}; they are 0 to {len(sizes) - 1}.")
    return [int(c) for c in clusters]


def _read(source: Any, sentence: str | Sentence | int, reading: ReadingOptions) -> Activations:
    if isinstance(source, Activations):
        if not isinstance(sentence, int | np.integer):
            raise MeasureError(
                "Of activations, give the number of a sentence of their corpus; a text of your own needs the model."
            )
        if not 0 <= sentence < len(source.units.corpus):
            raise MeasureError(
                f"There is no sentence {sentence}; the corpus has 0 to {len(source.units.corpus) - 1}."
            )
        return source.select(np.flatnonzero(source.units.sentence == sentence))
    model = source if isinstance(source, LanguageModel) else load_model(_named(source))
    if isinstance(sentence, str):
        text = " ".join(sentence.split())
        if not text:
            raise MeasureError("The sentence is empty.")
        sentence = Sentence(text, split_words(text, "whitespace"), id="1")
    if not isinstance(sentence, Sentence):
        raise MeasureError(f"A sentence is a text; got {type(sentence).__name__}.")
    return extract(model, Corpus([sentence], name="sentence"), progress=False, **reading)


def _named(source: Any) -> str | Path:
    if not isinstance(source, str | Path):
        raise MeasureError(f"Strips are of a model or of activations; got {type(source).__name__}.")
    return source


def _column(acts: Activations, layer: int, neuron: int) -> Any:
    if layer not in acts.layers or neuron >= acts.layer(layer).shape[1]:
        raise MeasureError(
            f"{acts.name} has no neuron {neuron} in layer {layer}: is it the model that was clustered?"
        )
    return np.asarray(acts.layer(layer)[:, :], np.float64)[:, neuron]


def _standardized(line: Any) -> Any:
    spread = line.std()
    return (line - line.mean()) / (spread if spread > 0 else 1.0)


# -- several strips in one file ---------------------------------------------------------------------


def join_strips(strips: Sequence[xr.Dataset]) -> xr.Dataset:
    """Strips of different sentences or models in one dataset, each variable with the number of its strip."""
    renamed = []
    for number, strip in enumerate(strips):
        plain = strip.reset_coords()
        names = {str(n): f"{n}_{number}" for n in (*plain.variables, *plain.dims)}
        renamed.append(plain.rename(names).drop_attrs())
    joined = xr.merge(renamed)
    joined.attrs = {"strips": [dict(strip.attrs) for strip in strips]}
    return joined


def split_strips(joined: xr.Dataset) -> list[xr.Dataset]:
    """What `join_strips` joined."""
    strips = []
    for number, attrs in enumerate(joined.attrs["strips"]):
        ending = f"_{number}"
        mine = joined[[n for n in joined.variables if str(n).endswith(ending)]]
        names = {n: str(n).removesuffix(ending) for n in (*mine.variables, *mine.dims)}
        strip = mine.rename(names)
        strip = strip.set_coords([n for n in strip.variables if n != "activation"])
        strip.attrs = dict(attrs)
        strips.append(strip)
    return strips
