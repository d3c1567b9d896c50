"""Runs of a pipeline on many inputs, in processes or on a cluster: `passline-opt --out-dir`."""
