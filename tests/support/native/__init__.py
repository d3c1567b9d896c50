"""Machine code in tests: what it needs, and its check against the interpreters."""
