"""Rewriting: a worklist of ops, and the patterns that may match each."""
