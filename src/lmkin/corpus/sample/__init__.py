"""The sample: a small parallel corpus in three languages, as CoNLL-U files.

``tools/sample_corpus`` in the repository generates the files; they are shipped, the grammar that makes them is not.
"""

from __future__ import annotations

from pathlib import Path

from ...core import CorpusError, did_you_mean, quoted

LANGUAGES: dict[str, str] = {
    "en": "English (subject-verb-object, PTB tags)",
    "qke": "Kesholan, invented (verb-final, postpositions, cases, vowel harmony, no articles)",
    "qta": "Taviran, invented (verb-initial, prepositions, genders, fused articles)",
}


def path(language: str) -> Path:
    """Return the CoNLL-U file of a language. Raise if the sample has no such language."""
    if language not in LANGUAGES:
        raise CorpusError(
            f"The sample corpus has no language {quoted(language)}. {did_you_mean(language, LANGUAGES)}"
        )
    return Path(__file__).parent / f"{language}.conllu"
