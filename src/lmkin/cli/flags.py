"""Flags of the command line, made from the same dataclasses that Python keywords and study files come from."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer

from ..core import LmkinError, OptionField, option_fields, quoted
from ..corpus import known_formats

_SIMPLE = (bool, int, float, str)
_WIDE = 16
"""Characters of choices that help shows beside a flag."""


def parameters(
    options: type,
    group: str,
    *,
    without: Iterable[str] = (),
    defaults: Mapping[str, Any] | None = None,
) -> list[inspect.Parameter]:
    """A parameter of a typer command for every option of a dataclass; named ``group.option``, with a dot for ``__``."""
    return [
        _parameter(field, group, (defaults or {}).get(field.name, field.default))
        for field in option_fields(options)
        if field.name not in set(without)
    ]


def values_of(options: type, group: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """What the command line gave for the options of a dataclass, as Python values."""
    values: dict[str, Any] = {}
    for field in option_fields(options):
        name = f"{group}__{field.name}"
        if name not in given:
            continue
        value = given[name]
        if _is_pairs(field):
            value = name_value_pairs(value, field.flags[0])
        elif isinstance(value, str) and field.about.parse is not None:
            value = field.about.parse(value)
        elif field.switched_off:
            value = not value
        if value is None and not field.optional:
            continue  # a default that no flag can have, such as several numbers
        values[field.name] = value
    return values


def plain_parameter(name: str, kind: Any, about: Any, default: Any = None) -> inspect.Parameter:
    """A parameter that no dataclass has; ``...`` as its default: it must be given."""
    empty = inspect.Parameter.empty
    if kind is bool:
        about.metavar = ""
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=empty if default is ... else default,
        annotation=Annotated[kind, about],
    )


def typer_command(
    function: Callable[[dict[str, Any]], None], wanted: Sequence[inspect.Parameter], doc: str
) -> Callable[..., None]:
    """A typer command that calls ``function`` with what the command line gave, by name."""

    def command(**given: Any) -> None:
        function(given)

    command.__signature__ = inspect.Signature(list(wanted))  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in wanted}
    command.__doc__ = doc
    return command


FORMAT: Any = typer.Option(
    help="Format of the corpus, if extension and content do not tell. "
    f"One of {', '.join(sorted(known_formats()))}.",
    autocompletion=lambda incomplete: [f for f in known_formats() if f.startswith(incomplete)],
    rich_help_panel="Corpus",
)
FORMAT_OPTIONS = plain_parameter(
    "format_options",
    list[str] | None,
    typer.Option(
        "--option",
        metavar="NAME=VALUE",
        rich_help_panel="Corpus",
        help="An option of the corpus format, e.g. columns=word,pos or text=3. May be repeated.",
    ),
)
DRY_RUN = plain_parameter(
    "dry_run",
    bool,
    typer.Option("--dry-run", help="Only say what it would take.", rich_help_panel="Run"),
    False,
)
AS_JSON = plain_parameter(
    "as_json", bool, typer.Option("--json", help="Print JSON for machines."), False
)
VERBOSE = plain_parameter(
    "verbose",
    bool,
    typer.Option("--verbose", "-v", help="Say what happens; show tracebacks."),
    False,
)


def _parameter(field: OptionField, group: str, default: Any) -> inspect.Parameter:
    about = field.about
    kind = _kind(field)
    extra: dict[str, Any] = {"rich_help_panel": about.panel or None, "help": about.help}
    if "Default:" in about.help:
        extra["show_default"] = False
    if about.metavar:
        extra["metavar"] = about.metavar
    elif field.type is bool:
        extra["metavar"] = ""
        if field.switched_off:
            extra["help"], default = f"Leave out: {about.help[:1].lower()}{about.help[1:]}", False
    elif _is_choice(field) and len(words := "|".join(map(str, field.choices))) > _WIDE:
        # A narrow terminal would break a long list inside its words.
        extra |= {"metavar": "WORD", "help": f"{about.help} One of {words.replace('|', ', ')}."}
    if about.least is not None and _arms(field.type) & {int, float}:
        extra["min"] = int(about.least) if int in _arms(field.type) else about.least
    if about.complete is not None:
        extra["autocompletion"] = _completion(about.complete)
    if _is_pairs(field):
        extra["metavar"] = about.metavar or "NAME=VALUE"
        kind, default = list[str] | None, None
    elif not isinstance(default, str | int | float | None):
        default = None
    elif kind is str and not isinstance(default, str | None):
        default = str(default)
    if default is None and not field.optional and not _is_pairs(field):
        kind = kind | None
    annotation = Annotated[kind, typer.Option(*field.flags, **extra)]  # type: ignore[valid-type]
    name = f"{group}__{field.name}"
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


def _kind(field: OptionField) -> Any:
    """The type that typer reads: a choice, a number, a text; texts that are parsed are texts."""
    if field.about.parse is not None:
        return str | None if field.optional else str
    arms = _arms(field.type)
    if _is_choice(field):
        choices = Literal[tuple(map(str, field.choices))]  # type: ignore[valid-type]
        return choices | None if field.optional else choices
    simple = [a for a in _SIMPLE if a in arms]
    kind: Any = str if str in simple or len(simple) != 1 else simple[0]
    return kind | None if field.optional else kind


def _arms(kind: Any) -> set[Any]:
    if get_origin(kind) in (Union, types.UnionType):
        return {a for arm in get_args(kind) for a in _arms(arm)}
    return {kind} if isinstance(kind, type) else {get_origin(kind)}


def _is_choice(field: OptionField) -> bool:
    return bool(field.choices) and not _arms(field.type) & {str, int, float}


def _is_pairs(field: OptionField) -> bool:
    """Whether an option is a mapping, given as NAME=VALUE again and again; not one that is parsed from a text."""
    mapping = any(isinstance(a, type) and issubclass(a, Mapping) for a in _arms(field.type))
    return mapping and field.about.parse is None


def _completion(names: Callable[[], Sequence[str]]) -> Callable[[str], list[str]]:
    """Complete the last of some names with commas between them."""

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{n}" for n in names() if n.startswith(last)]

    return complete


def name_value_pairs(pairs: Sequence[str] | None, flag: str = "--option") -> dict[str, Any]:
    """``["text=3", "header=false"]`` → ``{"text": 3, "header": False}``."""
    values: dict[str, Any] = {}
    for pair in pairs or []:
        name, sign, value = pair.partition("=")
        if not sign:
            raise LmkinError(f"{flag} wants NAME=VALUE, e.g. {flag} text=3; got {quoted(pair)}.")
        values[name] = _value(value)
    return values


def _value(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text.replace("\\t", "\t")
