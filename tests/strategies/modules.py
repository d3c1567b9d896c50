"""Random modules: the generators of `support.networks` and `support.loops`, driven by hypothesis.

Each draw of a generator is one of hypothesis, so a failing module shrinks: fewer steps, smaller
shapes, simpler operations.
"""

from __future__ import annotations

from random import Random

from hypothesis import strategies as st
from support.loops import LoopNests, random_loops
from support.networks import Network, random_network

__all__ = ["loop_nests", "networks"]

RANDOM = st.randoms(use_true_random=False)


def networks(
    *,
    parts: int = 2,
    steps: int = 5,
    structures: bool = True,
    dynamic: bool | None = None,
    max_elements: int = 24,
) -> st.SearchStrategy[Network]:
    """Strategy for functions on tensors, of up to `parts` parts of up to `steps` steps.

    With `structures` there are branches, loops, lambdas, tuples, graphs and several functions. In
    a `dynamic` network types leave dimensions, or the rank, unknown; by default some are. Tensors
    have at most `max_elements` elements: kernels are computed element by element.
    """

    def network(source: Random, parts: int, steps: int, dynamic: bool) -> Network:
        return random_network(
            source,
            parts,
            steps,
            structures=structures,
            dynamic=dynamic,
            max_elements=max_elements,
        )

    dynamics = st.booleans() if dynamic is None else st.just(dynamic)
    return st.builds(network, RANDOM, st.integers(1, parts), st.integers(1, steps), dynamics)


def loop_nests(*, functions: int = 2) -> st.SearchStrategy[LoopNests]:
    """Strategy for modules of up to `functions` functions on buffers."""
    return st.builds(random_loops, RANDOM, st.integers(1, functions))
