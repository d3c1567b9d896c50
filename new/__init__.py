"""`python -m passline.new NAME`: a new project with a dialect, passes, an instrument and tests."""
