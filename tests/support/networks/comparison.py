"""The comparison of results with those of a network."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .builder import Network

__all__ = ["distance_in"]


def distance_in(network: Network, actual: Sequence[object]) -> str | None:
    """Return how results differ from those of the network by more than its tolerances, or None."""
    pairs = zip(network.results, network.tolerances, strict=True)
    for i, (expected, tolerance) in enumerate(pairs):
        try:
            np.testing.assert_allclose(np.asarray(actual[i]), expected, 0, tolerance, strict=True)
        except AssertionError as error:
            return f"result {i}: {error}"
    return None
