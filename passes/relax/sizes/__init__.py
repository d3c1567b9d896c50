"""Passes on sizes that are not known: their names, and their values."""
