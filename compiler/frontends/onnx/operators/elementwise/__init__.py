"""The converters of operators on each element, and of reductions."""
