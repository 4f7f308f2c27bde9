"""`lmkin redundancy`: which neurons and layers say the same thing, into a folder with a report."""

from .command import command

__all__ = ["command"]
