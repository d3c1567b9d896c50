"""Passes on `relax`: operations on tensors."""
