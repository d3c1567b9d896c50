"""Which operations of `relax` are computed together."""
