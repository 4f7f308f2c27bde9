"""What a comparison reads: models that run, stored activations, or a file of moments."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import LmkinError
from .output import busy, say

if TYPE_CHECKING:
    import typer


def read_source(
    models: list[str],
    corpus: str | None,
    untrained: bool,
    names: str | None,
    limit: int | None,
    format: str | None,
    format_options: dict[str, Any],
    model_options: dict[str, Any],
    rule: dict[str, Any],
    parts: int,
) -> Any:
    """Rows from models that run, from stored activations, or moments from a file."""
    from ..moments import Moments, row_source

    if corpus is None:
        if len(models) == 1 and Path(models[0]).is_file():
            refuse_unused({"--layers": None if rule["layers"] == "all" else rule["layers"]})
            return Moments.load(models[0])
        return row_source(models, parts=parts, layers=rule["layers"])
    loaded, sentences = read_models(
        models, corpus, untrained, names, limit, format, format_options, model_options
    )
    with busy("Tokenizing and aligning words …"):
        return row_source(loaded, sentences, parts=parts, **rule)


def read_models(
    models: list[str],
    corpus: str,
    untrained: bool,
    names: str | None,
    limit: int | None,
    format: str | None,
    format_options: dict[str, Any],
    model_options: dict[str, Any],
) -> tuple[list[Any], Any]:
    """Models and, if asked for, their untrained twins; and the sentences for them to read."""
    from ..corpus import read_corpus
    from ..models import load_model

    called = _names(names, len(models))
    with busy(f"Reading {corpus} …"):
        sentences = read_corpus(corpus, format, **format_options)
        if limit is not None:
            sentences = sentences[:limit]
    loaded = []
    for spec, name in zip(models, called, strict=True):
        twin = f"untrained {name}" if name else None
        for each, title in [(spec, name), (f"untrained:{spec}@0", twin)][: 1 + untrained]:
            with busy(f"Loading {each} …"):
                loaded.append(load_model(each, name=title, **model_options))
            say(f"Model: {loaded[-1].name}, {loaded[-1].n_layers} layers × {loaded[-1].widths[-1]}")
    return loaded, sentences


def refuse_unused(given: dict[str, Any]) -> None:
    """An error for options that say how models read a corpus, where none does."""
    unused = [flag for flag, value in given.items() if value is not None]
    if unused:
        raise LmkinError(
            f"{', '.join(unused)} {'is' if len(unused) == 1 else 'are'} for models that read a corpus "
            "(--corpus); what is "
            f"stored stays as it was made."
        )


def _names(names: str | None, count: int) -> list[str | None]:
    """The names that --names gives, one a model."""
    if names is None:
        return [None] * count
    given: list[str | None] = [name.strip() or None for name in names.split(",")]
    if len(given) != count:
        raise LmkinError(
            f"--names gives {len(given)} names for {count} models: one for each, with commas."
        )
    return given


def given_flags(context: typer.Context, names: Iterable[str]) -> list[str]:
    """Those of some options that were given, as they are called on the command line."""
    flags = {p.name: p.opts[0] for p in context.command.params}
    found = [n for n in names if getattr(context.get_parameter_source(n), "name", "") != "DEFAULT"]
    return [flags[n] for n in found]


def ridge_of(text: str) -> str | float:
    """A number, or the word that was given."""
    try:
        return float(text)
    except ValueError:
        return text
