"""Operations as several simpler ones."""
