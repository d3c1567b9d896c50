"""Sizes that are known when a kernel runs."""
