"""Write options.md: every option of every analysis, as flag, Python keyword and key of a study file.

In a clone of the repository: python docs/make_options.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from lmkin.analysis import Analysis, Running, Source, known_analyses
from lmkin.core import OptionField, option_fields
from lmkin.models import Loading, Reading

OUT = Path(__file__).with_name("options.md")
HEAD = """# Options of the analyses

This page is made from the code (`python docs/make_options.py`). An option is one definition with three faces: a flag of
the command, a keyword of the Python function, and a key in a study file, with the same name, choices and default.
"""


def flag_of(field: OptionField) -> str:
    """How the command line spells an option."""
    own = [f for f in field.about.flags if f.startswith("--")]
    long = own or [f"--{field.name.replace('_', '-')}"]
    if field.type is bool and field.default is True:
        long = [f"--no-{field.name.replace('_', '-')}"]
    short = [f for f in field.about.flags if not f.startswith("--")]
    return ", ".join(f"`{f}`" for f in (*short, *long))


def default_of(value: Any) -> str:
    """A default as people read it."""
    if value is None or value == {} or value == ():
        return "–"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list | tuple):
        return f"`{','.join(f'{v:g}' if isinstance(v, float) else str(v) for v in value)}`"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def table(fields: Iterable[OptionField], defaults: dict[str, Any] | None = None) -> Iterator[str]:
    """A line for every option."""
    yield "| flag | keyword | default | meaning |"
    yield "| --- | --- | --- | --- |"
    for field in fields:
        default = (defaults or {}).get(field.name, field.default)
        choices = f" One of {', '.join(f'`{c}`' for c in field.choices)}." if field.choices else ""
        meaning = f"{field.about.help}{choices}".replace("|", "\\|")
        yield f"| {flag_of(field)} | `{field.name}` | {default_of(default)} | {meaning} |"


def section(analysis: Analysis[Any]) -> Iterator[str]:
    """What an analysis has of its own, and how it reads unless something else is asked for."""
    yield f"## lmkin {analysis.name}"
    yield f"{analysis.summary} In Python: `lmkin.{analysis.function}`."
    yield "\n".join(table(option_fields(analysis.Options)))
    usual = Reading()
    other = {
        f.name: getattr(analysis.reading, f.name)
        for f in option_fields(Reading)
        if getattr(analysis.reading, f.name) != getattr(usual, f.name)
    }
    if other:
        said = ", ".join(f"`{name}` is `{value}`" for name, value in other.items())
        yield f"Other defaults of reading: {said}."
    if analysis.unread:
        yield f"Without {', '.join(f'`{n}`' for n in analysis.unread)}, which mean nothing here."


def page() -> str:
    """The whole page."""
    parts = [HEAD.strip()]
    for analysis in known_analyses().values():
        parts += section(analysis)
    parts.append("## Of all analyses")
    shared = {
        "What is read": Source, "How it is read": Reading, "How models are loaded": Loading, "How it is run": Running,
    }  # fmt: skip
    for title, kind in shared.items():
        parts += [f"### {title}", "\n".join(table(option_fields(kind)))]
    parts.append(
        "Of the command alone: `-o`, `--out` (folder for results, charts and report), `-c`, `--corpus`, `--option` "
        "(of the corpus format), `--load` (Python files with measures of your own), `--no-charts`, "
        "`--overwrite`, `--dry-run`, `--json`, `-v`."
    )
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    OUT.write_text(page(), encoding="utf-8")
