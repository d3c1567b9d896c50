"""Layouts of tensors: which one each gets, and the operations rewritten for it."""
