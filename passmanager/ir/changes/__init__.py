"""What a pass has changed in IR."""
