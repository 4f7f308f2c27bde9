"""The English realiser: abstract sentences to UD trees with PTB tags."""

from __future__ import annotations

from itertools import pairwise

from . import english_words as ew
from .conllu import Node, capitalise, punct
from .english_parts import adjective, determiner, pronoun
from .english_verbs import verb_group
from .tree import NP, PP, Clause, Sub, Time

PREP = {"using": "with"}
CLOSE = ("from", "to", "on", "onto", "into", "of")  # these stand before the agent of a passive
CONTRACTED = {"will": "'ll", "am": "'m", "is": "'s", "are": "'re", "have": "'ve", "has": "'s"}


def possessor(np: NP) -> Node:
    """A possessive pronoun, or a noun phrase with 's."""
    if np.kind == "pron":
        return pronoun(np, 2, "nmod:poss")
    node = noun_phrase(np, "nmod:poss")
    mark = "'" if np.number == "Plur" and node.form.endswith("s") else "'s"
    node.post.append(Node(mark, "'s", "PART", "POS", "case", {}, glue_left=True))
    return node


def noun_phrase(np: NP, deprel: str) -> Node:
    """A noun phrase of any kind, with its conjuncts."""
    node = _bare_phrase(np, deprel)
    for i, other in enumerate(np.conj):
        conjunct = noun_phrase(other, "conj")
        if i < len(np.conj) - 1:
            conjunct.pre.insert(0, punct(",", ","))
        else:
            conjunct.pre.insert(0, Node(np.cc, np.cc, "CCONJ", "CC", "cc"))
            if len(np.conj) > 1:
                conjunct.pre.insert(0, punct(",", ","))
        node.post.append(conjunct)
    return node


def _bare_phrase(np: NP, deprel: str) -> Node:
    if np.kind == "pron":
        return pronoun(np, 0 if deprel.startswith("nsubj") else 1, deprel)
    if np.kind in ("every", "none"):
        word, kind = ("everyone", "Tot") if np.kind == "every" else ("nobody", "Neg")
        return Node(word, word, "PRON", "NN", deprel, {"Number": "Sing", "PronType": kind})
    if np.kind == "rel":
        xpos = "WP" if np.head == "who" else "WDT"
        return Node(np.head, np.head, "PRON", xpos, deprel, {"PronType": "Rel"})
    if np.kind == "wh":
        return Node(np.head, np.head, "PRON", "WP", deprel, {"PronType": "Int"})
    if np.kind == "year":
        feats = {"NumForm": "Digit", "NumType": "Card"}
        return Node(np.head, np.head, "NUM", "CD", deprel, feats)
    if np.kind in ("name", "day"):
        node = Node(np.head, np.head, "PROPN", "NNP", deprel, {"Number": "Sing"})
        if np.surname:
            flat = Node(np.surname, np.surname, "PROPN", "NNP", "flat", {"Number": "Sing"})
            node.post.append(flat)
    else:
        plural = np.number == "Plur"
        form = np.plural if plural else np.head
        xpos = "NNS" if plural else "NN"
        node = Node(form, np.head, "NOUN", xpos, deprel, {"Number": np.number})
    det = determiner(np)
    if np.poss is not None:
        node.pre.append(possessor(np.poss))
    elif det is not None:
        node.pre.append(det)
    if np.det == "many":
        many = Node("many", "many", "ADJ", "JJ", "amod", {"Degree": "Pos"})
        many.pre.append(Node("how", "how", "ADV", "WRB", "advmod", {"PronType": "Int"}))
        node.pre.append(many)
    if np.count:
        small = np.count <= 20
        word = ew.NUMERALS[np.count] if small else str(np.count)
        feats = {"NumForm": "Word" if small else "Digit", "NumType": "Card"}
        node.pre.append(Node(word, word, "NUM", "CD", "nummod", feats))
    node.pre += [adjective(adj) for adj in np.adjs]
    node.post += [prepositional(pp, "nmod") for pp in np.mods]
    if np.appos is not None:
        apposition = noun_phrase(np.appos, "appos")
        apposition.pre.insert(0, punct(",", ","))
        apposition.post.append(punct(",", ","))
        node.post.append(apposition)
    if np.rel is not None:
        node.post.append(clause(np.rel, "acl:relcl"))
    return node


def prepositional(pp: PP, deprel: str) -> Node:
    """A prepositional phrase, headed by its noun."""
    node = noun_phrase(pp.np, deprel)
    if pp.prep:
        word = PREP.get(pp.prep, pp.prep)
        node.pre.insert(0, Node(word, word, "ADP", "IN", "case"))
    return node


