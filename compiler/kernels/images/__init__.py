"""Resizing of images, and moves of elements between channels and pixels."""
