"""Sizes of tensors as values, and casts between types that know more or less of them."""
