"""Operations that move, choose, sort or resample elements."""
