"""Untrained twins: the configuration and tokenizer of a model, with fresh weights."""

from __future__ import annotations

from ..base import LanguageModel
from ..loader import LoadOptions, model_source
from .huggingface import check_folder, check_tokenizer, display_name
from .package import package_name, resolve_package

_PREFIX = "untrained:"


def split_seed(spec: str) -> tuple[str, int]:
    """``untrained:SPEC@3`` → (``SPEC``, 3); the seed is 0 by default.

    >>> split_seed("untrained:bert-base-cased@7")
    ('bert-base-cased', 7)
    """
    inner = spec.removeprefix(_PREFIX)
    base, at, seed = inner.rpartition("@")
    return (base, int(seed)) if at and seed.isdigit() else (inner, 0)


def tokenizer_location(spec: str) -> str:
    """The folder or hub name behind the specification of a tokenizer; that of a twin is its model's."""
    location = resolve_package(split_seed(spec)[0] if spec.startswith(_PREFIX) else spec)
    check_tokenizer(location)
    return location


@model_source(
    "untrained",
    summary="untrained:SPEC[@seed], the twin of a model with fresh weights",
    claims=lambda spec: spec.startswith(_PREFIX),
)
def load_untrained(spec: str, options: LoadOptions) -> LanguageModel:
    """Load an untrained twin."""
    inner, seed = split_seed(spec)
    location = resolve_package(inner)
    check_folder(location)
    from ..pretrained import load_fresh

    base = package_name(inner) if inner != location else display_name(inner)
    name = options.name or f"{_PREFIX}{base}@{seed}"
    return load_fresh(location, options, spec=f"{_PREFIX}{inner}@{seed}", seed=seed, name=name)
