"""The neighbourhood of an operation: a function of the operations around it alone.

A module that is cut down so at once takes few trials; and it still computes something, while
`passline-reduce` replaces what it removes by values that nothing computes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import ConstantLike

from ...passmanager.fast.clone import clone
from ...passmanager.fast.edit import erase
from ...passmanager.ir.location import file_location
from ...passmanager.ir.symbols import symbol_of
from ...passmanager.ir.walk import walk
from ..trials.place import OpPlace

__all__ = ["neighbourhoods"]

DISTANCES = (0, 1, 2, 4)


def neighbourhoods(module: ModuleOp, place: OpPlace) -> Iterator[ModuleOp]:
    """Yield copies of `module` whose function at `place` is cut down to the operation there and
    those around it: ever more of them, in steps from definition to use. If a pass has made the
    function, it is the first one with an op from the same line."""
    for distance in DISTANCES:
        copy = clone(module)
        for func in _candidates(copy, place):
            if chosen := _around(func.body.block, place, distance):
                _cut(func, chosen)
                yield copy
                break


def _candidates(module: ModuleOp, place: OpPlace) -> list[FuncOp]:
    """Return the functions that may hold the op at `place`."""
    functions = [
        op
        for op in module.ops
        if isinstance(op, FuncOp)
        and len(op.body.blocks) == 1
        and isinstance(op.body.block.last_op, ReturnOp)
    ]
    if any(symbol_of(op) == place.function for op in module.ops) or place.location is None:
        return [func for func in functions if symbol_of(func) == place.function]
    return functions


def _around(block: Block, place: OpPlace, distance: int) -> set[Operation]:
    """Return the ops of `block` at `place`, their neighbours, and the constants of these."""
    chosen = {op for op in block.ops if any(_is_at(inner, place) for inner in walk(op))}
    for _ in range(distance if chosen else 0):
        users = {use.operation for op in chosen for result in op.results for use in result.uses}
        holders = [block.find_ancestor_op_in_block(user) for user in users]
        chosen |= {*_owners(chosen, block), *(op for op in holders if op is not None)}
    chosen |= {op for op in _owners(chosen, block) if _is_constant(op)}
    return {op for op in chosen if not isinstance(op, ReturnOp)}


def _is_at(op: Operation, place: OpPlace) -> bool:
    """Return whether an op is from the line of `place`; without a line, whether it has the name."""
    if place.location is None:
        return op.name == place.op
    return file_location(op.location) == place.location


def _owners(ops: Iterable[Operation], block: Block) -> Iterator[Operation]:
    """Yield the ops of `block` that define an operand of `ops` or of ops nested in them."""
    for op in ops:
        for inner in walk(op):
            for operand in inner.operands:
                if isinstance(operand.owner, Operation) and operand.owner.parent is block:
                    yield operand.owner


def _is_constant(op: Operation) -> bool:
    return op.has_trait(ConstantLike, value_if_unregistered=False)


def _cut(func: FuncOp, chosen: set[Operation]) -> None:
    """Keep only the ops `chosen` in a function; other values become its arguments and results."""
    block = func.body.block
    others = [op for op in block.ops if op not in chosen]
    results = [value for op in block.ops if op in chosen for value in _used_outside(op, chosen)]
    for op in others:
        for value in op.results:
            if any(block.find_ancestor_op_in_block(use.operation) in chosen for use in value.uses):
                argument = block.insert_arg(value.type, len(block.args))
                argument.name_hint = value.name_hint
                value.replace_all_uses_with(argument)
    block.add_op(ReturnOp(*results))
    for op in reversed(others):
        erase(op)
    for argument in [*block.args]:
        if argument.first_use is None:
            block.erase_arg(argument)
    func.function_type = FunctionType.from_lists(
        [argument.type for argument in block.args], [result.type for result in results]
    )
    func.arg_attrs = func.res_attrs = None
    func.sym_visibility = None  # it is called by nobody, and checked if it is public


def _used_outside(op: Operation, chosen: set[Operation]) -> list[SSAValue]:
    """Return the results of `op` that others than `chosen` use, or nobody; of a constant, none."""
    if _is_constant(op):
        return []
    block = op.parent
    assert block is not None
    return [
        result
        for result in op.results
        if result.first_use is None
        or any(block.find_ancestor_op_in_block(use.operation) not in chosen for use in result.uses)
    ]
