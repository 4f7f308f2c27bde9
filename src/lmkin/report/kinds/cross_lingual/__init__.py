"""Cross-lingual transfer: what probes of one language know of others."""

from __future__ import annotations

from functools import partial
from typing import Any

from ....results import ResultTable, listed
from ...names import counted
from ...page import Chapter, Figure, Table
from ...tables import SAME
from .. import Charts, ReportKind, report_kind
from .beside_thesis import thesis_chart, thesis_switches
from .classes import AMOUNTS, amount_switch, class_chart, class_score_lines, left_out
from .curves import chosen_by, threshold_chart, threshold_table
from .grids import grid_chart
from .levels import level_chart
from .training_grid import training_chapter, training_chart
from .view import AXES, TransferView, run_switches


@report_kind
class CrossLingualReport(ReportKind):
    """What probes of one language know of others."""

    kind = "cross-lingual"

    def title(self, result: Any) -> str:
        """From where to how many languages."""
        view = TransferView(result.dataset)
        others, sources = len(view.names["language"]) - 1, view.names["source"]
        fitted = listed(sources) if len(sources) <= 3 else counted(len(sources), "language")
        return (
            f"What do probes that were fitted on {fitted} know of {counted(others, 'other language')}? "
            f"({listed(view.names['model'])})"
        )

    def facts(self, result: Any) -> list[tuple[str, str]]:
        """Models, corpora, sentences, clusters, intervals."""
        view = TransferView(result.dataset)
        attrs, held = view.dataset.attrs, view.dataset["held_out"].values
        names = view.names["model"]
        left_out = sum(attrs.get("left_out", {}).values())
        split = f"{counted(len(held), 'sentence')} in each language, {int(held.sum()):,} of them held out"
        return [
            ("Model" if len(names) == 1 else "Models", "; ".join(names)),
            ("Fitted on", ", ".join(view.names["source"])),
            ("Corpora", str(attrs.get("corpus", ""))),
            ("Sentences", split + (f"; {left_out:,} left out" if left_out else "")),
            ("Clusters", f"{attrs.get('linkage', '')} linkage, found on what is fitted on"),
            ("Intervals", f"{view.level}, over sentences" if view.level else "none"),
        ]

    def chapters(self, result: Any) -> list[Chapter]:
        """Languages beside their baselines, thresholds by language and family, layers, classes, models."""
        view = TransferView(result.dataset)
        tables = {table.name: table for table in result.tables()}
        chapters = [_levels(view, tables), _thresholds(view)]
        if view.families:
            chapters.append(_families(view, tables))
        chapters += [_neurons(view, tables), _classes(view)]
        if len(view.names["source"]) > 1:
            chapters.append(_sources(view))
        if len(view.names["model"]) > 1:
            chapters.append(_models(view, tables))
        if "published" in tables:
            chapters.append(_published(view, tables))
        if "published_train" in result.dataset:
            chapters.append(training_chapter(view, tables["published_training"]))
        return chapters

    def charts(self, result: Any) -> Charts:
        """``cross-lingual-language-MiniLM-en-upos`` …: for each model and task, from the first language of training.

        Of many languages that are fitted on there would be hundreds of pictures; the page has them all.
        """
        view = TransferView(result.dataset)
        charts: Charts = {}
        for key, places in view.runs():
            if places["source"]:
                continue
            one, name = view.only(**places), key.replace("~", "-")
            charts[f"cross-lingual-levels-{name}"] = partial(level_chart, one, width=640)
            for lines in ("language", *(["family"] if view.families else [])):
                charts[f"cross-lingual-{lines}-{name}"] = partial(
                    threshold_chart, one, lines, width=640
                )
            charts[f"cross-lingual-neurons-{name}"] = partial(grid_chart, one, width=640)
            charts[f"cross-lingual-classes-{name}"] = partial(class_chart, one, width=640)
        if len(view.names["source"]) > 1:
            charts["cross-lingual-sources"] = partial(grid_chart, view, "source", width=640)
        if len(view.names["model"]) > 1:
            charts["cross-lingual-models"] = partial(threshold_chart, view, "model", width=640)
        if "published" in result.dataset:
            charts["cross-lingual-thesis"] = partial(thesis_chart, view, width=640)
        if "published_train" in result.dataset:
            charts["cross-lingual-thesis-training"] = partial(training_chart, view, width=640)
        return charts

    def details(self, result: Any) -> list[tuple[str, Any]]:
        """The layers that each set reads, the numbers of the labels, and the sentences that are held out."""
        attrs, dataset = result.attrs, result.dataset
        held = [
            str(name)
            for name, out in zip(
                dataset["sentence"].values, dataset["held_out"].values, strict=True
            )
            if out
        ]
        return [
            ("Layers of each set of neurons", attrs.get("layers_read", {})),
            ("Labels, in the order of their numbers", attrs.get("classes", {})),
            ("Held-out sentences", held),
        ]


def _levels(view: TransferView, tables: dict[str, ResultTable]) -> Chapter:
    unseen = str(view.dataset.attrs.get("unseen", "wrong"))
    convention = (
        "A label that the language of training has not can only be wrong."
        if unseen == "wrong"
        else "A label that the language of training has not counts as its most frequent label."
    )
    return Chapter(
        "How well is each language predicted?",
        paragraphs=[
            "A probe is fitted on the words of one language and predicts those of the others, on sentences whose "
            f"translations it has not seen. {convention}",
        ],
        figures=[
            Figure(
                level_chart(view),
                caption="Held-out sentences. Majority and the tag of a word are taken from the language of training; "
                "the tag of a word in the language itself, from its own sentences that are not held out. What beats "
                "none of them is no transfer.",
                name="cross-lingual-levels",
            )
        ],
        switches=run_switches(view, test=False),
        tables=[Table(tables["languages"], folded="All numbers")],
    )


