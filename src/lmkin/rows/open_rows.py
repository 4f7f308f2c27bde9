"""`row_source`: the rows of arrays, activations, or models with a corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..activations import Activations, open_activations
from ..core import PARTS, QUOTED_PATH, MomentsError, as_path, did_you_mean, quoted
from ..corpus import Corpus, read_corpus
from ..models import LanguageModel, UnitRule, load_model
from .model_rows import ModelSource
from .row_source import RowSource
from .sources import ActivationSource, ArraySource

_RULE = ("first_token", "special_tokens", "long", "overlap", "max_length")
_OWN = ("parts", "layers", "units", "pooling", "batch_tokens")


def row_source(
    source: Any,
    corpus: Corpus | str | Path | None = None,
    *,
    parts: int | Sequence[Any] = PARTS,
    layers: Any = "all",
    units: str = "word",
    pooling: str | None = None,
    batch_tokens: int | None = None,
    **rule: Any,
) -> RowSource:
    """The rows of arrays, activations, or models with a corpus."""
    for name in rule:
        if name not in _RULE:
            raise MomentsError(
                f"Unknown option {quoted(name)}. {did_you_mean(name, [*_RULE, *_OWN])}"
            )
    if isinstance(source, RowSource):
        return source
    if isinstance(source, Mapping):
        kinds = {isinstance(v, Activations) for v in source.values()}
        if kinds == {True}:
            return ActivationSource(list(source.values()), parts, layers)
        if not isinstance(layers, str) or layers != "all":
            raise MomentsError(
                "layers= chooses layers of models and activations; of a dict of arrays, give those that you want."
            )
        return ArraySource(source, parts)
    if isinstance(source, str | Path | LanguageModel | Activations):
        source = [source]
    if isinstance(source, np.ndarray):
        raise MomentsError("Arrays need names: give a dict such as {'model/layer': array}.")
    if not isinstance(source, Sequence) or not source:
        raise MomentsError(
            "Rows come from a dict {'model/layer': array}, a list of activations, or a list of models with a corpus; "
            f"got {type(source).__name__ if source or not isinstance(source, Sequence) else 'an empty list'}."
        )
    if corpus is None:
        return ActivationSource([_activations(given) for given in source], parts, layers)
    if any(isinstance(given, Activations) for given in source):
        raise MomentsError(
            "Activations bring their corpus with them: give activations without a corpus, or models with one."
        )
    sentences = read_corpus(corpus) if isinstance(corpus, str | Path) else corpus
    models = [load_model(m) if isinstance(m, str | Path) else m for m in source]
    made = UnitRule.make(units, pooling, **rule)
    return ModelSource(
        models, sentences, made, parts=parts, layers=layers, batch_tokens=batch_tokens
    )


def _activations(given: Any) -> Activations:
    if isinstance(given, Activations):
        return given
    if isinstance(given, str | Path) and (as_path(given) / "manifest.json").is_file():
        return open_activations(given)
    if isinstance(given, np.ndarray) or hasattr(given, "__array__"):
        raise MomentsError("Arrays need names: give a dict such as {'model/layer': array}.")
    what = (
        quoted(str(given), QUOTED_PATH) if isinstance(given, str | Path) else type(given).__name__
    )
    raise MomentsError(
        f"{what} is neither activations nor a folder of them. If it is a model, give a corpus for it "
        "to read (corpus=…)."
    )
