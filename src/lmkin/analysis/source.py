"""`Source`: what an analysis reads, and how: models with a corpus, stored activations, arrays, or moments."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ..activations import Activations, open_activations
from ..core import (
    SPLITS,
    LmkinError,
    check_choices,
    check_layers,
    did_you_mean,
    fingerprint,
    key_of,
    option,
    option_fields,
    quoted,
)
from ..corpus import Corpus, known_formats, read_corpus
from ..models import LanguageModel, Loading, Reading, load_model
from ..moments import Moments
from ..rows import RowSource, row_source
from .named_stores import has_named_stores, is_store, named_stores

_log = logging.getLogger("lmkin")
ROLES = ("dev", "test")
"""What a corpus may be for, beside train."""
CORPUS = "Corpus"
MODEL = "Model"


@dataclass(frozen=True)
class Source:
    """Models, activations, arrays or moments, the corpus that models read, and how they read it.

    ``corpus`` may be several, by split: ``{"train": …, "dev": …, "test": …}``; models read them one after the other.
    With ``by_name``, names are the user's own, such as languages: ``{"en": …, "de": …}``; stores come under them, too.
    """

    given: Any
    """Names, loaded models, stores, a dict of arrays, `Moments`, or a source of rows; one, a list, by split or name."""
    corpus: Any = None
    names: Sequence[str | None] | None = option(
        None, "What to call the models, with commas, in their order.", MODEL, numbers=False
    )
    untrained: bool = option(
        False, "Add the untrained twin of every model.", MODEL, flags=("--untrained",)
    )
    limit: int | None = option(None, "Only the first so many sentences.", CORPUS, least=1)
    format: str | None = option(
        None,
        f"Format of the corpus, if extension and content do not tell. One of {', '.join(sorted(known_formats()))}.",
        CORPUS,
        complete=lambda: sorted(known_formats()),
    )
    format_options: Mapping[str, Any] = field(default_factory=dict)
    reading: Reading = field(default_factory=Reading)
    loading: Loading = field(default_factory=Loading)
    attention: bool = False
    """Whether models are loaded so that they show their attention."""
    by_name: bool = False
    """Whether several corpora have names of the user's own, rather than those of splits."""

    def check(self, usual: Reading | None = None) -> None:
        """Raise if names, tokenizers or reading options cannot be meant, before anything is loaded.

        ``usual``: how models read unless something else is asked for.
        """
        usual = usual or Reading()
        self.reading.rule()
        check_layers(self.reading.layers)
        check_choices(self.loading)
        self._one_per_model(self.names, "names")
        self._tokenizers()
        if self.corpus is not None and self.by_name and has_named_stores(self.given):
            raise LmkinError(
                "Stored activations by name hold their corpora: leave the corpora out (corpora), or give models to "
                "read them."
            )
        if self.corpus is None:
            # A store is made by its layers too: of those some may be asked for.
            unused = [
                f"{field.name}=…"
                for given, other in ((self, None), (self.reading, usual), (self.loading, Loading()))
                for field in option_fields(type(given))
                if field.name != "layers"
                and getattr(given, field.name)
                != (field.default if other is None else getattr(other, field.name))
            ]
            if unused:
                raise LmkinError(
                    f"{', '.join(unused)} {'is' if len(unused) == 1 else 'are'} for models that read a corpus; what is "
                    f"stored stays as it was made. Give a corpus (corpus=…), or leave "
                    f"{'it' if len(unused) == 1 else 'them'} out."
                )

    @property
    def specs(self) -> list[Any]:
        """The models or stores, in a list."""
        one = isinstance(self.given, str | Path | LanguageModel | Activations)
        if self.given is None:
            raise LmkinError(
                "Give models, stored activations, arrays or moments: one, or a list; got None."
            )
        return [self.given] if one else list(self.given)

    @cached_property
    def sentences(self) -> Corpus:
        """The corpus, read; of it the first so many sentences. Several are one, in the order of the splits."""
        if self.corpus is None:
            raise LmkinError("Give a corpus for the models to read (corpus=…).")
        by_split = self.corpora
        if by_split is None:
            return self._read(self.corpus)
        names = " + ".join(dict.fromkeys(c.name for c in by_split.values()))
        return Corpus((s for c in by_split.values() for s in c), name=names)

    @cached_property
    def corpora(self) -> dict[str, Corpus] | None:
        """The corpus of each split, or of each name, read; None where there is one corpus for all."""
        if not isinstance(self.corpus, Mapping):
            return None
        given = {name: corpus for name, corpus in self.corpus.items() if corpus is not None}
        names = list(given) if self.by_name else checked_splits(given)
        return {name: self._read(given[name]) for name in names}

    def _read(self, corpus: Any) -> Corpus:
        if isinstance(corpus, str | Path):
            corpus = read_corpus(corpus, self.format, **self.format_options)
        if not isinstance(corpus, Corpus):
            raise LmkinError(
                f"A corpus is a file, 'sample', or a lmkin.Corpus; got {type(corpus).__name__}. Texts of your own "
                f"become one with lmkin.Corpus([lmkin.Sentence(text), …])."
            )
        return corpus if self.limit is None else corpus[: self.limit]

    @cached_property
    def models(self) -> list[LanguageModel]:
        """The models, loaded, each followed by its untrained twin if that was asked for."""
        loaded: list[LanguageModel] = []
        names, tokenizers = self._one_per_model(self.names, "names"), self._tokenizers()
        for spec, name, tokenizer in zip(self.specs, names, tokenizers, strict=True):
            if isinstance(spec, LanguageModel):
                loaded.append(spec)
                continue
            if not isinstance(spec, str | Path):
                raise LmkinError(
                    f"A model is a name, a folder, or what load_model gives; got {type(spec).__name__}."
                )
            options = {
                **self.loading.to_dict(),
                "tokenizer": tokenizer,
                "attention": self.attention,
            }
            twin = (f"untrained:{spec}@0", f"untrained {name}" if name else None)
            for model_spec, title in [(spec, name), twin][: 1 + self.untrained]:
                model = load_model(model_spec, name=title, **options)
                _log.info("Model: %s, %s layers × %s", model.name, model.n_layers, model.widths[-1])
                loaded.append(model)
        return loaded

    @cached_property
    def files_by_split(self) -> dict[str, Path] | None:
        """Files of moments that were given as ``train=FILE``, ``test=FILE``; None where something else is meant."""
        if (
            isinstance(self.given, Mapping | Moments | RowSource)
            or self.stores_by_split is not None
        ):
            return None
        pairs = [str(s).partition("=") for s in self.specs]
        named = [(name, Path(path)) for name, sign, path in pairs if sign and name in SPLITS]
        if not named or self.corpus is not None:
            return None
        files = dict(named)
        if len(named) < len(pairs) or len(files) < len(named):
            raise LmkinError(
                "Files of moments come as train=FILE test=FILE, each name once and nothing else; got "
                f"{' '.join(map(str, self.specs))[:200]}."
            )
        for path in files.values():
            if path.is_dir():
                raise LmkinError(
                    f"{path} is a folder; moments are a file, as Moments.save writes it. Folders of activations come "
                    f"without train= and test=."
                )
        return {name: files[name] for name in SPLITS if name in files}

    @cached_property
    def stores_by_split(self) -> dict[str, Activations] | None:
        """Activations of one model by split: a dict, or ``train=FOLDER test=FOLDER``; None for anything else."""
        if self.corpus is not None or self.by_name or isinstance(self.given, Moments | RowSource):
            return None
        if isinstance(self.given, Mapping):
            stores = dict(self.given)
            if not set(stores) & {"train", *ROLES} or not all(map(is_store, stores.values())):
                return None
        else:
            pairs = [str(s).partition("=") for s in self.specs if not isinstance(s, Activations)]
            stores = {name: path for name, sign, path in pairs if sign and is_store(path)}
            if not stores or len(stores) < len(self.specs):
                return None
        return {
            name: open_activations(stores[name])
            if isinstance(stores[name], str | Path)
            else stores[name]
            for name in checked_splits(stores)
        }

    @cached_property
    def stores_by_name(self) -> dict[str, list[Activations]] | None:
        """Activations by names of the user's own, under each one of every model; None for anything else.

        A dict, or ``en=FOLDER de=FOLDER``, where a name may come again for another model. Raise if one is no store.
        """
        if self.corpus is not None or not self.by_name:
            return None
        return named_stores(self.given if isinstance(self.given, Mapping) else self.specs)

    @cached_property
    def moments_by_split(self) -> dict[str, Moments] | None:
        """The same, loaded."""
        files = self.files_by_split
        return None if files is None else {n: Moments.load(path) for n, path in files.items()}

    def rows(self, parts: int | Sequence[Any]) -> RowSource | Moments:
        """The rows in parts; moments, where those were given."""
        if isinstance(self.given, RowSource | Moments):
            return self.given
        if self.corpus is None:
            specs = self.given
            if isinstance(specs, str | Path):
                specs = [specs]
            if isinstance(specs, Sequence) and len(specs) == 1 and _is_file(specs[0]):
                return Moments.load(specs[0])
            return row_source(specs, parts=parts, layers=self.reading.layers)
        if isinstance(self.given, Mapping) or any(isinstance(s, Activations) for s in self.specs):
            raise LmkinError(
                "A corpus is for models to read; arrays and activations are rows that were made before: leave it out."
            )
        return row_source(
            self.models, self.sentences, parts=parts, **key_of(self.reading) | self._batch()
        )

    def identity(self) -> dict[str, Any]:
        """Plain data: everything that the rows depend on; models are loaded for it."""
        if self.corpus is not None:
            several = (self.corpora or {}).items()
            splits = {name: c.hash if self.by_name else len(c) for name, c in several}
            return {
                "models": [m.identity() for m in self.models],
                "corpus": self.sentences.hash,
                "reading": key_of(self.reading),
                **({"splits": splits} if splits else {}),
            }
        if self.stores_by_split is not None:
            return {
                "stores": {n: a.manifest["key"] for n, a in self.stores_by_split.items()},
                "layers": str(self.reading.layers),
            }
        if self.stores_by_name is not None:
            keys = {n: [a.manifest["key"] for a in some] for n, some in self.stores_by_name.items()}
            return {"stores": keys, "layers": str(self.reading.layers)}
        by_split = self.moments_by_split
        if by_split is not None:
            told = {name: [fingerprint(m.info), m.n] for name, m in by_split.items()}
            return {
                "moments": {k: str(v) for k, v in (self.files_by_split or {}).items()},
                "info": told,
            }
        rows = self.rows(1)
        if isinstance(rows, Moments):
            paths = [str(s) for s in self.specs] if not isinstance(self.given, Moments) else []
            return {"moments": paths, "info": fingerprint(rows.info), "n": rows.n}
        return {"rows": rows.identity(), "layers": str(self.reading.layers)}

    def _batch(self) -> dict[str, Any]:
        return {"batch_tokens": self.reading.batch_tokens}

    def _one_per_model(
        self, given: Sequence[str | None] | str | None, what: str
    ) -> list[str | None]:
        """One for each model."""
        count = 1 if isinstance(self.given, Mapping | Moments | RowSource) else len(self.specs)
        if given is None:
            return [None] * count
        values = (
            [v.strip() or None for v in given.split(",")] if isinstance(given, str) else list(given)
        )
        if len(values) != count:
            raise LmkinError(
                f"There are {len(values)} {what} for {count} model{'s' * (count > 1)}: give one for each."
            )
        return values

    def _tokenizers(self) -> list[str | None]:
        given: Any = self.loading.tokenizer
        if (
            given is None
            or isinstance(given, Path)
            or (isinstance(given, str) and "," not in given)
        ):
            return [None if given is None else str(given)] * len(self._one_per_model(None, ""))
        return self._one_per_model(given, "tokenizers")


def checked_splits(given: Mapping[str, Any]) -> list[str]:
    """The names of splits that were given, train first. Raise for another name, or if there is nothing to score."""
    for name in given:
        if name not in ("train", *ROLES):
            raise LmkinError(
                f"A corpus is given by train, dev and test; got {quoted(name)}. "
                f"{did_you_mean(str(name), ('train', *ROLES))}"
            )
    if "train" not in given or len(given) < 2:
        raise LmkinError(
            "Give train, and test to score on (and dev, to choose what is chosen); or one corpus, which is split."
        )
    return [name for name in ("train", *ROLES) if name in given]


def _is_file(spec: Any) -> bool:
    return (
        isinstance(spec, str | Path)
        and Path(spec).is_file()
        and Path(spec).suffix == ".safetensors"
    )
