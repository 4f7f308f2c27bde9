"""Attention between words or tokens.

Of a word, subword tokens are summed on the receiving side, and averaged on the giving side.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core import LmkinWarning, ModelError
from ..corpus import Corpus, Sentence
from .alignment import tokens_of_words
from .layout import Layout, lay_out
from .rule import AttentionUnit, UnitRule, attention_units
from .tokens import Tokens

if TYPE_CHECKING:
    from .transformer import TransformerModel


@dataclass(frozen=True)
class UnitAttention:
    """Attention of one sentence between its words or tokens: ``weights[layer, head, from, to]``; every row sums to 1.

    ``index[i]`` is the number of the word or token in the sentence, or -1 for a special token. ``left_out[layer, head,
    from]`` is the fraction of the row that went to tokens that are left out, before it was made to sum to 1 again; it
    is 1 only where nothing was left, and the row is shown as even.
    """

    sentence: int
    index: tuple[int, ...]
    names: tuple[str, ...]
    weights: NDArray[np.float32]
    left_out: NDArray[np.float32]


def unit_attention(
    model: TransformerModel,
    corpus: Corpus,
    *,
    units: AttentionUnit = "word",
    special_tokens: str = "drop",
    first_token: str = "drop",
    batch_tokens: int = 2048,
    warn: bool = True,
) -> Iterator[UnitAttention]:
    r"""Attention between the words of every sentence that the model can read at once, in corpus order.

    .. math:: A_{w,v} = \frac{1}{|w|} \sum_{i \in w} \sum_{j \in v} a_{ij}

    With ``units="token"`` between the tokens of the model's own tokenizer: :math:`a_{ij}` itself, nothing summed and
    nothing averaged.

    With ``special_tokens="drop"`` the columns of special tokens are left out and the rows made to sum to 1
    again; with ``"keep"`` they stay as units of their own. A token that reaches into several words
    gives each an equal share. ``first_token="drop"`` leaves out a decoder's position 0 in the
    same way. Sentences that do not fit into one window are left out with a warning that counts them; so are
    those that have no unit left (:attr:`UnitAttention.sentence` tells which are there). With ``warn=False`` nothing is
    said of either: for a caller that asks for some sentences after others, and counts what is lost of all.
    """
    if not model.shows_attention:
        raise ModelError(
            f"{model.name} was loaded without attention, and the fast attention kernels do not return it. Load it "
            f"with load_model(…, attention=True)."
        )
    attention_units(units)
    rule = UnitRule.make(
        units, "mean", first_token=first_token, special_tokens=special_tokens, long="truncate"
    )
    batch: list[_Item] = []
    too_long = blank = 0

    def counted(attentions: Iterator[UnitAttention]) -> Iterator[UnitAttention]:
        nonlocal blank
        for attention in attentions:
            blank += int((attention.left_out == 1).sum())
            yield attention

    for number, sentence, tokens in model.reader.tokens(corpus):
        layout = lay_out(model.tokenizer, tokens, rule, limit=model.limit, causal=model.causal)
        if layout.n_cut:
            too_long += 1
            continue
        item = _item(model, number, sentence, tokens, layout, rule)
        if item is None:
            continue
        longest = max([len(item.ids), *(len(other.ids) for other in batch)])
        if batch and longest * (len(batch) + 1) > batch_tokens:
            yield from counted(_run(model, batch))
            batch = []
        batch.append(item)
    if batch:
        yield from counted(_run(model, batch))
    if blank and warn:
        warnings.warn(
            f"{model.name}: {blank:,} rows of attention go to special tokens alone, and are shown as even. "
            f"special_tokens='keep' shows where they go.",
            LmkinWarning,
            stacklevel=2,
        )
    if too_long and warn:
        warnings.warn(
            f"{too_long:,} of {len(corpus):,} sentences are longer than {model.name} reads at once, and have no "
            f"attention map.",
            LmkinWarning,
            stacklevel=2,
        )


@dataclass(frozen=True)
class _Item:
    """A sentence ready to run: its input, and the matrices that join tokens into units."""

    sentence: int
    index: tuple[int, ...]
    names: tuple[str, ...]
    ids: list[int]
    types: list[int]
    giving: NDArray[np.float32]
    """units × tokens: means over a unit's tokens."""
    receiving: NDArray[np.float32]
    """tokens × units: the fraction of a token that each unit gets."""


