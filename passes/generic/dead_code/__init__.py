"""Operations, results and symbols that nothing uses."""
