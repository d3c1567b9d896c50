"""Constants: their elements, their ranges, folding."""