def _thresholds(view: TransferView) -> Chapter:
    return Chapter(
        "With fewer and fewer neurons, by language",
        paragraphs=[
            "Neurons that say the same thing in the language of training are put into clusters, one of each is kept, "
            "and a probe is fitted anew on those that are left. The higher the threshold, the fewer are left."
        ],
        figures=[
            Figure(
                threshold_chart(view),
                caption="Bands are intervals over sentences; the same sentences are left out in every language. On all "
                "sentences there is no line for the language of training: most of them were fitted on.",
                name="cross-lingual-thresholds",
            )
        ],
        switches=run_switches(view),
        tables=_run_tables(view, "language"),
    )


def _families(view: TransferView, tables: dict[str, ResultTable]) -> Chapter:
    return Chapter(
        "By family of languages",
        paragraphs=["Means over the languages of a family, without the language of training."],
        figures=[
            Figure(
                threshold_chart(view, "family"),
                caption="Intervals are over sentences: they say nothing of other languages of a family.",
                name="cross-lingual-families",
            )
        ],
        switches=run_switches(view),
        tables=[
            Table(tables["families"], folded="Families, by all neurons"),
            *_run_tables(view, "family"),
        ],
    )


def _neurons(view: TransferView, tables: dict[str, ResultTable]) -> Chapter:
    return Chapter(
        "Which layers are needed?",
        paragraphs=[
            "Probes of every set of neurons, each fitted anew: clusters at each threshold, and some layers without the "
            "others. Which layers these are stands in the table."
        ],
        figures=[Figure(grid_chart(view), caption="Point at a cell for its interval.", name="cross-lingual-neurons")],
        switches=run_switches(view),
        tables=[Table(tables["neurons"], folded="Numbers of neurons, layers, and what is lost")],
    )  # fmt: skip


def _classes(view: TransferView) -> Chapter:
    words = (("support", "The words of each class"),)
    tables = [
        Table(class_score_lines(view, name, at), folded=text, when=when)
        for _, places in view.runs()
        for test in view.tests
        for at in ({**places, "test": view.names["test"].index(test)},)
        for name, text in (*((n, SAME) for n in AMOUNTS), *words)
        for when in (
            {axis: view.keys[axis][k] for axis, k in places.items()}
            | {"test": test}
            | ({"amount": name} if name in AMOUNTS else {}),
        )
    ]
    return Chapter(
        "Which classes come over?",
        paragraphs=[
            "What a probe of all neurons that was fitted on one language knows of each class in the others. Classes "
            "that are rare in train, at the bottom, say little, and so do classes with few words in a language.",
            *left_out(view),
        ],
        figures=[
            Figure(
                class_chart(view),
                caption="The most frequent class in train at the top. Grey: not defined, for want of words or of "
                "predictions; or the language of training, where most of it was fitted on. Labels that it has not are "
                "in no row; they lower the precision of what they are taken for.",
                name="cross-lingual-classes",
            )
        ],
        switches=[*run_switches(view), amount_switch()],
        tables=tables,
    )


def _sources(view: TransferView) -> Chapter:
    by = tuple(axis for axis in AXES if axis != "source")
    return Chapter(
        "From every language to every language",
        figures=[
            Figure(
                grid_chart(view, "source"),
                caption="By probes of all neurons. In a row all numbers come from the same probe.",
                name="cross-lingual-sources",
            )
        ],
        switches=run_switches(view, by),
    )


def _models(view: TransferView, tables: dict[str, ResultTable]) -> Chapter:
    return Chapter(
        "Models side by side",
        paragraphs=[
            f"{view.names['model'][0]} comes first: differences of the others from it are of the same words, so that "
            "they are known better than the scores themselves."
        ],
        figures=[
            Figure(
                threshold_chart(view, "model"),
                caption="Means over all languages but that of training.",
                name="cross-lingual-models",
            )
        ],
        switches=run_switches(view, chosen_by("model")),
        tables=[Table(tables["models"]), *_run_tables(view, "model")],
    )


def _published(view: TransferView, tables: dict[str, ResultTable]) -> Chapter:
    return Chapter(
        "Beside the thesis",
        paragraphs=[
            "The thesis fitted probes of three multilingual models on English, and tested them on parallel treebanks."
        ],
        figures=[
            Figure(
                thesis_chart(view),
                caption="The thesis has no intervals, and its thresholds above 0.1 seem to be of clusters of what the "
                "threshold before had left.",
                name="cross-lingual-thesis",
            )
        ],
        switches=thesis_switches(view),
        tables=[Table(tables["published"], folded=SAME)],
    )


def _run_tables(view: TransferView, lines: str) -> list[Table]:
    """The numbers of a chart for each state of its switches."""
    by, tables = chosen_by(lines), []
    for _, places in view.runs(by):
        for test in view.tests:
            when = {axis: view.keys[axis][k] for axis, k in places.items()} | {"test": test}
            at = {**places, "test": view.names["test"].index(test)}
            tables.append(Table(threshold_table(view, lines, at), folded=SAME, when=when))
    return tables
