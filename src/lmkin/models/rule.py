"""The rule that turns tokens into units; it is written into every manifest."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal, get_args

from ..core import LmkinError, did_you_mean, is_whole, quoted
from ..corpus import KINDS

POOLINGS = {
    "word": ("last", "first", "mean"),
    "sentence": ("mean", "first", "last", "cls", "max"),
    "token": ("none", "last", "first", "mean"),
}
FIRST_TOKEN = ("drop", "keep")
SPECIAL_TOKENS = ("drop", "keep")
LONG = ("window", "truncate")
AttentionUnit = Literal["word", "token"]
"""Between what there is attention."""


@dataclass(frozen=True)
class UnitRule:
    """How the rows of an activation matrix come about.

    kind
        ``word`` (character spans of the corpus), ``token`` (of this model's tokenizer), ``sentence``.
    pooling
        Of a word's subword tokens: ``last`` (default), ``first``, ``mean``. Of a sentence's tokens:
        ``mean`` (default), ``first`` (``[CLS]`` for BERT), ``last``, ``cls`` (the classification
        token wherever it stands), ``max``.
    first_token
        Decoders spend position 0 as an attention sink, with activations of enormous size. ``drop``
        (default) never uses it: a word that consists of it alone (or whose ``first`` token it is) is left out
        and counted.
        Encoders have no such rule.
    special_tokens
        Whether ``[CLS]``, ``[SEP]``, ``<s>`` … count as tokens of the sentence. Words never
        contain them. Default: ``keep`` for sentences, ``drop`` for tokens.
    long
        What happens to a sentence that is longer than the model reads: ``window`` (default) reads it in
        overlapping windows and takes each token from the window where it sees most context;
        ``truncate`` cuts it, and the words behind the cut are left out and counted.
    overlap
        Tokens that neighbouring windows share, at most half of one; default a quarter.
    max_length
        A limit below the model's own, special tokens included.
    """

    kind: str = "word"
    pooling: str = "last"
    first_token: str = "drop"
    special_tokens: str = "drop"
    long: str = "window"
    overlap: int | None = None
    max_length: int | None = None

    @classmethod
    def make(
        cls,
        units: str = "word",
        pooling: str | None = None,
        *,
        first_token: str = "drop",
        special_tokens: str | None = None,
        long: str = "window",
        overlap: int | None = None,
        max_length: int | None = None,
    ) -> UnitRule:
        """A rule with the defaults of its kind of units; every name is checked."""
        _check("units", units, KINDS)
        pooling = pooling or POOLINGS[units][0]
        special_tokens = special_tokens or ("keep" if units == "sentence" else "drop")
        _check(f"pooling of {units}s", pooling, POOLINGS[units])
        if units == "token":
            pooling = "none"  # a token is one vector: the last, the first and the mean are the same
        _check("first_token", first_token, FIRST_TOKEN)
        _check("special_tokens", special_tokens, SPECIAL_TOKENS)
        _check("long", long, LONG)
        if overlap is not None and not (is_whole(overlap) and overlap >= 1):
            raise LmkinError(f"overlap must be at least 1 token; got {quoted(overlap)}.")
        if max_length is not None and not (is_whole(max_length) and max_length >= 8):
            raise LmkinError(f"max_length must be at least 8 tokens; got {quoted(max_length)}.")
        return cls(units, pooling, first_token, special_tokens, long, overlap, max_length)

    def to_dict(self) -> dict[str, str | int | None]:
        """The rule as plain data, for the manifest."""
        return asdict(self)


def attention_units(units: str) -> AttentionUnit:
    """Between what attention goes, by its name. Raise if there is none between such units."""
    if units == "sentence":
        raise LmkinError(
            "Attention goes from word to word, or from token to token (units='token'); between sentences there is none."
        )
    _check("units of attention", units, get_args(AttentionUnit))
    known: AttentionUnit = "token" if units == "token" else "word"
    return known


def _check(what: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise LmkinError(f"Unknown {what} {quoted(value)}. {did_you_mean(value, known)}")
