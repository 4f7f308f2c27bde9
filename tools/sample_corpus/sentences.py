"""The kinds of sentence that tell a story; direct speech is in ``speech``."""

from __future__ import annotations

from .grammar import (
    build,
    choose_frame,
    event,
    person,
    place_phrase,
    state,
    subject_phrase,
    time_for,
)
from .lexicon import adjectives, comparison, word_list
from .scene import Entity, Scene
from .tree import NP, PP, Adj, Clause, Sub


def plain(scene: Scene, kind: str = "any") -> Clause:
    """A simple statement with optional adverbs, aspect, negation or relative clause."""
    dice = scene.dice
    frame = choose_frame(scene, kind=kind)
    subject = scene.pick(frame.subjects, ())
    assert subject is not None
    c, obj = build(scene, frame, subject, subject_phrase(scene, subject))
    if dice.chance(0.12) and scene.tense == "past":
        c.neg, c.manner = True, ""
        c.informal = dice.chance(0.25)
    elif not frame.stative and dice.chance(0.12):
        c.aspect = dice.pick(("prog", "perf"))
    elif dice.chance(0.1):
        c.midadv = dice.pick(word_list("adverbs", "frequency"))
        c.manner = ""
    elif dice.chance(0.08):
        c.midadv = dice.pick(("also", "finally", "probably"))
    if c.aspect == "prog":
        c.midadv = dice.pick(("", "", "still"))
    elif c.aspect == "perf":
        c.midadv = dice.pick(("", "already", "just"))
    elif dice.chance(0.22) and not c.midadv and not frame.stative:
        c.time = time_for(scene, scene.tense, dice.chance(0.5))
    elif dice.chance(0.06):
        _open(scene, c)
    taken = tuple(scene.taken)
    light = not (c.time or c.recip or c.obls or c.manner)
    if dice.chance(0.6) and obj is not None and c.obj is not None and light:
        relativise(scene, c.obj, obj, taken)
    elif dice.chance(0.25) and c.subj is not None and not c.time:
        relativise(scene, c.subj, subject, taken)
    elif dice.chance(0.12) and c.subj is not None and c.subj.kind != "pron":
        _coordinate(scene, c, frame.subjects, subject, obj)
    elif dice.chance(0.15) and c.obj is not None and obj is not None:
        _coordinate_object(scene, c, frame.objects, obj, subject)
    elif dice.chance(0.1) and not frame.stative and c.aspect == "simple" and not c.time:
        c.subs.append(Sub("when", event(scene), dice.chance(0.4)))
    return c


def _open(scene: Scene, c: Clause) -> None:
    options = [o for o in word_list("adverbs", "opening") if o not in scene.used_openers]
    if options:
        c.opening = scene.dice.pick(options)
        scene.used_openers.add(c.opening)


def _coordinate(
    scene: Scene, c: Clause, nouns: tuple[str, ...], subject: Entity, obj: Entity | None
) -> None:
    """Give the subject a companion."""
    mentioned = {pp.np.head for pp in c.obls} | ({c.recip.head} if c.recip else set())
    other = scene.pick(nouns, [subject, *([obj] if obj else [])])
    if other is None or c.subj is None or other.noun.lemma in mentioned or other.name in mentioned:
        return
    if c.subj.rel is None and not c.subj.mods and other not in scene.voice:
        c.subj.conj.append(scene.refer(other))


def _coordinate_object(
    scene: Scene, c: Clause, nouns: tuple[str, ...], obj: Entity, subject: Entity
) -> None:
    """Give the object one or two companions."""
    assert c.obj is not None
    if c.obj.kind == "pron" or c.obj.rel is not None:
        return
    used = [obj, subject]
    mentioned = {pp.np.head for pp in c.obls}
    for _ in range(1 + int(scene.dice.chance(0.25))):
        other = scene.pick([n for n in nouns if n not in mentioned], used)
        if other is not None and other not in scene.voice:
            used.append(other)
            c.obj.conj.append(scene.refer(other, subject))
    if c.obj.mods or (len(c.obj.conj) > 1 and any(np.mods for np in c.obj.conj)):
        c.obj.mods = []


