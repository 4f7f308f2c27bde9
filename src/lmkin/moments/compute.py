"""`compute_moments`: one pass over a corpus, for any source of rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Unpack

from ..core import PARTS, MomentsError, check_seed, is_whole, quoted
from ..corpus import Corpus
from ..models import ReadingOptions, check_reading
from ..rows import RowSource, Workspace, one_pass, row_source
from .moment_sums import MomentSums
from .moments import Moments
from .row_sample import ROWS


def compute_moments(
    source: Any,
    corpus: Corpus | str | Path | None = None,
    *,
    parts: int | Sequence[Any] = PARTS,
    precision: Literal["float32", "float64"] | None = None,
    sample_rows: int = ROWS,
    seed: int = 0,
    exact_scale: bool = True,
    workspace: str | Path | Workspace | None = None,
    progress: bool | None = None,
    **reading: Unpack[ReadingOptions],
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
    precision
        Of the products, ``float32`` or ``float64``; by default what suits the arrays and their width.
    sample_rows, seed
        How many rows to keep as they are, drawn at random: for RBF-CKA and permutations.
    exact_scale
        Make a pass of its own for means and standard deviations where rows can be read twice: standardized unbiased
        CKA is then exact.
    workspace
        A folder in which finished shards of the corpus are kept: the same call goes on from there after a kill.
    progress
        Show a progress bar; by default where there is a terminal or a notebook.
    reading
        How models read the corpus, as for :func:`lmkin.extract`: layers, units, pooling, batch_tokens ….
    """
    check_reading(reading, compute_moments)
    if not is_whole(sample_rows) or sample_rows < 0:
        raise MomentsError(f"sample_rows is a whole number, 0 or more; got {quoted(sample_rows)}.")
    check_seed(seed)
    if is_whole(parts) and parts == 1:
        raise MomentsError(
            "Of the parts one is left out at a time, so there are two at least; got 1. For sums in one piece: parts=0."
        )
    opened = row_source(source, corpus, parts=parts, **reading)
    return accumulate(
        opened,
        keep_parts=_wants_parts(parts),
        precision=precision,
        sample_rows=sample_rows,
        seed=seed,
        exact_scale=exact_scale,
        work=Workspace.of(workspace),
        progress=progress,
    )


def accumulate(
    source: RowSource,
    *,
    keep_parts: bool = True,
    precision: str | None = None,
    sample_rows: int = ROWS,
    seed: int = 0,
    exact_scale: bool = True,
    work: Workspace | None = None,
    progress: bool | None = None,
) -> Moments:
    """Moments of all layers of a source; finished shards are kept in ``work``."""
    sums = MomentSums(
        precision=precision,
        keep_parts=keep_parts,
        sample_rows=sample_rows,
        seed=seed,
        reference=source.reference() if exact_scale else None,
    )
    made = one_pass(source, {"moments": sums}, work=work, title="moments", progress=progress)
    moments: Moments = made["moments"].moments
    moments.info = dict(source.info)
    return moments


def _wants_parts(parts: int | Sequence[Any]) -> bool:
    return not isinstance(parts, int) or parts > 1
