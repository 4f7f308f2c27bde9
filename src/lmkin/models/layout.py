"""Where every token of a sentence stands in what the model is given: window and position."""

from __future__ import annotations

from dataclasses import dataclass

from ..core import ModelError
from .rule import UnitRule
from .tokens import Template, Tokenizer, Tokens
from .windows import cut, owners

Place = tuple[int, int]
"""(window, position in it)."""


@dataclass(frozen=True)
class Layout:
    """One sentence, or pair, as the model gets it."""

    inputs: list[tuple[list[int], list[int]]]
    """Ids and token types of each window."""
    content: list[Place | None]
    """For each content token its place, or None if it was cut off."""
    prefix: list[Place]
    """The special tokens before the text, in the first window."""
    suffix: list[Place]
    """The special tokens after the text, in the last window; between two texts too."""

    @property
    def places(self) -> list[Place]:
        """All places that are read, in order."""
        return sorted([*self.prefix, *(place for place in self.content if place), *self.suffix])

    @property
    def n_cut(self) -> int:
        """Content tokens that were cut off."""
        return self.content.count(None)


def room_for_text(template: Template, limit: int | None, rule: UnitRule) -> int | None:
    """Content tokens that fit into one window; None if there is no limit."""
    limits = [length for length in (limit, rule.max_length) if length is not None]
    if not limits:
        return None
    room = min(limits) - template.size
    if room < 2:
        raise ModelError(
            f"Of {min(limits)} tokens that the model reads at once, {template.size} are special, so no "
            f"text fits. Raise max_length."
        )
    return room


def lay_out(
    tokenizer: Tokenizer, tokens: Tokens, rule: UnitRule, *, limit: int | None, causal: bool
) -> Layout:
    """The windows of a sentence."""
    template = tokenizer.single
    windows = cut(len(tokens), room_for_text(template, limit, rule), rule)
    shift = len(template.prefix)
    content: list[Place | None]
    if windows == [(0, len(tokens))]:
        content = [(0, p) for p in range(shift, shift + len(tokens))]
    else:
        owner = owners(len(tokens), windows, causal=causal)
        content = [(w, t - windows[w][0] + shift) if w >= 0 else None for t, w in enumerate(owner)]
    start, stop = windows[-1]
    end = stop - start + shift
    return Layout(
        inputs=[template.wrap(tokens.ids[start:stop]) for start, stop in windows],
        content=content,
        prefix=[(0, p) for p in range(shift)],
        suffix=[(len(windows) - 1, end + p) for p in range(len(template.suffix))],
    )


def lay_out_pair(
    tokenizer: Tokenizer, first: Tokens, second: Tokens, rule: UnitRule, *, limit: int | None
) -> Layout:
    """A sentence pair in one window; where it does not fit, the longer text is cut first."""
    template = tokenizer.pair
    a, b = fit_pair(len(first), len(second), room_for_text(template, limit, rule))
    inputs = template.wrap(first.ids[:a], second.ids[:b])
    start = len(template.prefix)
    middle = start + a
    second_start = middle + len(template.middle)
    end = second_start + b
    places: list[Place] = [(0, p) for p in range(len(inputs[0]))]
    return Layout(
        inputs=[inputs],
        content=[
            *places[start:middle],
            *[None] * (len(first) - a),
            *places[second_start:end],
            *[None] * (len(second) - b),
        ],
        prefix=places[:start],
        suffix=[*places[middle:second_start], *places[end:]],
    )


def fit_pair(a: int, b: int, room: int | None) -> tuple[int, int]:
    """How many tokens of each text are kept so that both fit.

    >>> fit_pair(10, 3, 8), fit_pair(10, 10, 8), fit_pair(2, 3, 8)
    ((5, 3), (4, 4), (2, 3))
    """
    if room is None or a + b <= room:
        return a, b
    shorter = min(a, b, room // 2)
    return (room - shorter, shorter) if a >= b else (shorter, room - shorter)
