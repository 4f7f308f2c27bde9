"""A small parallel corpus in three languages, made by a grammar, as CoNLL-U files.

Run ``python -m lmkin.corpus.sample`` to make the files anew; they come out the same.
"""

from __future__ import annotations

from pathlib import Path

LANGUAGES: dict[str, str] = {
    "en": "English (subject-verb-object, PTB tags)",
    "qke": "Kesholan, invented (verb-final, postpositions, cases, vowel harmony, no articles)",
    "qta": "Taviran, invented (verb-initial, prepositions, genders, fused articles)",
}


def path(language: str) -> Path:
    """The CoNLL-U file of a language."""
    if language not in LANGUAGES:
        raise ValueError(f"no sample in {language!r}; there is {', '.join(LANGUAGES)}")
    return Path(__file__).parent / f"{language}.conllu"
