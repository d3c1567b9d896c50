"""The semantics of operations that create, move, choose, sort or resample elements."""
