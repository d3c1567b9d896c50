"""Transformations that several passes share."""
