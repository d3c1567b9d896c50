"""Loops: building, copying, expanding them."""
