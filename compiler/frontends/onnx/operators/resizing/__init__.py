"""The converters of resizing and sampling."""
