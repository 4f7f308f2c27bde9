"""The analyses, a folder each; `lmkin.analysis` finds them by their `analysis.py`."""
