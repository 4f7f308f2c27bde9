"""Direct speech: statements, questions and requests, with or without a speaker."""

from __future__ import annotations

from .grammar import build, choose_frame, person, time_for
from .lexicon import adjectives, word_list
from .scene import Entity, Scene
from .tree import NP, Adj, Clause


def quoted(scene: Scene) -> Clause:
    """A sentence of direct speech with its speaker."""
    dice = scene.dice
    for _ in range(20):
        speaker = person(scene)
        hearer = person(scene, (speaker,))
        if speaker.number == "Sing" and hearer.number == "Sing":
            break
    narrator = next((e for e, p in scene.voice.items() if p == 1), None)
    outside = scene.voice
    phrase = scene.refer(speaker) if speaker is not scene.focus else scene.pronoun(speaker)
    scene.focus = speaker
    inner_tense, scene.tense = scene.tense, "pres"
    scene.voice = {speaker: 1, hearer: 2}
    if narrator is not None and narrator not in scene.voice:
        scene.voice = {speaker: 1, narrator: 2}
        hearer = narrator
    said = utterance(scene, speaker, hearer)
    scene.voice, scene.tense = outside, inner_tense
    scene.focus = None
    question = said.end == "?"
    verb = "ask" if question else dice.pick(word_list("clausal", "quote"))
    if said.mood == "imp" and verb in ("explain", "add"):
        verb = "say"
    first = dice.chance(0.8)
    if not first and verb in ("reply", "explain"):
        verb = "say"
    return Clause(
        verb=verb, subj=phrase, tense=scene.tense, comp=said, comp_kind="quote", quote_first=first
    )


def utterance(scene: Scene, speaker: Entity, hearer: Entity) -> Clause:
    """What a speaker says to a hearer."""
    dice = scene.dice
    kind = dice.pick(("tell", "tell", "state", "yes-no", "who", "what", "where", "why", "order",
                      "order", "forbid", "thing", "many"))  # fmt: skip
    if kind == "tell":
        return _tell(scene, speaker)
    if kind == "state":
        c = Clause("adj", subj=scene.pronoun(dice.pick((speaker, hearer))), tense="pres")
        c.adj = Adj(
            dice.pick(adjectives("state")), intensifier=dice.pick(("", "very", "so", "too"))
        )
        c.informal = dice.chance(0.7)
        if c.subj is not None and c.subj.person == 2:
            c.mood, c.end = "yn", "?"
            c.adj.intensifier = ""
        return c
    if kind == "thing":
        return _remark(scene)
    if kind == "where":
        item = scene.entity(dice.pick(scene.topic.classes["item"]))
        phrase = scene.refer(item, speaker)
        if phrase.det in ("indef", "some", "bare"):
            phrase.det = "def"
        phrase.mods, phrase.count, phrase.adjs = [], 0, []
        return Clause("loc", subj=phrase, mood="wh", wh="where", tense="pres", end="?")
    if kind in ("order", "forbid"):
        return _order(scene, hearer, kind == "forbid", speaker)
    return question(scene, hearer, kind, (speaker,))


def _tell(scene: Scene, speaker: Entity) -> Clause:
    dice = scene.dice
    frame = choose_frame(scene, speaker, "active")
    c, _ = build(scene, frame, speaker)
    kind = dice.pick(("future", "perfect", "modal", "negative", "now", "want"))
    c.informal = dice.chance(0.75)
    c.manner = ""
    if kind == "future":
        c.tense = "fut"
        if dice.chance(0.4):
            c.time = time_for(scene, "fut", dice.chance(0.3))
    elif kind == "perfect":
        c.aspect = "perf"
        c.midadv = dice.pick(("", "already", "just", "never"))
    elif kind == "modal":
        c.modal = dice.pick(("can", "must", "should"))
        c.neg = dice.chance(0.5)
    elif kind == "negative":
        c.aspect, c.neg = "perf", True
    elif kind == "now":
        c.aspect = "prog"
    else:
        c.mood = "inf"
        subject, c.subj = c.subj, None
        c.informal = False
        return Clause(verb="want", subj=subject, tense="pres", comp=c, comp_kind="inf",
                      neg=dice.chance(0.4), informal=True)  # fmt: skip
    if dice.chance(0.4) and c.time is None:
        c.intj = dice.pick(("yes", "no", "well", "oh"))
        if c.intj == "yes" and c.neg:
            c.intj = "no"
        elif c.intj == "no" and not c.neg:
            c.intj = "yes"
    return c


