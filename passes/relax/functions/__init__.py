"""Passes on functions: calls, closures, parameters, other back ends."""
