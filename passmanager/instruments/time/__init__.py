"""Instruments that measure time, memory and statistics."""
