"""Invented words: each lexicon entry gets a stem from the sound pattern of a language."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from .english_words import PRONOUNS, gerund, past, past_participle, third_person
from .lexicon import comparison, split, topics, word_list, words

EXTRA = split(
    "n:corner, n:entrance, n:middle, n:morning, n:evening, n:afternoon, n:noon, n:night, "
    "n:day, n:week, n:month, v:live, v:arrive, v:go, v:come, v:hurry, v:run, v:work, v:wait, "
    "v:want, v:help, v:leave, v:listen, v:know, v:understand, v:look, v:laugh, v:smile, "
    "v:exist, a:many, a:last, r:very, r:too, r:quite, r:so, r:rather, r:yesterday, r:today, "
    "r:tomorrow, r:now, r:later, r:afterwards, r:then, r:soon, r:where, r:when, r:why, r:how, "
    "i:yes, i:no, i:well, i:oh, i:please"
)


@cache
def keys() -> tuple[str, ...]:
    """All lexemes as kind and English lemma, such as ``n:knife`` or ``v:pick up``."""
    found = set(EXTRA)
    for topic in topics():
        found |= {f"n:{lemma}" for lemma in topic.nouns}
        for frame in (*topic.frames, *topic.events):
            found.add(f"v:{frame.verb} {frame.particle}".strip())
    found |= {f"n:{entry.split(':')[0]}" for entry in word_list("people", "kin")}
    found |= {f"a:{lemma}" for lemma in comparison()}
    for name in words()["adverbs"]:
        found |= {f"r:{lemma}" for lemma in word_list("adverbs", name)}
    for name in words()["clausal"]:
        found |= {f"v:{lemma}" for lemma in word_list("clausal", name)}
    found |= {f"d:{day}" for day in word_list("names", "day")}
    return tuple(sorted(found))


@cache
def english_forms() -> tuple[str, ...]:
    """English words that an invented word should not be taken for."""
    found = {key[2:] for key in keys()}
    found |= {noun.plural for topic in topics() for noun in topic.nouns.values()}
    for verb in [key[2:].split()[0] for key in keys() if key[0] == "v"] + ["do", "have", "be"]:
        found |= {past(verb), past_participle(verb), third_person(verb), gerund(verb)}
    found |= {form for forms in PRONOUNS.values() for form in forms}
    return tuple(sorted(found | set(split("the, a, an, this, that, these, those, is, are, has"))))


class Stream:
    """A stream of small numbers that depends on nothing but its seed text."""

    def __init__(self, seed: str) -> None:
        self._bytes = iter(hashlib.sha256(seed.encode()).digest())

    def pick(self, items: list[str]) -> str:
        """One of the items."""
        return items[next(self._bytes) % len(items)]


@dataclass(frozen=True)
class Sounds:
    """How a language builds stems."""

    code: str
    make: Callable[[Stream, str], str]

    def stems(self) -> dict[str, str]:
        """A stem for every lexeme, no two of one kind alike.

        Nouns and verbs that English spells alike share a root, as if one came from the other.
        """
        shared = {key[2:] for key in keys() if key[0] == "n"} & {
            key[2:] for key in keys() if key[0] == "v"
        }
        stems: dict[str, str] = {}
        taken: set[str] = set()
        for key in keys():
            if key[0] == "v" and key[2:] in shared:
                stems[key] = stems[f"n:{key[2:]}"]
                continue
            attempt = 0
            while True:
                stem = self.make(Stream(f"{self.code}/{key}/{attempt}"), key[0])
                # An ending of up to five letters must not make an English word of it.
                clash = any(
                    form.startswith(stem) and len(form) <= len(stem) + 5 for form in english_forms()
                )
                if stem not in taken and not clash:
                    break
                attempt += 1
            taken.add(stem)
            stems[key] = stem
        return stems


def transliterate(name: str, rules: list[tuple[str, str]]) -> str:
    """A proper name in the spelling of a language, by ordered replacements."""
    text = name.lower()
    for old, new in rules:
        text = text.replace(old, new)
    return text.capitalize()
