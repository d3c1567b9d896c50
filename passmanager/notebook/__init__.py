"""HTML that notebooks show of passes, contexts and results."""
