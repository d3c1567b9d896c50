"""The pass canonicalize, and the patterns that it adds to those of xDSL."""
