"""The types that a model declares for its outputs and initializers, beside those that they have."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from onnx import TypeProto
from xdsl.ir import Attribute

from ...dialects.relax.types import Tensor, is_tensor, refine
from ...interpreters.shape_bindings import bound_dimension
from .errors import ModelError, Unsupported
from .types import dimensions_of, type_with

__all__ = ["check_initializer", "check_output"]


def check_output(
    name: str,
    proto: TypeProto,
    type: Attribute,
    sizes: Mapping[str, int],
    warn: Callable[[str], None],
) -> None:
    """Compare the type of which an output is computed with the one that it is declared with, where
    symbolic dimensions are `sizes`: of another shape `warn` gets a message, as onnxruntime warns.

    Errors: ModelError if the elements are of another type.
    """
    declared = _declared(proto, sizes)
    if declared is None or refine(type, declared) is not None:
        return
    message = f"output '{name}' is declared as {declared}, but the model computes {type}"
    if not is_tensor(type) or type.element_type != declared.element_type:
        raise ModelError(message)
    warn(message)


def check_initializer(name: str, proto: TypeProto, type: Attribute) -> None:
    """Raise ModelError if an input, whose initializer is of `type`, is declared with another."""
    declared = _declared(proto, {})
    if declared is not None and refine(type, declared) is None:
        raise ModelError(f"input '{name}' is declared as {declared}, but its initializer is {type}")


def _declared(proto: TypeProto, sizes: Mapping[str, int]) -> Tensor | None:
    """Return a declared type; None if it is missing or not of a tensor that relax has."""
    dimensions = dimensions_of(proto)
    if dimensions is not None:
        dimensions = tuple(bound_dimension(dimension, sizes) for dimension in dimensions)
    try:
        return type_with(proto, dimensions)
    except Unsupported:
        return None
