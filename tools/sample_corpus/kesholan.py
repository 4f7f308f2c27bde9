"""The realiser of Kesholan: verb-final, postpositions, cases, no articles, dropped pronouns."""

from __future__ import annotations

from . import kesholan_words as kw
from .conllu import Node, capitalise, punct
from .tree import NP, PP, Adj, Clause, Time

DETERMINERS = {
    "this": ("ez", "Dem"), "that": ("oz", "Dem"), "every": ("mirø", "Tot"), "some": ("néh", "Ind"),
    "no": ("šem", "Neg"), "which": ("mejol", "Int"), "many": ("mendø", "Int"),
}  # fmt: skip
MODALS = {
    "can": "bér", "could": "bér", "must": "šol", "should": "kand", "may": "møg", "might": "møg",
}  # fmt: skip
MARKS = {
    "that": "ket", "zero": "ket", "whether": "ljé", "because": "mirt", "when": "kodø",
    "while": "albå", "before": "éltek", "after": "utåk", "until": "midø", "although": "bårø",
    "if": "hun", "to": "zol",
}  # fmt: skip
CC = {"and": "ta", "but": "dø", "or": "vø"}


def comma() -> Node:
    """A comma."""
    return punct(",", "P")


def adjective(adj: Adj, deprel: str) -> Node:
    """An adjective, which does not agree."""
    base = kw.stem("a", adj.lemma)
    form = {"Pos": base, "Cmp": kw.add(base, "Od"), "Sup": "lø" + kw.add(base, "Od")}[adj.degree]
    node = Node(form, base, "ADJ", "A", deprel, {"Degree": adj.degree})
    if adj.intensifier:
        word = kw.stem("r", adj.intensifier)
        node.pre.append(Node(word, word, "ADV", "R", "advmod"))
    return node


def phrase(np: NP, case: str, deprel: str) -> Node:
    """A noun phrase in a case, with its conjuncts."""
    node = _single(np, case, deprel)
    for i, other in enumerate(np.conj):
        conjunct = phrase(other, case, "conj")
        if i < len(np.conj) - 1:
            conjunct.pre.insert(0, comma())
        else:
            conjunct.pre.insert(0, Node(CC[np.cc], CC[np.cc], "CCONJ", "C", "cc"))
        node.post.append(conjunct)
    return node


def _single(np: NP, case: str, deprel: str) -> Node:
    feats = {"Case": case, "Number": np.number}
    if np.kind == "pron":
        base = kw.PRONOUNS[(np.person, np.number)]
        feats |= {"Person": str(np.person), "PronType": "Prs"}
        return Node(kw.add(base, kw.CASES[case]), base, "PRON", "PN", deprel, feats)
    if np.kind in ("every", "none", "wh"):
        base = {"every": "mirøn", "none": "šenki", "who": "kjé", "what": "mit"}[
            np.head if np.kind == "wh" else np.kind
        ]
        kind = {"every": "Tot", "none": "Neg", "wh": "Int"}[np.kind]
        form = kw.decline(base, "Sing", case)
        return Node(form, base, "PRON", "PN", deprel, {"Case": case, "PronType": kind})
    if np.kind == "year":
        return Node(np.head, np.head, "NUM", "Q", deprel, {"NumForm": "Digit", "NumType": "Card"})
    if np.kind in ("name", "day"):
        base = kw.name(np.head)
        if np.kind == "day":
            base = kw.stem("d", np.head).capitalize()
        node = Node(kw.decline(base, "Sing", case), base, "PROPN", "NP", deprel, feats)
        if np.surname:
            family = kw.name(np.surname)
            form = kw.decline(family, "Sing", case)
            node.post.append(Node(form, family, "PROPN", "NP", "flat", dict(feats)))
    else:
        base = kw.stem("n", np.head)
        # A numeral makes the plural ending superfluous.
        number = "Sing" if np.count or np.det == "many" else np.number
        feats["Number"] = number
        node = Node(kw.decline(base, number, case), base, "NOUN", "N", deprel, feats)
    node.pre = _before(np)
    if np.appos is not None:
        apposition = phrase(np.appos, case, "appos")
        apposition.pre.insert(0, comma())
        apposition.post.append(comma())
        node.post.append(apposition)
    return node