class _Unit(NamedTuple):
    """A word or token: where its first token stands, its number, its name, and the places of its tokens."""

    first: int
    number: int
    name: str
    positions: list[int]


def _units_of(
    model: TransformerModel, sentence: Sentence, tokens: Tokens, rule: UnitRule
) -> list[tuple[str, list[int]]]:
    """The name of every word or token of a sentence, and the numbers of its tokens."""
    if rule.kind == "word":
        mine = tokens_of_words(sentence.spans, tokens.spans)
        return list(zip(sentence.words, mine, strict=True))
    written = model.tokenizer.hf.convert_ids_to_tokens(tokens.ids)
    # One that covers no character, such as a space of its own, is called what the tokenizer calls it.
    names = [
        sentence.text[start:end] or str(own)
        for (start, end), own in zip(tokens.spans, written, strict=True)
    ]
    return [(name, [t]) for t, name in enumerate(names)]


def _item(
    model: TransformerModel,
    number: int,
    sentence: Sentence,
    tokens: Tokens,
    layout: Layout,
    rule: UnitRule,
) -> _Item | None:
    ids, types = layout.inputs[0]
    drops_first = model.reader.drops_first(rule)
    units: list[_Unit] = []
    for index, (name, mine) in enumerate(_units_of(model, sentence, tokens, rule)):
        places = [place for t in mine if (place := layout.content[t]) is not None]
        positions = [p for _, p in places if p > 0 or not drops_first]
        if positions:
            units.append(_Unit(positions[0], index, name, positions))
    if not units:
        return None
    if rule.special_tokens == "keep":
        for place in (*layout.prefix, *layout.suffix):
            if place[1] > 0 or not drops_first:
                name = str(model.tokenizer.hf.convert_ids_to_tokens(ids[place[1]]))
                units.append(_Unit(place[1], -1, name, [place[1]]))
        units.sort(key=lambda unit: (unit.first, unit.number))
    giving = np.zeros((len(units), len(ids)), np.float32)
    for i, unit in enumerate(units):
        giving[i, unit.positions] = 1
    receiving = (giving / np.maximum(giving.sum(0), 1)).T
    giving /= giving.sum(1, keepdims=True)
    return _Item(
        number,
        tuple(unit.number for unit in units),
        tuple(unit.name for unit in units),
        ids,
        types,
        giving,
        np.ascontiguousarray(receiving),
    )


def _run(model: TransformerModel, batch: list[_Item]) -> Iterator[UnitAttention]:
    out: Any = model.forward(
        [item.ids for item in batch], [item.types for item in batch], attentions=True
    )
    longest = max(len(item.ids) for item in batch)
    maps = out.attentions or ()
    if not maps or any(
        a is None or a.ndim != 4 or tuple(a.shape[-2:]) != (longest, longest) for a in maps
    ):
        got = f"of shape {tuple(maps[0].shape)}" if maps and maps[0] is not None else "empty"
        raise ModelError(
            f"{model.name} ({type(model.module).__name__}) gives no token-by-token attention (what it returns is "
            f"{got}): it uses a sparse or other kind of attention. Its vectors can be extracted all the same."
        )
    for b, item in enumerate(batch):
        n = len(item.ids)
        tokens = np.stack([a[b, :, :n, :n].float().cpu().numpy() for a in maps])
        weights = item.giving @ tokens @ item.receiving
        total = weights.sum(-1, keepdims=True)
        # A row whose every share went to what is left out would be 0/0: it says nothing, so it is even.
        even = np.full_like(weights, 1 / weights.shape[-1])
        weights = np.divide(weights, total, out=even, where=total > 1e-12)
        # A little that is left is not nothing, though 1 minus it may round to 1.
        some = np.clip(1 - total[..., 0], 0, np.nextafter(np.float32(1), np.float32(0)))
        left_out = np.where(total[..., 0] > 1e-12, some, np.float32(1))
        yield UnitAttention(item.sentence, item.index, item.names, weights, left_out)
