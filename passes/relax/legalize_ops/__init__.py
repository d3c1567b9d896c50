"""LegalizeOps: a file per family of operations that says how their elements are computed."""
