"""Operations that move, choose or sort elements."""
