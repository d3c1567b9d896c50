# pyright: reportPrivateUsage=false
"""Fast access to the fields that xDSL keeps private, each with the reason; the only such file.

xDSL's public accessors are properties, and `op.operands` builds a view: a tenth of a microsecond
each, where the work on an op in a walk takes a few of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from types import FunctionType
from typing import TypeAlias, cast

from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue
from xdsl.irdl import OpDef
from xdsl.irdl.operations import get_accessors_from_op_def

from .acceleration import is_accelerated

__all__ = [
    "Fields",
    "Step",
    "parts_of_verifier",
    "read_fields",
    "read_operands",
    "read_step",
    "read_type",
]

Fields: TypeAlias = tuple[
    tuple[SSAValue, ...],
    tuple[OpResult, ...],
    dict[str, Attribute],
    dict[str, Attribute],
    tuple[Block, ...],
    tuple[Region, ...],
    Operation | None,
]
Step: TypeAlias = tuple[
    tuple[SSAValue, ...], tuple[OpResult, ...], tuple[Region, ...], Operation | None
]


def _read_fields(op: Operation) -> Fields:
    return (
        (*op.operands,),
        op.results,
        op.properties,
        op.attributes,
        (*op.successors,),
        op.regions,
        op.next_op,
    )


def _read_step(op: Operation) -> Step:
    return (*op.operands,), op.results, op.regions, op.next_op


_FAST = is_accelerated("fields")

# One call into C reads all fields: 0.17 us against 0.6 us through the properties.
read_fields: Callable[[Operation], Fields] = (
    attrgetter(
        "_operands", "results", "properties", "attributes", "_successors", "regions", "_next_op"
    )
    if _FAST
    else _read_fields
)
"""Operands, results, properties, attributes, successors, regions of an op, and the next op."""

read_step: Callable[[Operation], Step] = (
    attrgetter("_operands", "results", "regions", "_next_op") if _FAST else _read_step
)
"""Operands, results, regions of an op, and the next op: the fields that a scan for values needs."""

read_operands: Callable[[Operation], Sequence[SSAValue]] = attrgetter(
    "_operands" if _FAST else "operands"
)
"""The operands of an op."""

read_type: Callable[[SSAValue], Attribute] = attrgetter("_type" if _FAST else "type")
"""The type of a value; `map` calls it without a frame of Python."""


Verifier: TypeAlias = Callable[[Operation], object]


def parts_of_verifier(verifier: Verifier) -> tuple[OpDef, Verifier] | None:
    """Return the definition and the author's `verify_` of which `irdl_op_definition` made a
    verifier; None for any other function.

    It keeps both as variables of a closure only.
    """
    # `irdl_op_definition` makes `verify_` of each class in one function of xDSL: its code object is
    # one of the constants there, whichever class it is called for.
    if not isinstance(verifier, FunctionType):
        return None
    code, made_by = verifier.__code__, get_accessors_from_op_def
    if code.co_filename != made_by.__code__.co_filename or code not in made_by.__code__.co_consts:
        return None
    cells = (cell.cell_contents for cell in verifier.__closure__ or ())
    variables = dict(zip(code.co_freevars, cells, strict=True))
    author = variables.get("custom_verify", Operation.verify_)
    return cast(OpDef, variables["op_def"]), cast(Verifier, author)
