"""Ordered dependency trees and their CoNLL-U text."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Node:
    """A word with the dependents before it and after it, so every tree is projective."""

    form: str
    lemma: str
    upos: str
    xpos: str
    deprel: str = "dep"
    feats: dict[str, str] = field(default_factory=dict)
    pre: list[Node] = field(default_factory=list)
    post: list[Node] = field(default_factory=list)
    glue_left: bool = False
    glue_right: bool = False
    fused: str = ""  # surface form of the multiword token made of this word and the next

    def order(self) -> list[Node]:
        """All words of the subtree in order."""
        words: list[Node] = []
        for child in self.pre:
            words += child.order()
        words.append(self)
        for child in self.post:
            words += child.order()
        return words


def punct(form: str, xpos: str, left: bool = True, right: bool = False) -> Node:
    """A punctuation mark; ``left`` and ``right`` say on which sides there is no space."""
    return Node(form, form, "PUNCT", xpos, "punct", {}, glue_left=left, glue_right=right)


def capitalise(words: list[Node]) -> None:
    """Write the first real word of a sentence with a capital."""
    for word in words:
        if word.upos != "PUNCT":
            if word.fused:
                word.fused = word.fused[:1].upper() + word.fused[1:]
            else:
                word.form = word.form[:1].upper() + word.form[1:]
            return


def surface(words: list[Node]) -> tuple[str, list[bool]]:
    """The text of the words, and for each word whether a space follows."""
    spaces = [True] * len(words)
    for i, word in enumerate(words):
        following = words[i + 1] if i + 1 < len(words) else None
        if word.glue_right or (following is not None and following.glue_left):
            spaces[i] = False
    text = ""
    skip = False
    for i, word in enumerate(words):
        if skip:
            skip = False
            text += " " if spaces[i] else ""
            continue
        if word.fused:
            skip = True
            text += word.fused
        else:
            text += word.form + (" " if spaces[i] else "")
    return text.strip(), spaces


def to_conllu(root: Node, sent_id: str) -> str:
    """The CoNLL-U block of one sentence, without the blank line after it."""
    words = root.order()
    capitalise(words)
    text, spaces = surface(words)
    position = {id(word): i for i, word in enumerate(words, 1)}
    heads = {id(root): 0}
    for word in words:
        for child in word.pre + word.post:
            heads[id(child)] = position[id(word)]
    root.deprel = "root"
    lines = [f"# sent_id = {sent_id}", f"# text = {text}"]
    inside = False
    for i, word in enumerate(words, 1):
        last = i == len(words)
        misc = "_" if spaces[i - 1] or last else "SpaceAfter=No"
        if word.fused:
            after = "_" if spaces[i] or last else "SpaceAfter=No"
            lines.append(f"{i}-{i + 1}\t{word.fused}" + "\t_" * 7 + f"\t{after}")
        if word.fused or inside:
            misc = "_"
        inside = bool(word.fused)
        feats = "|".join(
            f"{k}={v}" for k, v in sorted(word.feats.items(), key=lambda kv: kv[0].lower()) if v
        )
        row = [str(i), word.form, word.lemma, word.upos, word.xpos, feats or "_"]
        row += [str(heads[id(word)]), word.deprel, "_", misc]
        lines.append("\t".join(row))
    return "\n".join(lines) + "\n"
