"""The passes that move factors of channels into weights."""
