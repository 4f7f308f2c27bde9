"""What attention heads look at, and how alike they are across models."""

from __future__ import annotations

from .comparing import attention_similarities, attention_similarity, choose_measures
from .drawing import sentence_attention
from .heads import attention_heads, check_threshold

__all__ = [
    "attention_heads",
    "attention_similarities",
    "attention_similarity",
    "check_threshold",
    "choose_measures",
    "sentence_attention",
]
