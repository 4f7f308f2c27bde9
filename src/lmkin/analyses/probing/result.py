"""`Probes`: what layers know about a task, with the probes themselves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import xarray as xr

from ...activations import Activations, JoinedLayers
from ...core import LmkinError, MeasureError, did_you_mean, one_of, quoted
from ...results import Files, Result, ResultTable, load_result, result_kind, save_result
from ..redundancy import NeuronMask, identity_of
from .findings import probe_findings
from .fits import FittedProbe, probe_of
from .neurons.files import neuron_files
from .neurons.findings import neuron_findings
from .neurons.masks import smallest_masks
from .neurons.tables import neuron_data, neuron_tables
from .probe_rows import ProbeRows
from .read_alike import require_read_alike
from .tables import (
    ProbeCells,
    baseline_table,
    class_rows,
    class_table,
    published_table,
    score_rows,
    score_table,
)
from .weights_file import load_weights, save_weights

if TYPE_CHECKING:
    from ...estimators import Probe

WEIGHTS = "probes.safetensors"
BESIDE = "published.nc"
KIND = "probes"
Key = tuple[str, str, str]
"""Model, task, and set of layers."""


@result_kind
class Probes(Result):
    """Scores by model, task, set of layers and split: ``accuracy``, ``macro_f1``, ``selectivity``, ``compression`` ….

    ``fitted`` are the probes themselves, by model, task and set of layers (none, for a result that was loaded from its
    .nc file alone). ``rows`` are what they were fitted on and scored on, by model and task; a result that was loaded
    has none.
    """

    kind = "probe"

    def __init__(
        self,
        dataset: xr.Dataset,
        fitted: Mapping[Key, FittedProbe] | None = None,
        rows: Mapping[tuple[str, str], ProbeRows] | None = None,
        published: xr.DataArray | None = None,
    ):
        super().__init__(dataset)
        self.fitted = dict(fitted or {})
        self.task_rows = dict(rows or {})
        self.published = published
        """Layers of a paper's models on the same tasks (see `compare_published`), to be shown beside; or None."""

    def __getstate__(self) -> dict[str, Any]:
        """Without the rows: they may be larger than memory elsewhere."""
        return {**self.__dict__, "task_rows": {}}

    @property
    def tasks(self) -> list[str]:
        """Names of the tasks."""
        return [str(t) for t in self.dataset["task"].values]

    def classes(self, task: str | None = None) -> list[str]:
        """The classes of a task, in the order of the outputs of its probes; none for scores."""
        return ProbeCells(self.dataset).classes(self._task(task))

    def weights(
        self, layers: str | int = "all", *, task: str | None = None, model: str | None = None
    ) -> xr.DataArray:
        """Weights of a probe, classes × neurons, labelled with layer and neuron; ``layers`` as ``probe`` has them."""
        key = self._key(layers, task, model)
        fitted = self._fitted(key)
        places = self._places(key)
        classes = self.classes(key[1]) or [key[1]]
        return xr.DataArray(
            fitted.weights.T,
            dims=("class", "neuron"),
            coords={
                "class": classes,
                "layer": ("neuron", [layer for layer, _ in places]),
                "number": ("neuron", [k for _, k in places]),
            },
            name="weights",
        )

    def predict(
        self,
        activations: Activations,
        layers: str | int = "all",
        *,
        task: str | None = None,
        model: str | None = None,
    ) -> list[Any]:
        """Labels, or scores, for activations of the same model."""
        key = self._key(layers, task, model)
        about = self.attrs["probed"][key[0]]
        identity = identity_of(activations.manifest.get("model"))
        if about["identity"] is not None and identity != about["identity"]:
            raise MeasureError(
                f"These probes were fitted on {quoted(key[0])}, and the activations are of another model "
                f"({quoted(activations.name)}: other weights, or another way of loading them). Probe that model."
            )
        require_read_alike(self.provenance, key[0], activations)
        numbers = sorted({layer for layer, _ in self._places(key)})
        missing = [n for n in numbers if n not in activations.layers]
        if missing:
            raise MeasureError(f"The probe reads layer {missing[0]}, which is not there.")
        predicted = self._fitted(key).predict(JoinedLayers([activations.layer(n) for n in numbers]))
        classes = self.classes(key[1])
        return [classes[k] for k in predicted.tolist()] if classes else predicted.tolist()

    def smallest(self, *, task: str | None = None, model: str | None = None) -> NeuronMask:
        """The smallest set of neurons that keeps the score of all, as the analysis found it."""
        names = [str(m) for m in self.dataset["model"].values]
        key = (one_of("model", model, names), self._task(task))
        masks = smallest_masks(self.dataset)
        if key not in masks:
            raise LmkinError(
                f"No smallest set of neurons was looked for, or found, for {quoted(key[1])}: ask lmkin.probe for a "
                f"ranking, or lmkin.minimal_neurons."
            )
        return masks[key]()

    def estimator(
        self, layers: str | int = "all", *, task: str | None = None, model: str | None = None
    ) -> Probe:
        """A probe as `lmkin.Probe`, with scikit-learn's methods."""
        key = self._key(layers, task, model)
        return probe_of(self._fitted(key), self.classes(key[1]), self.provenance.get("options", {}))

    # -- what every result has ----------------------------------------------------------------------

    def tables(self) -> list[ResultTable]:
        """Scores by layers; what needs no model; classes."""
        tables = [score_table(self.dataset), baseline_table(self.dataset)]
        if "f1" in self.dataset:
            tables.append(class_table(self.dataset))
        tables += neuron_tables(self.dataset)
        if self.published is not None:
            tables.append(published_table(self.published))
        return tables

    def data(self) -> dict[str, Any]:
        """Scores, baselines and classes as plain data."""
        data = {
            "units": self.attrs["units"],
            "split": self.attrs["split"],
            "probes": score_rows(self.dataset),
            "baselines": baseline_table(self.dataset).to_records(),
            "classes": class_rows(self.dataset),
            **neuron_data(self.dataset),
        }
        if self.published is not None:
            data["published"] = published_table(self.published).to_records()
        return {**data, "alerts": [a.to_dict() for a in self.alerts]}

    def findings(self) -> list[str]:
        """How well layers do, which are enough, and what the control says; as far as intervals tell."""
        return [*probe_findings(self.dataset), *neuron_findings(self.dataset)]

    def files(self) -> Files:
        """Scores, tables, and the probes themselves."""
        files: Files = {"probe.nc": lambda path: save_result(self.dataset, path)}
        for table in self.tables():
            files[f"{table.name}.csv"] = table.save_csv
        files |= neuron_files(self.dataset)
        if self.fitted:
            files[WEIGHTS] = lambda path: save_weights(path, KIND, self.fitted, {})
        if self.published is not None:
            beside = self.published.to_dataset()
            files[BESIDE] = lambda path: save_result(beside, path)
        return files

    @classmethod
    def _restore(cls, dataset: xr.Dataset, folder: Path) -> Self:
        path, beside = folder / WEIGHTS, None
        if (folder / BESIDE).is_file():
            (beside,) = load_result(folder / BESIDE).data_vars.values()
        weights = load_weights(path, KIND, 3) if path.is_file() else {}
        fitted = {(m, t, s): probe for (m, t, s), (probe, _) in weights.items()}
        made = cls(dataset, fitted, published=beside)
        made._require_whole(path)
        return made

    def _require_whole(self, path: Path) -> None:
        """Raise if the weights that were read are not those of the probes that are here."""
        for key, fitted in self.fitted.items():
            outputs = max(1, len(self.classes(key[1])))
            if fitted.weights.shape != (len(self._places(key)), outputs):
                raise MeasureError(
                    f"{path} is damaged, or of another result: the weights of {' / '.join(key)} are for other neurons "
                    f"or classes. Probe again."
                )

    # -- finding a probe ------------------------------------------------------------------------------

    def key(self, layers: str | int, task: str | None = None, model: str | None = None) -> Key:
        """Model, task and set of layers of a probe. Raise if there is none."""
        return self._key(layers, task, model)

    def probe_and_rows(
        self, layers: str | int = "all", *, task: str | None = None, model: str | None = None
    ) -> tuple[FittedProbe, ProbeRows | None, list[tuple[int, int]]]:
        """A probe, its rows (None: not remembered), and (layer, neuron) of each column that it reads."""
        key = self._key(layers, task, model)
        rows, places = self.task_rows.get(key[:2]), self._places(key)
        if rows is not None:
            numbers = self.attrs["probed"][key[0]]["layers"]
            chosen = [numbers.index(n) for n in dict.fromkeys(layer for layer, _ in places)]
            rows = rows.only_layers(chosen[0], chosen[-1] + 1)
        return self._fitted(key), rows, places

    def _task(self, task: str | None) -> str:
        return one_of("task", task, self.tasks)

    def _key(self, layers: str | int, task: str | None, model: str | None) -> Key:
        names = [str(m) for m in self.dataset["model"].values]
        name, tag = one_of("model", model, names), self._task(task)
        known = ProbeCells(self.dataset).probes(name, tag)
        if str(layers) not in known:
            raise LmkinError(
                f"There is no probe of {quoted(str(layers))} here. {did_you_mean(str(layers), known)}"
            )
        return name, tag, str(layers)

    def _fitted(self, key: Key) -> FittedProbe:
        if key not in self.fitted:
            raise MeasureError(
                f"This result was loaded from its .nc file, which has no weights. Load the folder with its {WEIGHTS}."
            )
        return self.fitted[key]

    def _places(self, key: Key) -> list[tuple[int, int]]:
        """(layer, neuron) of each column that a probe reads."""
        about = self.attrs["probed"][key[0]]
        layers, widths = about["layers"], about["widths"]
        kind = ProbeCells(self.dataset).kinds[key[2]]
        if kind == "each":
            chosen = [layers.index(int(key[2]))]
        elif kind == "upto":
            chosen = list(range(layers.index(int(key[2].rpartition("-")[2])) + 1))
        else:
            chosen = list(range(len(layers)))
        return [(int(layers[i]), k) for i in chosen for k in range(int(widths[i]))]
