"""Messages of the library as the command line says them: flags instead of Python keywords.

Errors and alerts name options as Python has them, ``held_out=True`` or ``layers='0,6'``. Here, and nowhere else, that
becomes ``--held-out`` and ``--layers 0,6``; an option of a corpus format becomes ``--option text=3``, one of a measure
``--set variance=0.9``. What no flag stands for is left as it is.
"""

from __future__ import annotations

import re
from functools import cache

from ..analysis import Running, Source, known_analyses
from ..core import OptionField, option_fields
from ..models import Loading, Reading

_VALUE = r"True|False|None|'[^']*'|\"[^\"]*\"|…|\[[^\]]*\]|\{[^}]*\}|-?[0-9][\w.+-]*"
_KEYWORD = re.compile(rf"(?<![\w.-])([a-z][a-z_]*)=({_VALUE})")
_OTHERS = {"corpus": "--corpus", "out": "-o", "overwrite": "--overwrite"}
"""Arguments of functions that are flags of commands, without being options of an analysis."""


def with_flags(text: str, *, of_corpus: bool = False) -> str:
    """A message with flags in the place of keywords; ``of_corpus``: it is about a file, whose format has options too.

    >>> with_flags("Take fewer parts, or none (intervals=False), or held_out=True; layers='0,6', corpus=….")
    'Take fewer parts, or none (--no-intervals), or --held-out; --layers 0,6, --corpus.'
    >>> with_flags("Ask for variance=0.9999. Load it with load_model(…, attention=True).")
    'Ask for --set variance=0.9999. Load it with load_model(…, attention=True).'
    >>> with_flags("Say text=3.", of_corpus=True), with_flags("Say text=3.")
    ('Say --option text=3.', 'Say text=3.')
    """

    def flag(match: re.Match[str]) -> str:
        name, value = match[1], match[2].strip("'\"")
        if of_corpus and name in _format_options():
            return f"--option {name}={value}"
        if name in _OTHERS:
            flag = _OTHERS[name]
        elif name in _options():
            option = _options()[name]
            if option.type is bool and value == str(option.default):
                return match[0]  # it is so anyway
            flag = option.flags[0]
        else:
            return f"--set {name}={value}" if name in _measure_options() else match[0]
        bare = value in ("True", "False", "None", "…") or value[0] in "[{"
        return flag if bare else f"{flag} {value}"

    return _KEYWORD.sub(flag, text)


@cache
def _options() -> dict[str, OptionField]:
    """Every option of the analyses, by its name in Python."""
    kinds = [Source, Reading, Loading, Running, *(a.Options for a in known_analyses().values())]
    return {field.name: field for kind in kinds for field in option_fields(kind)}


@cache
def _format_options() -> set[str]:
    from ..corpus import known_formats

    return {name for format in known_formats().values() for name in format.options}


def _measure_options() -> set[str]:
    from ..measures import measure_info, measure_names

    return {name for measure in measure_names() for name in measure_info(measure).options}
