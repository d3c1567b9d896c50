"""Shapes of tensors, with sizes that have names."""
