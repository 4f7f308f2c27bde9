"""The realiser of Taviran: verb-initial, prepositions, gender, adjectives after nouns."""

from __future__ import annotations

from . import taviran_words as tw
from .conllu import Node, capitalise, punct
from .taviran_parts import GENDER, adjective, adverb, comma, gender_of, verbs
from .tree import NP, Adj, Clause, Sub, Time

DETERMINERS = {
    "this": ("kest", "Dem"), "that": ("tel", "Dem"), "every": ("omn", "Tot"),
    "some": ("alk", "Ind"),
    "no": ("nul", "Neg"), "which": ("kual", "Int"), "many": ("kuant", "Int"),
}  # fmt: skip
MARKS = {
    "that": "ke", "zero": "ke", "whether": "sik", "because": "perke", "when": "kuandi",
    "while": "mentri", "before": "primke", "after": "dopuke", "until": "finke", "although": "benke",
    "if": "sik", "to": "porke",
}  # fmt: skip
CC = {"and": "et", "but": "mas", "or": "od"}


def phrase(np: NP, deprel: str, prep: str = "") -> Node:
    """A noun phrase with its preposition and conjuncts."""
    node = _single(np, deprel, prep)
    for i, other in enumerate(np.conj):
        conjunct = phrase(other, "conj")
        if i < len(np.conj) - 1:
            conjunct.pre.insert(0, comma())
        else:
            conjunct.pre.insert(0, Node(CC[np.cc], CC[np.cc], "CCONJ", "CON", "cc"))
        node.post.append(conjunct)
    return node


def _single(np: NP, deprel: str, prep: str) -> Node:
    case = [Node(prep, prep, "ADP", "PRE", "case")] if prep else []
    sex = gender_of(np)
    feats = {"Number": np.number}
    if np.kind == "pron":
        key = (np.person, np.number, sex if np.person == 3 and np.number == "Sing" else "")
        subject = deprel.startswith("nsubj")
        form = tw.PRONOUNS[key][0 if subject else 1]
        feats |= {"Person": str(np.person), "PronType": "Prs", "Case": "Nom" if subject else "Acc"}
        return Node(form, tw.PRONOUNS[key][0], "PRON", "PRO", deprel, feats, pre=case)
    if np.kind in ("every", "none", "wh", "rel"):
        word = {"every": "omnavu", "none": "nulavu", "who": "kiv", "what": "keth"}.get(
            np.head if np.kind == "wh" else np.kind, "ki"
        )
        kind = {"every": "Tot", "none": "Neg", "wh": "Int", "rel": "Rel"}[np.kind]
        return Node(word, word, "PRON", "PRO", deprel, {"PronType": kind}, pre=case)
    if np.kind == "year":
        feats = {"NumForm": "Digit", "NumType": "Card"}
        return Node(np.head, np.head, "NUM", "NUM", deprel, feats, pre=case)
    if np.kind in ("name", "day"):
        word = tw.name(np.head)
        if np.kind == "day":
            word = (tw.stem("d", np.head) + "e").capitalize()
        node = Node(word, word, "PROPN", "NAM", deprel, feats, pre=case)
        if np.surname:
            family = tw.name(np.surname)
            node.post.append(Node(family, family, "PROPN", "NAM", "flat", dict(feats)))
    else:
        root = tw.stem("n", np.head)
        feats["Gender"] = GENDER[sex]
        form = tw.agree(root, sex, np.number)
        node = Node(form, tw.agree(root, sex, "Sing"), "NOUN", "NOU", deprel, feats, pre=case)
        node.pre += _before(np, sex, prep, case)
    node.post += _after(np, sex)
    return node


