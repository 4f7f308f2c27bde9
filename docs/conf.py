"""How Sphinx builds these pages: `make docs`, or sphinx -W -b html docs docs/_build/html."""

from __future__ import annotations

import lmkin

project = "lmkin"
author = "The lmkin authors"
copyright = "The lmkin authors"  # Sphinx's own name for it
version = release = lmkin.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
]
exclude_patterns = ["_build", "conformance_table.md"]  # the table is included in a page

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3

napoleon_google_docstring = False
napoleon_numpy_docstring = True
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_display_short_literal_types = True
maximum_signature_line_length = 100  # a long signature has a line for each keyword

html_theme = "furo"
html_title = f"lmkin {release}"
html_static_path = ["_static"]
html_css_files = ["lmkin.css"]
