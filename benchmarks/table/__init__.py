"""The table of `make bench`: its rows, and how they are shown and kept."""
