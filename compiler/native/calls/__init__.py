"""Calls of machine code: arguments, results, interruption."""
