"""`AttentionSimilarity`: how alike the attention of layers and of single heads is."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import xarray as xr

from ...core import MeasureError, did_you_mean, quoted
from ...results import (
    Files,
    ResultTable,
    load_result,
    result_kind,
    save_result,
)
from ..similarity import LayerComparison, pair_rows
from .findings import attention_findings
from .maps import SINKS
from .sums import HEAD_MEASURES
from .tables import head_rows, heads_table, layers_table, save_heads


@result_kind
class AttentionSimilarity(LayerComparison):
    """How alike attention is: variables over (sink, model_x, layer_x, model_y, layer_y), rows x, columns y.

    For every measure M there are ``M``, the mean over the heads of layer x of the best match among the heads of layer
    y, ``M_se``, ``M_low``, ``M_high``, ``M_without``; ``M_match``, the head of y that is most like each head of x;
    ``M_heads``, head × head; and ``sink_share``, how much of its attention each head gives to the sink. ``sink`` is
    ``dropped`` (what goes to special tokens, or to a decoder's first token, left out and rows made to sum to 1 again)
    or ``kept`` (one position more). Of arrays, the first word counts as the sink.
    """

    kind = "attention"

    def __init__(
        self,
        dataset: xr.Dataset,
        heads: xr.Dataset | None = None,
        sentence: xr.DataArray | None = None,
    ):
        super().__init__(dataset)
        self.heads = heads
        """What single heads resemble (see :func:`lmkin.attention_heads`); None without js."""
        self.sentence = sentence
        """Attention in one sentence, head × word × to (see :func:`lmkin.sentence_attention`), if it was asked for."""

    @property
    def sink(self) -> str:
        """Whether what is shown first has the sink ``dropped`` or ``kept``."""
        return str(self.attrs.get("sink", self.dataset["sink"].values[0]))

    def select(self, sink: str | None = None) -> xr.Dataset:
        """The dataset with the sink dropped, or kept; by default what is shown first."""
        shown_sink = self.sink if sink is None else sink
        if shown_sink not in SINKS:
            raise MeasureError(f"sink is 'dropped' or 'kept'; got {quoted(sink)}.")
        return self.dataset.sel(sink=shown_sink)

    def matrix(self, measure: str | None = None, sink: str | None = None) -> xr.DataArray:
        """One measure as a table of layers × layers, x × y, in the order given.

        The attribute ``match`` says which head of y is most like each head of x; the coordinates ``dropped`` and
        ``kept`` hold the values without and with attention to the sink, of which the table itself is one.
        """
        name = self._measure(measure)
        table = self._matrix(name, self.select(sink))
        both = {s: (("x", "y"), self._square(self.dataset[name].sel(sink=s))) for s in SINKS}
        table.attrs["sink"] = self.sink if sink is None else sink
        return table.assign_coords(both)

    def head_matrix(self, measure: str | None = None, sink: str | None = None) -> xr.DataArray:
        """One measure as a table of heads × heads; ``sink_share`` of each is a coordinate."""
        name = self._measure(measure)
        if name not in HEAD_MEASURES:
            raise MeasureError(
                f"{name} compares whole layers; head × head there are {', '.join(HEAD_MEASURES)}. "
                f"{did_you_mean(name, HEAD_MEASURES)}"
            )
        part = self.select(sink)
        names = [str(n) for n in part["head_name"].values]
        share = part["sink_share"].values
        return xr.DataArray(
            part[f"{name}_heads"].values,
            dims=("head_x", "head_y"),
            coords={"head_x": names, "head_y": names, "sink_share": ("head_x", share)},
            name=name,
            attrs={**part[name].attrs, **self.attrs, "sink": sink or self.sink},
        )

    # -- what every result has ----------------------------------------------------------------------

    def tables(self) -> list[ResultTable]:
        """Pairs of models; and of every model how many heads repeat others."""
        tables = [layers_table(self.dataset.sel(sink=[self.sink]))]
        return tables if self.heads is None else [*tables, heads_table(self.heads)]

    def data(self) -> dict[str, Any]:
        """Size, pairs of models, alerts, heads."""
        data = {
            "n": int(self.attrs["n"]),
            "units": self.attrs["units"],
            "pairs": pair_rows(self.dataset.sel(sink=[self.sink])),
            "alerts": [a.to_dict() for a in self.alerts],
        }
        return data if self.heads is None else {**data, "heads": head_rows(self.heads)}

    def findings(self) -> list[str]:
        """Which layers are most alike, how many heads repeat others; as far as intervals tell."""
        return attention_findings(self.select(), self.measures, self.heads)

    def files(self) -> Files:
        """``attention.nc`` and .csv, ``heads.csv``; and ``heads.nc``, ``sentence.nc`` to be loaded again."""
        heads, sentence = self.heads, self.sentence
        files: Files = {
            "attention.nc": lambda path: save_result(self.dataset, path),
            "attention.csv": lambda path: save_result(self.dataset, path),
        }
        if heads is not None:
            files["heads.csv"] = lambda path: save_heads(heads, path)
            files["heads.nc"] = lambda path: save_result(heads, path)
        if sentence is not None:
            files["sentence.nc"] = lambda path: save_result(sentence.to_dataset(), path)
        return files

    @classmethod
    def _restore(cls, dataset: xr.Dataset, folder: Path) -> Self:
        heads, sentence = folder / "heads.nc", folder / "sentence.nc"
        drawn = None
        if sentence.is_file():
            stored = load_result(sentence)
            drawn = stored["attention"].assign_attrs({**stored.attrs, **stored["attention"].attrs})
        return cls(dataset, load_heads(heads) if heads.is_file() else None, drawn)


def load_heads(path: Path) -> xr.Dataset:
    """Single heads, as `attention_heads` gives them; netCDF has no true and false."""
    heads = load_result(path)
    return heads.assign(stays=heads["stays"].astype(bool))
