"""What comes out: activations of every unit and layer, extracted, stored, opened, exchanged."""

from .activations import Activations
from .common_units import common_units, require_same_units, shared_units
from .export import export_activations
from .extraction import SHARD_BYTES, Run, default_batch_tokens, extract, read_units
from .extraction_plan import plan_extraction
from .joined_layers import JoinedLayers
from .manifest import make_manifest, unknown_in
from .store import finished_key, open_activations, read_manifest, store_size
from .store_writer import check_store_folder
from .views import LayerView

__all__ = [
    "SHARD_BYTES",
    "Activations",
    "JoinedLayers",
    "LayerView",
    "Run",
    "check_store_folder",
    "common_units",
    "default_batch_tokens",
    "export_activations",
    "extract",
    "finished_key",
    "make_manifest",
    "open_activations",
    "plan_extraction",
    "read_manifest",
    "read_units",
    "require_same_units",
    "shared_units",
    "store_size",
    "unknown_in",
]
