"""Programs for a stack machine."""
