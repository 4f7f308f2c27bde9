"""Decompositions by length of the texts, as one result."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import xarray as xr

from ...core import (
    Alert,
    MeasureError,
    __version__,
    alerts_of,
    as_data,
    fingerprint,
    is_whole,
    quoted,
)
from ...corpus import Corpus, read_corpus
from ...models import LanguageModel, Tokenizer, load_model
from ...results import save_folder
from ...rows import Workspace
from .decomposition import decompose_rows
from .portfolio_tables import SubsetSizes, check_sizes
from .result import Dependency
from .token_chunks import cut_sequences

_log = logging.getLogger("lmkin")
SHORTEST = 8
"""Tokens below which a text says too little to be represented."""


def decompose_lengths(
    models: Sequence[str | Path | LanguageModel],
    corpus: Corpus | str | Path,
    lengths: int | Sequence[int] | None = None,
    *,
    tokenizer: str | Path | LanguageModel | Tokenizer | None = None,
    limit: int | None = None,
    subsets: SubsetSizes = "auto",
    work: Workspace | None = None,
    **options: Any,
) -> Dependency:
    """`decompose` of models on texts cut to one or several lengths in tokens, along ``length``, as the paper does.

    Each model reads so many tokens of its own and no more. Every length is kept in ``work`` when it is finished; the
    portfolio is that of the largest.

    Parameters
    ----------
    models, corpus
        As for :func:`lmkin.decompose`.
    lengths
        Tokens of a text, such as ``[16, 64, 256]``; None: texts as they are.
    tokenizer, limit
        What counts the tokens (by default the first model's), and how many texts of a length are taken at most.
    subsets
        Sizes of the best subsets in the portfolio, see `Dependency.make_portfolio`.
    work
        Where finished lengths are kept, to go on after a kill.
    options
        Of :func:`lmkin.decompose`.
    """
    wanted = check_lengths(lengths)
    loaded = [m if isinstance(m, LanguageModel) else load_model(m) for m in models]
    check_sizes(subsets, len(loaded))
    texts = read_corpus(corpus) if isinstance(corpus, str | Path) else corpus
    jobs = _Lengths(
        loaded, texts, tokenizer or loaded[0], limit, subsets, work or Workspace(), options
    )
    for line in limits_said(loaded, wanted):
        _log.info(line)
    if not wanted:
        return jobs.decompose(None, portfolio=True)
    # The largest first, so that a corpus that is too short for it is known at once.
    done = {t: jobs.decompose(t, portfolio=t == wanted[-1]) for t in reversed(wanted)}
    return join_lengths({t: done[t] for t in wanted}, texts.name)


def check_lengths(lengths: int | Sequence[int] | None) -> tuple[int, ...]:
    """Numbers of tokens, each once, from the smallest. Raise if they are none, or too few."""
    if lengths is None:
        return ()
    several = isinstance(lengths, Sequence) and not isinstance(lengths, str)
    numbers: list[Any] = list(lengths) if several else [lengths]  # type: ignore[arg-type]
    if not numbers or not all(is_whole(t) and t >= SHORTEST for t in numbers):
        raise MeasureError(
            f"Lengths are numbers of tokens from {SHORTEST} on, such as 16, 32, 64; got {quoted(lengths)}."
        )
    return tuple(sorted({int(t) for t in numbers}))


def limits_said(models: Sequence[Any], lengths: Sequence[int]) -> list[str]:
    """A sentence for each model that reads fewer tokens than a length asks for."""
    lines = []
    for model in models:
        limit = getattr(model, "limit", None)
        above = [t for t in lengths if limit is not None and t > limit]
        if above:
            asked = ", ".join(map(str, above))
            lines.append(
                f"{model.name} reads {limit} tokens at once: where {asked} are asked for, it reads the first {limit} "
                f"of each text."
            )
    return lines


class _Lengths:
    """Decompositions of the same models on texts of one length after another."""

    def __init__(
        self,
        models: Sequence[LanguageModel],
        corpus: Corpus,
        tokenizer: Any,
        limit: int | None,
        subsets: SubsetSizes,
        work: Workspace,
        options: Mapping[str, Any],
    ):
        self.models, self.corpus, self.tokenizer = models, corpus, tokenizer
        self.limit, self.subsets, self.work, self.options = limit, subsets, work, dict(options)

    def decompose(self, length: int | None, *, portfolio: bool) -> Dependency:
        """The result for a length; None: of texts as they are."""
        corpus, name = self.corpus, "texts"
        reading: dict[str, Any] = {}
        if length is not None:
            corpus = cut_sequences(corpus, self.tokenizer, length, limit=self.limit)
            name = f"length-{length}"
            reading = {"max_length": length, "long": "truncate"}
            _log.info("Length %s: %s texts.", length, f"{len(corpus):,}")

        def compute() -> Dependency:
            result = decompose_rows(
                self.models, corpus, workspace=self.work, **self.options, **reading
            )
            tables = result.make_portfolio(self.subsets) if portfolio else {}
            for table in tables.values():
                if length is not None:
                    table.attrs["length"] = length
            return Dependency(result.dataset, portfolio=tables)

        work = self.work.within(
            lmkin=__version__,
            models=[m.identity() for m in self.models],
            corpus=corpus.hash,
            length=length,
            options=fingerprint(self.options),
            portfolio=[self.subsets] if portfolio else None,
        )
        return work.step(name, compute, _save, Dependency.load, ending="result")


def _save(result: Dependency, path: Path) -> None:
    save_folder(result.kind, result.files(), path, overwrite=True)


def join_lengths(results: Mapping[int, Dependency], corpus: str) -> Dependency:
    """Results by length of the texts as one, along ``length``, with the portfolio of the largest that has one.

    What is the same at all lengths has no such axis; an alert is said once, with the lengths that have it. ``corpus``
    names the texts.
    """
    tables = {t: r.dataset for t, r in results.items()}
    fixed = [d.drop_vars("width", errors="ignore") for d in tables.values()]
    lengths = xr.DataArray(list(tables), dims="length", name="length")
    joined = xr.concat(
        fixed, dim=lengths, data_vars="all", coords="minimal", compat="equals", join="outer",
        combine_attrs="drop",
    )  # fmt: skip
    last = tables[max(tables)]
    joined["width"] = last["width"]
    alerts = {t: alerts_of(d.attrs) for t, d in tables.items()}
    joined.attrs = {
        **last.attrs,
        "corpus": corpus,
        "alerts": as_data(_alerts(alerts)),
        "alerts_by_length": {str(t): as_data(some) for t, some in alerts.items()},
        "provenance": {
            **last.attrs["provenance"],
            "lengths": {str(t): d.attrs["provenance"] for t, d in tables.items()},
        },
    }
    joined.attrs |= _ridges({t: d.attrs for t, d in tables.items()})
    made = next((results[t].portfolio for t in sorted(results, reverse=True) if results[t].portfolio), {})  # fmt: skip
    return Dependency(joined, portfolio=made)


def _ridges(by_length: Mapping[int, Mapping[Any, Any]]) -> dict[str, str]:
    """The rule of the ridge and the reason for it, by length where they differ: longer texts are fewer rows."""
    result = {}
    for name in ("rule", "ridge_reason"):
        texts = {t: str(attrs.get(name, "")) for t, attrs in by_length.items()}
        if len(set(texts.values())) > 1:
            result[name] = "; ".join(f"at {t} tokens {text}" for t, text in texts.items())
    return result


def _alerts(by_length: Mapping[int, Sequence[Alert]]) -> list[Alert]:
    """An alert of every kind, as it is at the largest length that has it, with the other lengths."""
    kinds: dict[str, dict[int, str]] = {}
    for length, alerts in by_length.items():
        for alert in alerts:
            kinds.setdefault(alert.kind, {})[length] = alert.text
    joined = []
    for kind, texts in kinds.items():
        largest = max(texts)
        others = [str(t) for t in sorted(texts) if t != largest]
        also = f" (This holds for {', '.join(others)} tokens too.)" if others else ""
        where = ", ".join(f"{t} tokens" for t in sorted(texts))
        joined.append(Alert(kind, f"at {largest} tokens: {texts[largest]}{also}", where))
    return joined
