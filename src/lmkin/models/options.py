"""How text becomes units, and how models are loaded: the options that everything which runs models shares."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypedDict

from ..core import LmkinError, did_you_mean, option, quoted
from .rule import UnitRule

UNITS = "Units"
MODEL = "Model"
RUN = "Run"
UnitKind = Literal["word", "token", "sentence"]
Pooling = Literal["last", "first", "mean", "cls", "max"]
Keep = Literal["drop", "keep"]
Long = Literal["window", "truncate"]
Layers = str | int | Sequence[int]


@dataclass(frozen=True)
class Reading:
    """How models read a corpus: what its rows are, and of which layers."""

    layers: Layers = option(
        "all", "all, last, or e.g. 0,4-6,-1 (0: embeddings).", UNITS, flags=("--layers", "--layer")
    )
    units: UnitKind = option("word", "What a row is.", UNITS)
    pooling: Pooling | None = option(
        None,
        "Words: last (default), first or mean of their subword tokens. Sentences: mean (default), first, last, "
        "cls, max.",
        UNITS,
    )
    first_token: Keep = option("drop", "Position 0 of a decoder, an attention sink.", UNITS)
    special_tokens: Keep | None = option(
        None, "CLS, SEP, BOS and the like. Default: keep for sentences, drop for tokens.", UNITS
    )
    long: Long = option("window", "Sentences that are longer than the model reads.", UNITS)
    overlap: int | None = option(None, "Tokens that windows share. Default: a quarter.", UNITS)
    max_length: int | None = option(None, "Tokens read at once, below the model's limit.", UNITS)
    batch_tokens: int | None = option(
        None,
        "Tokens in a padded batch. Default: 1024 on a CPU, 4096 on a GPU.",
        RUN,
        least=1,
        numbers=False,
    )

    def rule(self) -> UnitRule:
        """The rule that makes units of tokens. Raise if a combination makes no sense."""
        return UnitRule.make(
            self.units,
            self.pooling,
            first_token=self.first_token,
            special_tokens=self.special_tokens,
            long=self.long,
            overlap=self.overlap,
            max_length=self.max_length,
        )


class ReadingOptions(TypedDict, total=False):
    """How models read a corpus: keywords that every function which runs models takes, as for :func:`lmkin.extract`."""

    layers: Layers
    units: UnitKind
    pooling: Pooling | None
    first_token: Keep
    special_tokens: Keep | None
    long: Long
    overlap: int | None
    max_length: int | None
    batch_tokens: int | None


@dataclass(frozen=True)
class Loading:
    """How models are loaded."""

    device: str = option("auto", "auto, cpu, cuda, cuda:1, mps …", MODEL)
    dtype: Literal["float32", "float16", "bfloat16", "float64", "auto"] | None = option(
        None,
        "For the weights while they run. Default: float32; auto: as stored.",
        MODEL,
        flags=("--model-dtype",),
    )
    revision: str | None = option(None, "Branch, tag or commit on the hub.", MODEL)
    side: Literal["encoder", "decoder"] = option("encoder", "Side of an encoder-decoder.", MODEL)
    tokenizer: str | Path | Sequence[str | None] | None = option(
        None,
        "Name or folder of a tokenizer to use instead of the model's own; one for all, or with commas one for each "
        "MODEL (empty: its own).",
        MODEL,
    )
    trust_remote_code: bool = option(
        False, "Run Python code that comes with the model.", MODEL, flags=("--trust-remote-code",)
    )

    def to_dict(self) -> dict[str, Any]:
        """As `load_model` takes it."""
        return dict(self.__dict__)


class LoadingOptions(TypedDict, total=False):
    """The fields of `Loading` as keywords of a function."""

    device: str
    dtype: Literal["float32", "float16", "bfloat16", "float64", "auto"] | None
    revision: str | None
    side: Literal["encoder", "decoder"]
    tokenizer: str | Path | Sequence[str | None] | None
    trust_remote_code: bool


def check_reading(reading: Mapping[str, Any], function: Callable[..., Any]) -> None:
    """Raise if a function was given a keyword that neither it nor `Reading` has."""
    fields = ReadingOptions.__annotations__
    unknown = [name for name in reading if name not in fields]
    if unknown:
        known = [*(function.__kwdefaults__ or {}), *fields]
        raise LmkinError(
            f"{function.__name__} has no option {quoted(unknown[0])}. {did_you_mean(unknown[0], known)}"
        )
