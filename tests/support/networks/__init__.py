"""Random functions on tensors, with arguments and the results for them."""

from __future__ import annotations

from .builder import Network
from .comparison import distance_in
from .generator import random_network

__all__ = ["Network", "distance_in", "random_network"]