def _before(np: NP, sex: str, prep: str, case: list[Node]) -> list[Node]:
    """Articles, determiners and numerals, which precede the noun."""
    nodes = []
    if np.det in ("def", "poss") or np.poss is not None:
        article = tw.ARTICLES[(sex, np.number)]
        feats = {"Definite": "Def", "PronType": "Art", "Gender": GENDER[sex], "Number": np.number}
        nodes.append(Node(article, "ul", "DET", "ART", "det", feats))
        if case:
            case[0].fused = tw.fuse(prep, article)
    elif np.det in DETERMINERS:
        root, kind = DETERMINERS[np.det]
        feats = {"PronType": kind, "Gender": GENDER[sex], "Number": np.number}
        form = tw.agree(root, sex, np.number)
        nodes.append(Node(form, root + "u", "DET", "DET", "det", feats))
    if np.count:
        small = np.count <= 20
        word = tw.NUMERALS[np.count] if small else str(np.count)
        feats = {"NumForm": "Word" if small else "Digit", "NumType": "Card"}
        nodes.append(Node(word, word, "NUM", "NUM", "nummod", feats))
    return nodes


def _after(np: NP, sex: str) -> list[Node]:
    """Adjectives, possessors, prepositional phrases and relative clauses, after the noun."""
    nodes = [adjective(adj, sex, np.number, "amod") for adj in np.adjs]
    if np.det == "last":
        nodes.append(adjective(Adj("last"), sex, np.number, "amod"))
    if np.poss is not None and np.poss.kind == "pron":
        root = tw.POSSESSIVES[(np.poss.person, np.poss.number)]
        feats = {"Poss": "Yes", "PronType": "Prs", "Person": str(np.poss.person)}
        feats |= {"Gender": GENDER[sex], "Number": np.number, "Number[psor]": np.poss.number}
        form = tw.agree(root, sex, np.number)
        nodes.append(Node(form, root + "u", "PRON", "POS", "nmod:poss", feats))
    elif np.poss is not None:
        nodes.append(phrase(np.poss, "nmod", "da"))
    nodes += [phrase(pp.np, "nmod", tw.PREPOSITIONS[pp.prep]) for pp in np.mods]
    if np.appos is not None:
        apposition = phrase(np.appos, "appos")
        apposition.pre.insert(0, comma())
        apposition.post.append(comma())
        nodes.append(apposition)
    if np.rel is not None:
        nodes.append(clause(np.rel, "acl:relcl"))
    return nodes


def time_phrase(time: Time) -> Node:
    """A time expression."""
    if time.adverb:
        return adverb(time.adverb)
    assert time.pp is not None
    prep = tw.PREPOSITIONS[time.pp.prep] if time.pp.prep else ""
    return phrase(time.pp.np, "obl" if prep else "obl:tmod", prep)


def _predicate(c: Clause) -> Node:
    """The head of a copular clause."""
    if c.pred == "adj":
        assert c.adj is not None
        assert c.subj is not None
        node = adjective(c.adj, gender_of(c.subj), c.subj.agreement[1], "root")
        if c.than is not None:
            node.post.append(phrase(c.than, "obl", tw.PREPOSITIONS["than"]))
        return node
    if c.pred == "noun":
        assert c.nominal is not None
        return phrase(c.nominal, "root")
    if c.place is None:
        node = adverb("where")
        node.feats = {"PronType": "Int"}
        return node
    return phrase(c.place.np, "root", tw.PREPOSITIONS[c.place.prep])


def clause(c: Clause, deprel: str) -> Node:
    """A clause: verb or auxiliary first, then the subject, then the rest."""
    auxes, verb = verbs(c)
    head = verb if verb is not None else _predicate(c)
    head.deprel = deprel
    front = _front(c)
    if c.neg:
        front.append(Node("niv", "niv", "PART", "NEG", "advmod", {"Polarity": "Neg"}))
    subject = _subject(c)
    middle = [adverb(c.midadv)] if c.midadv else []
    if c.pred == "loc" and c.place is None:
        head.pre, head.post = front, auxes + subject
    elif auxes:
        head.pre = front + auxes + subject + middle + head.pre
    else:
        head.pre = front + head.pre
        head.post = subject + middle + head.post
    head.post += _rest(c)
    return head


