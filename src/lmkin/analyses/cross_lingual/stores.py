"""Stored activations by language: of the same models, of parallel sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...activations import Activations
from ...analysis import Source
from ...core import LmkinError, quoted
from ...corpus import Corpus
from ..redundancy import chosen_layers, identity_of
from .parallel import Parallel, require_languages


def parallel_corpora(source: Source) -> Mapping[str, Corpus]:
    """The corpora by language that models are to read, or that stores were read from. Raise if stores do not agree."""
    if source.corpora is not None:
        return source.corpora
    by_name = source.stores_by_name
    assert by_name is not None
    require_stores(by_name, source.reading.layers)
    return {language: stores[0].units.corpus for language, stores in by_name.items()}


def aligned_stores(source: Source, parallel: Parallel) -> list[dict[str, Activations]] | None:
    """Of each model its stores by language, of the sentences that are parallel; None where models read corpora."""
    by_name = source.stores_by_name
    if by_name is None:
        return None
    models = [identity_of(acts.manifest["model"]) for acts in next(iter(by_name.values()))]
    aligned: list[dict[str, Activations]] = [{} for _ in models]
    for language, stores in by_name.items():
        for acts in stores:
            place = models.index(identity_of(acts.manifest["model"]))
            aligned[place][language] = _of_sentences(acts, parallel.corpora[language])
    return aligned


def _of_sentences(acts: Activations, corpus: Corpus) -> Activations:
    """The activations of the sentences of a corpus that was made of their own, in its order."""
    own = acts.units.corpus
    if own.hash == corpus.hash:
        return acts
    place = {sentence.id: number for number, sentence in enumerate(own)}
    return acts.take_sentences([place[sentence.id] for sentence in corpus])


def require_stores(by_name: Mapping[str, Sequence[Activations]], layers: object) -> None:
    """Raise unless every language has words of every model, read in the same way."""
    require_languages(by_name)
    language, stores = next(iter(by_name.items()))
    wanted = {identity_of(acts.manifest["model"]): acts for acts in stores}
    if len(wanted) < len(stores):
        raise LmkinError(
            f"{quoted(language)} has two stores of the same model ({stores[0].name}): give one of each model in every "
            f"language."
        )
    for name, some in by_name.items():
        _require_models(name, some, language, stores)
        for acts in some:
            first = wanted[identity_of(acts.manifest["model"])]
            _require_same_reading(name, acts, language, first)
            if tuple(chosen_layers(acts, layers)) != tuple(chosen_layers(first, layers)):
                raise LmkinError(
                    f"The stores of {acts.name} hold other layers in {quoted(name)} than in {quoted(language)}: "
                    f"extract the same layers of each, or choose those that all have (layers=…)."
                )
            if acts.units.corpus.hash != some[0].units.corpus.hash:
                raise LmkinError(
                    f"{some[0].name} and {acts.name} read different corpora in {quoted(name)}: extract both from the "
                    f"same sentences."
                )


def _require_models(
    name: str, stores: Sequence[Activations], first_name: str, first: Sequence[Activations]
) -> None:
    """Raise if the stores of a language are not of the models of the first, each once."""
    models = [[identity_of(acts.manifest["model"]) for acts in some] for some in (stores, first)]
    if sorted(map(str, models[0])) == sorted(map(str, models[1])):
        return
    here, there = (", ".join(acts.name for acts in some) for some in (stores, first))
    why = " (the same name, but other weights, or another way of loading them)" * (here == there)
    raise LmkinError(
        f"The stores of {quoted(name)} are of {here}, and those of {quoted(first_name)} of {there}{why}. A probe that "
        f"is fitted on one model says nothing of another: give stores of the same models in every language."
    )


def _require_same_reading(
    name: str, acts: Activations, first_name: str, first: Activations
) -> None:
    """Raise unless both hold words that were made of tokens in the same way."""
    for language, one in ((name, acts), (first_name, first)):
        if one.units.kind != "word":
            raise LmkinError(
                f"Tags are of words, so transfer reads words; the store of {quoted(language)} holds {one.units.kind}s. "
                f"Extract words (units='word')."
            )
    mine, other = (one.manifest["units"]["rule"] for one in (acts, first))
    for option in sorted({*mine, *other}):
        if mine.get(option) != other.get(option):
            raise LmkinError(
                f"The stores of {acts.name} were made in different ways: {option} is {quoted(mine.get(option))} in "
                f"{quoted(name)} and {quoted(other.get(option))} in {quoted(first_name)}. Extract both in the same way."
            )
