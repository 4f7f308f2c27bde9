"""Abstract sentences: what all three languages say, before any of them says it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Adj:
    """An adjective in use."""

    lemma: str
    degree: str = "Pos"  # Pos, Cmp or Sup
    intensifier: str = ""  # very, too, quite, so


@dataclass
class NP:
    """A noun phrase.

    ``kind`` is noun, name, day, pron, every (everyone), none (nobody), rel, wh or year.
    ``det`` is def, indef, bare, some, this, that, every, no, which, many (how many), last or poss.
    """

    head: str
    kind: str = "noun"
    number: str = "Sing"
    person: int = 3
    gender: str = "n"
    det: str = "bare"
    mass: bool = False
    animate: bool = False
    plural: str = ""
    surname: str = ""
    count: int = 0
    poss: NP | None = None
    adjs: list[Adj] = field(default_factory=list)
    mods: list[PP] = field(default_factory=list)
    rel: Clause | None = None
    appos: NP | None = None
    conj: list[NP] = field(default_factory=list)
    cc: str = "and"

    @property
    def agreement(self) -> tuple[int, str]:
        """Person and number for agreement, which coordination makes plural."""
        return (self.person, "Plur" if self.conj and self.cc == "and" else self.number)


@dataclass
class PP:
    """A noun phrase with the relation that an adposition or a case expresses."""

    prep: str
    np: NP


@dataclass
class Time:
    """A time expression: an adverb or a noun phrase, with or without preposition."""

    adverb: str = ""
    pp: PP | None = None
    first: bool = False


@dataclass
class Sub:
    """A subordinate adverbial clause with its subordinator."""

    mark: str
    clause: Clause
    first: bool = False


@dataclass
class Clause:
    """A clause; ``pred`` is verb, adj, noun, loc or exist."""

    pred: str = "verb"
    verb: str = ""
    particle: str = ""
    subj: NP | None = None
    obj: NP | None = None
    recip: NP | None = None
    double: bool = True  # "give her the pan" rather than "give the pan to her"
    obls: list[PP] = field(default_factory=list)
    adj: Adj | None = None
    than: NP | None = None
    nominal: NP | None = None
    place: PP | None = None
    tense: str = "past"  # past, pres or fut
    aspect: str = "simple"  # simple, prog or perf
    modal: str = ""
    neg: bool = False
    passive: bool = False  # the object is promoted; the subject, if any, becomes the agent
    informal: bool = False  # contractions
    elided: bool = False  # the subject is understood from the clause before
    backshift: bool = False  # "would", as the future of a past
    mood: str = "ind"  # ind, imp, yn, wh, inf, rel
    wh: str = ""  # where, when, why: an interrogative adverb
    manner: str = ""
    midadv: str = ""
    opening: str = ""  # sentence adverb at the start
    intj: str = ""
    time: Time | None = None
    comp: Clause | None = None
    comp_kind: str = ""  # that, zero, whether, inf, quote
    quote_first: bool = True
    subs: list[Sub] = field(default_factory=list)
    conj: list[tuple[str, Clause]] = field(default_factory=list)
    end: str = "."

    @property
    def topic(self) -> NP | None:
        """The noun phrase that the verb agrees with."""
        return self.obj if self.passive else self.subj
