"""Random functions on tensors of static shape, with arguments and the results for them."""

from __future__ import annotations

from .builder import Network
from .generator import random_network

__all__ = ["Network", "random_network"]
