"""Convolutions by the algorithm of Winograd."""
