"""Operations that create, move, choose, sort or resample elements."""
