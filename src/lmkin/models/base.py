"""What the rest of lmkin asks of a model, whatever its source."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..core import ModelError
from ..corpus import Corpus, Units
from .rule import UnitRule

if TYPE_CHECKING:
    from .attention import UnitAttention

IntArray = NDArray[np.int32]
FloatArray = NDArray[np.float32]


@dataclass(slots=True)
class Window:
    """A piece of a sentence that a model reads at once, and what its positions contribute to.

    Position ``positions[k]`` is added to row ``rows[k]`` with ``weights[k]``.
    """

    sentence: int
    ids: list[int]
    types: list[int]
    positions: IntArray
    rows: IntArray
    weights: FloatArray

    @property
    def length(self) -> int:
        """Number of tokens, special ones included."""
        return len(self.ids)


@dataclass
class Losses:
    """What could not be represented, counted by reason, with the first few of each."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)
    unknown: int = 0
    """Units that are kept, though a part of them became the unknown token."""
    only_unknown: int = 0
    """Those among them that consist of nothing else."""
    counts_unknown: bool = True
    """Whether that can be told: of vectors that another tool wrote it cannot."""
    windowed: int = 0
    """Sentences that were read in several windows."""
    partial: int = 0
    """Words of which the mean is without the first token of a decoder: kept, but worth knowing."""
    cut_sentences: int = 0
    cut_tokens: int = 0
    """Sentences that were cut, and the tokens that were cut off them."""

    def add(self, reason: str, what: str, keep: int = 5) -> None:
        """Count one loss."""
        self.counts[reason] += 1
        examples = self.examples.setdefault(reason, [])
        if len(examples) < keep:
            examples.append(what)

    def count_unknown(self, ids: Sequence[int], unknown: int | None) -> None:
        """Count a unit that is kept, by the tokens it is made of and the id of the unknown one."""
        count = sum(token == unknown for token in ids)
        self.unknown += count > 0
        self.only_unknown += 0 < count == len(ids)

    def to_dict(self) -> dict[str, Any]:
        """The losses as plain data, for the manifest."""
        return {
            "dropped": dict(self.counts),
            "dropped_examples": self.examples,
            "with_unknown_token": self.unknown if self.counts_unknown else None,
            "only_unknown_tokens": self.only_unknown if self.counts_unknown else None,
            "means_without_first_token": self.partial,
            "sentences_in_windows": self.windowed,
            "sentences_cut": self.cut_sentences,
            "tokens_cut": self.cut_tokens,
        }


@dataclass(frozen=True)
class AlignedCorpus:
    """How one model reads one corpus: its units (rows) and its windows, before anything is run."""

    units: Units
    windows: list[Window]
    losses: Losses
    rule: UnitRule
    n_offered: int
    """Units that the corpus offers, the lost ones included."""

    @property
    def unknown(self) -> dict[str, int] | None:
        """How many of the units hold an unknown token, and how many nothing else; None where it cannot be told."""
        if not self.losses.counts_unknown:
            return None
        return {
            "units": len(self.units),
            "with_unknown_token": self.losses.unknown,
            "only_unknown_tokens": self.losses.only_unknown,
        }

    @property
    def n_tokens(self) -> int:
        """Tokens that the model will read, without padding."""
        return sum(w.length for w in self.windows)


class LanguageModel(ABC):
    """A model that reads sentences and answers with a vector for each unit and layer."""

    name: str
    widths: tuple[int, ...]
    """Neurons of each layer; layer 0 is the embedding output."""

    @property
    def n_layers(self) -> int:
        """Number of layers, the embedding output (layer 0) included."""
        return len(self.widths)

    @abstractmethod
    def read(self, corpus: Corpus, rule: UnitRule) -> AlignedCorpus:
        """Tokenize and align a corpus; nothing is run yet."""

    @abstractmethod
    def run(
        self, windows: Sequence[Window], layers: Sequence[int], *, reduce: str = "sum"
    ) -> tuple[IntArray, list[FloatArray]]:
        """Run a batch: the rows it contributes to, and for each layer their vectors.

        ``reduce`` says how positions of the same row are joined: weighted ``sum``, or ``max``.
        """

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """What makes the model's numbers what they are, for the manifest and the cache key."""

    @property
    def pre_norm(self) -> bool | None:
        """Whether the last layer is after a final norm that the others are before; None where nobody knows."""
        return None

    @property
    def device_type(self) -> str:
        """Where the model runs: cpu, cuda, mps …."""
        return "cpu"

    @property
    def memory(self) -> int:
        """Bytes that the model itself takes."""
        return 0

    def forward_memory(self, tokens: int, longest: int) -> int:
        """About how many bytes a batch takes beside the weights: padded ``tokens``, up to ``longest`` in a row."""
        # All layers of every token, and the rows that are made of them.
        return 2 * tokens * sum(self.widths) * 4

    def attention(self, corpus: Corpus, **options: Any) -> Iterator[UnitAttention]:
        """Attention between the words or tokens of each sentence; see :mod:`lmkin.models.attention`."""
        raise ModelError(f"{self.name} holds vectors only; it has no attention to show.")

    def __repr__(self) -> str:
        widths = sorted(set(self.widths))
        width = widths[0] if len(widths) == 1 else f"{widths[0]}–{widths[-1]}"
        return f"<LanguageModel {self.name!r}: {self.n_layers} layers × {width}>"
