"""How passes and dialects are found, loaded and described."""
