"""Options of passes: their types, their text, and those that MLIR has."""
