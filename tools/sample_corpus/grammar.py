"""Clauses sampled from the frames of a topic."""

from __future__ import annotations

from .lexicon import Frame, word_list
from .scene import Entity, Scene
from .tree import NP, PP, Adj, Clause, Time

ALIEN = ("own", "need", "want", "borrow", "take", "steal", "buy", "order")  # not one's own things


def persons_only(scene: Scene, frame: Frame) -> bool:
    """Whether every possible subject of the frame is a person."""
    return all(scene.topic.nouns[s].group == "person" for s in frame.subjects)


def choose_frame(scene: Scene, subject: Entity | None = None, kind: str = "any") -> Frame:
    """A frame, preferring the topic's own verbs and those not used lately.

    ``kind`` may ask for "object" (transitive), "passive", "person" or
    "active" (done by a person on purpose, and for a while).
    """
    options, weights = [], []
    for i, frame in enumerate(scene.topic.frames):
        if subject is not None and subject.noun.lemma not in frame.subjects:
            continue
        if kind in ("object", "passive") and (not frame.objects or frame.recipients):
            continue
        if kind == "passive" and (not frame.passive or frame.stative):
            continue
        if kind == "active" and (frame.stative or frame.involuntary):
            continue
        if kind == "active" and not persons_only(scene, frame):
            continue
        if kind == "person" and not persons_only(scene, frame):
            continue
        weight = 4.0 if i < scene.topic.own else 1.0
        if frame.verb in scene.recent:
            weight /= 20
        options.append(frame)
        weights.append(weight)
    frame = scene.dice.weighted(options, weights)
    scene.recent = [*scene.recent[-9:], frame.verb]
    return frame


def place_phrase(scene: Scene, lemma: str, prep: str = "", whole: bool = False) -> PP:
    """A place with its preposition, sometimes narrowed to a part of it."""
    own = {noun: own_prep for own_prep, noun in scene.topic.places}
    place = scene.refer(scene.entity(lemma))
    place.det = "def"
    if not scene.dice.chance(0.08):
        place.adjs = []
    if whole:
        return PP(prep or own[lemma], place)
    if prep in ("", "in", "at", "on") and own.get(lemma) == "in" and scene.dice.chance(0.09):
        part, inner = scene.dice.pick((("corner", "in"), ("entrance", "near"), ("middle", "in")))
        return PP(inner, NP(part, det="def", plural=part + "s", mods=[PP("of", place)]))
    return PP(prep or own[lemma], place)


def _obliques(scene: Scene, frame: Frame, used: list[Entity], subject: Entity) -> list[PP]:
    """The prepositional phrases of a clause: one required, perhaps one optional."""
    chosen = []
    required = [o for o in frame.obliques if o.required]
    optional = [o for o in frame.obliques if not o.required]
    if required:
        chosen.append(scene.dice.pick(required))
    preps = {o.prep for o in chosen}
    optional = [o for o in optional if o.prep not in preps]
    if optional and scene.dice.chance(0.2 if required else 0.45):
        chosen.append(scene.dice.pick(optional))
    phrases = []
    for oblique in chosen:
        places = scene.topic.classes["place"]
        entity = scene.pick(oblique.nouns, used)
        if entity is None:
            continue
        used.append(entity)
        if entity.noun.lemma in places:
            phrases.append(place_phrase(scene, entity.noun.lemma, oblique.prep))
        else:
            phrases.append(PP(oblique.prep, scene.refer(entity, subject)))
    return phrases


