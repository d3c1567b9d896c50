"""Text of IR: the reader and the printer."""
