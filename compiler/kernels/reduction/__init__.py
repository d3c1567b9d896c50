"""Reductions, normalizations and scans."""
