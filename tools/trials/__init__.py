"""Trials: runs of a pipeline on copies of a module, which the tools that search judge."""
