"""`python -m lmkin` is `lmkin`."""

from __future__ import annotations

import sys

from .core import end_interrupted, interrupted, watched_interrupts

_TOO_EARLY = "Error: Interrupted before anything was begun; run the same command again.\n"


def main() -> None:
    """The entry point. Ctrl-C is handled while the command line is still being imported, too."""
    with watched_interrupts(lambda: _TOO_EARLY):
        try:
            from .cli import run
        except BaseException:
            if not interrupted():
                raise
            sys.stderr.write(_TOO_EARLY)
            end_interrupted()
    run()


if __name__ == "__main__":
    main()
