"""What the options of `lmkin redundancy` mean, and what is read without a corpus."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import typer

from ...errors import LmkinError, did_you_mean
from ..output import busy
from ..sources import given_flags, refuse_unused

_READING = (
    "limit", "format", "option", "names", "pooling", "max_length", "overlap", "special_tokens", "batch_tokens",
    "untrained", "units", "long", "first_token", "side", "revision", "device", "model_dtype", "trust_remote_code",
    "keep_activations", "dtype",
)  # fmt: skip
"""Options that say how models read a corpus, and what becomes of what they give."""
_MOST = 1000
"""Thresholds that may be asked for."""
_USUAL = 0.3
"""The threshold that the papers look at most."""
Shown = tuple[Any, int]
"""Activations, and the number of a sentence of theirs."""


@dataclass(frozen=True)
class Choice:
    """What is computed."""

    thresholds: tuple[float, ...]
    """Those of tables, masks and strips, each once."""
    keep_at: tuple[float, ...] | None
    """None: the one nearest to 0.3."""
    strips_at: float | None
    linkage: str = "average"
    representative: str = "random"
    seed: int = 0
    memory: str | None = None
    clusters: int = 3
    layer_maps: bool = True
    ridge: str | float = "auto"
    parts: int = 10
    """1: no intervals."""
    level: float = 0.95
    layers: str = "all"
    """Of activations that were stored before."""

    @staticmethod
    def make(
        thresholds: str | None, keep_at: str | None, strips_at: float | None, **options: Any
    ) -> Choice:
        """From what was given; mistakes are said before anything runs."""
        from ...dependency.ridge import Ridge
        from ...moments.planning import parse_memory
        from ...redundancy.grouping import REPRESENTATIVES, THRESHOLDS
        from ...redundancy.linking import LINKAGES

        for name, known in (("linkage", LINKAGES), ("representative", REPRESENTATIVES)):
            if options[name] not in known:
                raise LmkinError(
                    f"Unknown --{name} {options[name]!r}. {did_you_mean(options[name], known)}"
                )
        if not 0 < options["level"] < 1:
            raise LmkinError(
                f"--level is a share between 0 and 1, such as 0.95; got {options['level']}."
            )
        parse_memory(options["memory"])
        Ridge.make(options["ridge"])
        found = THRESHOLDS if thresholds is None else numbers(thresholds, "--thresholds")
        kept = None if keep_at is None else numbers(keep_at, "--keep-at")
        strips = None if strips_at is None else numbers(str(strips_at), "--strips-at")
        every = sorted({*found, *(kept or ()), *(strips or ())})
        return Choice(tuple(every), kept, strips[0] if strips else None, **options)

    def of_layers(self, layers: str) -> Choice:
        """The same, of some layers of what is stored."""
        return replace(self, layers=layers)


def numbers(text: str, flag: str) -> tuple[float, ...]:
    """Thresholds from numbers with commas, and from ``FROM:TO:STEP``, both ends included.

    >>> numbers("0:0.3:0.1,0.95", "--thresholds")
    (0.0, 0.1, 0.2, 0.3, 0.95)
    """
    found: set[float] = set()
    try:
        for piece in text.split(","):
            low, *rest = (float(number) for number in piece.split(":"))
            if not rest:
                found.add(low)
                continue
            high, step = rest
            count = math.floor((high - low) / step + 1e-9) + 1 if step > 0 else 0
            if not 1 <= count <= _MOST:
                raise ValueError
            found |= {round(low + k * step, 10) for k in range(count)}
    except (ValueError, OverflowError):
        found = set()
    if not found or len(found) > _MOST or not all(0 <= t <= 1 for t in found):
        raise LmkinError(
            f"{flag}: thresholds are numbers from 0 to 1, with commas such as 0,0.1,0.3, or as FROM:TO:STEP such as "
            f"0:0.9:0.1; got {text!r}."
        )
    return tuple(sorted(found))


def usual(thresholds: Sequence[float]) -> float:
    """0.3, or the threshold nearest to it."""
    return min(thresholds, key=lambda t: abs(t - _USUAL))


def refuse_reading(context: typer.Context) -> None:
    """An error for options that say how models read a corpus, where none does."""
    refuse_unused(dict.fromkeys(given_flags(context, _READING), True))


def refuse_without(context: typer.Context, needed: str, names: Iterable[str]) -> None:
    """An error for options that do nothing without another."""
    if context.params[needed] not in (None, False):
        return
    unused = given_flags(context, names)
    if unused:
        flag = {
            "sentence": "goes with --sentence",
            "layer_maps": "is of no use with --no-layer-maps",
        }[needed]
        raise LmkinError(f"{', '.join(unused)} {flag}: leave it out, or change that.")  # fmt: skip


# -- models and stores ------------------------------------------------------------------------------


def check_models(models: Sequence[Any], layers: str, layer_maps: bool) -> None:
    """An error, before anything is run, for layers that a model does not have, or one alone."""
    from ...activations.extraction import choose_layers

    for model in models:
        try:
            chosen = choose_layers(layers, model.n_layers)
        except LmkinError as error:
            raise LmkinError(f"{model.name}: {error}") from error
        _require_two(model.name, chosen, layer_maps)


def _require_two(name: str, layers: Sequence[int], layer_maps: bool) -> None:
    if layer_maps and len(layers) < 2:
        raise LmkinError(
            f"{name} has one layer here ({layers[0]}), and layers are compared with each other: take two at least "
            f"with --layers, or cluster its neurons only, with --no-layer-maps."
        )


def open_stores(paths: Sequence[str], layers: str, layer_maps: bool) -> list[Any]:
    """Stored activations; an error for layers that one of them lacks."""
    from ...activations.extraction import choose_layers
    from ...moments import row_source

    with busy("Opening activations …"):
        found = [_open(path) for path in paths]
        for acts in found:
            have = acts.layers
            asked = list(have) if layers == "all" else choose_layers(layers, max(have) + 1)
            lost = [n for n in asked if n not in have]
            if lost:
                raise LmkinError(
                    f"{acts.path} has the layers {', '.join(map(str, have))}, and no layer {lost[0]}: choose others "
                    f"with --layers, or extract it."
                )
            _require_two(acts.name, asked, layer_maps)
        row_source(found, parts=1)  # an error for words of different corpora
    return found


def _open(path: str) -> Any:
    from pathlib import Path

    from ...activations import open_activations

    if not (Path(path) / "manifest.json").is_file():
        raise LmkinError(
            f"{path!r} is no folder of activations. If it is a model, give a corpus for it to read with --corpus."
        )
    return open_activations(path)


# -- the sentence -----------------------------------------------------------------------------------


def sentence_number(asked: str | None, units: str) -> int | None:
    """The number of the sentence in its corpus, from 0; None for a text, or where none is asked for."""
    if asked is None:
        return None
    if units == "sentence":
        raise LmkinError(
            "--sentence shows neurons word by word, and with --units sentence there is one row for all of it. Leave "
            "out one of the two."
        )
    if re.fullmatch(r"\s*-?[0-9]+\s*", asked):
        return int(asked) - 1
    if not asked.strip():
        raise LmkinError("--sentence is empty. Give a text of two words or more.")
    return None


def sentence_rows(
    models: Sequence[Any], text: Any, number: int | None, rule: dict[str, Any]
) -> list[Shown]:
    """What every model makes of a sentence: of a text, or of one of a corpus."""
    from ...activations import extract
    from ...corpus import Corpus, Sentence
    from ...corpus.spans import split_words

    if number is None:
        plain = " ".join(text.split())
        one = Sentence(plain, split_words(plain, "whitespace"), id="1")
    else:
        _check_number(number, len(text))
        one = text[number]
    with busy("Reading a sentence …"):
        found = [extract(m, Corpus([one], name="sentence"), progress=False, **rule) for m in models]
    for acts in found:
        _require_words(acts.name, len(acts))
    return [(acts, 0) for acts in found]


def stored_sentence(stores: Sequence[Any], number: int | None) -> list[Shown]:
    """The rows of a sentence in some stores."""
    if number is None:
        raise LmkinError(
            "Of stored activations --sentence is the number of a sentence of their corpus, from 1; for a text of your "
            "own the models must run: give them, and --corpus."
        )
    for acts in stores:
        _check_number(number, len(acts.units.corpus))
        _require_words(acts.name, int(np.sum(acts.units.sentence == number)))
        if acts.units.kind == "sentence":
            sentence_number(str(number + 1), "sentence")
    return [(acts, number) for acts in stores]


def _check_number(number: int, count: int) -> None:
    if not 0 <= number < count:
        raise LmkinError(
            f"--sentence {number + 1}: the corpus has sentences 1 to {count}. A text is taken as it is."
        )


def _require_words(name: str, count: int) -> None:
    if count < 2:
        raise LmkinError(
            f"--sentence needs two words at least, to show how neurons go up and down; {name} reads "
            f"{'one' if count else 'none'} here. Give a longer sentence."
        )
