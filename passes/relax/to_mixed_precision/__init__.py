"""The pass to-mixed-precision."""
