"""How a contraction is divided into tiles, and what the choice costs."""
