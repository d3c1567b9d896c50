"""Expressions: operations that compute their result from their operands and do nothing else."""

from __future__ import annotations

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.traits import NoMemoryEffect, Pure

from ....passmanager.fast.access import read_step
from ....passmanager.ir.per_class import PerClass
from .integer_types import BOOLEAN, is_integer

__all__ = ["expression_tree", "has_pure_class", "is_expression", "negated_operand"]

MAX_TREE = 12
"""How many operations a tree may have: longer expressions are simplified piece by piece."""


def _is_pure(cls: type[Operation]) -> bool:
    if issubclass(cls, memref.DimOp):
        return True  # xDSL declares no effects for it
    return cls.name.startswith(("arith.", "math.", "tir.")) and (
        cls.get_trait(Pure) is not None or cls.get_trait(NoMemoryEffect) is not None
    )


_PURE = PerClass(_is_pure)


def has_pure_class(op: Operation) -> bool:
    """Return whether the results of `op` depend on its class, operands and properties alone."""
    return _PURE[type(op)]


def is_expression(op: Operation) -> bool:
    """Return whether `op` does nothing but compute one result from its operands."""
    return _PURE[type(op)] and len(op.results) == 1 and not op.regions


def expression_tree(op: Operation) -> list[SSAValue]:
    """Return the result of `op` and the integers that only it is computed from.

    These are the values that have no use any more once `op` is replaced. Constants do not count,
    as they cost nothing. At most MAX_TREE values.
    """
    tree: list[SSAValue] = []
    pending = [op]
    while pending and len(tree) < MAX_TREE:
        operands, results, _, _ = read_step(pending.pop())
        tree.append(results[0])
        for operand in operands:
            # A value with another use stays alive, so replacing its user does not save it.
            if not isinstance(operand, OpResult) or not operand.has_one_use():
                continue
            definition = operand.op
            if type(definition) is not arith.ConstantOp and is_expression(definition):
                if is_integer(operand.type):
                    pending.append(definition)
    return tree


def negated_operand(op: arith.XOrIOp) -> SSAValue | None:
    """Return the condition that `op` negates (`xori %condition, true`); None if it does not."""
    if op.result.type != BOOLEAN:
        return None
    for value, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        if isinstance(constant := other.owner, arith.ConstantOp):
            if isinstance(constant.value, IntegerAttr) and constant.value.value.data & 1:
                return value
    return None
