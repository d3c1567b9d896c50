"""On which device each operation runs."""