def time_phrase(time: Time) -> Node:
    """A time expression."""
    if time.adverb:
        # PTB and UD treat "yesterday" and its kind as nouns.
        if time.adverb in ("yesterday", "today", "tomorrow"):
            feats = {"Number": "Sing"}
            return Node(time.adverb, time.adverb, "NOUN", "NN", "obl:tmod", feats)
        return Node(time.adverb, time.adverb, "ADV", "RB", "advmod")
    assert time.pp is not None
    return prepositional(time.pp, "obl" if time.pp.prep else "obl:tmod")


def clause(c: Clause, deprel: str) -> Node:
    """A clause of any kind, without its final punctuation."""
    subject_wh = c.subj is not None and (c.subj.kind == "wh" or c.subj.det in ("which", "many"))
    inverted = c.mood in ("yn", "wh") and not (subject_wh and not c.passive)
    auxes, verb = verb_group(c, inverted)
    if c.pred == "exist":
        assert verb is not None
        return _existential(c, deprel, auxes, verb, inverted)
    head = verb if verb is not None else _predicate(c)
    head.deprel = deprel
    own = head.pre
    front = _openers(c)
    subject, fronted = _subject(c), _fronted(c)
    if c.mood == "inf":
        front.append(Node("to", "to", "PART", "TO", "mark"))
    front += fronted
    middle = [Node(c.midadv, c.midadv, "ADV", "RB", "advmod")] if c.midadv else []
    if c.pred == "loc" and c.place is None:
        head.pre = front
        head.post[:0] = auxes + subject
    elif inverted:
        lead = 2 if len(auxes) > 1 and auxes[1].form == "n't" else 1
        head.pre = front + auxes[:lead] + subject + middle + auxes[lead:] + own
    else:
        if subject and auxes and c.informal and subject[0].xpos == "PRP" and not c.neg:
            _contract(auxes[0])
        lead = 2 if c.neg and len(auxes) > 1 else 1
        head.pre = front + subject + auxes[:lead] + middle + auxes[lead:] + own
    head.post += _followers(c)
    if c.comp is not None and c.comp_kind == "quote":
        _quote(c, c.comp, head, subject)
    return head


def _existential(c: Clause, deprel: str, auxes: list[Node], verb: Node, inverted: bool) -> Node:
    assert c.subj is not None
    verb.deprel = deprel
    there = Node("there", "there", "PRON", "EX", "expl")
    subject = noun_phrase(c.subj, "nsubj")
    verb.pre = _openers(c) + ([] if inverted else [there]) + auxes
    verb.post = ([there] if inverted else []) + [subject] + _followers(c)
    return verb


def _predicate(c: Clause) -> Node:
    """The head of a copular clause."""
    if c.pred == "adj":
        assert c.adj is not None
        node = adjective(c.adj)
        if c.than is not None:
            node.post.append(prepositional(PP("than", c.than), "obl"))
        return node
    if c.pred == "noun":
        assert c.nominal is not None
        return noun_phrase(c.nominal, "root")
    if c.place is None:
        return Node("where", "where", "ADV", "WRB", "root", {"PronType": "Int"})
    return prepositional(c.place, "root")


def _openers(c: Clause) -> list[Node]:
    """What stands before the clause proper: interjection, adverb, clause or time, with commas."""
    nodes = []
    if c.intj:
        nodes.append(Node(c.intj, c.intj, "INTJ", "UH", "discourse"))
        if not (c.intj == "please" and c.mood == "imp"):
            nodes[-1].post.append(punct(",", ","))
    if c.opening:
        nodes.append(Node(c.opening, c.opening, "ADV", "RB", "advmod"))
        if c.opening not in ("perhaps", "then"):
            nodes[-1].post.append(punct(",", ","))
    for sub in c.subs:
        if sub.first:
            nodes.append(_adverbial(sub))
            nodes[-1].post.append(punct(",", ","))
    if c.time is not None and c.time.first:
        nodes.append(time_phrase(c.time))
        if c.time.adverb != "then":
            nodes[-1].post.append(punct(",", ","))
    return nodes


def _subject(c: Clause) -> list[Node]:
    if c.mood in ("imp", "inf") or c.elided or c.topic is None:
        return []
    if c.passive and _moves(c.topic):
        return []
    return [noun_phrase(c.topic, "nsubj:pass" if c.passive else "nsubj")]


def _moves(np: NP) -> bool:
    """Whether a noun phrase stands at the front as a relative or interrogative."""
    return np.kind in ("rel", "wh") or np.det in ("which", "many")