def _remark(scene: Scene) -> Clause:
    dice = scene.dice
    known = [e for e in scene.cast.values() if e.mentioned and not e.animate]
    known = [e for e in known if e.noun.group not in ("room", "sea", "place") and not e.noun.bare]
    entity = dice.pick(known) if known else scene.entity(dice.pick(scene.topic.classes["item"]))
    phrase = scene.refer(entity)
    if phrase.det in ("indef", "some", "bare"):
        phrase.det = dice.pick(("this", "that"))
    phrase.adjs, phrase.count, phrase.mods = [], 0, []
    adjective = Adj(dice.pick(adjectives(entity.noun.group)))
    c = Clause("adj", subj=phrase, adj=adjective, tense="pres")
    if dice.chance(0.35):
        c.neg, c.informal = True, True
    elif dice.chance(0.3):
        c.mood, c.end = "yn", "?"
    else:
        c.end = dice.pick((".", "!"))
    return c


def _order(scene: Scene, hearer: Entity, forbid: bool, speaker: Entity) -> Clause:
    dice = scene.dice
    frame = choose_frame(scene, hearer, "active")
    c, _ = build(scene, frame, hearer)
    c.mood, c.tense = "imp", "pres"
    if c.obj is not None and c.obj.det in ("indef", "some") and c.obj.kind == "noun":
        c.obj.det = dice.pick(("def", "this", "that"))
        c.obj.adjs, c.obj.mods = [], []
    c.end = dice.pick((".", "!"))
    if forbid:
        c.neg, c.informal, c.manner = True, dice.chance(0.85), ""
    elif dice.chance(0.6):
        c.intj = "please"
    return c


def question(
    scene: Scene, hearer: Entity | None, kind: str, used: tuple[Entity, ...] = ()
) -> Clause:
    """A question about an action; the hearer, if any, may be its subject."""
    dice = scene.dice
    about = hearer if hearer is not None and dice.chance(0.6) else person(scene, used)
    for _ in range(20):
        frame = choose_frame(scene, about, "object" if kind in ("what", "many") else "active")
        if not (frame.stative or frame.involuntary):
            break
    c, obj = build(scene, frame, about)
    c.mood, c.end, c.manner = "wh", "?", ""
    present = scene.tense == "pres"
    style = dice.pick(("past", "perf", "fut")) if present else "past"
    c.tense = {"perf": "pres"}.get(style, style)
    c.aspect = "perf" if style == "perf" else "simple"
    if frame.stative:
        c.tense, c.aspect = scene.tense, "simple"
    if kind == "yes-no":
        c.mood = "yn"
        if dice.chance(0.3) and style != "fut":
            c.modal, c.tense, c.aspect = dice.pick(("can", "could", "should")), "pres", "simple"
        elif dice.chance(0.25):
            c.neg = c.informal = True
    elif kind == "why":
        c.wh = dice.pick(("why", "when", "why", "how"))
        if c.wh == "how" and not (frame.manner == "c" and frame.objects):
            c.wh = "why"
        if (c.wh == "when" and c.aspect == "perf") or c.wh == "how":
            c.aspect, c.tense = "simple", "past"
    elif kind == "who":
        c.subj = NP("who", "wh", animate=True)
        c.aspect = "simple" if c.tense == "past" else c.aspect
    elif (obj is not None and obj.noun.mass) or c.obj is None or obj in scene.voice:
        c.mood = "yn"
    elif kind == "many" and obj is not None:
        det = dice.pick(("many", "which"))
        number = "Plur" if det == "many" else obj.number
        c.obj = NP(obj.noun.lemma, "noun", number, 3, obj.gender, det, False, obj.animate,
                   obj.noun.plural)  # fmt: skip
    elif obj is not None:
        c.obj = NP("who" if obj.animate else "what", "wh", animate=obj.animate)
        c.obls = c.obls[:1]
    return c
