"""What the options of `lmkin dependency` mean, and what is read without a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from ...errors import LmkinError
from ..output import busy
from ..sources import given_flags, refuse_unused
from .running import check_sizes

_SPLITS = ("train", "validation", "test")
_READING = (
    "limit", "format", "option", "names", "pooling", "max_length", "overlap", "special_tokens", "batch_tokens",
    "untrained", "lengths", "units", "long", "first_token", "side", "revision", "device", "model_dtype",
    "trust_remote_code",
)  # fmt: skip
"""Options that say how models read a corpus."""
_ROWS = ("split", "parts", "layers", "memory", "seed", "null")
"""Options that say what becomes of rows; moments are sums of them."""


def refuse_reading(context: typer.Context) -> None:
    """An error for options that say how models read a corpus, where none does."""
    refuse_unused(dict.fromkeys(given_flags(context, _READING), True))


def decompose_stored(
    models: list[str], options: dict[str, Any], subsets: str, context: typer.Context
) -> Any:
    """From stored activations, or from moments by the names of splits."""
    from ...dependency import decompose
    from ...moments import Moments

    files = {name: path for name, sign, path in (m.partition("=") for m in models) if sign}
    named = [m for m in models if m.partition("=")[0] in _SPLITS and "=" in m]
    if not named:
        check_sizes(subsets, len(models))
        return decompose(models, **options)
    if len(named) < len(models) or len(files) < len(named):
        raise LmkinError(
            f"Files of moments come as train=FILE test=FILE, each name once and nothing else; got {' '.join(models)}."
        )
    unused = given_flags(context, (n for n in _ROWS if n != "null" or options["null"]))
    if unused:
        raise LmkinError(
            f"Moments are sums that were made before: leave out {', '.join(unused)}, which would do nothing."
        )
    for path in files.values():
        if Path(path).is_dir():
            raise LmkinError(
                f"{path} is a folder; moments are a file, as Moments.save writes it. Folders of activations come "
                f"without train= and test=."
            )
    some = {name: Moments.load(files[name]) for name in _SPLITS if name in files}
    check_sizes(subsets, len({g.model for m in some.values() for g in m.widths}))
    fixed = {k: v for k, v in options.items() if k not in _ROWS}
    with busy("Decomposing …"):
        return decompose(some, **fixed)


def reference(asked: str | None, loaded: list[Any], trust_remote_code: bool) -> Any:
    """The tokenizer that counts: of the model asked for, or of the first."""
    if asked is None:
        return loaded[0]
    from ...models import load_tokenizer

    with busy(f"Loading the tokenizer of {asked} …"):
        return load_tokenizer(asked, trust_remote_code=trust_remote_code)


def require_two(models: list[str], untrained: bool) -> None:
    """An error for one model alone."""
    if len(models) * (1 + untrained) < 2:
        raise LmkinError(
            "A decomposition needs two models at least: one is explained by the others. Give another MODEL, or "
            "--untrained."
        )


def check_options(options: dict[str, Any], *, rows: bool = True) -> None:
    """Mistakes are said before anything runs; ``rows``: whether it is rows that are split."""
    from ...dependency.ridge import Ridge
    from ...dependency.splitting import make_split

    ridge = Ridge.make(options["ridge"], options["rule"], released=options["released"])
    make_split(10_000, options["split"], parts=1)
    if rows:
        ridge.require_rows(options["split"])
    if not 0 < options["level"] < 1:
        raise LmkinError(f"--level is a share between 0 and 1, such as 0.95; got {options['level']}.")  # fmt: skip


def check_comparison(corpus: str | None, lengths: tuple[int, ...], units: str, layers: str) -> None:
    """An error where there is nothing of the kind that the paper has."""
    if corpus is None or not lengths or units != "sentence":
        raise LmkinError(
            "The figures of the paper are of texts, by their length in tokens: --compare-published needs --corpus and "
            "--lengths, such as 16,32,64,128,256,512, and no --units."
        )
    if layers not in ("last", "-1"):
        raise LmkinError(
            f"The figures of the paper are of last layers: --compare-published goes without --layers; got {layers}."
        )


def lengths_of(text: str | None) -> tuple[int, ...]:
    """Numbers of tokens, each once, from the smallest."""
    if text is None:
        return ()
    try:
        numbers = sorted({int(piece) for piece in text.split(",")})
    except ValueError:
        numbers = [0]
    if numbers[0] < 8:
        raise LmkinError(
            f"--lengths are numbers of tokens from 8 on, with commas, such as 16,32,64; got {text!r}."
        )
    return tuple(numbers)


def split_of(text: str) -> dict[str, float]:
    """``train=0.8,test=0.2`` as a dict."""
    found: dict[str, float] = {}
    for piece in text.split(","):
        name, _, share = (x.strip() for x in piece.partition("="))
        try:
            number = float(share)
        except ValueError:
            raise LmkinError(
                f"--split is shares by name, such as train=0.8,validation=0.1,test=0.1; got {text!r}."
            ) from None
        if name in found:
            raise LmkinError(f"--split names {name!r} twice: {text}.")
        found[name] = number
    return found
