"""The kinds of edits that reduce a module: of symbols, operations and control flow."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias, TypeVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    FunctionType,
    ModuleOp,
    StringAttr,
    UnrealizedConversionCastOp,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation, OptAttributeDef, OptPropertyDef
from xdsl.traits import IsolatedFromAbove, IsTerminator, SymbolTable

from ...passmanager.fast.clone import clone
from ...passmanager.fast.edit import erase
from ...passmanager.instruments.printing import is_valid
from ...passmanager.ir.symbols import References
from ...passmanager.ir.text.printer import is_dense
from ...passmanager.ir.walk import symbol_of, walk

# Edits that make a module smaller, and the values that replace results of erased ops.


Edit: TypeAlias = Callable[[], None]
"""Removes one thing from a module; does nothing if an earlier edit removed it already."""


T = TypeVar("T")


def stand_in(value: SSAValue, near: Iterable[SSAValue], block: Block) -> SSAValue:
    """Return a value of the type of `value` for its users in `block`: one of `near`, an argument of
    the function, or else a source: an `unrealized_conversion_cast` without operands, which no pass
    folds."""
    entry = _entry(block)
    for other in (*near, *entry.args):
        if other is not value and other.type == value.type:
            return other
    for op in entry.ops:
        if not is_source(op):
            break
        if op.results[0].type == value.type and op.results[0] is not value:
            return op.results[0]
    source = UnrealizedConversionCastOp.create(result_types=[value.type])
    if isinstance(value.owner, Operation):
        source.location = value.owner.location
    if (first := entry.first_op) is None:
        entry.add_op(source)
    else:
        entry.insert_op_before(source, first)
    return source.results[0]


def _entry(block: Block) -> Block:
    """Return the entry block of the innermost op isolated from above that holds `block`."""
    while (holder := block.parent_op()) is not None and holder.parent is not None:
        if holder.has_trait(IsolatedFromAbove, value_if_unregistered=True):
            break
        block = holder.parent
    region = block.parent
    return block if region is None or region.first_block is None else region.first_block


def is_source(op: Operation) -> bool:
    """Return whether an op is a source: a conversion without operands."""
    return isinstance(op, UnrealizedConversionCastOp) and not op.operands and len(op.results) == 1


def is_terminator(op: Operation) -> bool:
    """Return whether an op ends its block."""
    return op.has_trait(IsTerminator, value_if_unregistered=False) or bool(op.successors)


def erase_and_replace(op: Operation, values: Sequence[SSAValue | None] = ()) -> None:
    """Erase an op; its users get the value of `values` if the type fits, else a stand-in."""
    assert op.parent is not None
    near = [operand for operand in op.operands if operand not in op.results]
    for number, result in enumerate(op.results):
        if result.first_use is not None:
            value = values[number] if number < len(values) else None
            fits = value is not None and value.type == result.type and value not in op.results
            new = value if fits else None
            result.replace_all_uses_with(new or stand_in(result, near, op.parent))
    erase(op)


def without(items: Sequence[T], number: int) -> list[T]:
    """Return the items without the one at index `number`."""
    return [*items[:number], *items[number + 1 :]]


def operations(module: ModuleOp) -> list[Edit]:
    """Return edits that erase an op with its regions."""

    def edit(op: Operation) -> None:
        if op.parent is not None:
            erase_and_replace(op)

    def may_go(op: Operation) -> bool:
        used_source = is_source(op) and op.results[0].first_use is not None
        fixed = op.parent is None or is_terminator(op) or symbol_of(op)
        return not used_source and not fixed

    return [partial(edit, op) for op in walk(module) if may_go(op)]


def regions(module: ModuleOp) -> list[Edit]:
    """Return edits that replace an op, such as a loop, by the ops of one of its regions."""

    def edit(op: Operation, region: Region) -> None:
        if (parent := op.parent) is None:
            return
        block = region.block
        for arg in block.args:
            arg.replace_all_uses_with(stand_in(arg, op.operands, parent))
        for inner in [*block.ops]:
            if not is_terminator(inner):
                inner.detach()
                parent.insert_op_before(inner, op)
        erase_and_replace(op, block.last_op.operands if block.last_op is not None else ())

    return [
        partial(edit, op, region)
        for op in walk(module)
        if op.parent is not None and not symbol_of(op)
        for region in op.regions
        if region.first_block is not None and region.first_block is region.last_block
    ]


def attributes(module: ModuleOp) -> list[Edit]:
    """Return edits that delete an optional attribute or property."""

    def edit(held: dict[str, Attribute], key: str) -> None:
        del held[key]

    return [
        partial(edit, held, key)
        for op in walk(module)
        for held in (op.properties, op.attributes)
        for key in held
        if _is_optional(op, key)
    ]


def _is_optional(op: Operation, key: str) -> bool:
    if key in ("sym_visibility", "op_name__") or key.endswith("SegmentSizes"):
        return False  # the second is how xDSL keeps the name of an unregistered op
    if not isinstance(op, IRDLOperation):
        return True
    definition = op.get_irdl_definition()
    declared = definition.properties.get(key) or definition.attributes.get(key)
    return declared is None or isinstance(declared, OptPropertyDef | OptAttributeDef)


def constants(module: ModuleOp) -> list[Edit]:
    """Return edits that replace a dense constant by a splat of its first element."""

    def edit(held: dict[str, Attribute], key: str, splat: Attribute) -> None:
        held[key] = splat

    return [
        partial(edit, held, key, splat)
        for op in walk(module)
        for held in (op.properties, op.attributes)
        for key, attribute in held.items()
        if (splat := _splat(attribute)) is not None
    ]


def _splat(attribute: Attribute) -> Attribute | None:
    """Return the splat of the first element of a dense constant, or None if it is one already."""
    if not is_dense(attribute) or not len(attribute):
        return None
    data = attribute.data.data
    splat = data[: len(data) // len(attribute)] * len(attribute)
    return None if splat == data else DenseIntOrFPElementsAttr(attribute.type, BytesAttr(splat))


def branches(module: ModuleOp) -> list[Edit]:
    """Return edits that replace a branch by a returning terminator; erase unreachable blocks."""

    def edit(end: Operation) -> None:
        block, region = end.parent, end.parent_region()
        if block is None or region is None or (leave := _exit(region)) is None:
            return
        new = leave.clone()
        block.insert_op_before(new, end)
        for number, operand in enumerate(leave.operands):
            new.operands[number] = stand_in(operand, end.operands, block)
        erase_and_replace(end)
        _erase_unreached(region)

    ends = [op for op in walk(module) if op.successors]
    return [partial(edit, op) for op in ends if (r := op.parent_region()) and _exit(r)]


def successors(module: ModuleOp) -> list[Edit]:
    """Return edits that merge a block with the only branch to it."""

    def edit(end: Operation, successor: Block) -> None:
        block, region = end.parent, end.parent_region()
        if block is None or region is None or successor.parent is not region:
            return
        for arg in successor.args:
            if arg.first_use is not None:
                arg.replace_all_uses_with(stand_in(arg, end.operands, block))
        erase_and_replace(end)
        for op in [*successor.ops]:
            op.detach()
            block.add_op(op)
        region.detach_block(successor)
        _erase_unreached(region)

    found: list[Edit] = []
    for region in (region for op in walk(module) for region in op.regions):
        ends = [end for block in region.blocks if (end := block.last_op) is not None]
        reached = Counter(successor for end in ends for successor in end.successors)
        found += [
            partial(edit, end, successor)
            for end in ends
            for successor in end.successors
            if reached[successor] == 1 and successor not in (region.first_block, end.parent)
        ]
    return found


def _exit(region: Region) -> Operation | None:
    """Return the first terminator in a region that leaves it."""
    ends = (block.last_op for block in region.blocks)
    return next((end for end in ends if end and is_terminator(end) and not end.successors), None)


def _erase_unreached(region: Region) -> None:
    """Erase the blocks of a region that are not reachable from its first block."""
    reached = {block: None for block in [region.first_block] if block is not None}
    pending = [*reached]
    while pending:
        end = pending.pop().last_op
        new = [block for block in end.successors if block not in reached] if end else []
        reached |= dict.fromkeys(new)
        pending += new
    for block in [block for block in region.blocks if block not in reached]:
        region.detach_block(block).drop_all_references()


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
    has_trait = op.has_trait(IsolatedFromAbove, value_if_unregistered=False) and not op.has_trait(
        SymbolTable, value_if_unregistered=False
    )
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


Reduction: TypeAlias = Callable[[ModuleOp], list[Edit]]
"""Returns the edits of one kind that a module allows."""

REDUCTIONS: dict[str, Reduction] = {
    "symbols": symbols,
    "bodies": bodies,
    "operations": operations,
    "regions": regions,
    "successors": successors,
    "branches": branches,
    "results": results,
    "arguments": arguments,
    "attributes": attributes,
    "constants": constants,
}
"""The reductions in the order in which they are tried: those that remove most come first."""


# Delta debugging: ever smaller modules, and shorter lists, that are still interesting.


@dataclass(frozen=True)
class ReductionStep:
    """A module that is smaller than the one before, and the kind of edit that made it so."""

    what: str
    module: ModuleOp


def smaller_modules(
    module: ModuleOp, interesting: Callable[[ModuleOp], bool], *, verified: bool = True
) -> Iterator[ReductionStep]:
    """Yield ever smaller interesting modules; `module`, which must be interesting, is not changed.

    `interesting` gets copies, which it may change; if `verified`, only valid ones. Of each kind in
    `REDUCTIONS` all edits are tried together, then halves, quarters and so on down to single edits;
    all kinds are tried again until none succeeds. Source: llvm-reduce's delta passes.
    """
    best = module

    def accept(reduction: Reduction, start: int, end: int) -> bool:
        nonlocal best
        candidate = _edited(best, reduction, start, end)
        if (verified and not is_valid(candidate)) or not interesting(candidate):
            return False
        best = _edited(best, reduction, start, end)  # once more: `interesting` may have changed it
        return True

    succeeded = True
    while succeeded:
        succeeded = False
        for what, reduction in REDUCTIONS.items():

            def count(reduction: Reduction = reduction) -> int:
                return len(reduction(best))

            for _ in _successes(count, partial(accept, reduction)):
                succeeded = True
                yield ReductionStep(what, best)


def _edited(module: ModuleOp, reduction: Reduction, start: int, end: int) -> ModuleOp:
    """Return a copy of a module with a range of the edits applied."""
    candidate = clone(module)
    # Backwards: users are edited before their operands, and higher indices before lower ones.
    for edit in reversed(reduction(candidate)[start:end]):
        edit()
    return candidate


def smaller_lists(items: Sequence[T], interesting: Callable[[list[T]], bool]) -> Iterator[list[T]]:
    """Yield ever shorter interesting sublists, until no element can be removed."""
    best = list(items)

    def accept(start: int, end: int) -> bool:
        nonlocal best
        if not interesting(candidate := best[:start] + best[end:]):
            return False
        best = candidate
        return True

    before = None
    while before != len(best):
        before = len(best)
        for _ in _successes(lambda: len(best), accept):
            yield best


def op_count(module: ModuleOp) -> int:
    """Return the number of ops in the module."""
    return sum(1 for _ in walk(module)) - 1


def _successes(count: Callable[[], int], accept: Callable[[int, int], bool]) -> Iterator[None]:
    """Try to remove ranges, halving their size each round and going from the end to the start;
    yield after each success. `count` returns the number of things that are left."""
    size = count()
    while size:
        end = count()
        while end > 0:
            start = max(0, end - size)
            if accept(start, end):
                yield
                end = min(start, count())
            else:
                end = start
        size //= 2
