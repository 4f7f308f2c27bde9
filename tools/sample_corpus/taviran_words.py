"""Taviran word forms: three genders, agreeing adjectives, fused prepositions and articles."""

from __future__ import annotations

from functools import cache

from .lexicon import split
from .phonology import Sounds, Stream, transliterate

VOWELS = "aeiou"
ENDINGS = {"m": "u", "f": "a", "n": "e"}
NAME_RULES = [
    ("sh", "z"), ("ck", "k"), ("ch", "k"), ("ph", "f"), ("th", "t"), ("oo", "u"), ("ee", "i"),
    ("w", "v"), ("y", "i"), ("c", "k"), ("x", "z"), ("j", "i"), ("h", ""),
]  # fmt: skip
ARTICLES = {
    ("m", "Sing"): "ul", ("f", "Sing"): "ila", ("n", "Sing"): "ole",
    ("m", "Plur"): "ulim", ("f", "Plur"): "ilam", ("n", "Plur"): "olem",
}  # fmt: skip
FUSING = {"na": "n", "da": "d", "ka": "k", "su": "s"}
PREPOSITIONS = {
    "in": "na", "at": "na", "on": "su", "to": "ka", "from": "da", "with": "kume", "using": "pir",
    "for": "poro", "about": "sobri", "of": "da", "onto": "su", "into": "intu", "near": "zali",
    "under": "subu", "behind": "dret", "around": "tornu", "past": "olta", "across": "trav",
    "over": "sovri", "through": "medu", "along": "lunk", "before": "prim", "after": "dopu",
    "during": "durm", "than": "kwe", "by": "vor",
}  # fmt: skip
PRONOUNS = {  # nominative, other
    (1, "Sing", ""): ("mo", "mon"), (2, "Sing", ""): ("ti", "tin"),
    (3, "Sing", "m"): ("lu", "lun"), (3, "Sing", "f"): ("lia", "lian"),
    (3, "Sing", "n"): ("lie", "lien"), (1, "Plur", ""): ("nem", "nemin"),
    (2, "Plur", ""): ("vem", "vemin"), (3, "Plur", ""): ("lum", "lumin"),
}  # fmt: skip
POSSESSIVES = {
    (1, "Sing"): "mi", (2, "Sing"): "tiv", (3, "Sing"): "sev", (1, "Plur"): "nemi",
    (2, "Plur"): "vemi", (3, "Plur"): "lumi",
}  # fmt: skip
FINITE = {
    "pres": {(1, "Sing"): "o", (2, "Sing"): "i", (3, "Sing"): "e",
             (1, "Plur"): "omo", (2, "Plur"): "ite", (3, "Plur"): "oni"},
    "past": {(1, "Sing"): "avo", (2, "Sing"): "avi", (3, "Sing"): "ava",
             (1, "Plur"): "avomo", (2, "Plur"): "avite", (3, "Plur"): "avani"},
}  # fmt: skip
NUMERALS = split(
    "zeru, unu, duvi, tris, kuat, kinku, sez, sept, okto, nuvi, dezi, undezi, duvdezi, "
    "trisdezi, kuatdezi, kindezi, sezdezi, sepdezi, okdezi, nuvdezi, vinti"
)


def _root(stream: Stream, kind: str) -> str:
    onsets = split("t, v, r, m, n, d, l, s, z, p, k, f, g, b, tr, dr, st, gl, th, fr")
    count = int(stream.pick(["1", "2", "2", "2", "3" if kind == "n" else "2"]))
    text = stream.pick(["", *onsets, *onsets]) if count > 1 else stream.pick(onsets)
    for _ in range(count - 1):
        text += stream.pick(list(VOWELS)) + stream.pick(["", "", "", "n", "r", "l", "s"])
        text += stream.pick(onsets)
    return (
        text
        + stream.pick(list(VOWELS))
        + stream.pick(
            ["t", "v", "r", "m", "n", "d", "l", "z", "p", "k", "g", "b", "th", "sk", "nd", "rt"]
        )
    )


@cache
def _stems() -> dict[str, str]:
    return Sounds("qta", _root).stems()


def stem(kind: str, lemma: str) -> str:
    """The root of a lexeme."""
    return _stems()[f"{kind}:{lemma}"]


def adverb(lemma: str) -> str:
    """An adverb."""
    return stem("r", lemma) + "im"


def gender(lemma: str, natural: str, animate: bool) -> str:
    """Persons have natural gender; the gender of other nouns follows from their root."""
    if animate and natural in "mf":
        return natural
    return "mfn"[len(stem("n", lemma)) % 3]


def agree(root: str, sex: str, number: str) -> str:
    """A noun, adjective or participle with the ending of its gender and number."""
    return root + ENDINGS[sex] + ("m" if number == "Plur" else "")


def fuse(preposition: str, article: str) -> str:
    """The contraction of a preposition and an article, if the language has one."""
    return FUSING[preposition] + article if preposition in FUSING else ""


def name(text: str) -> str:
    """A proper name in Taviran spelling."""
    return transliterate(text, NAME_RULES)
