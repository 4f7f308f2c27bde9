"""`python -m lmkin` is `lmkin`."""

from .cli import run

run()
