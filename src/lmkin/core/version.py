"""The version of lmkin."""

__version__ = "0.1.0"
