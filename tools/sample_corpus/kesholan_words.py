"""Kesholan word forms: vowel harmony, seven cases, agglutinating verbs."""

from __future__ import annotations

from functools import cache

from .lexicon import split
from .phonology import Sounds, Stream, transliterate

FRONT, BACK = "eiéø", "aouå"
NAME_RULES = [
    ("gh", "g"),
    ("sh", "š"), ("ch", "č"), ("th", "t"), ("ph", "f"), ("ck", "k"), ("nn", "n"), ("oo", "u"),
    ("ee", "i"), ("ai", "é"), ("y", "i"), ("c", "k"), ("x", "ks"), ("w", "v"), ("q", "k"),
    ("j", "ž"),
]  # fmt: skip
# Each suffix is written with the archiphonemes E (e/a), I (i/u) and O (ø/o).
CASES = {
    "Nom": "", "Acc": "En", "Dat": "El", "Gen": "Eš", "Loc": "Ir", "Ins": "Om", "Abl": "Idž",
}  # fmt: skip
PERSONS = {
    (1, "Sing"): "Em", (2, "Sing"): "Eš", (3, "Sing"): "E",
    (1, "Plur"): "Imk", (2, "Plur"): "Išk", (3, "Plur"): "Ok",
}  # fmt: skip
PREPOSITIONS = {  # English preposition: case and postposition
    "in": ("Loc", ""), "at": ("Loc", ""), "on": ("Gen", "pél"), "to": ("Dat", ""),
    "from": ("Abl", ""), "with": ("Gen", "šan"), "using": ("Ins", ""), "for": ("Gen", "kér"),
    "about": ("Gen", "tåro"), "of": ("Gen", ""), "onto": ("Dat", "pél"), "into": ("Dat", "bør"),
    "near": ("Gen", "mel"), "under": ("Gen", "alk"), "behind": ("Gen", "høt"),
    "around": ("Gen", "kåru"), "past": ("Gen", "étk"), "across": ("Gen", "atol"),
    "over": ("Gen", "fønt"), "through": ("Gen", "kešt"), "along": ("Gen", "melšo"),
    "before": ("Gen", "élt"), "after": ("Gen", "utå"), "during": ("Gen", "kozd"),
    "than": ("Gen", "nød"), "": ("Loc", ""),
}  # fmt: skip
NUMERALS = split(
    "nul, edj, két, hér, néd, øšt, hašk, seb, njol, kilv, tiz, tized, tizkét, tizhér, tiznéd, "
    "tizøšt, tizhašk, tizseb, tiznjol, tizkilv, huš"
)
PRONOUNS = {
    (1, "Sing"): "mø", (2, "Sing"): "tø", (3, "Sing"): "šu",
    (1, "Plur"): "mejk", (2, "Plur"): "tejk", (3, "Plur"): "šujk",
}  # fmt: skip


def _syllables(stream: Stream, kind: str) -> str:
    vowels = stream.pick([FRONT, BACK])
    onsets = split("p, t, k, b, d, g, m, n, l, r, s, š, v, h, j, č, ž, f, z, šk, tr, kl")
    codas = ["", "", "l", "r", "n", "s", "š", "k", "t", "m", "ld", "rk"]
    count = int(stream.pick(["1", "2", "2", "2", "3"]))
    if kind == "v":
        count = min(count, 2)
    text = ""
    for i in range(count):
        onset = stream.pick(onsets if i else [*onsets, ""])
        coda = stream.pick(codas) if i == count - 1 else stream.pick(["", "", "", "l", "n", "r"])
        text += onset + stream.pick(list(vowels)) + coda
    if len(text) < 3 or (kind == "v" and text[-1] in FRONT + BACK):
        text += stream.pick(["d", "z", "g", "v"])
    return text


@cache
def _stems() -> dict[str, str]:
    return Sounds("qke", _syllables).stems()


def stem(kind: str, lemma: str) -> str:
    """The stem of a lexeme."""
    return _stems()[f"{kind}:{lemma}"]


def front(word: str) -> bool:
    """Whether the last vowel of a word is a front vowel."""
    for letter in reversed(word.lower()):
        if letter in FRONT:
            return True
        if letter in BACK:
            return False
    return True


def add(word: str, suffix: str) -> str:
    """Attach a suffix, with vowel harmony and without two vowels in a row."""
    if not suffix:
        return word
    pairs = {"E": "ea", "I": "iu", "O": "øo"}
    text = "".join(pairs[s][0 if front(word) else 1] if s in pairs else s for s in suffix)
    if word[-1].lower() in FRONT + BACK and text[0] in FRONT + BACK:
        text = text[1:] or "j" + text
    return word + text


def decline(base: str, number: str, case: str) -> str:
    """A noun with number and case."""
    word = add(base, "Ok") if number == "Plur" else base
    return add(word, CASES[case])


def conjugate(base: str, tense: str, aspect: str, passive: bool, person: int, number: str) -> str:
    """A finite verb."""
    word = add(base, "Id") if passive else base
    word = add(word, {"prog": "Ij", "perf": "Ill"}.get(aspect, ""))
    word = add(word, {"past": "Et", "fut": "Ov"}.get(tense, ""))
    return add(word, PERSONS[(person, number)])


def name(text: str) -> str:
    """A proper name in Kesholan spelling."""
    return transliterate(text, NAME_RULES)
