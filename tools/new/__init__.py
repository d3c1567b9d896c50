"""A new project with a dialect, passes, an instrument and tests."""
