"""The promises of methods about what they look at: in the operation, or in its text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

__all__ = ["of_function_type", "of_signature"]

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


def of_function_type(method: Method) -> Method:
    """Mark a `parse` of a text that ends with the type of a function from operands to results.

    Nothing else may depend on this type: with another one, the same text before it must give the
    same operation but for these types.
    """
    setattr(method, "of_function_type", True)
    return method
