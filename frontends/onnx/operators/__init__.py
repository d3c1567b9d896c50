"""The converters of operators."""
