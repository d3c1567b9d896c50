"""The passes that compute products of one operand at once."""
