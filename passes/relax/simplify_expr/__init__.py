"""The pass simplify-expr, and its patterns."""
