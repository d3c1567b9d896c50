"""The semantics of operations on each element."""
