"""One file a corpus format; every module here registers itself with `corpus_format`."""
