# pyright: reportPrivateUsage=false
"""Creation of ops without their constructors, for IR that is known to be right: the constructors
check what is true of every copy of an op. Fields with their default value are left to the class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue, Use
from xdsl.ir.core import SSAValues
from xdsl.irdl import IRDLOperation

from ..ir.per_class import PerClass
from .acceleration import is_accelerated

__all__ = ["append_op", "create_before", "is_plain", "set_operands", "set_results"]

_new = object.__new__
_FAST = is_accelerated("copying")


def set_operands(op: Operation, operands: Sequence[SSAValue]) -> None:
    """Set the operands of an op that has none yet."""
    uses: list[Use] = []
    for index, operand in enumerate(operands):
        use = _new(Use)
        use._operation = op
        use._index = index
        # Before the other uses, as xDSL's `add_use` has it.
        if (first := operand.first_use) is not None:
            use._next_use = first
            first._prev_use = use
        operand.first_use = use
        uses.append(use)
    op._operands = SSAValues(operands)
    op._operand_uses = tuple(uses)


def set_results(op: Operation, types: Sequence[Attribute]) -> None:
    """Give results of these types to an op that has none yet."""
    results: list[OpResult] = []
    for index, type in enumerate(types):
        result = _new(OpResult)
        result._type = type
        result.op = op
        result.index = index
        results.append(result)
    op.results = SSAValues(results)


def create_before(
    place: Operation,
    op_class: type[Operation],
    operands: Sequence[SSAValue],
    result_types: Sequence[Attribute],
    properties: dict[str, Attribute],
) -> Operation:
    """Insert a new op before another, with its location; the op has no regions and successors."""
    if not _FAST or not is_plain[op_class]:
        op = op_class.create(
            operands=operands,
            result_types=result_types,
            properties=properties,
            location=place.location,
        )
        assert place.parent is not None
        place.parent.insert_ops_before((op,), place)
        return op
    op = _new(op_class)
    op.properties = properties
    op.attributes = {}
    op.location = place.location
    if result_types:
        set_results(op, result_types)
    if operands:
        set_operands(op, operands)
    op.parent = block = place.parent
    op._next_op = place
    # A block whose first op is `place` gets a new first op; the last one stays.
    op._prev_op = before = place._prev_op
    place._prev_op = op
    if before is None:
        assert block is not None
        block._first_op = op
    else:
        before._next_op = op
    return op


def append_op(block: Block, op: Operation) -> None:
    """Append a detached op to a block."""
    op.parent = block
    if (last := block._last_op) is None:
        block._first_op = op
    else:
        last._next_op = op
        op._prev_op = last
    block._last_op = op


_METHODS = ("create", "clone", "clone_without_regions", "__new__", "__post_init__", "__setattr__")


def _is_plain(op_class: type[Operation]) -> bool:
    names = {*_METHODS, *(field.name for field in fields(Operation))}
    # Such classes are made for each name, with a `create` of their own.
    if issubclass(op_class, UnregisteredOp) and op_class.__module__ == UnregisteredOp.__module__:
        names.remove("create")  # it sets an attribute only, the name of the op
    homes = {_home(op_class, name) for name in names}
    return homes <= {Operation, IRDLOperation, object, None}


def _home(cls: type, name: str) -> type | None:
    """Return the class from which `cls` has an attribute."""
    return next((base for base in cls.__mro__ if name in vars(base)), None)


is_plain = PerClass[Operation, bool](_is_plain)
"""Whether the state of the ops of a class is that of xDSL's Operation, and its methods that set
this state are xDSL's own."""
