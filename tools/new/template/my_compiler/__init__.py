"""A compiler on Passline and xDSL."""
