"""Hypothesis strategies: modules of valid IR with arguments, and pipelines with options."""
