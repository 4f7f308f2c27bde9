"""`CrossLingual`: what probes of one language know of others."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import xarray as xr

from ...activations import Activations, JoinedLayers
from ...core import MeasureError, one_of, quoted
from ...results import Files, Result, ResultTable, result_kind, save_result
from ..probing import require_read_alike
from ..redundancy import identity_of
from .class_tables import class_rows, class_score_table, class_table
from .findings import transfer_findings
from .language_tables import family_rows, family_table, language_rows, language_table
from .neuron_tables import (
    model_rows,
    model_table,
    neuron_rows,
    neuron_table,
    published_table,
    training_table,
    transfer_table,
)
from .probes import FILE, KeptProbe, Key, load_probes, save_probes


@result_kind
class CrossLingual(Result):
    """Scores by model, language of training (``source``), task, neurons, language and test: ``accuracy``, ``gap`` ….

    ``neurons`` is ``all``, a threshold of the clustering, or a set of layers; ``test`` is ``held-out`` (sentences whose
    translations were not fitted on) or ``all``.
    """

    kind = "cross-lingual"

    def __init__(self, dataset: xr.Dataset, probes: Mapping[Key, KeptProbe] | None = None):
        super().__init__(dataset)
        self.probes = dict(probes or {})
        """By model, language of training, task and set of neurons; none, if it was loaded from its .nc file alone."""

    @property
    def languages(self) -> list[str]:
        """Names of the languages, in the order given."""
        return [str(v) for v in self.dataset["language"].values]

    @property
    def sources(self) -> list[str]:
        """The languages that probes were fitted on."""
        return [str(v) for v in self.dataset["source"].values]

    @property
    def tasks(self) -> list[str]:
        """The tags that were predicted."""
        return [str(v) for v in self.dataset["task"].values]

    def classes(self, task: str | None = None, source: str | None = None) -> list[str]:
        """The classes of a task, in the order of the outputs of its probes: the labels of train in one language."""
        known = self.attrs["classes"]
        language = one_of("source", source, self.sources)
        return [str(c) for c in known[language][one_of("task", task, self.tasks)]]

    def predict(
        self,
        activations: Activations,
        *,
        neurons: str | float = "all",
        task: str | None = None,
        source: str | None = None,
    ) -> list[str]:
        """Labels of words in any language, from activations of the same model, by one of the probes."""
        model = self._model_of(activations)
        require_read_alike(self.provenance, model, activations)
        tag, language = one_of("task", task, self.tasks), one_of("source", source, self.sources)
        name = neurons if isinstance(neurons, str) else f"{neurons:g}"
        known = [n for m, s, t, n in self.probes if (m, s, t) == (model, language, tag)]
        if not known:
            raise MeasureError(
                f"This result was loaded from its .nc file, which has no weights. Load the folder with its {FILE}."
            )
        kept = self.probes[model, language, tag, one_of("set of neurons", name, known)]
        layers = self.attrs["probed"][model]["layers"]
        missing = [n for n in layers if n not in activations.layers]
        if missing:
            raise MeasureError(f"The probe reads layer {missing[0]}, which is not there.")
        predicted = kept.predict(JoinedLayers([activations.layer(n) for n in layers])[:])
        classes = self.classes(tag, language)
        return [classes[k] for k in predicted.tolist()]

    def _model_of(self, activations: Activations) -> str:
        """Which of the models activations are of. Raise if none."""
        identity = identity_of(activations.manifest.get("model"))
        for name, about in self.attrs["probed"].items():
            if about["identity"] == identity:
                return str(name)
        raise MeasureError(
            f"These probes were fitted on {', '.join(self.models)}, and the activations are of another model "
            f"({quoted(activations.name)}: other weights, or another way of loading them)."
        )

    def tables(self) -> list[ResultTable]:
        """Languages, families, neurons, classes, and models beside the first."""
        tables = [language_table(self.dataset)]
        if "family_accuracy" in self.dataset:
            tables.append(family_table(self.dataset))
        tables.append(neuron_table(self.dataset))
        tables.append(class_table(self.dataset))
        if "model_difference" in self.dataset:
            tables.append(model_table(self.dataset))
        if "published" in self.dataset:
            tables.append(published_table(self.dataset))
        if "published_train" in self.dataset:
            tables.append(training_table(self.dataset))
        return tables

    def data(self) -> dict[str, Any]:
        """Languages, families, neurons, models, labels and their scores as plain data."""
        return {
            "languages": language_rows(self.dataset),
            "families": family_rows(self.dataset),
            "neurons": neuron_rows(self.dataset),
            "models": model_rows(self.dataset) if "model_difference" in self.dataset else [],
            "classes": self.attrs["classes"],
            "class_scores": class_rows(self.dataset),
            "alerts": [alert.to_dict() for alert in self.alerts],
        }

    def findings(self) -> list[str]:
        """How well each language is predicted, by families, and by how few neurons; as far as intervals tell."""
        return transfer_findings(self.dataset)

    def files(self) -> Files:
        """Scores, tables, everything that was scored, a row a score; and the probes themselves."""
        files: Files = {f"{self.kind}.nc": lambda path: save_result(self.dataset, path)}
        for table in (
            *self.tables(),
            transfer_table(self.dataset),
            class_score_table(self.dataset),
        ):
            files[f"{table.name}.csv"] = table.save_csv
        if self.probes:
            files[FILE] = lambda path: save_probes(self.probes, path)
        return files

    @classmethod
    def _restore(cls, dataset: xr.Dataset, folder: Path) -> Self:
        path = folder / FILE
        return cls(dataset, load_probes(path) if path.is_file() else None)
