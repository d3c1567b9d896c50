"""Passes on `tir`: loops over buffers."""
