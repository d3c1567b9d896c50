"""What makes IR valid: the verifier, and dominance."""