def _before(np: NP) -> list[Node]:
    """The modifiers of a noun, all of which precede it."""
    nodes = []
    if np.rel is not None:
        nodes.append(clause(np.rel, "acl"))
    if np.poss is not None:
        owner = phrase(np.poss, "Gen", "nmod:poss")
        if np.poss.kind == "pron":
            owner.feats["Poss"] = "Yes"
        nodes.append(owner)
    nodes += [adpositional(pp, "nmod") for pp in np.mods]
    if np.det in DETERMINERS:
        form, kind = DETERMINERS[np.det]
        nodes.append(Node(form, form, "DET", "D", "det", {"PronType": kind}))
    elif np.det == "last":
        base = kw.stem("a", "last")
        nodes.append(Node(base, base, "ADJ", "A", "amod", {"Degree": "Pos"}))
    if np.count:
        small = np.count <= 20
        word = kw.NUMERALS[np.count] if small else str(np.count)
        feats = {"NumForm": "Word" if small else "Digit", "NumType": "Card"}
        nodes.append(Node(word, word, "NUM", "Q", "nummod", feats))
    return nodes + [adjective(adj, "amod") for adj in np.adjs]


def adpositional(pp: PP, deprel: str) -> Node:
    """A noun phrase in the case, and with the postposition, that a relation asks for."""
    case, post = kw.PREPOSITIONS[pp.prep]
    if pp.np.kind == "year":
        post = "løt"
    node = phrase(pp.np, case, deprel)
    if post:
        node.post.append(Node(post, post, "ADP", "PO", "case"))
    return node


def time_phrase(time: Time) -> Node:
    """A time expression."""
    if time.adverb:
        word = kw.stem("r", time.adverb)
        return Node(word, word, "ADV", "R", "advmod")
    assert time.pp is not None
    return adpositional(PP("in", time.pp.np), "obl" if time.pp.prep else "obl:tmod")


def _verb(base: str, c: Clause, deprel: str, upos: str, plain: bool = False) -> Node:
    """A finite verb; ``plain`` leaves aspect and voice to another word."""
    person, number = c.topic.agreement if c.topic is not None else (2, "Sing")
    aspect = "simple" if plain else c.aspect
    passive = c.passive and not plain
    feats = {"VerbForm": "Fin", "Aspect": {"prog": "Prog", "perf": "Perf"}.get(aspect, "")}
    feats["Voice"] = "Pass" if passive else ""
    if c.mood == "imp":
        feats |= {"Mood": "Imp", "Person": "2"}
        return Node(kw.add(base, "I"), base, upos, "V", deprel, feats)
    feats |= {"Mood": "Ind", "Person": str(person), "Number": number, "Tense": c.tense.capitalize()}
    form = kw.conjugate(base, c.tense, aspect, passive, person, number)
    return Node(form, base, upos, "V" if upos == "VERB" else "VX", deprel, feats)


def _head(c: Clause, deprel: str) -> Node:
    """The predicate with its auxiliaries, negation and question particle."""
    negation = Node("nø", "nø", "PART", "NEG", "advmod", {"Polarity": "Neg"})
    if c.pred in ("adj", "noun", "loc"):
        node = _nominal(c)
        if c.neg:
            node.pre.insert(0, negation)
        if c.tense != "pres" or c.neg or c.modal:
            # The present copula is silent unless it is negated.
            node.post.append(_verb("løn", c, "cop", "AUX"))
    else:
        lemma = f"{c.verb} {c.particle}".strip() if c.pred == "verb" else "exist"
        base = kw.stem("v", lemma)
        if c.mood == "inf" or c.modal:
            body = kw.add(base, "Id") if c.passive else base
            feats = {"VerbForm": "Inf", "Voice": "Pass" if c.passive else ""}
            node = Node(kw.add(body, "En"), base, "VERB", "VI", deprel, feats)
        elif c.mood == "rel":
            past = c.tense == "past" or c.aspect == "perf"
            feats = {"VerbForm": "Part", "Tense": "Past" if past else "Pres"}
            suffix = "EttI" if past else "EndI"
            node = Node(kw.add(base, suffix), base, "VERB", "VP", deprel, feats)
        else:
            node = _verb(base, c, deprel, "VERB")
        if c.neg:
            node.pre.append(negation)
        if c.modal and c.mood != "inf":
            node.post.append(_verb(MODALS[c.modal], c, "aux", "AUX", plain=True))
    node.deprel = deprel
    if c.mood == "yn":
        node.post.append(Node("ly", "ly", "PART", "QP", "advmod", {"PartType": "Int"}))
    return node


