"""Printing: templates of what xDSL printed once."""
