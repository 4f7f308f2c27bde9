"""Make the CoNLL-U files of the sample corpus anew."""

from __future__ import annotations

from . import path
from .generate import generate


def main() -> None:
    """Write the file of every language."""
    for language, text in generate().items():
        path(language).write_text(text, encoding="utf-8", newline="\n")
        print(f"{path(language)}: {len(text.encode('utf-8'))} bytes")


if __name__ == "__main__":
    main()
