"""What the paper found (Zhang 2022, tables 2 and 3): group R² of twelve models by length of the text, on test rows."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import xarray as xr

from ..arguments import is_whole
from ..errors import MeasureError

CHECKPOINTS = {
    "XLM-R": "xlm-roberta-base",
    "M-BERT": "bert-base-multilingual-cased",
    "Longformer": "allenai/longformer-base-4096",
    "DeBERTa": "microsoft/deberta-base",
    "distil-M-BERT": "distilbert-base-multilingual-cased",
    "RoBERTa": "roberta-base",
    "XLNet": "xlnet-base-cased",
    "BERT": "bert-base-uncased",
    "ELECTRA": "google/electra-base-discriminator",
    "distil-RoBERTa": "distilroberta-base",
    "distil-BERT": "distilbert-base-uncased",
    "ALBERT": "albert-base-v2",
}
"""The names of the paper, and those of the model hub."""
TABLES = {
    2: "English Wikipedia and BooksCorpus, 512,000 train and 51,200 test sequences",
    3: "raw English Wikicorpus, 128,000 train, 12,800 validation and 12,800 test sequences",
}


def published_dependency(table: int = 2) -> xr.DataArray:
    """Group R² as published, (model, length), by the models' names on the hub; ``group`` is the mean of all.

    They are the figures of the paper: of models decomposed all twelve together, with the mean over *padded* tokens as
    the embedding. A run of fewer models, or on other texts, is not expected to give the same.

    >>> float(published_dependency(2).sel(model="xlnet-base-cased", length=16))
    0.3412
    """
    if not is_whole(table) or table not in TABLES:
        raise MeasureError(f"The paper has its figures in tables 2 and 3; got {table!r}.")
    text = (files(__package__) / "published" / f"table{table}.csv").read_text("utf-8")
    head, *lines = text.split()
    rows = {line.split(",")[0]: line.split(",")[1:] for line in lines}
    return xr.DataArray(
        np.array([[float(x) for x in row] for row in rows.values()]),
        dims=("model", "length"),
        coords={
            "model": [CHECKPOINTS.get(name, "group") for name in rows],
            "length": [int(x) for x in head.split(",")[1:]],
        },
        name="r2_group",
        attrs={"source": f"Zhang 2022, table {table}: {TABLES[table]}", "split": "test"},
    )
