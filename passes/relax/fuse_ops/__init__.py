"""The passes that group operations into functions."""
