"""The semantics of reductions, normalizations and scans."""
