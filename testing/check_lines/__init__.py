"""Generation of CHECK lines: what `pytest --update-checks` writes into a test file."""
