"""Types with the sizes that a symbolic analysis found."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import Rewriter

from ...compiler.analysis.shapes.symbolic_shapes import SymbolicShapes
from ...dialects.relax.interfaces import InfersType
from ...dialects.relax.types import is_ranked, is_tensor, refine, shape_of, static_shape, with_shape
from ...passmanager.ir.symbols import is_skipped
from ...passmanager.ir.walk import walk
from ..generic.analysis.call_graph import CallGraph
from .type_casts import cast_for_users

__all__ = ["functions_with_unknown_sizes", "retype_known_sizes"]


def functions_with_unknown_sizes(graph: CallGraph) -> list[FuncOp]:
    """Return the functions with a tensor of unknown size, callees first; without those that are
    not to be optimized, or opaque."""
    return [
        op
        for op in graph.callees_first()
        if isinstance(op, FuncOp)
        and not is_skipped(op)
        and "relax.primitive" not in op.attributes
        and any(map(_is_dynamic, _types(op)))
    ]


def _types(function: FuncOp) -> Iterable[Attribute]:
    """Return the different types in a function."""
    seen = dict.fromkeys(function.function_type.inputs)
    for op in walk(function):
        for result in op.results:
            seen[result.type] = None
    return seen


def _is_dynamic(type: Attribute) -> bool:
    return is_tensor(type) and static_shape(type) is None


def retype_known_sizes(functions: Iterable[FuncOp], shapes: SymbolicShapes) -> bool:
    """Put sizes that are known into the types of results that operations infer themselves; return
    whether a type has changed. Other users get casts."""
    retyped: dict[SSAValue, Attribute] = {}
    for function in functions:
        for op in [op for op in walk(function) if isinstance(op, InfersType)]:
            for result in [*op.results]:
                if (type := _known_type(result, shapes)) is not None:
                    old = result.type
                    new = Rewriter.replace_value_with_new_type(result, type)
                    shapes.move(result, new)
                    retyped[new] = old
    cast_for_users(retyped)
    return bool(retyped)


def _known_type(value: SSAValue, shapes: SymbolicShapes) -> Attribute | None:
    """Return the more precise type of a value; None if nothing more is known."""
    type = value.type
    if not is_tensor(type) or (is_ranked(type) and static_shape(type) is not None):
        return None
    if (sizes := shapes.of(value)) is None:
        return None
    shape = tuple(
        DYNAMIC_INDEX if size.known is None or size.known < 0 else size.known for size in sizes
    )
    if shape == shape_of(type):
        return None
    better = refine(type, with_shape(type, shape))
    return None if better == type else better
