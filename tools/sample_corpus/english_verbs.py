"""English verb groups: auxiliaries, negation, tense and agreement."""

from __future__ import annotations

from . import english_words as ew
from .conllu import Node
from .tree import Clause

MODALS = ("can", "could", "must", "should", "may", "might", "will", "would")
NOT_STEM = {"will": "wo", "can": "ca"}
NEVER_NT = ("am", "may", "might")


def verb_group(c: Clause, inverted: bool) -> tuple[list[Node], Node | None]:
    """The auxiliaries (negation included) and the main verb; no main verb in copular clauses."""
    copular = c.pred in ("adj", "noun", "loc")
    main = "be" if c.pred == "exist" or copular else c.verb
    chain: list[tuple[str, str]] = []
    tense = c.tense
    if c.modal:
        chain.append((c.modal, "aux"))
    elif c.tense == "fut":
        chain.append(("would" if c.backshift else "will", "aux"))
    if c.aspect == "perf":
        chain.append(("have", "aux"))
    if c.aspect == "prog":
        chain.append(("be", "aux"))
    if c.passive:
        chain.append(("be", "aux:pass"))
    chain.append((main, "cop" if copular else "main"))
    needs_do = c.mood == "imp" or main != "be"
    if len(chain) == 1 and needs_do and (c.neg or inverted):
        chain.insert(0, ("do", "aux"))
    agreement = c.topic.agreement if c.topic is not None else (2, "Sing")
    nodes: list[Node] = []
    required = {"imp": "imp", "inf": "inf"}.get(c.mood, "fin")
    for lemma, deprel in chain:
        node = _verb_form(lemma, deprel, required, tense, agreement)
        nodes.append(node)
        if lemma in MODALS or lemma == "do":
            required = "inf"
        elif lemma == "have":
            required = "perf"
        elif lemma == "be":
            required = "pass" if c.passive and len(nodes) == len(chain) - 1 else "prog"
    if c.neg:
        _negate(nodes, c.informal)
    head = None
    if not copular:
        head = nodes.pop()
    return nodes, head


def _verb_form(
    lemma: str, deprel: str, required: str, tense: str, agreement: tuple[int, str]
) -> Node:
    upos = "VERB" if deprel == "main" else "AUX"
    person, number = agreement
    if lemma in MODALS:
        return Node(lemma, lemma, upos, "MD", deprel, {"VerbForm": "Fin"})
    if required == "imp":
        feats = {"Mood": "Imp", "Person": "2", "VerbForm": "Fin"}
        return Node(lemma, lemma, upos, "VB", deprel, feats)
    if required == "inf":
        return Node(lemma, lemma, upos, "VB", deprel, {"VerbForm": "Inf"})
    if required == "prog":
        feats = {"Tense": "Pres", "VerbForm": "Part"}
        return Node(ew.gerund(lemma), lemma, upos, "VBG", deprel, feats)
    if required in ("perf", "pass"):
        feats = {"Tense": "Past", "VerbForm": "Part"}
        if required == "pass":
            feats["Voice"] = "Pass"
        return Node(ew.past_participle(lemma), lemma, upos, "VBN", deprel, feats)
    form, xpos = ew.finite(lemma, tense, person, number)
    feats = {"Mood": "Ind", "Tense": tense.capitalize(), "VerbForm": "Fin"}
    feats |= {"Number": number, "Person": str(person)}
    return Node(form, lemma, upos, xpos, deprel, feats)


def _negate(nodes: list[Node], informal: bool) -> None:
    """Put the negation after the first verb, contracted where the style allows it."""
    first = nodes[0]
    negation = Node("not", "not", "PART", "RB", "advmod", {"Polarity": "Neg"})
    if informal and first.form not in NEVER_NT:
        negation.form = "n't"
        negation.glue_left = True
        first.form = NOT_STEM.get(first.form, first.form)
    nodes.insert(1, negation)
