"""The evaluation of calls, and of whole modules, on constants."""
