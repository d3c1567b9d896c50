"""The driver of patterns: its worklist, and the index of patterns by operation."""
