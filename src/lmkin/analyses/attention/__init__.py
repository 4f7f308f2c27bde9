"""What attention heads look at, and how alike they are across models."""

from .comparison import attention_similarity
from .heads import attention_heads, check_threshold
from .maps import SINKS, Sink
from .measure_choice import choose_measures
from .measure_texts import ATTENTION
from .memory import attention_memory
from .result import AttentionSimilarity
from .sentence_maps import choose_sentence, sentence_attention

__all__ = [
    "ATTENTION",
    "SINKS",
    "AttentionSimilarity",
    "Sink",
    "attention_heads",
    "attention_memory",
    "attention_similarity",
    "check_threshold",
    "choose_measures",
    "choose_sentence",
    "sentence_attention",
]
