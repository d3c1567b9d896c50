"""Fusion: groups of operations of `relax` that become one kernel, and the patterns of groups."""
