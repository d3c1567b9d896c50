"""Verification: the rules of irdl, checked without its general code."""
