"""What the multilingual encoder reads: sentences of treebanks, and manuals that are translated page by page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

_BLOCKS = {"p", "li", "dt", "dd", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6"}
_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "wbr"}
_LEFT_OUT = {"head", "script", "style", "pre", "footer", "header", "nav", "aside"}
_LEFT_OUT_CLASSES = {"navheader", "navfooter", "toc", "relatedtopics"}
_LETTERS = 12  # a passage with fewer letters is a caption or a key


@dataclass(frozen=True)
class Passage:
    """A sentence or paragraph; translations of one another have the same source, page and place."""

    language: str
    source: str
    page: str
    place: str
    text: str


class _Page(HTMLParser):
    """Paragraphs, headings, list items and table cells of a page, each with its tag and id."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[tuple[str, str, str]] = []
        self._open: list[tuple[str, bool]] = []
        self._tag, self._id, self._text = "", "", ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _VOID:
            self._text += " "
            return
        values = {name: value or "" for name, value in attrs}
        classes = set(values.get("class", "").split())
        left_out = tag in _LEFT_OUT or bool(classes & _LEFT_OUT_CLASSES)
        self._open.append((tag, left_out))
        if tag in _BLOCKS or left_out:
            self.flush()
            self._tag, self._id = tag, values.get("id", "")

    def handle_endtag(self, tag: str) -> None:
        if tag in _BLOCKS:
            self.flush()
        if any(name == tag for name, _ in self._open):
            while self._open.pop()[0] != tag:
                pass

    def handle_data(self, data: str) -> None:
        if not any(left_out for _, left_out in self._open):
            self._text += data

    def flush(self) -> None:
        """End the block that is open."""
        text = " ".join(self._text.split())
        if text and self._tag in _BLOCKS:
            self.blocks.append((self._tag, self._id, text))
        self._text = self._tag = self._id = ""


def read_page(path: Path) -> list[tuple[str, str, str]]:
    """Tag, id and text of each paragraph, heading, list item and cell; program text is left out."""
    page = _Page()
    page.feed(path.read_text("utf-8"))
    page.flush()
    page.close()
    return page.blocks


def read_sentences(
    settings: dict[str, Any], source: str, language: str, places: dict[str, str]
) -> Iterator[Passage]:
    """Sentences as they stand in the comments of a treebank, once each; none where there is no such file."""
    path = Path(settings["files"].format(language=language, **places))
    if not path.exists():
        return
    head = f"# {settings['key']} = "
    seen = set()
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            text = " ".join(line.removeprefix(head).split())
            if line.startswith(head) and text not in seen:
                seen.add(text)
                yield Passage(language, source, "", str(len(seen)), text)


def read_manual(
    settings: dict[str, Any], source: str, languages: list[str], places: dict[str, str]
) -> tuple[list[Passage], Counter[str]]:
    """Passages of a manual in every language that has it, the translations of one passage under one place.

    A page belongs together over languages if its blocks have the same tags and ids in the same order as in
    English. Left out, and counted: short passages, passages that an earlier page has in English, and
    passages that stand untranslated in another language.
    """
    counts: Counter[str] = Counter()
    pages: dict[str, dict[str, list[tuple[str, str, str]]]] = {}
    for language in languages:
        folder = settings.get("folders", {}).get(language, language)
        pattern = settings["files"].format(language=folder, **places)
        root, star, rest = pattern.partition("*")
        for path in sorted(Path(root).glob(star + rest)):
            pages.setdefault(str(path.relative_to(root)), {})[language] = read_page(path)
    if not pages:
        raise SystemExit(
            f"No page of the {source} is here: {settings['files'].format(language='en', **places)}"
        )
    passages: list[Passage] = []
    seen: set[str] = set()
    for page, by_language in sorted(pages.items()):
        english = by_language.get("en", [])
        shape = [block[:2] for block in english]
        first = {k for k, (_, _, text) in enumerate(english) if text not in seen}
        seen.update(text for _, _, text in english)
        for language, blocks in by_language.items():
            same = [block[:2] for block in blocks] == shape
            if not same:
                counts["pages of another shape"] += 1
            for k, (_, _, text) in enumerate(blocks):
                if sum(map(str.isalpha, text)) < _LETTERS:
                    counts["short"] += 1
                elif same and k not in first:
                    counts["repeated"] += 1
                elif same and language != "en" and text == english[k][2]:
                    counts["untranslated"] += 1
                else:
                    place = f"{k}" if same else f"{language}-{k}"
                    passages.append(Passage(language, source, page, place, text))
    return passages, counts


def held_out_pages(passages: list[Passage], every: int) -> set[tuple[str, str]]:
    """Every n-th page of each manual, with all its translations; sentences have no page, and none is held out."""
    pages = sorted({(p.source, p.page) for p in passages if p.page})
    return set(pages[every // 2 :: every])


def corpus_sizes(passages: list[Passage]) -> dict[str, dict[str, dict[str, int]]]:
    """Passages and characters by language and source."""
    sizes: dict[str, dict[str, dict[str, int]]] = {}
    for p in passages:
        found = sizes.setdefault(p.language, {}).setdefault(
            p.source, {"passages": 0, "characters": 0}
        )
        found["passages"] += 1
        found["characters"] += len(p.text)
    return sizes
