"""One file a model source; every module here registers itself with `model_source`."""
