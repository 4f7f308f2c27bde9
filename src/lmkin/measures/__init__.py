"""What activations say: one file a measure."""

from .cka import cka_matrix, linear_cka

__all__ = ["cka_matrix", "linear_cka"]
