"""Random programs and modules."""
