"""The pass lift-transform-params."""
