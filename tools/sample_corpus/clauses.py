"""Sentences of more than one clause: complements, adverbial clauses, coordination."""

from __future__ import annotations

from .grammar import build, choose_frame, event, person, subject_phrase, time_for
from .lexicon import Frame, adjectives, comparison, word_list
from .scene import Entity, Scene
from .sentences import plain
from .tree import NP, PP, Adj, Clause, Sub


def action(
    scene: Scene, subject: Entity, used: tuple[Entity, ...] = (), kind: str = "person"
) -> tuple[Clause, Entity | None]:
    """What a person does, the subject being a pronoun or left out by the caller."""
    frame = choose_frame(scene, subject, kind)
    return build(scene, frame, subject, scene.pronoun(subject), used)


def reported(scene: Scene) -> Clause:
    """Somebody says or thinks that something is so."""
    dice = scene.dice
    speaker = person(scene)
    past = scene.tense == "past"
    c = Clause(verb="", subj=subject_phrase(scene, speaker), tense=scene.tense)
    other = person(scene, (speaker,))
    kind = dice.pick(("done", "future", "state", "modal", "doing"))
    told: tuple[Entity, ...] = ()
    lists = {"future": "hope", "modal": "judge"}
    verbs = word_list("clausal", lists.get(kind, "say" if past else "present"))
    c.verb = dice.pick(verbs)
    if c.verb == "promise":
        other = speaker
    if dice.chance(0.2) and c.verb not in ("hope", "promise"):
        listener = person(scene, (speaker, other))
        c.verb = dice.pick(word_list("clausal", "tell"))
        c.recip, c.double = scene.refer(listener), True
        told = (listener,)
    inner = scene.pronoun(other) if other is speaker else scene.refer(other)
    if kind == "state":
        c.comp = Clause("adj", subj=inner, tense=scene.tense)
        c.comp.adj = mood_adjective(scene)
    else:
        frame = choose_frame(scene, other, "person" if kind == "done" else "active")
        c.comp, _ = build(scene, frame, other, inner, (speaker, *told))
    comp = c.comp
    if kind == "future":
        comp.tense, comp.backshift = "fut", past
        if dice.chance(0.4):
            comp.time = time_for(scene, "fut", False)
            if past and comp.time.adverb in ("today", "tomorrow"):
                comp.time = None
    elif kind == "done":
        comp.aspect = "perf"
    elif kind == "doing":
        comp.aspect, comp.manner = "prog", ""
    elif kind == "modal":
        comp.modal = dice.pick(("could", "might", "should") if past else ("can", "may", "should"))
        comp.neg = dice.chance(0.35) and comp.modal != "may"
    drop = c.verb in ("say", "think", "know", "hope", "believe") and dice.chance(0.25)
    c.comp_kind = "zero" if drop else "that"
    return c


def mood_adjective(scene: Scene) -> Adj:
    """An adjective for how somebody feels."""
    return Adj(scene.dice.pick(adjectives("state")))


def intended(scene: Scene) -> Clause:
    """Somebody wants, tries or decides to do something."""
    dice = scene.dice
    subject = person(scene)
    c = Clause(subj=subject_phrase(scene, subject), tense=scene.tense)
    c.verb = dice.pick(word_list("clausal", "want"))
    c.comp, _ = action(scene, subject, (), "active")
    c.comp.mood, c.comp_kind = "inf", "inf"
    if c.comp.verb == c.verb:
        c.verb = "want"
    if dice.chance(0.4) and c.verb in ("want", "try", "plan"):
        c.neg = True
    elif dice.chance(0.2):
        c.subs.append(Sub("when", event(scene), dice.chance(0.6)))
    return c


def requested(scene: Scene) -> Clause:
    """Somebody asks, helps or persuades another to do something."""
    dice = scene.dice
    subject = person(scene)
    other = person(scene, (subject,))
    c = Clause(subj=subject_phrase(scene, subject), tense=scene.tense)
    c.verb = dice.pick(word_list("clausal", "order"))
    c.obj = scene.refer(other, subject)
    c.comp, _ = action(scene, other, (subject,), "active")
    c.comp.mood, c.comp_kind = "inf", "inf"
    if c.comp.verb == c.verb:
        c.verb = "persuade"
    return c


def obliged(scene: Scene) -> Clause:
    """A statement with a modal verb, or about the future."""
    dice = scene.dice
    c = plain(scene, "active")
    c.aspect, c.midadv, c.neg, c.informal, c.time = "simple", "", False, False, None
    c.subs = []
    if scene.tense == "past":
        c.modal = "could"
        c.neg = dice.chance(0.75)
        c.informal = dice.chance(0.3)
    elif dice.chance(0.5):
        c.tense = "fut"
        c.neg = dice.chance(0.2)
        c.informal = c.neg and dice.chance(0.5)
        c.time = time_for(scene, "fut", dice.chance(0.4))
    else:
        c.modal = dice.pick(("can", "must", "should", "may"))
        c.neg = dice.chance(0.3)
    if c.neg:
        c.manner = ""
    return c


