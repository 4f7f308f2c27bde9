"""Write the CoNLL-U files of the sample corpus: ``python -m sample_corpus [FOLDER]``, with ``tools`` on the path."""

from __future__ import annotations

import argparse
from pathlib import Path

from .treebanks import generate

SHIPPED = Path(__file__).parents[2] / "src" / "lmkin" / "corpus" / "sample"
"""The folder of the repository that the library ships."""


def main() -> None:
    """Write the file of every language into a folder, by default the one that is shipped."""
    parser = argparse.ArgumentParser(prog="sample_corpus", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=SHIPPED, metavar="FOLDER")
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for language, text in generate().items():
        file = folder / f"{language}.conllu"
        file.write_text(text, encoding="utf-8", newline="\n")
        print(f"{file}: {len(text.encode('utf-8'))} bytes")


if __name__ == "__main__":
    main()
