"""Aligned rows: of arrays, activations or models; and the one pass over them."""

from .column_spread import Spread
from .model_rows import ModelSource
from .open_rows import row_source
from .parts import owners_of, owners_of_units, parts_of_units
from .passes import (
    CHUNK,
    SHARDS,
    Accumulator,
    Advance,
    Chunk,
    PassSource,
    Shard,
    one_pass,
    starts_of,
)
from .row_source import Blocks, RowSource, blocks_by_part
from .sources import ActivationSource, ArraySource, SlicedSource
from .workspace import UNFINISHED, Workspace

__all__ = [
    "CHUNK",
    "SHARDS",
    "UNFINISHED",
    "Accumulator",
    "ActivationSource",
    "Advance",
    "ArraySource",
    "Blocks",
    "Chunk",
    "ModelSource",
    "PassSource",
    "RowSource",
    "Shard",
    "SlicedSource",
    "Spread",
    "Workspace",
    "blocks_by_part",
    "one_pass",
    "owners_of",
    "owners_of_units",
    "parts_of_units",
    "row_source",
    "starts_of",
]
