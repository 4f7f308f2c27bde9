"""Options of an analysis: one frozen dataclass, from which flags, keywords, YAML keys and the run's key come."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from .arguments import is_whole
from .errors import LmkinError, did_you_mean
from .quotation import quoted

Options = TypeVar("Options")
Convention = Literal["paper", "released"]
"""The formula of a paper, or what the code that its authors released computes."""
Precision = Literal["float32", "float64"]
_ABOUT = "lmkin"


@dataclass(frozen=True)
class About:
    """What is said of an option beside its name, type and default."""

    help: str
    panel: str = ""
    """Under which heading the command line lists it."""
    flags: tuple[str, ...] = ()
    """Other names on the command line, such as ``-m``."""
    parse: Callable[[str], Any] | None = None
    """From the text of the command line (or YAML) to the value."""
    metavar: str = ""
    least: float | None = None
    complete: Callable[[], Sequence[str]] | None = None
    """What a shell may complete, where the type does not say."""
    numbers: bool = True
    """Whether the numbers of the result depend on it: then it is part of the run's key."""


def option(default: Any, help: str, panel: str = "", **about: Any) -> Any:
    """A field of an Options class: its default, a help text, and the panel it belongs to; more as `About` has it."""
    metadata = {_ABOUT: About(help, panel, **about)}
    if isinstance(default, list | dict):
        return field(default_factory=lambda: type(default)(default), metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True)
class OptionField:
    """An option as others see it: name, type, default, and what is said of it."""

    name: str
    type: Any
    default: Any
    about: About

    @property
    def choices(self) -> tuple[Any, ...]:
        """The values of a `Literal`, also of one that may be None; empty for other types."""
        return literal_values(self.type)

    @property
    def flags(self) -> tuple[str, ...]:
        """Its names on the command line, the long one first; ``--no-…`` for what is done by default."""
        own = [f for f in self.about.flags if f.startswith("--")]
        short = [f for f in self.about.flags if not f.startswith("--")]
        plain = f"--{'no-' if self.switched_off else ''}{self.name.replace('_', '-')}"
        return (*(own or [plain]), *short)

    @property
    def switched_off(self) -> bool:
        """Whether its flag leaves something out that is done by default."""
        return self.type is bool and self.default is True

    @property
    def optional(self) -> bool:
        """Whether None will do."""
        return type(None) in get_args(self.type)


def option_fields(options: type[Any]) -> tuple[OptionField, ...]:
    """The options of a dataclass, in their order; fields that no `option` made are left out."""
    hints = get_type_hints(options)
    return tuple(
        OptionField(
            f.name,
            hints[f.name],
            _default(f),
            f.metadata[_ABOUT],
        )
        for f in dataclasses.fields(options)
        if _ABOUT in f.metadata
    )


def _default(given: dataclasses.Field[Any]) -> Any:
    if given.default is not MISSING:
        return given.default
    return None if given.default_factory is MISSING else given.default_factory()


def literal_values(kind: Any) -> tuple[Any, ...]:
    """The values that a `Literal` allows, inside a union too."""
    if get_origin(kind) is Literal:
        return get_args(kind)
    if get_origin(kind) in (Union, types.UnionType):
        return tuple(v for arm in get_args(kind) for v in literal_values(arm))
    return ()


def check_choices(options: Any, error: type[LmkinError] = LmkinError) -> None:
    """Raise if an option has a value that its type does not allow, before anything runs."""
    for given in option_fields(type(options)):
        value = getattr(options, given.name)
        if value is None and given.optional:
            continue
        arms = (
            get_args(given.type)
            if get_origin(given.type) in (Union, types.UnionType)
            else (given.type,)
        )
        others = [a for a in arms if a is not type(None) and get_origin(a) is not Literal]
        if given.choices and not others:
            if value not in given.choices:
                known = [str(c) for c in given.choices]
                raise error(
                    f"Unknown {given.name} {quoted(value)}. {did_you_mean(str(value), known)}"
                )
        elif given.type is bool and not (
            isinstance(value, bool) or type(value).__name__ in ("bool", "bool_")
        ):
            raise error(f"{given.name} is True or False; got {quoted(value)}.")
        elif given.type is int and not is_whole(value):
            raise error(f"{given.name} is a whole number; got {quoted(value)}.")
        if (
            given.about.least is not None
            and isinstance(value, int | float)
            and value < given.about.least
        ):
            what = "a whole number, " if given.type is int else ""
            raise error(f"{given.name} is {what}{given.about.least:g} or more; got {value}.")


def from_mapping(options: type[Options], given: Mapping[str, Any], where: str = "") -> Options:
    """Options from plain data, such as a YAML file: texts are parsed, unknown names refused."""
    known = {f.name: f for f in option_fields(options)}
    values: dict[str, Any] = {}
    for name, value in given.items():
        if name not in known:
            place = f" of {where}" if where else ""
            raise LmkinError(
                f"Unknown option {quoted(name)}{place}. {did_you_mean(str(name), known)}"
            )
        parse = known[name].about.parse
        value = parse(value) if parse is not None and isinstance(value, str) else value
        values[name] = tuple(value) if isinstance(value, list) else value
    return options(**values)


def to_mapping(options: Any, *, changed: bool = False) -> dict[str, Any]:
    """Options as plain data; with ``changed``, only those that are not as they are by default."""
    return {
        f.name: _plain(getattr(options, f.name))
        for f in option_fields(type(options))
        if not changed or getattr(options, f.name) != f.default
    }


def key_of(options: Any) -> dict[str, Any]:
    """The options that numbers depend on, as plain data, for the key of a run."""
    return {
        f.name: _plain(getattr(options, f.name))
        for f in option_fields(type(options))
        if f.about.numbers
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, str) or not isinstance(value, Sequence):
        return value.item() if hasattr(value, "item") and getattr(value, "size", 2) == 1 else value
    return [_plain(v) for v in value]