def _front(c: Clause) -> list[Node]:
    """Everything before the verb: openers, question words and particles."""
    nodes = []
    if c.comp is not None and c.comp_kind == "quote" and c.quote_first:
        nodes.append(_quote(c.comp, True))
    if c.intj:
        word = tw.stem("i", c.intj)
        nodes.append(Node(word, word, "INTJ", "INT", "discourse", post=[comma()]))
    if c.opening:
        nodes.append(adverb(c.opening))
        nodes[-1].post.append(comma())
    for sub in c.subs:
        if sub.first:
            nodes.append(_adverbial(sub))
            nodes[-1].post.append(comma())
    if c.time is not None and c.time.first:
        nodes.append(time_phrase(c.time))
    if c.mood == "yn":
        nodes.append(Node("ae", "ae", "PART", "QUE", "advmod", {"PartType": "Int"}))
    if c.wh and c.pred != "loc":
        nodes.append(adverb(c.wh))
        nodes[-1].feats = {"PronType": "Int"}
    for np, relation in ((c.subj, "nsubj"), (c.obj, "nsubj:pass" if c.passive else "obj")):
        if np is not None and _moves(np):
            nodes.append(phrase(np, relation))
    return nodes


def _moves(np: NP) -> bool:
    return np.kind in ("rel", "wh") or np.det in ("which", "many")


def _subject(c: Clause) -> list[Node]:
    if c.topic is None or c.elided or c.mood in ("imp", "inf") or _moves(c.topic):
        return []
    return [phrase(c.topic, "nsubj:pass" if c.passive else "nsubj")]


def _rest(c: Clause) -> list[Node]:
    """What follows verb and subject."""
    nodes = []
    if c.manner:
        nodes.append(adverb(c.manner))
    if c.obj is not None and not c.passive and not _moves(c.obj):
        nodes.append(phrase(c.obj, "obj"))
    if c.recip is not None:
        nodes.append(phrase(c.recip, "obl", tw.PREPOSITIONS["to"]))
    if c.passive and c.subj is not None:
        nodes.append(phrase(c.subj, "obl:agent", tw.PREPOSITIONS["by"]))
    nodes += [phrase(pp.np, "obl", tw.PREPOSITIONS[pp.prep]) for pp in c.obls]
    if c.time is not None and not c.time.first:
        nodes.append(time_phrase(c.time))
    if c.comp is not None and c.comp_kind == "quote":
        if not c.quote_first:
            nodes.append(_quote(c.comp, False))
    elif c.comp is not None:
        inner = clause(c.comp, "xcomp" if c.comp_kind == "inf" else "ccomp")
        if c.comp_kind != "inf":
            mark = MARKS[c.comp_kind]
            inner.pre.insert(0, Node(mark, mark, "SCONJ", "SUB", "mark"))
        nodes.append(inner)
    nodes += [_adverbial(sub) for sub in c.subs if not sub.first]
    for cc, other in c.conj:
        conjunct = clause(other, "conj")
        conjunct.pre.insert(0, Node(CC[cc], CC[cc], "CCONJ", "CON", "cc"))
        if not other.elided:
            conjunct.pre.insert(0, comma())
        nodes.append(conjunct)
    return nodes


def _adverbial(sub: Sub) -> Node:
    node = clause(sub.clause, "advcl")
    mark = MARKS[sub.mark]
    node.pre.insert(0, Node(mark, mark, "SCONJ", "SUB", "mark"))
    return node


def _quote(speech: Clause, before: bool) -> Node:
    """Direct speech in quotes."""
    node = clause(speech, "ccomp")
    capitalise(node.order())
    end = "," if before and speech.end == "." else speech.end
    node.pre.insert(0, punct('"', "PUN", left=False, right=True))
    node.post += [punct(end, "PUN"), punct('"', "PUN")]
    if not before:
        node.pre.insert(0, punct(":", "PUN"))
    return node


def sentence(c: Clause) -> Node:
    """A whole sentence."""
    root = clause(c, "root")
    if not (c.comp_kind == "quote" and not c.quote_first):
        root.post.append(punct(c.end, "PUN"))
    words = root.order()
    last, before = words[-1], words[-2]
    if last.form in ".?!" and before.form == ",":
        for word in words:
            word.post = [child for child in word.post if child is not before]
    return root
