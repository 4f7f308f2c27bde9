"""`load_model`: find the source of a model specification, and let it load."""

from __future__ import annotations

import importlib
import logging
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..core import LmkinError, as_path, did_you_mean, printable, quoted
from .base import LanguageModel

if TYPE_CHECKING:
    from .tokens import Tokenizer

_log = logging.getLogger(__name__)
SIDES = ("encoder", "decoder")
DTYPES = ("float32", "float16", "bfloat16", "float64", "auto")


@dataclass(frozen=True)
class LoadOptions:
    """What `load_model` was asked for besides the model itself."""

    device: str = "auto"
    dtype: str | None = None
    revision: str | None = None
    attention: bool = False
    side: str = "encoder"
    trust_remote_code: bool = False
    name: str | None = None
    tokenizer: str | None = None


Claim = Callable[[str], bool]
Loader = Callable[[str, LoadOptions], LanguageModel]


@dataclass(frozen=True)
class Source:
    """A place that models come from: which specifications are its own, and how to load them."""

    name: str
    summary: str
    claims: Claim
    load: Loader
    last: bool = False
    """Asked after all others."""


_SOURCES: dict[str, Source] = {}


def model_source(
    name: str, *, summary: str, claims: Claim, last: bool = False
) -> Callable[[Loader], Loader]:
    """Register a loader ``(spec, options) -> LanguageModel`` as a model source."""

    def register(load: Loader) -> Loader:
        _SOURCES[name] = Source(name, summary, claims, load, last)
        return load

    return register


@cache
def _load_own_sources() -> None:
    from . import sources

    for module in pkgutil.iter_modules(sources.__path__):
        importlib.import_module(f"{sources.__name__}.{module.name}")


def known_sources() -> dict[str, Source]:
    """All registered model sources by name, in the order in which they are asked."""
    _load_own_sources()
    return dict(sorted(_SOURCES.items(), key=lambda item: item[1].last))


def load_model(
    spec: str | Path,
    *,
    device: str = "auto",
    dtype: str | None = None,
    revision: str | None = None,
    attention: bool = False,
    side: str = "encoder",
    trust_remote_code: bool = False,
    name: str | None = None,
    tokenizer: str | Path | None = None,
) -> LanguageModel:
    """Load a language model.

    Parameters
    ----------
    spec
        A Hugging Face name or folder; ``untrained:SPEC[@seed]`` for its twin with fresh weights;
        ``package:PACKAGE/FOLDER`` for a model inside an installed Python package; or a file of
        activations (a lmkin store, contextual-repr or NeuroX HDF5, NeuroX JSON lines).
    device
        ``auto`` takes a GPU if there is one.
    dtype
        Of the weights while they run; float32 by default, whatever they are stored in.
    revision
        Branch, tag or commit on the hub.
    attention
        Load so that :meth:`LanguageModel.attention` works (eager attention, a little slower).
    side
        Which side of an encoder-decoder to look at.
    trust_remote_code
        Run Python code that comes with the model. Never without your word.
    name
        What to call the model in tables and pictures; the specification by default.
    tokenizer
        Name or folder of the tokenizer to use instead of the model's own, such as that of the model it was
        made from. ``revision`` is the model's alone.
    """
    if side not in SIDES:
        raise LmkinError(f"Unknown side {quoted(side)}. {did_you_mean(side, SIDES)}")
    if dtype is not None and dtype not in DTYPES:
        raise LmkinError(f"Unknown dtype {quoted(dtype)}. {did_you_mean(dtype, DTYPES)}")
    options = LoadOptions(
        device,
        dtype,
        revision,
        attention,
        side,
        trust_remote_code,
        name,
        None if tokenizer is None else _text(tokenizer),
    )
    text = _text(spec)
    source = next(s for s in known_sources().values() if s.claims(text))
    model = source.load(text, options)
    model.name = printable(model.name)  # a folder may be called what no file can hold
    _log.debug("loaded %r from %s: %s", text, source.name, model)
    return model


def load_tokenizer(
    spec: str | Path, *, revision: str | None = None, trust_remote_code: bool = False
) -> Tokenizer:
    """The tokenizer of a model, by what `load_model` takes, or of a folder of its own; no weights are read."""
    from .sources.untrained import tokenizer_location

    location = tokenizer_location(_text(spec))
    from .pretrained import load_tokenizer_of

    return load_tokenizer_of(
        location, LoadOptions(revision=revision, trust_remote_code=trust_remote_code)
    )


def _text(spec: str | Path) -> str:
    """A specification as text; ``~`` is the home folder. Raise if it is longer than a path can be."""
    path = as_path(spec)
    return str(path.expanduser()) if str(spec).startswith("~") else str(spec)
