"""The people and things of one document, and how a sentence refers to them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from .lexicon import Noun, Topic, adjectives, comparison, word_list
from .tree import NP, PP, Adj

T = TypeVar("T")
GENDERS = {
    "widow": "f", "girl": "f", "bride": "f", "boy": "m", "fisherman": "m", "priest": "m",
    "grandson": "m", "waiter": "m", "shepherd": "m", "smith": "m",
}  # fmt: skip

YOUNG = ("child", "boy", "girl", "pupil", "student", "grandson", "apprentice", "intern", "bride")


class Dice:
    """Random choices made from ``Random.random`` alone, whose stream never changes."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random

    def chance(self, probability: float) -> bool:
        """True with the given probability."""
        return self._random() < probability

    def pick(self, items: Sequence[T]) -> T:
        """One item, all being equally likely."""
        return items[int(self._random() * len(items))]

    def weighted(self, items: Sequence[T], weights: Sequence[float]) -> T:
        """One item, with probability in proportion to its weight."""
        point = self._random() * sum(weights)
        for item, weight in zip(items, weights, strict=True):
            point -= weight
            if point < 0:
                return item
        return items[-1]


@dataclass(eq=False)
class Entity:
    """A person or thing of the document."""

    noun: Noun
    number: str = "Sing"
    gender: str = "n"
    name: str = ""
    surname: str = ""
    owner: Entity | None = None
    kin: bool = False
    mentioned: bool = False
    attribute: str = ""
    described: bool = False

    @property
    def animate(self) -> bool:
        """Whether the entity is a person."""
        return self.noun.group == "person"


