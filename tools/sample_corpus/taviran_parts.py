"""Taviran adverbs, agreeing adjectives and verb groups."""

from __future__ import annotations

from . import taviran_words as tw
from .conllu import Node, punct
from .tree import NP, Adj, Clause

AUX = {
    "can": "pod", "could": "pod", "must": "dov", "should": "fork", "may": "mag", "might": "mag",
    "fut": "vad", "prog": "stiv", "perf": "tav",
}  # fmt: skip
GENDER = {"m": "Masc", "f": "Fem", "n": "Neut"}


def comma() -> Node:
    """A comma."""
    return punct(",", "PUN")


def adverb(lemma: str) -> Node:
    """An adverb."""
    form = tw.adverb(lemma)
    return Node(form, form, "ADV", "ADV", "advmod")


def gender_of(np: NP) -> str:
    """The grammatical gender of a noun phrase."""
    if np.kind == "noun" or (np.kind == "pron" and not np.animate and np.head):
        return tw.gender(np.head, np.gender, np.animate)
    return np.gender if np.gender in GENDER else "n"


def adjective(adj: Adj, sex: str, number: str, deprel: str) -> Node:
    """An adjective that agrees with a noun."""
    root = tw.stem("a", adj.lemma)
    feats = {"Gender": GENDER[sex], "Number": number, "Degree": "Pos"}
    node = Node(tw.agree(root, sex, number), root + "u", "ADJ", "ADJ", deprel, feats)
    if adj.degree != "Pos":
        word = {"Cmp": "pluz", "Sup": "pluzim"}[adj.degree]
        node.pre.append(Node(word, word, "ADV", "ADV", "advmod", {"Degree": adj.degree}))
    elif adj.intensifier:
        node.pre.append(adverb(adj.intensifier))
    return node


def _finite(root: str, c: Clause, tense: str, deprel: str, upos: str) -> Node:
    key = c.topic.agreement if c.topic is not None else (2, "Sing")
    feats = {"Mood": "Ind", "Person": str(key[0]), "Number": key[1], "VerbForm": "Fin"}
    feats["Tense"] = tense.capitalize()
    xpos = "VER" if upos == "VERB" else "AUX"
    return Node(root + tw.FINITE[tense][key], root + "ir", upos, xpos, deprel, feats)


def verbs(c: Clause) -> tuple[list[Node], Node | None]:
    """The auxiliaries and the verb; copular clauses have no verb of their own."""
    names = []
    if c.modal:
        names.append(AUX[c.modal])
    elif c.tense == "fut" and c.mood != "inf":
        names.append(AUX["fut"])
    if c.aspect != "simple":
        names.append(AUX[c.aspect])
    copular = c.pred in ("adj", "noun", "loc")
    relations = ["aux"] * len(names)
    if copular or c.passive:
        names.append("es" if copular else "ven")
        relations.append("cop" if copular else "aux:pass")
    root = "" if copular else tw.stem("v", f"{c.verb} {c.particle}".strip() or "exist")
    nodes: list[Node] = []
    tense = "past" if c.tense == "past" else "pres"
    for aux, relation in zip(names, relations, strict=True):
        if not nodes and c.mood != "inf":
            nodes.append(_finite(aux, c, tense, relation, "AUX"))
        else:
            nodes.append(Node(aux + "ir", aux + "ir", "AUX", "AUX", relation, {"VerbForm": "Inf"}))
    if copular:
        return nodes, None
    if c.mood == "imp":
        feats = {"Mood": "Imp", "Person": "2", "VerbForm": "Fin"}
        return [], Node(root + "u", root + "ir", "VERB", "VER", "root", feats)
    if c.passive:
        assert c.topic is not None
        sex, number = gender_of(c.topic), c.topic.agreement[1]
        feats = {"VerbForm": "Part", "Voice": "Pass", "Gender": GENDER[sex], "Number": number}
        form = tw.agree(root + "ad", sex, number)
        return nodes, Node(form, root + "ir", "VERB", "PAR", "root", feats)
    if nodes or c.mood == "inf":
        return nodes, Node(root + "ir", root + "ir", "VERB", "INF", "root", {"VerbForm": "Inf"})
    return [], _finite(root, c, tense, "root", "VERB")
