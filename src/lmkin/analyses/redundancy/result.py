"""`Redundancy`: clusters of neurons that say the same thing, what layers add, and what clusters do over a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self

import xarray as xr

from ...core import (
    Alert,
    AlertKind,
    LmkinError,
    MeasureError,
    alerts_of,
    as_data,
    slugs,
)
from ...results import Files, Result, ResultTable, load_result, result_kind, save_result
from .clustering import Clustering
from .findings import redundancy_findings
from .neuron_mask import NeuronMask
from .strips import join_strips, split_strips
from .tables import (
    candidates_table,
    left_table,
    model_rows,
    ranked_rows,
    save_layers,
    save_members,
    save_strips,
)

USUAL = 0.3
"""The threshold that the papers look at most."""
CLUSTERS = "clusters.safetensors"


@result_kind
class Redundancy(Result):
    """Neurons left by model and threshold: ``left``, ``share``, ``left_by_layer``, ``clusters``, ``neurons_in`` ….

    ``clustering`` are the clusters themselves (None for a result that was loaded from its .nc file alone), ``layers``
    what `lmkin.layer_redundancy` gave, ``strips`` what `lmkin.cluster_strips` gave, each if it was asked for.
    """

    kind = "redundancy"

    def __init__(
        self,
        dataset: xr.Dataset,
        clustering: Clustering | None = None,
        layers: xr.Dataset | None = None,
        strips: Sequence[xr.Dataset] = (),
    ):
        super().__init__(dataset)
        self.clustering = clustering
        self.layers = layers
        self.strips = list(strips)

    @classmethod
    def of(
        cls,
        clustering: Clustering,
        layers: xr.Dataset | None = None,
        strips: Sequence[xr.Dataset] = (),
        *,
        keep_at: Sequence[float] | None = None,
        alerts: Sequence[Alert] = (),
    ) -> Redundancy:
        """From clusters, and what goes with them.

        ``keep_at``: thresholds at which members and masks of what is kept are written; by default 0.3, or the threshold
        nearest to it.
        """
        reached = clustering.thresholds
        asked = [usual_threshold(reached)] if keep_at is None else list(keep_at)
        lost = [f"{t:g}" for t in asked if t not in reached]
        more = list(alerts)
        if lost:
            text = f"Clusters were not reached at {', '.join(lost)}; see the thresholds left out."
            more.append(Alert(AlertKind.NO_MASKS, text))
        dataset = clustering.tables()
        # The same neurons are constant for clusters and for layers: that is said once.
        told = {a.kind for a in clustering.alerts} & {AlertKind.CONSTANT}
        of_layers = [] if layers is None else alerts_of(layers.attrs)
        every = [*clustering.alerts, *(a for a in of_layers if a.kind not in told), *more]
        dataset.attrs |= {
            "keep_at": [t for t in asked if t in reached],
            "alerts": as_data(every),
        }
        if layers is not None:
            dataset.attrs |= {k: layers.attrs[k] for k in ("level", "parts") if k in layers.attrs}
            dataset.attrs["provenance"] = {
                **dataset.attrs["provenance"],
                "layers": layers.attrs.get("provenance", {}),
            }
        return cls(dataset, clustering, layers, strips)

    @property
    def keep_at(self) -> list[float]:
        """Thresholds at which members and masks are written."""
        return [float(t) for t in self.attrs.get("keep_at", [])]

    def masks(self, thresholds: float | Sequence[float] | None = None) -> list[NeuronMask]:
        """Of every model, the neurons that are kept at some thresholds (by default at `keep_at`), as masks by layer."""
        if thresholds is None:
            at: Sequence[float] = self.keep_at
        else:
            at = [thresholds] if isinstance(thresholds, float | int) else list(thresholds)
        clustering = self._clusters()
        return [clustering.keep(t, name) for name in clustering.models for t in at]

    # -- what every result has ----------------------------------------------------------------------

    def tables(self) -> list[ResultTable]:
        """Neurons left by threshold; and the layers that add least."""
        tables = [left_table(self.dataset)]
        return tables if self.layers is None else [*tables, candidates_table(self.layers)]

    def data(self) -> dict[str, Any]:
        """Neurons left by model and threshold, layers, masks, alerts."""
        data = {
            "n": int(self.attrs["n"]),
            "units": self.attrs["units"],
            "models": model_rows(self.dataset),
        }
        if self.layers is not None:
            data["layers"] = ranked_rows(self.layers)
        keep = []
        if self.clustering is not None:
            for file, mask in self._mask_files().items():
                about = {"model": mask.model, "threshold": mask.threshold, "neurons": len(mask)}
                keep.append({**about, "hash": mask.hash, "file": file})
        return {**data, "keep": keep, "alerts": [a.to_dict() for a in self.alerts]}

    def findings(self) -> list[str]:
        """How many neurons say the same, and which layers add least; as far as intervals tell."""
        return redundancy_findings(self.dataset, self.layers, usual_threshold(self._thresholds()))

    def files(self) -> Files:
        """Tables, clusters, members of clusters and masks of what is kept; layers and strips, if there are."""
        dataset, layers, strips, clustering = (
            self.dataset,
            self.layers,
            self.strips,
            self.clustering,
        )
        of_left = [name for name in ("left", "share", "largest") if name in dataset]
        files: Files = {
            "redundancy.nc": lambda path: save_result(dataset, path),
            "left.csv": lambda path: save_result(dataset[of_left], path),
            "left_by_layer.csv": lambda path: save_result(
                dataset[["left_by_layer", "width"]], path
            ),
            "spans.csv": lambda path: save_result(dataset[["clusters", "neurons_in"]], path),
        }
        if clustering is not None:
            files[CLUSTERS] = clustering.save
            files["members.csv"] = lambda path: save_members(clustering, self.keep_at, path)
            files |= {name: mask.save for name, mask in self._mask_files().items()}
        if layers is not None:
            files["layers.nc"] = partial(save_result, layers)
            files["layers.csv"] = partial(save_layers, layers)
        if strips:
            files["strips.csv"] = partial(save_strips, strips)
            files["strips.nc"] = partial(save_result, join_strips(strips))
        return files

    @classmethod
    def _restore(cls, dataset: xr.Dataset, folder: Path) -> Self:
        clusters, layers, strips = (folder / n for n in (CLUSTERS, "layers.nc", "strips.nc"))
        return cls(
            dataset,
            Clustering.load(clusters) if clusters.is_file() else None,
            load_result(layers) if layers.is_file() else None,
            split_strips(load_result(strips)) if strips.is_file() else (),
        )

    def _mask_files(self) -> dict[str, NeuronMask]:
        """The masks that are written, by the names of their files."""
        clustering = self._clusters()
        slug = dict(zip(clustering.models, slugs(clustering.models), strict=True))
        return {
            f"keep/{slug[name]}-{at:.12g}.safetensors": clustering.keep(at, name)
            for name in clustering.models
            for at in self.keep_at
        }

    def _clusters(self) -> Clustering:
        if self.clustering is None:
            raise MeasureError(
                "This result was loaded from its .nc file, which has no clusters. Load the folder, or its "
                f"{CLUSTERS}."
            )
        return self.clustering

    def _thresholds(self) -> list[float]:
        thresholds = [float(t) for t in self.dataset["threshold"].values]
        if not thresholds:
            raise LmkinError("There are no thresholds in this result.")
        return thresholds


def usual_threshold(thresholds: Sequence[float]) -> float:
    """0.3, or the threshold nearest to it."""
    return min(thresholds, key=lambda t: abs(t - USUAL))