def explained(scene: Scene) -> Clause:
    """A statement with a reason."""
    dice = scene.dice
    for _ in range(20):
        frame = choose_frame(scene, kind="object")
        if frame.reasons:
            break
    subject = scene.pick(frame.subjects, ())
    assert subject is not None
    c, obj = build(scene, frame, subject, subject_phrase(scene, subject))
    reasons = _reasons(scene, frame, obj) if obj is not None else []
    if reasons and obj is not None:
        reason = Clause("adj", subj=scene.pronoun(obj), tense=scene.tense)
        reason.adj = Adj(dice.pick(reasons))
        if comparison()[reason.adj.lemma] != "no":
            reason.adj.intensifier = dice.pick(("", "", "very", "so"))
        if obj.attribute and c.obj is not None:
            c.obj.adjs = []
    elif subject.animate and obj is not None and not obj.animate:
        reason = Clause(verb="want", subj=scene.pronoun(subject), tense=scene.tense)
        other = person(scene, (subject, *([obj] if obj else [])))
        reason.comp = Clause(verb="help", obj=scene.refer(other), mood="inf")
        reason.comp_kind = "inf"
    else:
        return c
    c.manner = ""
    c.subs.append(Sub("because", reason))
    return c


def _reasons(scene: Scene, frame: Frame, obj: Entity) -> list[str]:
    """The adjectives that can be both true of the object and a reason for the action."""
    if obj.animate:
        return []
    groups = {scene.topic.nouns[lemma].group for lemma in frame.objects}
    usual = ("dirty", "broken", "old", "hungry", "excellent", "beautiful", "interesting")
    own = frame in scene.topic.frames[: scene.topic.own]
    fitting = adjectives(obj.noun.group)
    return [
        reason
        for reason in frame.reasons
        if reason in fitting or reason == "dirty" or (own and (len(groups) == 1 or reason in usual))
    ]


def declined(scene: Scene) -> Clause:
    """Something that is not done for a reason, or done in spite of it."""
    dice = scene.dice
    subject = person(scene)
    contrast = dice.chance(0.5)
    phrase = subject_phrase(scene, subject)
    c, _ = action(scene, subject, (), "active")
    reason = Clause("adj", subj=scene.pronoun(subject), tense=scene.tense)
    weak = ("tired", "hungry", "busy", "nervous", "thirsty", "worried", "angry", "ill")
    reason.adj = Adj(dice.pick(weak), intensifier=dice.pick(("", "very", "too", "still")))
    if contrast and reason.adj.intensifier == "too":
        reason.adj.intensifier = "so"
    if reason.adj.intensifier in ("still", "so"):
        reason.adj.intensifier = ""
    c.manner, c.subj = "", phrase
    if contrast:
        first = dice.chance(0.6)
        if first and phrase.kind != "pron":
            c.subj, reason.subj = phrase, scene.pronoun(subject)
        c.subs.append(Sub("although", reason, first))
    else:
        c.neg = True
        c.informal = dice.chance(0.3)
        c.subs.append(Sub("because", reason))
    return c


def timed(scene: Scene) -> Clause:
    """Two things that happen together or one after the other."""
    dice = scene.dice
    kind = dice.pick(("when", "while", "before", "after", "until", "purpose"))
    subject = person(scene)
    phrase = subject_phrase(scene, subject)
    c, _ = action(scene, subject, (), "active")
    used = tuple(scene.taken)
    first = dice.chance(0.5)
    if kind == "purpose":
        return _purpose(scene, subject, phrase)
    if kind in ("when", "until"):
        inner = event(scene)
        if kind == "until":
            first = False
            c.verb, c.particle, c.obj, c.recip, c.obls = "wait", "", None, None, []
            c.manner = ""
    elif kind == "while":
        other = person(scene, used)
        inner, _ = action(scene, other, used, "active")
        inner.subj, inner.aspect, inner.manner = scene.refer(other), "prog", ""
        c.aspect = dice.pick(("simple", "prog"))
    else:
        inner, _ = action(scene, subject, used, "active")
        inner.manner = ""
        inner.aspect = "perf" if kind == "after" else "simple"
    if first and kind in ("before", "after"):
        # "After she had washed it, Anna ..." would delay the name; give it at once.
        inner.subj, c.subj = phrase, scene.pronoun(subject)
    else:
        c.subj = phrase
    c.subs.append(Sub(kind, inner, first))
    return c


def _purpose(scene: Scene, subject: Entity, phrase: NP) -> Clause:
    places = scene.topic.classes["place"]
    place = scene.refer(scene.entity(scene.dice.pick(places)))
    place.det = "def"
    c = Clause(verb=scene.dice.pick(("go", "come", "hurry", "run")), tense=scene.tense, subj=phrase)
    c.obls = [PP("to", place)]
    for _ in range(20):
        inner, _ = action(scene, subject, (scene.entity(place.head),), "active")
        if inner.verb not in ("arrive", "return", "follow"):
            break
    inner.mood, inner.manner = "inf", ""
    inner.obls = [pp for pp in inner.obls if pp.np.head not in places]
    c.subs.append(Sub("to", inner))
    return c
