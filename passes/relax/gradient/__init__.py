"""Reverse-mode differentiation: the pass `gradient` and the rules of the operations, by family."""
