"""Sums of products: matrix products, convolutions, attention."""
