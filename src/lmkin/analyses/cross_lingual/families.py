"""Families of languages: a table by language code, which a user's own goes before."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from ...core import QUOTED_PATH, LmkinError, near_files, quoted, read_file

_BY_FAMILY = {
    "Germanic": "en de nl af sv da no nb nn is fo fy lb yi gsw got ang",
    "Romance": "fr es pt it ro ca gl oc rm sc la",
    "Slavic": "ru pl cs sk uk be bg sl hr sr bs mk hsb dsb orv cu",
    "Baltic": "lt lv",
    "Celtic": "ga gd cy br gv",
    "Hellenic": "el grc",
    "Iranian": "fa kmr ckb ps",
    "Indic": "hi ur bn mr sa ne pa gu si bho",
    "Uralic": "fi et hu se sme kpv myv mdf olo krl",
    "Turkic": "tr az kk ky ug uz tt sah",
    "Semitic": "ar he mt am akk ti",
    "Sinitic": "zh yue lzh",
    "Japonic": "ja",
    "Koreanic": "ko",
    "Austronesian": "id ms tl jv mi haw ceb",
    "Austroasiatic": "vi km",
    "Kra-Dai": "th lo",
    "Dravidian": "ta te ml kn",
    "Kartvelian": "ka",
    "Armenian": "hy hyw xcl",
    "Albanian": "sq",
    "Basque": "eu",
    "Niger-Congo": "yo wo bm sw zu xh ig",
}
FAMILIES: dict[str, str] = {
    code: family for family, codes in _BY_FAMILY.items() for code in codes.split()
}
"""Family by language code (ISO 639-1, or 639-3 where there is no other); Indo-European by branch."""
_BYTES = 2**20
_LONGEST = 60


def parse_families(text: str) -> dict[str, str]:
    """``en=Germanic,fi=Uralic``; or a CSV file with a language and its family in each line.

    >>> parse_families("en=Germanic, qke=invented")
    {'en': 'Germanic', 'qke': 'invented'}
    """
    if "=" in text and not Path(text).is_file():
        pairs = [pair.partition("=") for pair in text.split(",") if pair.strip()]
        return check_families({name.strip(): family.strip() for name, _, family in pairs})
    return read_families(Path(text))


def read_families(path: Path) -> dict[str, str]:
    """Families from a CSV file: a language and its family in each line; empty lines and # are left out."""
    if not path.is_file():
        raise LmkinError(
            f"Families are given as en=Germanic,fi=Uralic, or as a CSV file with a language and its family in each "
            f"line; there is no file {quoted(path, QUOTED_PATH)}.{near_files(path)}"
        )
    try:
        text = read_file(path, _BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise LmkinError(f"{path} is not UTF-8: write the table of families as UTF-8.") from None
    families: dict[str, str] = {}
    lines = text.splitlines()
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        cells = [cell.strip() for cell in next(csv.reader([line]), [])]
        if len(cells) != 2:
            raise LmkinError(
                f"{path}, line {number}: a language and its family were expected, with a comma between; got "
                f"{quoted(line)}."
            )
        if cells[0] in families:
            raise LmkinError(f"{path}, line {number}: {quoted(cells[0])} has a family already.")
        families[cells[0]] = cells[1]
    return check_families(families)


def check_families(families: Mapping[str, str]) -> dict[str, str]:
    """The same. Raise if a language or a family has no name."""
    for name, family in families.items():
        if not all(
            isinstance(v, str) and v and len(v) <= _LONGEST and v.isprintable()
            for v in (name, family)
        ):
            raise LmkinError(
                f"Families are names by language, such as {{'en': 'Germanic'}}; got {quoted(name)}: {quoted(family)}."
            )
    if not families:
        raise LmkinError(
            "No family is given: give some, such as en=Germanic, or leave the option out."
        )
    return dict(families)


def families_of(
    languages: Sequence[str], own: Mapping[str, str] | None = None
) -> dict[str, str | None]:
    """The family of each language: the user's own, else that of its code (``en``, ``en_pud``, ``en-GB``); else None.

    >>> families_of(["en_pud", "qke", "FI"], {"qke": "invented"})
    {'en_pud': 'Germanic', 'qke': 'invented', 'FI': 'Uralic'}
    """
    own = own or {}
    found: dict[str, str | None] = {}
    for name in languages:
        code = name.replace("-", "_").partition("_")[0].lower()
        found[name] = own.get(name, own.get(code, FAMILIES.get(code)))
    return found