def build(
    scene: Scene,
    frame: Frame,
    subject: Entity,
    phrase: NP | None = None,
    used: tuple[Entity, ...] = (),
    patient: Entity | None = None,
) -> tuple[Clause, Entity | None]:
    """An active clause from a frame, and the entity that is its object."""
    dice = scene.dice
    c = Clause(verb=frame.verb, particle=frame.particle, tense=scene.tense)
    c.subj = phrase if phrase is not None else scene.refer(subject)
    taken = [*used, subject]
    obj = patient
    if frame.objects and obj is None:
        obj = scene.pick(frame.objects, taken)
    if obj is not None:
        taken.append(obj)
    recip = None
    if frame.recipients:
        recip = scene.pick(frame.recipients, taken)
        if recip is not None:
            if dice.chance(0.25) and scene.heroes[0] not in taken and not scene.voice:
                recip = scene.relative_of(subject) if subject in scene.heroes else recip
            taken.append(recip)
            c.recip = scene.refer(recip, subject)
            c.double = dice.chance(0.6) or frame.verb == "ask"
    if obj is not None:
        c.obj = scene.refer(obj, subject)
        if recip is not None and obj.owner is recip:
            c.obj.poss, c.obj.det = None, "def"
        if c.obj.kind == "pron" or (c.obj.poss is not None and c.obj.poss.kind == "name"):
            c.double = False
        elif obj.owner is subject and frame.verb in ALIEN:
            c.obj.poss, c.obj.det = None, "def"
    c.obls = _obliques(scene, frame, taken, subject)
    scene.taken = taken
    if frame.manner and dice.chance(0.17):
        c.manner = dice.pick(word_list("adverbs", frame.manner))
    return c, obj


def person(scene: Scene, used: tuple[Entity, ...] = ()) -> Entity:
    """A person of the document, most often one of the heroes."""
    heroes = [hero for hero in scene.heroes if hero not in used]
    if heroes and scene.dice.chance(0.65):
        return scene.dice.pick(heroes)
    chosen = scene.pick(scene.topic.classes["p"], used)
    assert chosen is not None
    return chosen


def subject_phrase(scene: Scene, entity: Entity) -> NP:
    """The subject of a sentence, as a pronoun if the sentence before was about the same one."""
    if entity is scene.focus and entity.mentioned and scene.dice.chance(0.6):
        return scene.pronoun(entity)
    scene.focus = entity
    return scene.refer(entity)


def event(scene: Scene) -> Clause:
    """Something that happens by itself."""
    frame = scene.dice.pick(scene.topic.events)
    subject = scene.entity(scene.dice.pick(frame.subjects))
    scene.avoid = [subject]
    c, _ = build(scene, frame, subject)
    assert c.subj is not None
    if c.subj.det in ("indef", "some", "bare"):
        c.subj.det, c.subj.count = "def", 0
    return c


def state(scene: Scene, entity: Entity, phrase: NP, adjective: str) -> Clause:
    """A copular clause with an adjective."""
    return Clause("adj", subj=phrase, adj=Adj(adjective), tense=scene.tense)


def time_for(scene: Scene, tense: str, first: bool) -> Time:
    """A time expression that suits the tense."""
    dice = scene.dice
    fixed = {
        "past": ("later", "afterwards", "then") if scene.dated else ("yesterday", "later", "then"),
        "pres": ("now", "today"),
        "fut": ("tomorrow", "soon", "later", "today"),
    }[tense]
    kind = dice.pick(("adverb", "part", "part", "day", "bare"))
    if kind == "adverb":
        word = dice.pick(fixed)
        if word == "then":
            first = True
        return Time(word, first=first)
    if kind == "day":
        return Time(pp=PP("on", NP(dice.pick(word_list("names", "day")), "day")), first=first)
    if kind == "bare" and not (tense == "past" and scene.dated):
        det, head = {
            "past": (("last", "week"), ("this", "morning"), ("last", "month")),
            "pres": (("every", "day"), ("every", "morning"), ("every", "week")),
            "fut": (("this", "evening"), ("this", "week"), ("this", "afternoon")),
        }[tense][int(dice.chance(0.5)) + int(dice.chance(0.4))]  # fmt: skip
        return Time(pp=PP("", NP(head, det=det, plural=head + "s")), first=first)
    prep, head = dice.pick(
        (("in", "morning"), ("in", "evening"), ("in", "afternoon"), ("at", "noon"), ("at", "night"))
    )
    det = "bare" if prep == "at" else "def"
    return Time(pp=PP(prep, NP(head, det=det, plural=head + "s")), first=first)
