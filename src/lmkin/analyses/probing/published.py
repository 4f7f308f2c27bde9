"""What a paper says of the layers of its models on the same tasks, to be shown beside one's own."""

from __future__ import annotations

import logging
import re

import numpy as np
import xarray as xr

from ...results import published

_log = logging.getLogger("lmkin")
LAYERS, ORACLE = "dalvi2020/table7-accuracy", "dalvi2020/table7-oracle"
_TAGS = {
    "POS": r"(u|x)?pos",
    "SEM": r"sem(antic|tag|_tag|antic_tag)?s?",
    "CCG": r"(ccg|cat)(_?categor(y|ies)|_?tag)?s?",
    "Chunking": r"chunk(s|ing|_tag)?",
}
"""What columns of a corpus are called that hold the labels of a task of the paper."""
_CORPORA = ("SST-2", "MRPC", "MNLI", "QNLI", "QQP", "RTE", "STS-B")


def compare_published(dataset: xr.Dataset, where: str = "") -> xr.DataArray | None:
    """Accuracy by model, layer and task as Dalvi et al. 2020 print it, for the tasks that are here; None if none is.

    ``all`` among the layers are all of them side by side (the oracle). Fractions, under the names that tasks have here;
    the attribute ``tasks`` says which of the paper's each is. ``where``: where the corpus lies.
    """
    corpus = f"{dataset.attrs.get('corpus', '')} {where}"
    tasks = {
        name: figures
        for name in map(str, dataset["task"].values)
        if (figures := paper_task(name, corpus)) is not None
    }
    if not tasks:
        _log.info(
            "None of these tasks is among those of the paper, so there is nothing to show beside them: %s.",
            ", ".join((*_TAGS, *_CORPORA)),
        )
        return None
    layers, oracle = published(LAYERS), published(ORACLE)
    wanted = list(tasks.values())
    best = oracle.sel(figure="oracle", model=layers["model"].values, task=wanted)
    by_layer = layers.sel(task=wanted).transpose("model", "layer", "task")
    values = np.concatenate(
        [by_layer.values, best.transpose("model", "task").values[:, None]], axis=1
    )
    names = [str(n) for n in layers["layer"].values]
    return xr.DataArray(
        values / 100,
        dims=("model", "layer", "task"),
        coords={"model": layers["model"].values, "layer": [*names, "all"], "task": list(tasks)},
        name="accuracy",
        attrs={"reference": layers.attrs["reference"], "title": layers.attrs["title"], "tasks": tasks},
    )  # fmt: skip


def paper_task(name: str, corpus: str) -> str | None:
    """What the paper calls a task, by the name of its tag; of labels of sentences by name or place of the corpus."""
    for figures, pattern in _TAGS.items():
        if re.fullmatch(pattern, name.lower()):
            return figures
    if name != "label":
        return None
    return next((c for c in _CORPORA if re.search(_alone(c), corpus.lower())), None)


def _alone(name: str) -> str:
    """A pattern of a name that is no part of another word."""
    return f"(?<![a-z0-9]){name.lower().replace('-', '-?')}(?![a-z0-9])"
