"""English word forms: verbs, adjectives, pronouns, numerals."""

from __future__ import annotations

import re
from functools import cache

from .lexicon import comparison, split, word_list, words

PRONOUNS = {  # (person, number, gender): nominative, accusative, possessive
    (1, "Sing", ""): ("I", "me", "my"),
    (2, "Sing", ""): ("you", "you", "your"),
    (2, "Plur", ""): ("you", "you", "your"),
    (3, "Sing", "m"): ("he", "him", "his"),
    (3, "Sing", "f"): ("she", "her", "her"),
    (3, "Sing", "n"): ("it", "it", "its"),
    (1, "Plur", ""): ("we", "us", "our"),
    (3, "Plur", ""): ("they", "them", "their"),
}
NUMERALS = split(
    "zero, one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, "
    "thirteen, fourteen, fifteen, sixteen, seventeen, eighteen, nineteen, twenty"
)
BE = {
    ("past", "Sing", 1): "was",
    ("past", "Sing", 3): "was",
    ("pres", "Sing", 1): "am",
    ("pres", "Sing", 3): "is",
}
IRREGULAR_DEGREE = {"good": ("better", "best")}


@cache
def irregular() -> dict[str, tuple[str, str]]:
    """Past and past participle of the irregular verbs."""
    rows = (entry.split() for entry in words()["verbs"]["irregular"].split(","))
    return {row[0]: (row[1], row[2]) for row in rows}


def doubles(verb: str) -> bool:
    """Whether the last consonant doubles before -ed and -ing."""
    one_syllable = re.fullmatch(r"[^aeiou]*(qu)?[aeiou][^aeiouwxy]", verb) is not None
    return one_syllable or verb in word_list("verbs", "doubled") or verb in ("begin", "forget")


def third_person(verb: str) -> str:
    """The present form of the third person singular."""
    if verb in ("have", "do", "go"):
        return {"have": "has", "do": "does", "go": "goes"}[verb]
    if re.search(r"(s|x|z|ch|sh)$", verb):
        return verb + "es"
    if re.search(r"[^aeiou]y$", verb):
        return verb[:-1] + "ies"
    return verb + "s"


def past(verb: str) -> str:
    """The regular or irregular past."""
    if verb in irregular():
        return irregular()[verb][0]
    if verb in ("have", "do"):
        return {"have": "had", "do": "did"}[verb]
    if verb.endswith("e"):
        return verb + "d"
    if re.search(r"[^aeiou]y$", verb):
        return verb[:-1] + "ied"
    return verb + (verb[-1] if doubles(verb) else "") + "ed"


def past_participle(verb: str) -> str:
    """The past participle."""
    if verb == "be":
        return "been"
    return irregular()[verb][1] if verb in irregular() else past(verb)


def gerund(verb: str) -> str:
    """The form in -ing."""
    if verb == "be":
        return "being"
    if verb in ("tie", "die", "lie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith(("ee", "ye", "oe")):
        return verb[:-1] + "ing"
    return verb + (verb[-1] if doubles(verb) else "") + "ing"


def finite(verb: str, tense: str, person: int, number: str) -> tuple[str, str]:
    """The finite form and its PTB tag."""
    third = person == 3 and number == "Sing"
    xpos = "VBD" if tense == "past" else "VBZ" if third else "VBP"
    if verb == "be":
        fallback = "were" if tense == "past" else "are"
        return BE.get((tense, number, person), fallback), xpos
    if tense == "past":
        return past(verb), xpos
    return (third_person(verb) if third else verb), xpos


def degree(adjective: str, step: str) -> tuple[str, str]:
    """The more/most word, if one is needed, and the form of a compared adjective."""
    if step == "Pos":
        return "", adjective
    first = step == "Cmp"
    if adjective in IRREGULAR_DEGREE:
        return "", IRREGULAR_DEGREE[adjective][0 if first else 1]
    if comparison()[adjective] == "more":
        return ("more" if first else "most"), adjective
    stem = adjective
    if re.search(r"[^aeiou]y$", stem) and stem != "shy":
        stem = stem[:-1] + "i"
    elif stem.endswith("e"):
        stem = stem[:-1]
    elif re.fullmatch(r"[^aeiou]*[aeiou][^aeiouwxy]", stem):
        stem += stem[-1]
    return "", stem + ("er" if first else "est")


def article(following: str) -> str:
    """The indefinite article that suits the next word."""
    word = following.lower()
    if re.match(r"(hono|hour|honest|heir)", word):
        return "an"
    if re.match(r"(uni|use|usu|euro|one)", word) and not word.startswith("unin"):
        return "a"
    return "an" if word[:1] in "aeiou" else "a"
