"""Every example of README, CONTRIBUTING and the pages in docs is run, in an empty folder, and gives what it shows.

Blocks of a page run in their order, in one namespace. What a page names without bringing it (models of the hub,
corpora of a user's own) is put into the folder by `MODELS` and `CORPORA`; what takes too long is parsed by `PARSED`.
"""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import io
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import lmkin
from lmkin.analysis import known_analyses
from lmkin.cli import app
from lmkin.measures import registry
from lmkin.report import known_report_kinds

# A user sees a warning, and the page runs on.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("default::lmkin.core.errors.LmkinWarning"),
]

REPOSITORY = Path(__file__).parent.parent
MODELS = {
    "bert-base-cased": "bert",
    "bert-base-uncased": "bert",
    "distilbert-base-cased": "distilbert",
    "roberta-base": "roberta",
    "albert-base-v2": "albert",
}
"""Names of the hub that Python examples use, and the families whose tiny models stand in for them."""
CORPORA = ("wiki.txt", "ewt.conllu", "en_ewt-ud-dev.conllu")
"""Files of a user's own: some of the sample stands in for them."""
PARSED = (
    "similarity", "attention", "dependency", "redundancy", "probe", "cross-lingual", "demo",
)  # fmt: skip
"""Commands that take long: their lines are parsed, options and all, and run by tests of their own."""
TIMES = re.compile(r"\d+(\.\d+)? (min|s|MB|GB|kB)\b|\d+ words/s|about \S+ \S+")
"""What differs from run to run in what a command prints."""
REGISTRIES = {
    "lmkin.analysis.analysis": "_ANALYSES",
    "lmkin.results.result": "_KINDS",
    "lmkin.report.kinds": "_KINDS",
}
"""Where examples register what is theirs."""
DOCS = REPOSITORY / "docs"
PAGES = sorted([REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md", *DOCS.glob("*.md")])


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    """Of its first line of code."""
    language: str
    text: str
    file: str = ""
    """The file that the page says this is."""

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def blocks_of(page: Path) -> Iterator[Block]:
    """All fenced blocks; a file name comes as a caption, or in backticks on the line before."""
    lines = page.read_text("utf-8").splitlines()
    start, language, named = None, "", ""
    for number, line in enumerate(lines):
        if start is None and (match := re.match(r"^```(\{code-block\} )?(\w+)\s*$", line)):
            start, language = number + 1, match[2]
            before = next((x for x in reversed(lines[:number]) if x.strip()), "")
            stated = re.match(r"^`([\w./-]+\.\w+)`:$", before)
            named = stated[1] if stated else ""
        elif start is not None and line.startswith("```"):
            code = lines[start:number]
            while code and (match := re.match(r"^:(\w+):\s*(\S*)$", code[0])):
                named = match[2] if match[1] == "caption" else named
                code, start = code[1:], start + 1
                if code and not code[0].strip():
                    code, start = code[1:], start + 1
            yield Block(page, start + 1, language, "\n".join(code) + "\n", named)
            start = None


class Rounded(doctest.OutputChecker):
    """Takes numbers below 1e-5 for each other: the last bits of a sum differ between processors."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        """Whether what came is what the page shows."""
        tiny = re.compile(r"\b\d(\.\d+)?e-(0[6-9]|[1-9]\d)\b")
        return super().check_output(tiny.sub("tiny", want), tiny.sub("tiny", got), optionflags)


@dataclass
class Page:
    """A page that is being run, in its folder."""

    folder: Path
    names: dict[str, Any] = field(default_factory=lambda: sys.modules["page"].__dict__)
    failures: list[str] = field(default_factory=list)
    measures: dict[str, Any] = field(default_factory=lambda: dict(registry._measures))
    """Those of lmkin itself: what a command knows."""
    unwritten: set[str] = field(default_factory=set)
    """Folders that commands which were not run would have written."""

    def run(self, block: Block) -> None:
        """Run a block of a kind that can be run."""
        if block.file:
            path = self.folder / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, "utf-8")
            if path.suffix == ".py":
                compile(block.text, str(block), "exec")
            return
        kinds: dict[str, Callable[[Block], None]] = {
            "python": self._python,
            "pycon": self._pycon,
            "console": self._shell,
            "sh": self._shell,
            "bash": self._shell,
        }
        kinds.get(block.language, lambda _: None)(block)

    # -- Python -----------------------------------------------------------------------------------

    def _python(self, block: Block) -> None:
        comments = comments_of(block.text)
        for statement in ast.parse(block.text).body:
            code = ast.unparse(statement)
            place = f"{block.page.name}:{block.line + statement.lineno - 1}: {code}"
            lines = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
            comment = next((comments[k] for k in reversed(lines) if k in comments), "")
            try:
                if not isinstance(statement, ast.Expr):
                    exec(code, self.names)
                    continue
                value = eval(code, self.names)
            except Exception as error:
                raise AssertionError(f"{place}\n{type(error).__name__}: {error}") from error
            wrong = contradiction(value, comment)
            if wrong:
                self.failures.append(f"{place}\n  {wrong}")

    def _pycon(self, block: Block) -> None:
        # A page shows an empty line as one; to doctest it would be the end of the output.
        text = re.sub(r"(?m)^\n(?!>>> |\n|\Z)", "<BLANKLINE>\n", block.text)
        test = doctest.DocTestParser().get_doctest(
            text, {}, str(block), str(block.page), block.line - 1
        )
        test.globs = self.names
        said = io.StringIO()
        flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
        doctest.DocTestRunner(Rounded(), optionflags=flags).run(
            test, out=said.write, clear_globs=False
        )
        if said.getvalue():
            self.failures.append(said.getvalue())

    # -- the command line -------------------------------------------------------------------------

    def _shell(self, block: Block) -> None:
        for number, command, shown in commands_of(block):
            place = f"{block.page.name}:{number}: {command}"
            if re.match(r"^(python|printf) ", command) and block.language == "console":
                path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
                subprocess.run(
                    ["bash", "-c", command], env={**os.environ, "PATH": path}, check=True
                )
            arguments, background = words_of(command)
            if not arguments:
                continue
            wrong = unparsable(arguments)
            if wrong and "exit code 2" not in shown:
                self.failures.append(f"{place}\n  {wrong}")
            elif not wrong:
                self._call(place, arguments, shown, run=not background)

    def _call(self, place: str, arguments: list[str], shown: str, *, run: bool) -> None:
        """Run a command in this process, unless it takes long, or needs what such a one would have written."""
        out = next((b for a, b in pairwise(arguments) if a == "-o"), None)
        missing = any(Path(a).parts[:1] == (name,) for a in arguments for name in self.unwritten)
        if not run or arguments[0] in PARSED or (missing and out not in self.unwritten):
            self.unwritten |= {Path(out).parts[0]} if out else set()
            return
        here, registry._measures = registry._measures, dict(self.measures)  # a process of its own
        try:
            said = CliRunner().invoke(app, arguments)
        finally:
            registry._measures = here
        explained = isinstance(said.exception, lmkin.LmkinError) and "Error" in shown
        if said.exit_code and not explained:
            self.failures.append(f"{place}\n  {said.exception!r}\n{said.output}")
        elif shown and arguments[0] in ("inspect", "measures"):
            absent = missing_lines(shown, f"{said.output} Error: {said.exception}")
            if absent:
                self.failures.append(
                    f"{place}\n  not shown by the command: {absent}\n{said.output}"
                )


def words_of(command: str) -> tuple[list[str], bool]:
    """The words after ``lmkin`` up to a pipe or a redirection, and whether other commands run beside or after it.

    >>> words_of("X=1 lmkin inspect 'a b' --json 2> /dev/null | head -3  # so"), words_of("ls")
    ((['inspect', 'a b', '--json'], False), ([], False))
    """
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words = list(lexer)
    while words and re.match(r"^[A-Z_]+=", words[0]):
        words.pop(0)
    if not words or words[0] != "lmkin":
        return [], False
    end = next((k for k, w in enumerate(words) if w in ("|", "&", ";", ">")), len(words))
    arguments = words[1:end]
    if arguments and arguments[-1] == "2" and words[end : end + 1] == [">"]:
        arguments.pop()
    return arguments, any(w in ("&", ";") for w in words)


def comments_of(code: str) -> dict[int, str]:
    """Line → its comment, without the sign."""
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    return {t.start[0]: t.string.lstrip("# ").strip() for t in tokens if t.type == tokenize.COMMENT}


NUMBER = r"-?\d[\d,]*(?:\.\d+)?"
SHOWN = re.compile(
    rf"^(?:(?P<tuple>\(.*?\))|(?P<value>{NUMBER})(?: ± (?P<error>{NUMBER}))?)(?=$|[\s:;.,])"
)


def contradiction(value: Any, comment: str) -> str:
    """How a value differs from what the comment behind it shows; empty if it does not.

    >>> contradiction(0.1234, "0.12: unbiased"), contradiction((3, 4), "(3, 4): rows × neurons")
    ('', '')
    >>> contradiction(0.129, "0.12"), contradiction((0.5, 0.011), "0.50 ± 0.01")
    ('0.129 is not 0.12', '')
    >>> contradiction([].append, "a table")
    'a function or method, not a value'
    """
    if inspect.isroutine(value):
        return "a function or method, not a value"
    match = SHOWN.match(comment)
    if not match:
        return ""
    if match["tuple"]:
        try:
            shown = ast.literal_eval(match["tuple"])
        except (SyntaxError, ValueError):
            return ""  # words in brackets
        return "" if value == shown else f"{value!r} is not {shown!r}"
    values = value if match["error"] else (value,)
    for number, text in zip(values, (match["value"], match["error"]), strict=False):
        digits = len(text.partition(".")[2])
        if not isinstance(number, int | float):
            return f"{number!r} is no number, as {text} is"
        if abs(number - float(text.replace(",", ""))) > 0.5 * 10.0**-digits + 1e-12:
            return f"{number!r} is not {text}"
    return ""


def commands_of(block: Block) -> Iterator[tuple[int, str, str]]:
    """Line number, command, and what the page shows of its output; in a console block commands follow a dollar."""
    console = block.language == "console"
    lines = block.text.splitlines()
    starts = [k for k, x in enumerate(lines) if (x.startswith("$ ") if console else x.strip())]
    for k, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        shown = "\n".join(lines[k + 1 : end]) if console else ""
        yield block.line + k, lines[k].removeprefix("$ "), shown


def unparsable(arguments: list[str]) -> str:
    """What is wrong with the words of a command, without running it."""
    group: Any = get_command(app)
    if arguments[0].startswith("-"):
        return ""
    command = group.commands.get(arguments[0])
    if command is None:
        return f"there is no such command: {arguments}"
    try:
        command.make_context(arguments[0], arguments[1:])
    except Exception as error:  # typer brings its own classes of click's
        return f"{type(error).__name__}: {getattr(error, 'message', error)}"
    return ""


def missing_lines(shown: str, said: str) -> list[str]:
    """Words of the page that a command did not print, whatever breaks lines and takes time."""
    plain = TIMES.sub("", " ".join(said.split()))
    wanted = [TIMES.sub("", " ".join(line.split())) for line in shown.splitlines()]
    return [line for line in wanted if line and line not in plain]


# -- the tests --------------------------------------------------------------------------------------


@pytest.fixture
def page_folder(
    tmp_path: Path, model_folder: Any, sample: lmkin.Corpus, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[Path], Path]]:
    """An empty folder, with what the Python of a page names without bringing it."""

    def make(page: Path) -> Path:
        text = "".join(b.text for b in blocks_of(page) if b.language in ("python", "pycon"))
        for name, family in MODELS.items():
            if f'"{name}"' in text:
                shutil.copytree(model_folder(family), tmp_path / name)
        for name in CORPORA:
            if f'"{name}"' in text:
                write = to_conllu if name.endswith("conllu") else to_lines
                (tmp_path / name).write_text(write(sample[:300]), "utf-8")
        monkeypatch.chdir(tmp_path)
        # A page's own modules and measures end with the page.
        monkeypatch.syspath_prepend(tmp_path)
        registry.measure_names()  # those of lmkin are there once they were asked for
        monkeypatch.setattr(registry, "_measures", dict(registry._measures))
        known_analyses(), known_report_kinds()
        for module, name in REGISTRIES.items():
            own = dict(getattr(sys.modules[module], name))
            monkeypatch.setattr(sys.modules[module], name, own)
        # Dataclasses look for the module that they are written in.
        monkeypatch.setitem(sys.modules, "page", ModuleType("page"))
        monkeypatch.setenv("COLUMNS", "80")
        return tmp_path

    yield make
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


def to_lines(corpus: lmkin.Corpus) -> str:
    return "".join(f"{s.text}\n" for s in corpus)


def to_conllu(corpus: lmkin.Corpus) -> str:
    rows = []
    for s in corpus:
        rows.append(f"# text = {s.text}")
        for k, (word, (_, end)) in enumerate(zip(s.words, s.spans, strict=True), start=1):
            after = "_" if s.text[end : end + 1] == " " else "SpaceAfter=No"
            rows.append("\t".join([str(k), word, *"_" * 4, "0", "_", "_", after]))
        rows.append("")
    return "\n".join(rows) + "\n"


@pytest.mark.parametrize("page", [p for p in PAGES if p.name != "CONTRIBUTING.md"], ids=lambda p: p.name)  # fmt: skip
def test_a_page_gives_what_it_shows(page: Path, page_folder: Any, minilm_spec: str) -> None:
    run = Page(page_folder(page))
    for block in blocks_of(page):
        run.run(block)
    assert not run.failures, "\n".join(run.failures)


def test_contributing_adds_what_it_says(tmp_path: Path, page_folder: Any) -> None:
    """Files of the examples go into a copy of the repository, and their tests run there."""
    page = REPOSITORY / "CONTRIBUTING.md"
    copy = tmp_path / "copy"
    unneeded = shutil.ignore_patterns("__pycache__", "*.nbi", "*.nbc")
    for name in ("src", "tests"):
        shutil.copytree(REPOSITORY / name, copy / name, ignore=unneeded)
    shutil.copy(REPOSITORY / "pyproject.toml", copy)
    files, run = [], Page(page_folder(page))
    for block in blocks_of(page):
        if block.file:
            target = copy / block.file
            assert target.parent.is_dir(), f"{block}: there is no room {block.file}"
            target.write_text(block.text, "utf-8")
            files.append(block.file)
        elif block.language == "python":
            run.run(block)
    assert not run.failures, "\n".join(run.failures)
    tests = [f for f in files if Path(f).name.startswith("test_")]
    assert tests
    environment = {**os.environ, "PYTHONPATH": str(copy / "src")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests],
        cwd=copy, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]


def test_every_kind_of_block_is_known() -> None:
    """A language that nobody runs would be an example that nobody checks."""
    known = {"python", "pycon", "console", "sh", "bash", "text", "toml"}
    languages = {b.language for page in PAGES for b in blocks_of(page)}
    assert languages <= known
    assert {"python", "pycon", "console"} <= languages


def test_every_public_name_is_on_the_page_of_the_api() -> None:
    listed = set(re.findall(r"\.\. (?:auto|py:)\w+:: (\S+)", (DOCS / "api.md").read_text("utf-8")))
    assert {f"lmkin.{name}" for name in lmkin.__all__} - listed == set()
    for name in listed:
        room, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(room), attribute), f"{name} is not there"


def test_every_kind_of_result_is_on_the_page_of_the_api() -> None:
    kinds = {type(a).result for a in known_analyses().values()}
    text = (DOCS / "api.md").read_text("utf-8")
    assert [k for k in kinds if f".. autoclass:: lmkin.{k.__name__}\n" not in text] == []


def test_the_page_of_options_is_up_to_date() -> None:
    made = runpy.run_path(str(DOCS / "make_options.py"))
    assert (DOCS / "options.md").read_text("utf-8") == made["page"](), (
        "Run python docs/make_options.py"
    )


def test_every_page_is_in_the_index() -> None:
    index = (DOCS / "index.md").read_text("utf-8")
    included = {"index", "conformance_table"}
    pages = {page.stem for page in DOCS.glob("*.md")} - included
    assert {p for p in pages if f"\n{p}\n" not in index or f"({p}.md)" not in index} == set()


def test_links_between_pages_lead_somewhere() -> None:
    """Headings become anchors as GitHub and MyST make them; others are set by hand as (name)=."""
    anchors = {page.name: anchors_of(page) for page in DOCS.glob("*.md")}
    broken = []
    for page in PAGES:
        for path, anchor in re.findall(
            r"\]\(([^)#:\s]*)(?:#([^)\s]+))?\)", page.read_text("utf-8")
        ):
            target = page.parent / path if path else page
            if not target.exists():
                broken.append(f"{page.name}: {path}")
            elif anchor and anchor not in anchors.get(target.name, anchors_of(target)):
                broken.append(f"{page.name}: {path}#{anchor}")
    assert broken == []


def anchors_of(page: Path) -> set[str]:
    text = page.read_text("utf-8")
    titles = re.findall(r"(?m)^#+ (.+)$", text)
    slugs = {re.sub(r"[^\w\- ]", "", t.lower()).replace(" ", "-") for t in titles}
    return slugs | set(re.findall(r"(?m)^\(([\w-]+)\)=$", text))
