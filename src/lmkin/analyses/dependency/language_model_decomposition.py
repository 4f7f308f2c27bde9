"""`decompose`: how much of every model the others explain, linearly and on rows that were not fitted on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from ...core import PARTS, Convention, MeasureError, Precision
from ...corpus import Corpus
from ...models import LanguageModel, ReadingOptions, Tokenizer
from ...rows import Workspace
from .decomposition import decompose_rows
from .lengths import decompose_lengths
from .options import RidgeRule
from .published import compare_published as published_beside
from .result import Dependency


def decompose(
    source: Any,
    corpus: Corpus | str | Path | None = None,
    *,
    token_lengths: Sequence[int] | None = None,
    reference_tokenizer: str | Path | LanguageModel | Tokenizer | None = None,
    limit: int | None = None,
    split: Mapping[str, Any] | None = None,
    ridge: str | float = "auto",
    ridge_rule: RidgeRule = "auto",
    convention: Convention = "paper",
    intervals: bool = True,
    level: float = 0.95,
    parts: int = PARTS,
    permutation_baseline: bool = True,
    subsets: str | int | Sequence[int] = "auto",
    compare_published: bool = False,
    row_lengths: Any = None,
    precision: Precision | None = None,
    memory: float | str | None = None,
    seed: int = 0,
    workspace: str | Path | Workspace | None = None,
    progress: bool | None = None,
    **reading: Unpack[ReadingOptions],
) -> Dependency:
    r"""Language Model Decomposition (Zhang 2022): every model as a linear function of the others.

    With target u and basis z, the neurons of some other models side by side,
    :math:`W = \mathrm{cov}(u, z) (\lambda I + \mathrm{cov}(z, z))^{-1}`, :math:`b = E[u] - W E[z]`, fitted on train
    rows; :math:`R^2 = 1 - E\|u - Wz - b\|^2 / E\|u - E[u]\|^2` on each split. For every model by all others
    (``r2_group``), for all ordered pairs (``r2_pair``), and their means (``rho_pair``, ``rho_group``).

    Parameters
    ----------
    source
        A dict of arrays ``{"model": rows × neurons}`` whose rows are the same texts; a list of activations; models
        with a ``corpus``; or moments: ``{"train": Moments, "test": Moments}``. Arrays that are layers of activations
        (``acts.layer(6)``) bring their documents and sentences with them; others have none, and an alert says so.
    corpus
        What the models are to read; not for arrays, activations and moments.
    split
        Row numbers by name, ``{"train": …, "validation": …, "test": …}``, or fractions (default 0.8, 0.1, 0.1): whole
        documents (or sentences) where they are known, else rows drawn with ``seed``.
    ridge, ridge_rule
        ``"auto"``: chosen on the validation rows where there are fewer than 20 train rows for each neuron of the
        basis, else relative, 1e-6; ``attrs["rule"]`` and ``attrs["ridge_reason"]`` of the result say which and why.
        Or a number, with the rule ``relative`` (a fraction of the mean eigenvalue of each model's covariance: no unit
        matters), ``absolute`` (λ itself), ``floor`` (the smallest eigenvalue is raised to it); or
        ``ridge="validation"``, the best fraction on the validation rows for each fit. 0: the solution of least norm.
    convention
        ``released``: λ = 1e-6, absolute, as in the authors' code.
    token_lengths, reference_tokenizer, limit
        Cut the text of the corpus into chunks of so many tokens, such as ``[16, 64, 256]``, counted by a tokenizer (by
        default the first model's), at most ``limit`` of each length, and decompose each length: the result has the
        dimension ``length``.
    subsets
        Sizes of the best subsets in ``portfolio``: ``auto``, ``all``, ``none``, or e.g. ``"1,3-5"``.
    compare_published
        Keep the paper's figures for its checkpoints in ``published``, to be shown beside; with ``token_lengths``.
    intervals
        Standard errors and confidence intervals, by a jackknife over the rows that are scored and over those that are
        fitted on (fitted anew without each part).
    level
        Confidence level of the intervals.
    parts
        Blocks of the rows of each split that the jackknife leaves out in turn.
    permutation_baseline
        Also the permutation baseline: the R² that chance gives, with the rows of each model shuffled.
    row_lengths
        Length of each row's text, for arrays: R² is also given with what depends on it regressed out. Known for
        activations and models.
    precision
        Of the products, ``float32`` or ``float64``; by default what suits the arrays and their width.
    memory
        A budget such as ``"8GB"``; where the parts asked for do not fit, there are fewer.
    seed
        For the split and for shuffled rows.
    workspace
        A folder for unfinished work: the same call goes on from there after a kill.
    progress
        Show progress bars; by default where there is a terminal or a notebook.
    reading
        How models read the corpus, as for :func:`lmkin.extract`; by default the last layer (``layers="last"``),
        averaged over the tokens of a text (``units="sentence"``).
    """
    fits: dict[str, Any] = {
        "split": split,
        "ridge": ridge,
        "ridge_rule": ridge_rule,
        "convention": convention,
        "intervals": intervals,
        "level": level,
        "parts": parts,
        "permutation_baseline": permutation_baseline,
        "precision": precision,
        "memory": memory,
        "seed": seed,
        "progress": progress,
    }
    if token_lengths is None:
        _refuse_without_lengths(reference_tokenizer, limit, compare_published)
        result = decompose_rows(
            source, corpus, row_lengths=row_lengths, workspace=workspace, **fits, **reading
        )
        if subsets != "auto":
            result.make_portfolio(subsets, progress=progress)
        return result
    if corpus is None or row_lengths is not None:
        raise MeasureError(
            "token_lengths cuts the text of a corpus that models read: give models and a corpus, and no row_lengths."
        )
    models = [source] if isinstance(source, str | Path | LanguageModel) else list(source)
    result = decompose_lengths(
        models,
        corpus,
        token_lengths,
        tokenizer=reference_tokenizer,
        limit=limit,
        subsets=subsets,
        work=Workspace.of(workspace),
        **fits,
        **reading,
    )
    if compare_published:
        specs = {
            n: str(m)
            for n, m in zip(result.models, models, strict=True)
            if not isinstance(m, LanguageModel)
        }
        result.published = published_beside(result.dataset, specs)
    return result


def _refuse_without_lengths(tokenizer: Any, limit: Any, published: bool) -> None:
    """Raise if something was given that goes with lengths only."""
    given = {
        "reference_tokenizer": tokenizer,
        "limit": limit,
        "compare_published": published or None,
    }
    names = [name for name, value in given.items() if value is not None]
    if names:
        raise MeasureError(
            f"{', '.join(names)} would do nothing without token_lengths: give lengths too, or leave it out."
        )
