"""Generation of a network from a source of random numbers."""

from __future__ import annotations

from random import Random

from .builder import Network, NetworkBuilder
from .choices import ELEMENTS, MAX_ELEMENTS
from .structures import add_steps

__all__ = ["random_network"]


def random_network(
    source: Random,
    parts: int = 12,
    steps: int = 6,
    *,
    structures: bool = False,
    dynamic: bool = False,
    max_elements: int = MAX_ELEMENTS,
) -> Network:
    """Return a function of `parts` parts that share few values, each of `steps` steps.

    A step is an operation, or with `structures` a branch, a loop, a lambda, a call, a tuple or a
    graph. In a `dynamic` network types may leave dimensions, or the rank, unknown. No tensor has
    more than `max_elements` elements.
    """
    builder = NetworkBuilder(source, dynamic=dynamic, max_elements=max_elements)
    for _ in range(parts):
        element = builder.random.choice(ELEMENTS)
        shape = builder.random.shape(builder.random.choice([1, 2, 2, 3, 3, 4, 4, 4, 5]))
        builder.start_part(shape, element)
        add_steps(builder, steps, depth=2 if structures else 0)
        builder.finish_part()
    return builder.network()
