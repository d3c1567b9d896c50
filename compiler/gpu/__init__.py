"""Kernels for NVIDIA's GPUs: their assembly, and their calls from the host."""
