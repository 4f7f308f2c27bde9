"""Chapters of clusters: neurons left, where they lie, how far apart members of a cluster are, what they do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from ....core import slugs
from ...names import counted
from ...page import Chapter, Figure, Option, Switch, Table
from ...tables import SAME
from .neurons_left import AMOUNTS, largest_table, layer_heatmap, layer_table, left_chart, left_table
from .spans import KINDS, span_chart, span_table
from .strips import farthest, model_of, strip_chart, strip_table, threshold_of, words_of
from .view import RedundancyView, model_switch

_LINKAGES = {
    "average": "neurons that are merged have a mean distance up to it",
    "complete": "no two neurons of a cluster lie farther apart",
    "single": "each neuron of a cluster lies so near to some other of it",
}

_MOST_CELLS = 20_000
"""Of all tables of strips together."""


def left_chapter(view: RedundancyView) -> Chapter:
    """How many neurons stand for all."""
    linkage = str(view.dataset.attrs.get("linkage", "average"))
    meaning = f": with {linkage} linkage, {_LINKAGES[linkage]}" if linkage in _LINKAGES else ""
    return Chapter(
        "Neurons left by threshold",
        paragraphs=[
            "Neurons of all layers of a model that go up and down together, or against each other, are put into "
            "clusters, and one neuron of each cluster is kept. The distance of two neurons is "
            f"1\u00a0−\u00a0|r|, with Pearson's r over all words; the threshold is where clusters end{meaning}. "
            "At 0 only copies are merged; the faster a line falls, the more a model says twice.",
        ],
        figures=[
            Figure(
                left_chart(view),
                caption="How many neurons stand for all. Point at a mark for its value.",
                name="redundancy-left",
            )
        ],
        switches=[
            Switch("amount", "Show:", [Option(key, text) for key, text in AMOUNTS.items()]),
        ],
        tables=[
            Table(left_table(view), folded=SAME),
            *(
                [Table(largest_table(view), folded="Neurons of the largest cluster")]
                if "largest" in view.dataset
                else []
            ),
        ],
    )


def by_layer_chapter(view: RedundancyView) -> Chapter:
    """Where the neurons that are kept lie."""
    attrs = view.dataset.attrs
    widths = view.numbers("width")
    known = widths[np.isfinite(widths) & (widths > 0)]
    if str(attrs.get("representative", "random")) == "medoid":
        chance = (
            "Of each cluster its medoid is kept, the neuron that correlates most with the others; which layer it lies "
            "in may hang on little, so that small differences between layers are chance."
        )
    else:
        chance = (
            f"Which neuron of a cluster is kept is drawn at random (seed {attrs.get('seed', 0)}), so that small "
            "differences between layers are chance"
        )
        # Of each cluster at most one neuron is kept in a layer: a sum of draws of variance 1/4 at most.
        if known.size:
            points = 50 / float(np.sqrt(known.min()))
            chance += f": with another seed a cell would move by up to {points:.1f} points (one standard deviation)"
        chance += "."
    return Chapter(
        "Neurons left by layer",
        paragraphs=[
            "Where the neurons that are kept lie. A pale layer says little that others do not say too; a dark one "
            "holds neurons that are like no others."
        ],
        figures=[
            Figure(
                layer_heatmap(view),
                caption=f"{chance} Point at a cell for its numbers.",
                name="redundancy-layers",
            )
        ],
        switches=model_switch(view),
        tables=[
            Table(layer_table(view, m), folded="Neurons kept, as a table", when={"model": key})
            for m, key in enumerate(view.keys)
        ],
    )


def span_chapter(view: RedundancyView) -> Chapter:
    """Over how many layers clusters reach."""
    several = len(view.models) > 1
    figures = [
        Figure(
            span_chart(view),
            caption="Right of a bar: how many there are. Layers are counted as they were chosen: of every second "
            "layer, neighbours are ±1.",
            name="redundancy-spans",
        )
    ]
    if several:
        figures.append(
            Figure(
                span_chart(view, "model"),
                caption="All models at the threshold that is chosen.",
                name="redundancy-models",
            )
        )
    kinds = {
        "clusters": "Clusters of a single neuron are left out.",
        "neurons": "Neurons that never move are left out.",
    }
    switches = [
        Switch("kind", "Show:", [Option(k, f"fraction of {k}", kinds[k]) for k in KINDS]),
        *model_switch(view),
    ]
    if several and len(view.thresholds) > 1:
        options = [Option(*o) for o in zip(view.levels, view.labels, strict=True)]
        switches.append(
            Switch("threshold", "Threshold:", options, start=view.levels[view.usual], folded=True)
        )
    return Chapter(
        "How far apart the members of a cluster lie",
        paragraphs=[
            "Neurons of one layer that say the same are redundancy inside the layer. Clusters that reach over "
            "neighbouring layers are often neurons that pass through nearly unchanged, as residual connections let "
            "them."
        ],
        figures=figures,
        switches=switches,
        tables=[
            Table(span_table(view, m, kind), folded=SAME, when={"kind": kind, "model": key})
            for kind in KINDS
            for m, key in enumerate(view.keys)
        ],
    )


def strip_keys(strips: Sequence[xr.Dataset]) -> list[str]:
    """Names for files, no two alike."""
    return slugs([f"{model_of(s)} {threshold_of(s)}" for s in strips])


def strip_chapters(strips: Sequence[xr.Dataset]) -> list[Chapter]:
    """A chapter for each: side by side the words would have no room."""
    top = farthest(strips)
    cells = sum(s.sizes["row"] * len(words_of(s)[0]) for s in strips)
    chapters = []
    for number, (key, strip) in enumerate(zip(strip_keys(strips), strips, strict=True)):
        left_out = words_of(strip)[1]
        caption = (
            "Blue: above the neuron's mean over the sentence; red: below it. Colours stop at "
            f"±{top:.2g} standard deviations. (−): turned round, because it goes against the neuron that stands for "
            "the cluster, which comes first."
        )
        if left_out:
            caption += f" There was no room for the last {counted(left_out, 'word')}."
        if cells > _MOST_CELLS:
            caption += " The numbers are in strips.csv."
        chapters.append(
            Chapter(
                f"Neurons of a cluster over a sentence: {model_of(strip)} at {threshold_of(strip)}",
                paragraphs=[
                    "Each row is a neuron, each column a word: rows of a cluster should look alike. A few words are no "
                    "proof; clusters were found on the whole corpus."
                ]
                * (number == 0),
                figures=[
                    Figure(
                        strip_chart(strip, top=top), caption=caption, name=f"redundancy-strip-{key}"
                    )
                ],
                tables=[Table(strip_table(strip), folded=SAME)] * (cells <= _MOST_CELLS),
            )
        )
    return chapters