def relativise(scene: Scene, phrase: NP, entity: Entity, used: tuple[Entity, ...]) -> None:
    """Add a relative clause to a common noun, if some frame offers one."""
    if phrase.kind != "noun" or phrase.mods or phrase.conj or phrase.poss or phrase.det == "some":
        return
    lemma = entity.noun.lemma
    dice = scene.dice
    if entity.name:
        # "The cook who ..." would suggest another cook than the named one.
        return
    if entity.animate:
        frame = choose_frame(scene, entity, "person")
        pronoun = NP("who", "rel", entity.number, gender=entity.gender, animate=True)
        c, _ = build(scene, frame, entity, pronoun, used)
    else:
        frames = [
            f
            for f in scene.topic.frames
            if lemma in f.objects and not f.recipients and f.verb not in scene.recent
        ]
        if not frames:
            return
        frame = dice.pick(frames)
        agent = scene.pick(frame.subjects, used)
        if agent is None:
            return
        head = dice.pick(("that", "that", "which", ""))
        c, _ = build(scene, frame, agent, None, used, entity)
        c.obj = NP(head, "rel", entity.number, gender=entity.gender)
        c.obls = c.obls[:1]
    if not frame.stative and dice.chance(0.4 if scene.tense == "past" else 0.8):
        c.aspect = "perf"
    c.mood, c.manner = "rel", ""
    phrase.rel = c
    if phrase.det in ("indef", "this", "that") and not phrase.adjs:
        phrase.det = "def"


def passive(scene: Scene) -> Clause:
    """A passive statement."""
    dice = scene.dice
    frame = choose_frame(scene, kind="passive")
    agent = scene.pick(frame.subjects, ())
    assert agent is not None
    shown = dice.chance(0.5) and agent not in scene.voice
    c, obj = build(scene, frame, agent)
    c.passive = True
    if not shown or (c.subj is not None and c.subj.kind == "pron"):
        c.subj = None
    if obj is not None and obj in scene.voice:
        c.obj = scene.pronoun(obj)
    if c.obls and dice.chance(0.5) and not any(o.required for o in frame.obliques):
        c.obls = []
    if scene.tense == "pres" and dice.chance(0.6):
        # A bare present passive sounds like a caption.
        c.aspect, c.midadv = "perf", dice.pick(("", "already", "just"))
        c.manner = ""
    elif scene.tense == "pres":
        c.midadv = dice.pick(("always", "often", "usually", "sometimes"))
    elif dice.chance(0.3):
        c.time, c.manner = time_for(scene, c.tense, dice.chance(0.5)), ""
    elif dice.chance(0.2):
        c.modal = dice.pick(("must", "can", "should")) if scene.tense == "pres" else "could"
        c.neg = dice.chance(0.4)
    scene.focus = obj
    return c


def describe(scene: Scene) -> Clause:
    """A copular sentence about a thing, a person or a place."""
    dice = scene.dice
    if dice.chance(0.4):
        entity = person(scene)
        adjective = dice.pick(adjectives("state"))
    else:
        known = [e for e in scene.cast.values() if not e.animate and not e.noun.bare]
        known = [e for e in known if not e.described and e.noun.group != "sea"]
        if not known:
            known = [scene.entity(dice.pick(scene.topic.classes["item"]))]
        entity = dice.pick(known)
        adjective = dice.pick(adjectives(entity.noun.group))
    if adjective == entity.attribute:
        # What the first mention said already is no news.
        group = "state" if entity.animate else entity.noun.group
        adjective = dice.pick([a for a in adjectives(group) if a != entity.attribute])
    entity.described = True
    c = state(scene, entity, subject_phrase(scene, entity), adjective)
    assert c.subj is not None
    assert c.adj is not None
    _settle(c.subj)
    if comparison()[adjective] != "no" and dice.chance(0.4):
        c.adj.intensifier = dice.pick(("very", "quite", "too", "rather"))
    elif dice.chance(0.2):
        c.neg = True
        c.informal = dice.chance(0.4)
    if dice.chance(0.2):
        lasting_state = ("still", "always", "often", "usually")
        changing = entity.animate or entity.noun.group == "room"
        c.midadv = dice.pick(lasting_state) if changing and not c.neg else ""
    lasting = ("busy", "hungry", "tired", "calm", "nervous", "angry", "bored", "worried", "happy")
    if dice.chance(0.4) and not c.midadv and adjective in lasting and entity.animate:
        reason = event(scene)
        c.subs.append(Sub("when", reason))
        c.neg = False
    return c


