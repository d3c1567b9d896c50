"""The pass recognize-ops, and the forms in which exporters write operations."""
