"""Reductions of symbols: functions and their bodies, arguments and results."""

from __future__ import annotations

from collections import defaultdict
from functools import partial

from xdsl.dialects.builtin import ArrayAttr, FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.traits import IsolatedFromAbove, SymbolTable

from ...analysis.calls.call_graph import References
from ...passmanager.ir.symbols import symbol_of
from ...passmanager.ir.walk import walk
from .replacement import Edit, erase_and_replace, is_terminator, stand_in, without

__all__ = ["arguments", "bodies", "results", "symbols"]


def symbols(module: ModuleOp) -> list[Edit]:
    """Return edits that erase a symbol with the ops that refer to it."""
    users = users_of_symbols(module)

    def edit(op: Operation, name: str) -> None:
        for user in users[name]:
            if user.parent is not None and not is_terminator(user) and not symbol_of(user):
                erase_and_replace(user)
        if op.parent is not None:
            erase_and_replace(op)

    return [partial(edit, op, name) for op in walk(module) if (name := symbol_of(op)) and op.parent]


def users_of_symbols(module: ModuleOp) -> defaultdict[str, list[Operation]]:
    """Return the ops that refer to each symbol."""
    users: defaultdict[str, list[Operation]] = defaultdict(list)
    references = References()
    for op in walk(module):
        for name in references.of(op):
            users[name].append(op)
    return users


def bodies(module: ModuleOp) -> list[Edit]:
    """Return edits that turn a function into a declaration."""

    def edit(op: Operation) -> None:
        region = op.regions[0]
        for block in [*region.blocks]:
            region.detach_block(block).drop_all_references()
        if isinstance(op, FuncOp):
            op.sym_visibility = StringAttr("private")  # as MLIR wants of a declaration

    return [partial(edit, op) for op in walk(module) if _is_function(op) and op.regions[0].blocks]


def _is_function(op: Operation) -> bool:
    has_trait = op.has_trait(IsolatedFromAbove) and not op.has_trait(SymbolTable)
    return has_trait and len(op.regions) == 1 and bool(symbol_of(op))


def arguments(module: ModuleOp) -> list[Edit]:
    """Return edits that remove an argument of a function and of its calls."""
    users = users_of_symbols(module)

    def edit(func: FuncOp, number: int) -> None:
        if (entry := func.body.first_block) is not None:
            if not _may_lose_argument(func, number):
                return
            arg = entry.args[number]
            if arg.first_use is not None:
                arg.replace_all_uses_with(stand_in(arg, (), entry))
            entry.erase_arg(arg)
        inputs, outputs = func.function_type.inputs.data, func.function_type.outputs.data
        func.function_type = FunctionType.from_lists(without(inputs, number), outputs)
        if func.arg_attrs is not None:
            func.arg_attrs = ArrayAttr(without(func.arg_attrs.data, number))
        for call in users[func.sym_name.data]:
            if isinstance(call, CallOp):
                call.operands = without([*call.operands], number)

    return [
        partial(edit, func, number)
        for func in walk(module)
        if isinstance(func, FuncOp)
        for number in range(len(func.function_type.inputs))
        if _may_lose_argument(func, number)
    ]


def _may_lose_argument(func: FuncOp, number: int) -> bool:
    """Return whether the users of an argument can be given another argument, or there are none."""
    if (entry := func.body.first_block) is None:
        return True
    if number >= len(entry.args):  # in IR that is not verified
        return False
    arg, *others = entry.args[number], *entry.args[:number], *entry.args[number + 1 :]
    return arg.first_use is None or any(other.type == arg.type for other in others)


def results(module: ModuleOp) -> list[Edit]:
    """Return edits that remove a result of a function and of its calls."""
    users = users_of_symbols(module)

    def edit(func: FuncOp, number: int) -> None:
        inputs, outputs = func.function_type.inputs.data, func.function_type.outputs.data
        func.function_type = FunctionType.from_lists(inputs, without(outputs, number))
        if func.res_attrs is not None:
            func.res_attrs = ArrayAttr(without(func.res_attrs.data, number))
        for block in func.body.blocks:
            if isinstance(end := block.last_op, ReturnOp):
                end.operands = without([*end.operands], number)
        calls = users[func.sym_name.data]
        calls[:] = [_call_without(c, number) if isinstance(c, CallOp) else c for c in calls]

    return [
        partial(edit, func, number)
        for func in walk(module)
        if isinstance(func, FuncOp)
        for number in range(len(func.function_type.outputs))
    ]


def _call_without(call: CallOp, number: int) -> CallOp:
    """Replace a call by one without the result at index `number`; return the new call."""
    new = CallOp.create(
        operands=[*call.operands],
        result_types=without(call.result_types, number),
        properties=call.properties,
        attributes=call.attributes,
        location=call.location,
    )
    assert call.parent is not None
    call.parent.insert_op_before(new, call)
    values: list[SSAValue | None] = [*new.results]
    values.insert(number, None)
    erase_and_replace(call, values)
    return new
