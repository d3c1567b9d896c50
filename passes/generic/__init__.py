"""Passes on the IR of any dialect."""
