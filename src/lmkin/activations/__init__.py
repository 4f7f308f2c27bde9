"""What comes out: activations of every unit and layer, extracted, stored, opened, exchanged."""

from .activations import Activations
from .comparing import common_units, require_same_units
from .export import export_activations
from .extraction import extract
from .store import open_activations
from .views import LayerView

__all__ = [
    "Activations",
    "LayerView",
    "common_units",
    "export_activations",
    "extract",
    "open_activations",
    "require_same_units",
]
