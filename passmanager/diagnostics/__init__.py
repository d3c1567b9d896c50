"""What passes say of IR: errors, warnings and remarks, with excerpts of the text."""
