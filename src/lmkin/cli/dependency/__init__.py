"""`lmkin dependency`: how much of every model the others explain, into a folder with a report."""

from .command import command

__all__ = ["command"]
