"""Sentences that join clauses: conditions, sequences, long chains; and what everyone does."""

from __future__ import annotations

from .clauses import action, intended, mood_adjective, reported, requested
from .grammar import event, person, subject_phrase, time_for
from .scene import Scene
from .tree import NP, PP, Clause, Sub


def conditional(scene: Scene) -> Clause:
    """What will happen if something else happens."""
    dice = scene.dice
    condition = event(scene)
    condition.tense = "pres"
    subject = person(scene)
    scene.focus = subject
    c, _ = action(scene, subject, (), "active")
    c.subj = scene.refer(subject)
    c.tense, c.neg = "fut", dice.chance(0.25)
    if dice.chance(0.3):
        c.tense, c.modal = "pres", dice.pick(("must", "can", "should"))
    c.manner = ""
    c.subs.append(Sub("if", condition, dice.chance(0.6)))
    return c


def sequence(scene: Scene) -> Clause:
    """One person does two things, or two people do one thing each."""
    dice = scene.dice
    subject = person(scene)
    phrase = subject_phrase(scene, subject)
    c, _ = action(scene, subject, (), "active")
    c.subj = phrase
    used = tuple(scene.taken)
    if dice.chance(0.55):
        other, _ = action(scene, subject, used, "active")
        other.elided = True
        other.subj = phrase
        c.conj.append(("and", other))
        if dice.chance(0.3):
            other.midadv = "then"
    else:
        second = person(scene, used)
        other, _ = action(scene, second, used, "active")
        other.subj = scene.refer(second)
        cc = dice.pick(("and", "but", "but"))
        if cc == "but" and scene.tense == "past":
            other.neg, other.manner, other.informal = True, "", dice.chance(0.3)
        c.conj.append((cc if other.neg or cc == "and" else "and", other))
        scene.focus = None
    return c


def layered(scene: Scene) -> Clause:
    """A long sentence: something happens, somebody reacts, and another person does not."""
    dice = scene.dice
    first = event(scene)
    c = dice.pick((requested, reported, intended))(scene)
    c.subs = [Sub("when", first, True)]
    used = (*scene.taken, *([scene.focus] if scene.focus else []))
    doer = person(scene, used)
    other, _ = action(scene, doer, used, "active")
    other.subj = scene.refer(doer)
    other.manner = ""
    other.neg = scene.tense == "past" and dice.chance(0.5)
    c.conj.append(("but" if other.neg and not c.neg else "and", other))
    scene.focus = None
    return c


def general(scene: Scene) -> Clause:
    """What everyone or nobody does."""
    dice = scene.dice
    kind = dice.pick(("every", "none"))
    subject = NP("", kind, animate=True)
    verb = dice.pick(("laugh", "wait", "listen", "smile", "know", "understand", "leave", "look"))
    c = Clause(verb=verb, subj=subject, tense=scene.tense)
    scene.focus = None
    if verb in ("wait", "look"):
        target = scene.refer(person(scene))
        c.obls = [PP("for", target)]
    elif verb in ("listen", "smile"):
        c.obls = [PP("to" if verb == "listen" else "at", scene.refer(person(scene)))]
    elif verb in ("know", "understand"):
        topic = person(scene)
        c.comp = Clause("adj", subj=scene.refer(topic), tense=scene.tense)
        c.comp.adj, c.comp_kind = mood_adjective(scene), "that"
    else:
        c.time = time_for(scene, scene.tense, dice.chance(0.5))
    return c
