"""Single operations: instances, arguments, and checks of what computes them."""
