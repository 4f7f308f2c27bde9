"""English pronouns, determiners, adjectives and time words."""

from __future__ import annotations

from . import english_words as ew
from .conllu import Node
from .tree import NP, Adj


def prs_feats(np: NP, case: str) -> dict[str, str]:
    """The features of a personal pronoun."""
    feats = {"Case": case, "Person": str(np.person), "PronType": "Prs"}
    if np.person != 2:
        feats["Number"] = np.number
    if np.person == 3 and np.number == "Sing":
        feats["Gender"] = {"m": "Masc", "f": "Fem", "n": "Neut"}[np.gender]
    return feats


def pronoun(np: NP, slot: int, deprel: str) -> Node:
    """A personal pronoun: slot 0 nominative, 1 accusative, 2 possessive."""
    gender = np.gender if np.person == 3 and np.number == "Sing" else ""
    forms = ew.PRONOUNS[(np.person, np.number, gender)]
    feats = prs_feats(np, ("Nom", "Acc", "Gen")[slot])
    if slot == 2:
        feats["Poss"] = "Yes"
    elif forms[0] == forms[1]:
        # EWT gives "you" and "it" the case of their position.
        feats["Case"] = ("Nom", "Acc")[slot]
    return Node(
        forms[slot],
        forms[0] if slot < 2 else forms[2],
        "PRON",
        "PRP$" if slot == 2 else "PRP",
        deprel,
        feats,
    )


def determiner(np: NP) -> Node | None:
    """The determiner of a noun phrase, if it has one."""
    art = {"PronType": "Art"}
    number = {"Number": np.number}
    table: dict[str, tuple[str, str, dict[str, str], str]] = {
        "def": ("the", "DT", {"Definite": "Def"} | art, "the"),
        "some": ("some", "DT", {"PronType": "Ind"}, "some"),
        "every": ("every", "DT", {"PronType": "Tot"}, "every"),
        "no": ("no", "DT", {"PronType": "Neg"}, "no"),
        "which": ("which", "WDT", {"PronType": "Int"}, "which"),
    }
    if np.det == "indef" and np.number == "Sing" and not np.mass:
        return Node("a", "a", "DET", "DT", "det", {"Definite": "Ind"} | art)
    if np.det in ("this", "that"):
        plural = {"this": "these", "that": "those"}
        form = plural[np.det] if np.number == "Plur" else np.det
        return Node(form, np.det, "DET", "DT", "det", {"PronType": "Dem"} | number)
    if np.det == "last":
        return Node("last", "last", "ADJ", "JJ", "amod", {"Degree": "Pos"})
    if np.det in table:
        form, xpos, feats, lemma = table[np.det]
        return Node(form, lemma, "DET", xpos, "det", feats)
    return None


def adjective(adj: Adj, deprel: str = "amod") -> Node:
    """An adjective with its degree words."""
    helper, form = ew.degree(adj.lemma, adj.degree)
    xpos = {"Pos": "JJ", "Cmp": "JJR", "Sup": "JJS"}[adj.degree]
    node = Node(form, adj.lemma, "ADJ", "JJ" if helper else xpos, deprel, {"Degree": adj.degree})
    if helper:
        node.feats = {"Degree": "Pos"}
        tag = {"more": "RBR", "most": "RBS"}[helper]
        feats = {"Degree": adj.degree}
        node.pre.append(Node(helper, helper, "ADV", tag, "advmod", feats))
    elif adj.intensifier:
        node.pre.append(Node(adj.intensifier, adj.intensifier, "ADV", "RB", "advmod"))
    return node
