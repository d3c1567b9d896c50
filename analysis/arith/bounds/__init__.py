"""Bounds of integer expressions."""