def _nominal(c: Clause) -> Node:
    if c.pred == "adj":
        assert c.adj is not None
        node = adjective(c.adj, "root")
        if c.than is not None:
            node.pre.insert(0, adpositional(PP("than", c.than), "obl"))
        return node
    if c.pred == "noun":
        assert c.nominal is not None
        return phrase(c.nominal, "Nom", "root")
    if c.place is None:
        word = kw.stem("r", "where")
        return Node(word, word, "ADV", "R", "root", {"PronType": "Int"})
    return adpositional(c.place, "root")


def clause(c: Clause, deprel: str) -> Node:
    """A clause, whose predicate comes last."""
    node = _head(c, deprel)
    pre: list[Node] = []
    for kind, word in (("i", c.intj), ("r", c.opening)):
        if word:
            form = kw.stem(kind, word)
            upos, rel = ("INTJ", "discourse") if kind == "i" else ("ADV", "advmod")
            pre.append(Node(form, form, upos, kind.upper(), rel, post=[comma()]))
    for sub in c.subs:
        inner = clause(sub.clause, "advcl")
        mark = MARKS[sub.mark]
        inner.post += [Node(mark, mark, "SCONJ", "S", "mark"), comma()]
        pre.append(inner)
    if c.comp is not None and c.comp_kind == "quote" and c.quote_first:
        pre.append(_quote(c.comp))
    if c.time is not None:
        pre.append(time_phrase(c.time))
    pre += _arguments(c)
    if c.midadv:
        word = kw.stem("r", c.midadv)
        pre.append(Node(word, word, "ADV", "R", "advmod"))
    if c.manner:
        word = kw.stem("r", c.manner)
        pre.append(Node(word, word, "ADV", "R", "advmod"))
    node.pre = pre + node.pre
    for cc, other in c.conj:
        conjunct = clause(other, "conj")
        conjunct.pre.insert(0, Node(CC[cc], CC[cc], "CCONJ", "C", "cc"))
        if not other.elided:
            conjunct.pre.insert(0, comma())
        node.post.append(conjunct)
    return node


def _arguments(c: Clause) -> list[Node]:
    """Subject, obliques, recipient, object and complement, in this order."""
    pre = []
    subject = c.topic
    silent = subject is None or c.elided or c.mood in ("imp", "inf") or subject.kind == "rel"
    # The verb ending makes a subject pronoun superfluous; a silent copula does not.
    needed = subject is not None and (subject.kind != "pron" or c.pred in ("adj", "noun", "loc"))
    if subject is not None and needed and not silent:
        pre.append(phrase(subject, "Nom", "nsubj:pass" if c.passive else "nsubj"))
    if c.passive and c.subj is not None:
        pre.append(phrase(c.subj, "Ins", "obl:agent"))
    if c.wh and c.pred == "verb":
        word = kw.stem("r", c.wh)
        pre.append(Node(word, word, "ADV", "R", "advmod", {"PronType": "Int"}))
    pre += [adpositional(pp, "obl") for pp in c.obls]
    if c.recip is not None:
        pre.append(phrase(c.recip, "Dat", "iobj"))
    if c.obj is not None and not c.passive and c.obj.kind != "rel":
        pre.append(phrase(c.obj, "Acc", "obj"))
    if c.comp is not None and c.comp_kind == "quote":
        if not c.quote_first:
            pre.append(_quote(c.comp))
    elif c.comp is not None:
        inner = clause(c.comp, "xcomp" if c.comp_kind == "inf" else "ccomp")
        if c.comp_kind != "inf":
            mark = MARKS[c.comp_kind]
            inner.post += [Node(mark, mark, "SCONJ", "S", "mark"), comma()]
        pre.append(inner)
    if c.pred == "exist" and c.obls and pre:
        # The place comes before what is in it.
        pre = pre[1:] + pre[:1]
    return pre


def _quote(speech: Clause) -> Node:
    """Direct speech between angle quotes."""
    node = clause(speech, "ccomp")
    capitalise(node.order())
    node.pre.insert(0, punct("«", "P", left=False, right=True))
    if speech.end != ".":
        node.post.append(punct(speech.end, "P"))
    node.post += [punct("»", "P"), comma()]
    return node


def sentence(c: Clause) -> Node:
    """A whole sentence."""
    root = clause(c, "root")
    root.post.append(punct(c.end, "P"))
    return root