def _settle(phrase: NP) -> None:
    """Make the subject of a description definite and drop its adjectives."""
    if phrase.det in ("indef", "some", "bare") and phrase.kind == "noun" and not phrase.poss:
        phrase.det = "def"
    phrase.adjs, phrase.count, phrase.mods = [], 0, []


def compare(scene: Scene) -> Clause:
    """A comparison of two entities of one kind."""
    dice = scene.dice
    things = [e for e in scene.cast.values() if not e.kin and not e.noun.bare]
    one = dice.pick([*things, *scene.heroes])
    same = [
        n.lemma
        for n in scene.topic.nouns.values()
        if n.group == one.noun.group and n.lemma != one.noun.lemma and n.mass == one.noun.mass
    ]
    options = scene.comparable(one)
    two = scene.pick(same, [one]) if same else None
    if two is None or not options or one.noun.group == "room":
        return describe(scene)
    c = state(scene, one, subject_phrase(scene, one), dice.pick(options))
    assert c.adj is not None
    assert c.subj is not None
    c.adj.degree = "Cmp"
    c.than = scene.refer(two)
    _settle(c.subj)
    _settle(c.than)
    if c.than.kind == "pron" or c.subj.head == c.than.head:
        c.than = None
    return c


def rank(scene: Scene) -> Clause:
    """A nominal predicate, often with a superlative."""
    dice = scene.dice
    hero = dice.pick([h for h in scene.heroes if h not in scene.voice])
    role = NP(hero.noun.lemma, "noun", "Sing", 3, hero.gender, "def", plural=hero.noun.plural,
              animate=True)  # fmt: skip
    options = scene.comparable(hero)
    role.adjs.append(Adj(dice.pick(options), "Sup"))
    if dice.chance(0.6):
        place = dice.pick(scene.topic.classes["place"])
        role.mods.append(place_phrase(scene, place, whole=True))
    else:
        role.mods.append(PP("in", NP(dice.pick(word_list("names", "city")), "name")))
    surname = "" if hero.mentioned else hero.surname
    hero.mentioned = True
    scene.focus = hero
    name = NP(hero.name, "name", gender=hero.gender, animate=True, surname=surname)
    return Clause("noun", subj=name, nominal=role, tense=scene.tense)


def located(scene: Scene) -> Clause:
    """Where something is."""
    entity = scene.entity(scene.dice.pick(scene.topic.classes["item"]))
    phrase = subject_phrase(scene, entity)
    _settle(phrase)
    surfaces = [n.lemma for n in scene.topic.nouns.values() if n.group == "surface"]
    if surfaces and scene.dice.chance(0.6):
        prep = scene.dice.pick(("near", "behind", "under"))
        place = PP(prep, scene.refer(scene.entity(scene.dice.pick(surfaces))))
    else:
        place = place_phrase(scene, scene.dice.pick(scene.topic.classes["place"]))
    c = Clause("loc", subj=phrase, place=place, tense=scene.tense)
    if scene.dice.chance(0.3):
        c.neg, c.informal = True, scene.dice.chance(0.5)
    elif scene.dice.chance(0.25):
        c.midadv = scene.dice.pick(("still", "always", "usually"))
    return c


def exists(scene: Scene) -> Clause:
    """What there is in a place."""
    dice = scene.dice
    entity = scene.entity(dice.pick(scene.topic.classes["item"]))
    noun = entity.noun
    number = dice.pick(("Sing", "Plur", "Plur"))
    det = "indef" if number == "Sing" else dice.pick(("no", "some", "count", "count", "many"))
    phrase = NP(noun.lemma, "noun", number, 3, "n", det, False, False, noun.plural)
    if det == "count":
        phrase.det, phrase.count = "bare", 2 + dice.pick((0, 1, 2, 3, 4, 5, 6, 8, 10, 22, 38, 98))
    elif det == "many":
        phrase.det, phrase.adjs = "bare", [Adj("many")]
    if dice.chance(0.4) and det != "many":
        phrase.adjs = [Adj(dice.pick(adjectives(noun.group)))]
    if entity.number == number and det in ("indef", "count"):
        entity.mentioned = True
    place = place_phrase(scene, dice.pick(scene.topic.classes["place"]))
    c = Clause("exist", subj=phrase, obls=[place], tense=scene.tense)
    if dice.chance(0.3):
        c.time = time_for(scene, scene.tense, True)
        if c.time.adverb in ("then", "now"):
            c.time = None
    return c
