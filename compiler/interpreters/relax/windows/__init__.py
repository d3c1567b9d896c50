"""The semantics of pooling."""