def _fronted(c: Clause) -> list[Node]:
    if c.wh and not (c.pred == "loc" and c.place is None):
        return [Node(c.wh, c.wh, "ADV", "WRB", "advmod", {"PronType": "Int"})]
    if c.obj is not None and _moves(c.obj):
        if c.obj.kind == "rel" and not c.obj.head:
            return []
        return [noun_phrase(c.obj, "nsubj:pass" if c.passive else "obj")]
    return []


def _contract(aux: Node) -> None:
    """Attach the first auxiliary to a pronoun before it."""
    if aux.form in CONTRACTED:
        aux.form = CONTRACTED[aux.form]
        aux.glue_left = True


def _followers(c: Clause) -> list[Node]:
    """Everything that follows the verb or predicate, apart from direct speech."""
    nodes: list[Node] = []
    particle = [Node(c.particle, c.particle, "ADP", "RP", "compound:prt")] if c.particle else []
    obj = None if c.passive or c.obj is None or _moves(c.obj) else noun_phrase(c.obj, "obj")
    if c.recip is not None and c.double:
        nodes.append(noun_phrase(c.recip, "iobj"))
    if obj is not None and obj.xpos == "PRP":
        nodes += [obj, *particle]
    else:
        nodes += particle + ([obj] if obj is not None else [])
    if c.recip is not None and not c.double:
        nodes.append(prepositional(PP("to", c.recip), "obl"))
    if c.manner:
        nodes.append(Node(c.manner, c.manner, "ADV", "RB", "advmod"))
    agent = PP("by", c.subj) if c.passive and c.subj is not None else None
    close = [pp for pp in c.obls if agent is None or pp.prep in CLOSE]
    nodes += [prepositional(pp, "obl") for pp in close]
    if agent is not None:
        nodes.append(prepositional(agent, "obl:agent"))
        nodes += [prepositional(pp, "obl") for pp in c.obls if pp.prep not in CLOSE]
    if c.time is not None and not c.time.first:
        nodes.append(time_phrase(c.time))
    if c.comp is not None and c.comp_kind != "quote":
        comp = clause(c.comp, "xcomp" if c.comp_kind == "inf" else "ccomp")
        if c.comp_kind in ("that", "whether"):
            comp.pre.insert(0, Node(c.comp_kind, c.comp_kind, "SCONJ", "IN", "mark"))
        nodes.append(comp)
    nodes += [_adverbial(sub) for sub in c.subs if not sub.first]
    for cc, other in c.conj:
        conjunct = clause(other, "conj")
        conjunct.pre.insert(0, Node(cc, cc, "CCONJ", "CC", "cc"))
        if not other.elided:
            conjunct.pre.insert(0, punct(",", ","))
        nodes.append(conjunct)
    return nodes


def _adverbial(sub: Sub) -> Node:
    """A subordinate clause with its subordinator."""
    node = clause(sub.clause, "advcl")
    if sub.clause.mood != "inf":
        xpos = "WRB" if sub.mark == "when" else "IN"
        node.pre.insert(0, Node(sub.mark, sub.mark, "SCONJ", xpos, "mark"))
    if sub.mark == "although" and not sub.first:
        node.pre.insert(0, punct(",", ","))
    return node


def _quote(c: Clause, speech: Clause, head: Node, subject: list[Node]) -> None:
    """Add direct speech before or after its verb."""
    node = clause(speech, "ccomp")
    capitalise(node.order())
    end = speech.end
    if c.quote_first and end == ".":
        end = ","
    node.pre.insert(0, punct('"', "``", left=False, right=True))
    node.post += [punct(end, "," if end == "," else "."), punct('"', "''")]
    if not c.quote_first:
        node.pre.insert(0, punct(",", ","))
        head.post.append(node)
        return
    if subject and subject[0].upos != "PRON":
        # "said Anna": a noun subject follows the verb of speaking.
        head.pre = [child for child in head.pre if child is not subject[0]]
        head.post.insert(0, subject[0])
    head.pre.insert(0, node)


def sentence(c: Clause) -> Node:
    """A whole sentence."""
    root = clause(c, "root")
    if not (c.comp_kind == "quote" and not c.quote_first):
        root.post.append(punct(c.end, "."))
    words = root.order()
    for word, following in pairwise(words):
        if word.lemma == "a" and word.upos == "DET":
            word.form = ew.article(following.form)
    # "Anna, the cook." needs one mark, not a comma and a stop.
    last, before = words[-1], words[-2]
    if last.form in ".?!" and before.form == ",":
        for word in words:
            word.post = [child for child in word.post if child is not before]
    return root
