"""The semantics of sums of products."""
