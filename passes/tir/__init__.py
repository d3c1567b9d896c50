"""Passes on tir: on loops over buffers."""
