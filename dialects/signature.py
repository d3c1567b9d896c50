"""The promise of a method to look at the signature of its operation alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

__all__ = ["of_signature"]

Method = TypeVar("Method", bound=Callable[..., object])


def of_signature(method: Method) -> Method:
    """Mark a `print` or `verify_` that depends on class, properties, attributes and types alone; a
    `verify_` may look at the arguments of the first block of a region, whether it is the only one,
    and at the class of its last op and the types of its operands. A `print` may look at the same
    but these types, and whether the last op has attributes or is the only one.

    One op then stands for all of the same: the others are printed from its text, with their own
    names of values, and are taken as valid. So the method must not look at owners and uses of
    values, at constants behind operands, at the surroundings or at the location.
    """
    setattr(method, "of_signature", True)
    return method
