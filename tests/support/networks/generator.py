"""Generation of a network from a seed."""

from __future__ import annotations

from xdsl.dialects.builtin import f16, f32, i8, i32
from xdsl.utils.exceptions import VerifyException

from .builder import Network, NetworkBuilder
from .rules import LINEAR, RULES
from .rules.rounding import INEXACT
from .values import NotApplicable

__all__ = ["random_network"]

MAX_ATTEMPTS = 200
"""A part ends early after this many rules that did not apply."""


def random_network(seed: int, parts: int = 12, steps: int = 6) -> Network:
    """Return a function of `parts` parts that share few values, each of `steps` operations."""
    builder = NetworkBuilder(seed)
    for _ in range(parts):
        add_part(builder, steps)
    return builder.network()


def add_part(builder: NetworkBuilder, steps: int) -> None:
    """Add a part of `steps` operations, fewer if too many attempts fail."""
    element = builder.random.choice([f32, f32, f32, f32, f32, f16, i32, i8])
    shape = builder.random.shape(builder.random.choice([1, 2, 2, 3, 3, 4, 4, 4, 5]))
    builder.start_part(shape, element)
    done = failed = 0
    while done < steps and failed < MAX_ATTEMPTS:
        try:
            add_operation(builder)
            done += 1
        except (NotApplicable, VerifyException):
            failed += 1
    builder.finish_part()


def add_operation(builder: NetworkBuilder) -> None:
    """Add an operation of a random rule; NotApplicable or VerifyException if it does not fit."""
    builder.placeholders = {}
    rule = builder.random.choice(RULES)
    if builder.special and rule in LINEAR:
        raise NotApplicable  # moving a scale may introduce or remove a product of infinity and 0
    op = rule(builder)
    builder.add(op, rounds=isinstance(op, INEXACT))
