"""LegalizeOps: the pass, and the legalizations of operations, a file per family."""
