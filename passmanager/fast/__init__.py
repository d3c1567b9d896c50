"""Faster code in the place of xDSL's own: reading, printing, verifying, copying, rewriting."""
