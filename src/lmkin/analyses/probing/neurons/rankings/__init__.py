"""The ways to rank neurons: one file each, found by themselves; every module registers with `ranking_method`."""
