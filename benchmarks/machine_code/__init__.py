"""Kernels to be timed, and the timing of machine code."""
