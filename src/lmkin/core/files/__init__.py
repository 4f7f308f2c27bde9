"""Files: written whole or not at all, locked, known by their content."""
