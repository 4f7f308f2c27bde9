"""Documents: a topic, two heroes, an opening and about nine more sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from . import clauses, english, joined, sentences, speech
from .conllu import capitalise, surface
from .grammar import place_phrase, time_for
from .lexicon import adjectives, split, topics, word_list
from .scene import Dice, Entity, Scene
from .tree import NP, PP, Adj, Clause, Sub, Time

SEED = 2024
DOCUMENTS = 100
MAX_WORDS = 32
KINDS: tuple[tuple[Callable[[Scene], Clause], float], ...] = (
    (sentences.plain, 22),
    (sentences.passive, 10),
    (sentences.describe, 7),
    (sentences.compare, 3),
    (sentences.rank, 2.5),
    (sentences.located, 4),
    (sentences.exists, 5),
    (clauses.reported, 10),
    (clauses.intended, 8),
    (clauses.requested, 6),
    (clauses.obliged, 6),
    (clauses.explained, 7),
    (clauses.declined, 4),
    (clauses.timed, 11),
    (joined.sequence, 11),
    (joined.general, 3),
    (joined.layered, 6),
    (speech.quoted, 16),
)


PASSING = split(
    "guest, tourist, customer, passenger, witness, thief, defendant, victim, patient, "
    "visitor, child, widow, neighbour, fan, mayor, cousin, grandson, boy, girl, bride, "
    "reader, student, traveller, soldier, minister, pupil, worker, intern"
)


def people(scene: Scene) -> tuple[str, ...]:
    """The nouns for the persons of the topic."""
    return scene.topic.classes["p"]


def _hero(scene: Scene, gender: str) -> Entity:
    """A named person with a role of the topic."""
    dice = scene.dice
    taken = {hero.noun.lemma for hero in scene.heroes}
    # The first class of persons of a topic is its staff: a hero who works there.
    staff = next(k for k, v in scene.topic.classes.items() if set(v) <= set(people(scene)))
    pool = people(scene) if scene.heroes else scene.topic.classes[staff]
    roles = [lemma for lemma in pool if lemma not in taken and lemma not in PASSING]
    noun = scene.topic.nouns[dice.pick(roles)]
    fixed = {"widow": "f", "bride": "f", "fisherman": "m", "priest": "m", "grandson": "m",
             "waiter": "m", "shepherd": "m", "smith": "m"}  # fmt: skip
    gender = fixed.get(noun.lemma, gender)
    names = word_list("names", "female" if gender == "f" else "male")
    used = {hero.name for hero in scene.heroes}
    name = dice.pick([n for n in names if n not in used])
    surname = dice.pick(word_list("names", "surname"))
    return Entity(noun, "Sing", gender, name, surname)


def _role(hero: Entity, adjective: str = "") -> NP:
    adjs = [Adj(adjective)] if adjective else []
    return NP(hero.noun.lemma, "noun", "Sing", 3, hero.gender, "indef", plural=hero.noun.plural,
              animate=True, adjs=adjs)  # fmt: skip


def _opening(scene: Scene) -> Clause:
    """The first sentence, which introduces the main hero."""
    dice = scene.dice
    hero = scene.heroes[0]
    place = place_phrase(scene, dice.pick(scene.topic.classes["place"]), whole=True)
    adjective = dice.pick(adjectives("person")) if dice.chance(0.6) else ""
    role = _role(hero, adjective)
    subject = scene.refer(hero)
    scene.focus = hero
    city = NP(dice.pick(word_list("names", "city")), "name")
    style = dice.pick(("is", "work", "appos", "city", "come", "scene"))
    if hero in scene.voice and style == "appos":
        style = "is"
    c = Clause("verb", subj=subject, tense=scene.tense)
    if style == "is":
        role.mods = [PP("from", city)] if dice.chance(0.5) else [place]
        c.pred, c.nominal = "noun", role
        c.informal = hero in scene.voice and dice.chance(0.5)
    elif style == "come":
        c.verb, c.obls = "arrive", [PP("at", place.np)]
        c.time = time_for(scene, scene.tense, dice.chance(0.5))
        if c.time.adverb:
            day = NP(dice.pick(word_list("names", "day")), "day")
            c.time = Time(pp=PP("on", day), first=dice.chance(0.5))
        if hero not in scene.voice and dice.chance(0.5):
            subject.appos = role
    elif style == "scene":
        full = dice.pick(("crowded", "empty", "quiet", "noisy", "dark"))
        arrival = Clause(verb="arrive", subj=subject, tense=scene.tense)
        c = Clause("adj", subj=place.np, adj=Adj(full), tense=scene.tense)
        c.subs.append(Sub("when", arrival, dice.chance(0.4)))
    elif style == "city":
        c.verb, c.obls = "live", [PP("in", city)]
        other = Clause(subj=subject, tense=scene.tense, verb="work", obls=[place], elided=True)
        c.conj.append(("and", other))
    else:
        c.verb = "work"
        c.obls = [place]
        if style == "appos":
            subject.appos = role
        elif scene.tense == "past":
            year = str(1890 + int(dice.chance(0.5)) * 60 + dice.pick(range(40)))
            scene.dated = True
            c.time = Time(pp=PP("in", NP(year, "year")), first=dice.chance(0.5))
    return c


def _sentence(scene: Scene, letter: bool) -> Clause:
    """One sentence of any kind that suits the document."""
    scene.avoid = []
    kinds = [kind for kind, _ in KINDS]
    weights = [weight for _, weight in KINDS]
    if scene.tense == "pres":
        kinds += [joined.conditional, _asked]
        weights += [10, 4]
    if letter:
        kinds += [_addressed, _asked]
        weights += [8, 3]
    return scene.dice.weighted(kinds, weights)(scene)


def _asked(scene: Scene) -> Clause:
    """A question that the text itself asks."""
    kind = scene.dice.pick(("who", "what", "why", "many", "yes-no"))
    return speech.question(scene, None, kind, tuple(scene.voice))


def _addressed(scene: Scene) -> Clause:
    """A question or request to the reader of a letter."""
    narrator = scene.heroes[0]
    friend = Entity(narrator.noun, "Sing", "m", "reader")
    voice, tense = scene.voice, scene.tense
    scene.voice, scene.tense = {narrator: 1, friend: 2}, "pres"
    c = speech.utterance(scene, narrator, friend)
    scene.voice, scene.tense = voice, tense
    scene.focus = None
    return c


def text_of(c: Clause) -> tuple[str, int]:
    """The English text of a sentence and its number of words."""
    words = english.sentence(c).order()
    capitalise(words)
    return surface(words)[0], len(words)


def documents(seed: int = SEED) -> Iterator[tuple[str, list[Clause]]]:
    """All documents as (id, sentences), the same for ever for a given seed."""
    dice = Dice(seed)
    seen: set[str] = set()
    counts: dict[str, int] = {}
    settings = topics()
    for number in range(DOCUMENTS):
        topic = settings[number % len(settings)]
        mode = dice.weighted(("past", "pres", "letter"), (52, 30, 18))
        scene = Scene(topic, dice, "pres" if mode == "pres" else "past")
        genders = dice.pick((("f", "m"), ("m", "f")))
        scene.heroes.append(_hero(scene, genders[0]))
        scene.heroes.append(_hero(scene, genders[1]))
        if mode == "letter":
            scene.voice = {scene.heroes[0]: 1}
            scene.heroes[0].mentioned = True
        counts[topic.name] = counts.get(topic.name, 0) + 1
        length = 9 + dice.pick((0, 1, 1, 2, 3))
        made: list[Clause] = []
        while len(made) < length:
            c = _sentence(scene, mode == "letter") if made else _opening(scene)
            text, words = text_of(c)
            # A figure is no good start for an English sentence.
            if text in seen or words > MAX_WORDS or text[0].isdigit():
                continue
            seen.add(text)
            made.append(c)
        yield f"{topic.name}-{counts[topic.name]:02d}", made
