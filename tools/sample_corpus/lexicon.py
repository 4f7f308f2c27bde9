"""The lexicon of the sample corpus, read from ``topics.toml`` and ``words.toml``."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Noun:
    """A common noun as a topic uses it."""

    lemma: str
    plural: str
    mass: bool
    bare: bool
    group: str
    numbers: str  # "", "+" (mostly plural) or "1" (always singular)


@dataclass(frozen=True)
class Oblique:
    """A prepositional slot of a frame; an empty preposition means "the place's own"."""

    prep: str
    nouns: tuple[str, ...]
    required: bool


@dataclass(frozen=True)
class Frame:
    """A verb with the nouns that fit its slots."""

    verb: str
    particle: str
    subjects: tuple[str, ...]
    objects: tuple[str, ...]
    recipients: tuple[str, ...]
    obliques: tuple[Oblique, ...]
    manner: str
    stative: bool
    involuntary: bool
    passive: bool
    reasons: tuple[str, ...]


@dataclass
class Topic:
    """A setting with its nouns, places, actions and spontaneous events."""

    name: str
    nouns: dict[str, Noun] = field(default_factory=dict)
    classes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    places: list[tuple[str, str]] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    events: list[Frame] = field(default_factory=list)
    own: int = 0  # the frames before this index belong to the topic, the others to all


def split(text: str) -> list[str]:
    """Split a comma-separated list."""
    return [part.strip() for part in text.split(",") if part.strip()]


@cache
def words() -> dict[str, Any]:
    """The words that every topic shares."""
    return tomllib.loads((HERE / "words.toml").read_text(encoding="utf-8"))


@cache
def comparison() -> dict[str, str]:
    """How each adjective compares: "er", "more" or "no"."""
    kinds: dict[str, str] = {}
    for group in words()["adjectives"].values():
        for entry in split(group):
            kind = {"*": "more", "-": "no"}.get(entry[-1], "er")
            kinds.setdefault(entry.rstrip("*-"), kind)
    return kinds


@cache
def adjectives(group: str) -> tuple[str, ...]:
    """The adjectives that suit nouns of a group."""
    return tuple(entry.rstrip("*-") for entry in split(words()["adjectives"][group]))


@cache
def word_list(section: str, key: str) -> tuple[str, ...]:
    """One comma-separated list of ``words.toml``."""
    return tuple(split(words()[section][key]))


def regular_plural(lemma: str) -> str:
    """The regular English plural of a noun."""
    if re.search(r"(s|x|z|ch|sh)$", lemma):
        return lemma + "es"
    if re.search(r"[^aeiou]y$", lemma):
        return lemma[:-1] + "ies"
    return lemma + "s"


def _add_class(topic: Topic, name: str, spec: str) -> None:
    """Read one class of nouns into a topic."""
    head, _, body = spec.partition(":")
    group, *marks = head.split()
    lemmas = []
    for entry in split(body):
        lemma, _, plural = entry.rstrip("~").partition("/")
        lemmas.append(lemma)
        number = next((m for m in marks if m in "+1"), "")
        noun = Noun(
            lemma,
            plural or regular_plural(lemma),
            entry.endswith("~"),
            "0" in marks,
            group,
            number,
        )
        topic.nouns.setdefault(lemma, noun)
    topic.classes[name] = tuple(lemmas)
    for mark, union in (("@", "item"), ("person", "p")):
        if mark in marks or mark == group:
            topic.classes[union] = topic.classes.get(union, ()) + tuple(lemmas)
    if "@" in marks and group not in ("paper", "sheet"):
        topic.classes["solid"] = topic.classes.get("solid", ()) + tuple(lemmas)


def _select(topic: Topic, spec: str) -> tuple[str, ...]:
    """The nouns that a class expression such as ``crew:sailor,captain ; ship`` selects."""
    chosen: list[str] = []
    for part in spec.split(";"):
        restricted = ""
        for word in split(part):
            name, colon, noun = word.partition(":")
            if colon:
                restricted = name
            elif name in topic.classes:
                restricted = ""
            noun = noun or name
            if not restricted:
                chosen.extend(topic.classes[name])
            elif noun in topic.classes[restricted]:
                chosen.append(noun)
            else:
                raise ValueError(f"{topic.name}: no noun {noun!r} in class {restricted!r}")
    return tuple(dict.fromkeys(chosen))


def _frame(topic: Topic, line: str) -> Frame:
    """Read one frame line."""
    fields = [part.strip() for part in line.split("|")]
    fields += [""] * (5 - len(fields))
    verb, _, particle = fields[0].partition(" ")
    objects, _, recipients = fields[2].partition(">")
    obliques = []
    for part in fields[3].split(";"):
        if not part.strip():
            continue
        required = "!" in part
        prep, _, spec = part.replace("!", "").strip().partition(" ")
        if prep == "@":
            obliques.append(Oblique("", topic.classes["place"], required))
        else:
            obliques.append(Oblique(prep, _select(topic, spec), required))
    options = fields[4].split()
    reasons = [opt[4:] for opt in options if opt.startswith("why=")]
    return Frame(
        verb,
        particle,
        _select(topic, fields[1]),
        () if objects.strip() in ("", "-") else _select(topic, objects),
        _select(topic, recipients) if recipients.strip() else (),
        tuple(obliques),
        next((opt for opt in options if opt in ("c", "s", "m", "k", "g", "w", "l")), ""),
        "stat" in options,
        "inv" in options,
        "nopass" not in options,
        tuple(split(",".join(reasons))),
    )


def _lines(text: str) -> list[str]:
    return [line for line in text.strip().splitlines() if line.strip()]


@cache
def topics() -> tuple[Topic, ...]:
    """All topics, each with the general frames added to its own."""
    data = tomllib.loads((HERE / "topics.toml").read_text(encoding="utf-8"))
    general = words()["general"]
    result = []
    for name, table in data.items():
        topic = Topic(name)
        for entry in split(table["places"]):
            prep, _, lemma = entry.partition(" ")
            topic.places.append((prep, lemma))
            topic.nouns[lemma] = Noun(lemma, regular_plural(lemma), False, False, "room", "1")
        topic.classes["place"] = tuple(lemma for _, lemma in topic.places)
        for key, spec in table.items():
            if key not in ("places", "frames", "events"):
                _add_class(topic, key, spec)
        _add_class(topic, "sky", general["sky"])
        topic.frames = [_frame(topic, line) for line in _lines(table["frames"])]
        topic.own = len(topic.frames)
        topic.frames += [_frame(topic, line) for line in _lines(general["frames"])]
        topic.events = [_frame(topic, line) for line in _lines(table["events"])]
        topic.events += [_frame(topic, line) for line in _lines(general["events"])]
        result.append(topic)
    return tuple(result)