@dataclass
class Scene:
    """The state of a document while its sentences are made."""

    topic: Topic
    dice: Dice
    tense: str
    heroes: list[Entity] = field(default_factory=list)
    cast: dict[str, Entity] = field(default_factory=dict)
    voice: dict[Entity, int] = field(default_factory=dict)
    focus: Entity | None = None
    recent: list[str] = field(default_factory=list)
    done: set[tuple[str, str, str]] = field(default_factory=set)
    avoid: list[Entity] = field(default_factory=list)  # what the rest of the sentence leaves alone
    taken: list[Entity] = field(default_factory=list)
    dated: bool = False  # the document names a year, so "yesterday" would not fit
    used_openers: set[str] = field(default_factory=set)

    def entity(self, lemma: str) -> Entity:
        """The document's entity for a noun, made when first needed."""
        for hero in self.heroes:
            if hero.noun.lemma == lemma:
                return hero
        if lemma not in self.cast:
            noun = self.topic.nouns[lemma]
            person = noun.group == "person"
            usual = 0.0 if noun.group == "vehicle" else 0.14
            plural = {"+": 0.75, "1": 0.0}.get(noun.numbers, usual)
            number = "Plur" if not noun.mass and self.dice.chance(plural) else "Sing"
            gender = GENDERS.get(lemma, self.dice.pick("mf")) if person else "n"
            self.cast[lemma] = Entity(noun, number, gender)
        return self.cast[lemma]

    def pick(self, lemmas: Sequence[str], used: Sequence[Entity]) -> Entity | None:
        """An entity for a slot, with a liking for the people and things already there."""
        taken = {entity.noun.lemma for entity in [*used, *self.avoid]}
        options = [lemma for lemma in lemmas if lemma not in taken]
        if not options:
            return None
        heroes = {hero.noun.lemma for hero in self.heroes}
        weights = []
        for lemma in options:
            known = lemma in self.cast and self.cast[lemma].mentioned
            weights.append(8.0 if lemma in heroes else 4.0 if known else 1.0)
        return self.entity(self.dice.weighted(options, weights))

    def relative_of(self, hero: Entity) -> Entity:
        """A relative, friend or colleague of a hero."""
        word, _, gender = self.dice.pick(word_list("people", "kin")).partition(":")
        noun = Noun(word, word + "s", False, False, "person", "1")
        key = f"{word} of {hero.noun.lemma}"
        if key not in self.cast:
            person = Entity(noun, "Sing", gender or self.dice.pick("mf"), owner=hero, kin=True)
            self.cast[key] = person
        return self.cast[key]

    def pronoun(self, entity: Entity) -> NP:
        """A personal pronoun for the entity."""
        person = self.voice.get(entity, 3)
        # The noun stays on record: languages with gender need the antecedent.
        lemma = entity.noun.lemma
        return NP(lemma, "pron", entity.number, person, entity.gender, animate=entity.animate)

    def refer(self, entity: Entity, subject: Entity | None = None) -> NP:
        """A noun phrase for the entity; ``subject`` is the subject of the clause."""
        if entity in self.voice:
            return self.pronoun(entity)
        first, entity.mentioned = not entity.mentioned, True
        if entity.name:
            if first or self.dice.chance(0.78):
                surname = entity.surname if first else ""
                return NP(entity.name, "name", "Sing", 3, entity.gender, "bare", animate=True,
                          surname=surname)  # fmt: skip
            return self._noun(entity, "def")
        if entity.kin:
            phrase = self._noun(entity, "poss")
            phrase.poss = self._possessor(entity, subject)
            return phrase
        if first:
            return self._introduce(entity, subject)
        phrase = self._noun(entity, "bare" if entity.noun.bare else "def")
        if entity.owner is not None and self.dice.chance(0.4):
            phrase.det, phrase.poss = "poss", self._possessor(entity, subject)
        elif entity.attribute and self.dice.chance(0.15):
            phrase.adjs.append(Adj(entity.attribute))
        elif len(self.voice) > 1 and not entity.noun.bare and self.dice.chance(0.25):
            phrase.det = self.dice.pick(("this", "that"))
        return phrase

    def _possessor(self, entity: Entity, subject: Entity | None) -> NP:
        owner = entity.owner
        assert owner is not None
        if owner is subject or owner in self.voice or owner is self.focus:
            return self.pronoun(owner)
        return NP(owner.name, "name", "Sing", 3, owner.gender, animate=True)

    def _noun(self, entity: Entity, det: str) -> NP:
        noun = entity.noun
        return NP(noun.lemma, "noun", entity.number, 3, entity.gender, det, noun.mass,
                  entity.animate, noun.plural)  # fmt: skip

    def _introduce(self, entity: Entity, subject: Entity | None) -> NP:
        """The first mention of a common noun."""
        noun = entity.noun
        if noun.bare:
            return self._noun(entity, "bare")
        phrase = self._noun(entity, "indef")
        if noun.mass:
            phrase.det = self.dice.pick(("some", "def", "def"))
        elif noun.numbers == "1" or (entity.animate and self.dice.chance(0.55)):
            phrase.det = "def"
        elif noun.lemma in self.topic.classes["item"] and self.dice.chance(0.35):
            entity.owner = self.dice.pick(self.heroes)
            if entity.owner.mentioned or entity.owner in self.voice:
                phrase.det, phrase.poss = "poss", self._possessor(entity, subject)
            else:
                entity.owner = None
        elif entity.number == "Plur":
            phrase.det = self.dice.pick(("def", "some", "count", "count", "all", "bare"))
        rate = 0.08 if noun.numbers == "1" else 0.35
        if noun.group not in ("subject", "sea") and self.dice.chance(rate):
            fitting = [a for a in adjectives(noun.group) if a != "broken"]
            entity.attribute = self.dice.pick(fitting)
            if (
                entity.attribute == "old" and noun.lemma in YOUNG
            ) or entity.attribute == noun.lemma:
                entity.attribute = "small" if not entity.animate else "young"
            phrase.adjs.append(Adj(entity.attribute))
        if phrase.det == "count":
            phrase.det, phrase.count = "bare", 2 + int(self.dice.chance(0.6)) + self._small()
        if phrase.det == "all":
            phrase.det = "def"
        if phrase.det == "indef" and self.dice.chance(0.12):
            city = NP(self.dice.pick(word_list("names", "city")), "name")
            if noun.group in ("person", "thing", "vehicle", "cloth"):
                phrase.mods.append(PP("from", city))
        return phrase

    def _small(self) -> int:
        return self.dice.pick((0, 0, 1, 2, 3, 4, 5, 6, 9, 17, 37))

    def comparable(self, entity: Entity) -> list[str]:
        """The adjectives that can compare the entity with another of its kind."""
        return [a for a in adjectives(entity.noun.group) if comparison()[a] != "no"]
