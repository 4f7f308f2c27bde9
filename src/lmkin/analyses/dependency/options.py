"""What can be asked of a decomposition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ...analysis import MEASURES, Intervals
from ...core import (
    SHARES,
    Convention,
    LmkinError,
    Precision,
    Ridge,
    make_split,
    option,
    parse_ridge,
    quoted,
)

CORPUS = "Corpus"
RidgeRule = Literal["auto", "relative", "absolute", "floor", "validation"]


def parse_lengths(text: str) -> tuple[int, ...]:
    """Numbers of tokens, each once, from the smallest.

    >>> parse_lengths("64,16,16")
    (16, 64)
    """
    try:
        return tuple(sorted({int(piece) for piece in text.split(",")}))
    except ValueError:
        raise LmkinError(
            f"Lengths are numbers of tokens with commas, such as 16,32,64; got {quoted(text)}."
        ) from None


def parse_split(text: str) -> dict[str, float]:
    """Fractions of the rows by name.

    >>> parse_split("train=0.8,test=0.2")
    {'train': 0.8, 'test': 0.2}
    """
    shares: dict[str, float] = {}
    for piece in text.split(","):
        name, _, share = (x.strip() for x in piece.partition("="))
        try:
            number = float(share)
        except ValueError:
            raise LmkinError(
                f"A split is fractions by name, such as train=0.8,validation=0.1,test=0.1; got {quoted(text)}."
            ) from None
        if name in shares:
            raise LmkinError(f"The split names {quoted(name)} twice: {text[:60]}.")
        shares[name] = number
    return shares


@dataclass(frozen=True)
class DependencyOptions(Intervals):
    """Splits, the ridge, the permutation baseline, lengths of text, and which models to keep."""

    token_lengths: Sequence[int] | None = option(
        None,
        "Cut the text into chunks of so many tokens, e.g. 16,32,64,128,256,512, and decompose each length. Default: "
        "the sentences of the corpus as they are.",
        CORPUS,
        flags=("--lengths",),
        parse=parse_lengths,
    )
    reference_tokenizer: str | None = option(
        None, "The model whose tokens --lengths counts. Default: the first MODEL.", CORPUS
    )
    split: Mapping[str, Any] | None = option(
        None,
        "Fractions of the rows to fit on, to choose the ridge on, and to score on, by whole documents or sentences. "
        f"Default: {', '.join(f'{k}={v:g}' for k, v in SHARES.items())}.",
        MEASURES,
        parse=parse_split,
    )
    ridge: str | float = option(
        "auto",
        "What is added to the diagonal: auto (chosen on validation rows where there are fewer than 20 train rows a "
        "neuron, else 1e-6), or a number.",
        MEASURES,
        parse=parse_ridge,
    )
    ridge_rule: RidgeRule = option(
        "auto",
        "What the number means: relative (to the mean eigenvalue of each model), absolute, floor (of the smallest "
        "eigenvalue); or validation (the best on the validation rows).",
        MEASURES,
    )
    convention: Convention = option(
        "paper", "released: the ridge of the authors' code, 1e-6 and absolute.", MEASURES
    )
    permutation_baseline: bool = option(
        True, "Permutation baseline: the R² that shuffled rows give by chance.", MEASURES
    )
    subsets: str | int | Sequence[int] = option(
        "auto",
        "Sizes of the best subsets: all, none, or e.g. 1,3-5. auto: all sizes; of more than 8 models one is added at a "
        "time.",
        MEASURES,
    )
    compare_published: bool = option(
        False,
        "Show the figures of the paper beside these, for its twelve checkpoints, by --lengths.",
        MEASURES,
    )
    precision: Precision | None = option(
        None, "Of the products. Default: what suits the rows.", "Run"
    )

    def check(self) -> None:
        """Raise if a length, the split or the ridge cannot be meant, or if two options exclude each other."""
        self.check_intervals()
        if self.token_lengths is not None and (
            not self.token_lengths or min(self.token_lengths) < 8
        ):
            raise LmkinError(
                "Lengths are numbers of tokens from 8 on, such as 16,32,64; got "
                f"{', '.join(map(str, self.token_lengths))}."
            )
        if self.reference_tokenizer is not None and self.token_lengths is None:
            raise LmkinError(
                "The reference tokenizer counts the tokens of each length: give lengths too (token_lengths=…)."
            )
        make_split(10_000, self.split, parts=1)
        ridge = Ridge.make(self.ridge, self.ridge_rule, released=self.convention == "released")
        ridge.require_rows(self.split or SHARES)
