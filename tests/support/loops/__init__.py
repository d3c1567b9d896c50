"""Random functions on buffers: loops of all kinds, branches, computed indices, with arguments."""

from __future__ import annotations

from .accesses import Accesses
from .buffers import Buffers
from .generator import Arguments, LoopNests, random_loops
from .guards import GuardedLoops
from .indices import Indices
from .vectors import VectorLoops

__all__ = [
    "Accesses",
    "Arguments",
    "Buffers",
    "GuardedLoops",
    "Indices",
    "LoopNests",
    "VectorLoops",
    "random_loops",
]
