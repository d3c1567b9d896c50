"""Fuzzing: random networks through random lowerings to machine code, compared with numpy."""
