"""`moments`: one pass over a corpus, for any source of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..activations import Activations, open_activations
from ..corpus import Corpus, read_corpus
from ..errors import MomentsError, did_you_mean
from ..models import LanguageModel, UnitRule, load_model
from ..progress import progress_bar
from .accumulator import CHUNK
from .checkpoint import Checkpoint, accumulate_by_parts
from .groups import Group
from .moments import Moments
from .parts import PARTS, runs
from .running import ModelSource
from .sample import ROWS
from .sources import ActivationSource, ArraySource, RowSource

_RULE = ("first_token", "special_tokens", "long", "overlap", "max_length")
_OWN = ("parts", "layers", "units", "pooling", "precision", "rows", "seed", "batch_tokens")


def moments(
    source: Any,
    corpus: Corpus | str | Path | None = None,
    *,
    parts: int | Sequence[Any] = PARTS,
    layers: Any = "all",
    units: str = "word",
    pooling: str | None = None,
    precision: str | None = None,
    rows: int = ROWS,
    seed: int = 0,
    exact_scale: bool = True,
    batch_tokens: int | None = None,
    checkpoint: str | Path | None = None,
    progress: bool | None = None,
    **rule: Any,
) -> Moments:
    """Joint moments of all layers of some models, in one pass; activations are not stored.

    Parameters
    ----------
    source
        Models (loaded, or what `load_model` takes) with a ``corpus``; a list of `Activations`, or folders of
        them; or a dict of arrays ``{"model/layer": units × neurons}`` whose rows are the same units.
    corpus
        What the models are to read; not for activations and arrays.
    parts
        How many blocks of documents (of sentences, where documents are few; of rows, for arrays) the sums are kept
        in, for intervals; or one label a row. 0: none, which takes much less memory.
    layers, units, pooling, batch_tokens, rule
        As for :func:`lmkin.extract`.
    precision
        Of the products, ``float32`` or ``float64``; by default what suits the arrays and their width.
    rows, seed
        How many rows to keep as they are, drawn at random: for RBF-CKA and permutations.
    exact_scale
        Make a pass of its own for means and standard deviations where rows can be read twice: standardized unbiased
        CKA is then exact.
    checkpoint
        A folder in which finished parts are kept: the same call goes on from there after a kill.
    progress
        Show a progress bar; by default where there is a terminal or a notebook.
    """
    found = row_source(
        source,
        corpus,
        parts=parts,
        layers=layers,
        units=units,
        pooling=pooling,
        batch_tokens=batch_tokens,
        **rule,
    )
    return accumulate(
        found,
        keep_parts=_wants_parts(parts),
        precision=precision,
        rows=rows,
        seed=seed,
        exact_scale=exact_scale,
        checkpoint=checkpoint,
        progress=progress,
    )


def accumulate(
    source: RowSource,
    groups: Sequence[Group] | None = None,
    *,
    keep_parts: bool = True,
    precision: str | None = None,
    rows: int = ROWS,
    seed: int = 0,
    exact_scale: bool = True,
    checkpoint: str | Path | None = None,
    progress: bool | None = None,
    say: Callable[[str], None] | None = None,
) -> Moments:
    """Moments of all groups of a source, or of some; ``say`` is told of parts that an earlier run finished."""
    reference = source.reference(groups) if exact_scale else None

    def new(reference: Any, number: int = 0) -> Moments:
        return Moments(
            precision=precision,
            reference=reference,
            keep_parts=keep_parts,
            rows=rows,
            seed=seed + number,
        )

    per_row = 1 if source.reread else len({g.model for g in groups or source.widths})
    with progress_bar("moments", source.n * per_row, f"{source.unit}s", show=progress) as advance:
        # Few rows are run again sooner than read, and rows that lie there sooner still.
        # Parts that come in pieces are not finished one after another.
        whole = len(runs(source.part, source.n)) == len(np.unique(source.part))
        if checkpoint is None or source.reread or source.n <= CHUNK or not whole:
            result = new(reference)
            for part, blocks in source.blocks(groups, advance):
                result.update(blocks, part=part)
        else:
            settings = {
                "precision": precision,
                "keep_parts": keep_parts,
                "rows": rows,
                "seed": seed,
            }
            kept = Checkpoint(Path(checkpoint), source, settings)
            result = accumulate_by_parts(source, groups, kept, new, advance, per_row, say)
    result.info = dict(source.info)
    return result


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
            raise MomentsError(f"Unknown option {name!r}. {did_you_mean(name, [*_RULE, *_OWN])}")
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
        return ActivationSource([_activations(each) for each in source], parts, layers)
    if any(isinstance(each, Activations) for each in source):
        raise MomentsError(
            "Activations bring their corpus with them: give activations without a corpus, or models with one."
        )
    sentences = read_corpus(corpus) if isinstance(corpus, str | Path) else corpus
    models = [load_model(m) if isinstance(m, str | Path) else m for m in source]
    made = UnitRule.make(units, pooling, **rule)
    return ModelSource(
        models, sentences, made, parts=parts, layers=layers, batch_tokens=batch_tokens
    )


def _activations(each: Any) -> Activations:
    if isinstance(each, Activations):
        return each
    if isinstance(each, str | Path) and (Path(each) / "manifest.json").is_file():
        return open_activations(each)
    if isinstance(each, np.ndarray) or hasattr(each, "__array__"):
        raise MomentsError("Arrays need names: give a dict such as {'model/layer': array}.")
    what = f"{str(each)!r}" if isinstance(each, str | Path) else type(each).__name__
    raise MomentsError(
        f"{what} is neither activations nor a folder of them. If it is a model, give a corpus for it to "
        "read (corpus=…; on "
        f"the command line --corpus)."
    )


def _wants_parts(parts: int | Sequence[Any]) -> bool:
    return not isinstance(parts, int) or parts > 1
