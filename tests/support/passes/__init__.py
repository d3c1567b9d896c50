"""Passes in tests: toy passes, passes with faults, and what has to hold of the results."""
