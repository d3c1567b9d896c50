"""Delta debugging of IR: the smallest module, and the shortest list, that still is interesting."""

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

from ...analysis.call_graph import References
from ...passmanager.ir.printer import is_dense
from ...passmanager.ir.symbols import symbol_of
from ...passmanager.ir.verifier import verify
from ...passmanager.ir.walk import walk

__all__ = ["REDUCTIONS", "Step", "op_count", "smaller_lists", "smaller_modules"]

T = TypeVar("T")
Edit: TypeAlias = Callable[[], None]
Reduction: TypeAlias = Callable[[ModuleOp], list[Edit]]


@dataclass(frozen=True)
class Step:
    """A module that is smaller than the one before, and what kind of things went."""

    what: str
    module: ModuleOp


def smaller_modules(
    module: ModuleOp, interesting: Callable[[ModuleOp], bool], *, verified: bool = True
) -> Iterator[Step]:
    """Ever smaller interesting modules, until there is none; `module`, which has to be interesting,
    is left alone.

    `interesting` is asked about copies, with which it may do what it likes; if `verified`, only
    about valid ones. Of each kind in `REDUCTIONS` first all is taken away, then one half and the
    other, and so on down to one thing at a time; and all kinds again until none has had success.
    Source: llvm-reduce's delta passes.
    """
    search = _Search(module, interesting, verified)
    succeeded = True
    while succeeded:
        succeeded = False
        for what, reduction in REDUCTIONS.items():
            for best in search.run(reduction):
                succeeded = True
                yield Step(what, best)


class _Search:
    """The best module so far, and how a better one is found."""

    def __init__(
        self, module: ModuleOp, interesting: Callable[[ModuleOp], bool], verified: bool
    ) -> None:
        self.best = module
        self.interesting = interesting
        self.verified = verified

    def run(self, reduction: Reduction) -> Iterator[ModuleOp]:
        """Take away things of one kind; each better module in turn."""

        def accept(start: int, end: int) -> bool:
            candidate = self.edited(reduction, start, end)
            if (self.verified and not _is_valid(candidate)) or not self.interesting(candidate):
                return False
            self.best = self.edited(reduction, start, end)  # anew: `interesting` had the first
            return True

        for _ in _successes(lambda: len(reduction(self.best)), accept):
            yield self.best

    def edited(self, reduction: Reduction, start: int, end: int) -> ModuleOp:
        """A copy of the best module without the things of a kind in a range."""
        candidate = self.best.clone()
        # From the back: users before what they use, and an index before those that it shifts.
        for edit in reversed(reduction(candidate)[start:end]):
            edit()
        return candidate


def smaller_lists(items: Sequence[T], interesting: Callable[[list[T]], bool]) -> Iterator[list[T]]:
    """Ever shorter interesting parts of an interesting list, until nothing more can go."""
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
    """How many ops there are in the module."""
    return sum(1 for _ in walk(module)) - 1


def _successes(count: Callable[[], int], accept: Callable[[int, int], bool]) -> Iterator[None]:
    """Try to take away ranges of things, larger ones first and the last of each size first; yields
    after each success, when `count` tells how many are left.
    """
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


def _is_valid(module: ModuleOp) -> bool:
    try:
        verify(module)
    except Exception:  # a verifier may stumble over what no pass would have left
        return False
    return True


# Values, uses and ops


def _stand_in(value: SSAValue, near: Iterable[SSAValue], block: Block) -> SSAValue:
    """A value of the same type for the users in `block` of one that goes: one of `near`, an
    argument of the function, else a source, which is a conversion of nothing that no pass knows.
    """
    entry = _entry(block)
    for other in (*near, *entry.args):
        if other is not value and other.type == value.type:
            return other
    for op in entry.ops:
        if not _is_source(op):
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
    """The block in which the function, or whatever is isolated, that `block` is in begins."""
    while (holder := block.parent_op()) is not None and holder.parent is not None:
        if holder.has_trait(IsolatedFromAbove, value_if_unregistered=True):
            break
        block = holder.parent
    region = block.parent
    return block if region is None or region.first_block is None else region.first_block


def _is_source(op: Operation) -> bool:
    return isinstance(op, UnrealizedConversionCastOp) and not op.operands and len(op.results) == 1


def _is_terminator(op: Operation) -> bool:
    return op.has_trait(IsTerminator, value_if_unregistered=False) or bool(op.successors)


def _erase(op: Operation) -> None:
    """Take an op out whose results have no uses."""
    op.detach()
    op.drop_all_references()


def _replace(op: Operation, values: Sequence[SSAValue | None] = ()) -> None:
    """Take an op out; users get the value of `values` if it fits, else a stand-in."""
    assert op.parent is not None
    near = [operand for operand in op.operands if operand not in op.results]
    for number, result in enumerate(op.results):
        if result.first_use is not None:
            value = values[number] if number < len(values) else None
            fits = value is not None and value.type == result.type and value not in op.results
            new = value if fits else None
            result.replace_all_uses_with(new or _stand_in(result, near, op.parent))
    _erase(op)


# The kinds of things that go; an edit does nothing if what it is about went with something else


def _symbols(module: ModuleOp) -> list[Edit]:
    """Functions and other symbols, with the ops that name them."""
    users = _users_of_symbols(module)

    def edit(op: Operation, name: str) -> None:
        for user in users[name]:
            if user.parent is not None and not _is_terminator(user) and not symbol_of(user):
                _replace(user)
        if op.parent is not None:
            _replace(op)

    return [partial(edit, op, name) for op in walk(module) if (name := symbol_of(op)) and op.parent]


def _users_of_symbols(module: ModuleOp) -> defaultdict[str, list[Operation]]:
    users: defaultdict[str, list[Operation]] = defaultdict(list)
    references = References()
    for op in walk(module):
        for name in references.of(op):
            users[name].append(op)
    return users


def _bodies(module: ModuleOp) -> list[Edit]:
    """The bodies of functions, which become declarations."""

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


def _operations(module: ModuleOp) -> list[Edit]:
    """Ops, with what is nested in them."""

    def edit(op: Operation) -> None:
        if op.parent is not None:
            _replace(op)

    def may_go(op: Operation) -> bool:
        used_source = _is_source(op) and op.results[0].first_use is not None
        fixed = op.parent is None or _is_terminator(op) or symbol_of(op)
        return not used_source and not fixed

    return [partial(edit, op) for op in walk(module) if may_go(op)]


def _regions(module: ModuleOp) -> list[Edit]:
    """Ops with regions, as loops and branches: the ops of one region take their place."""

    def edit(op: Operation, region: Region) -> None:
        if (parent := op.parent) is None:
            return
        block = region.block
        for arg in block.args:
            arg.replace_all_uses_with(_stand_in(arg, op.operands, parent))
        for inner in [*block.ops]:
            if not _is_terminator(inner):
                inner.detach()
                parent.insert_op_before(inner, op)
        _replace(op, block.last_op.operands if block.last_op is not None else ())

    return [
        partial(edit, op, region)
        for op in walk(module)
        if op.parent is not None and not symbol_of(op)
        for region in op.regions
        if region.first_block is not None and region.first_block is region.last_block
    ]


def _branches(module: ModuleOp) -> list[Edit]:
    """Branches: their block ends as the one that returns, and blocks never reached go."""

    def edit(end: Operation) -> None:
        block, region = end.parent, end.parent_region()
        if block is None or region is None or (leave := _exit(region)) is None:
            return
        new = leave.clone()
        block.insert_op_before(new, end)
        for number, operand in enumerate(leave.operands):
            new.operands[number] = _stand_in(operand, end.operands, block)
        _replace(end)
        _erase_unreached(region)

    ends = [op for op in walk(module) if op.successors]
    return [partial(edit, op) for op in ends if (r := op.parent_region()) and _exit(r)]


def _successors(module: ModuleOp) -> list[Edit]:
    """Branches and blocks that are reached only by them: the ops of the block take their place."""

    def edit(end: Operation, successor: Block) -> None:
        block, region = end.parent, end.parent_region()
        if block is None or region is None or successor.parent is not region:
            return
        for arg in successor.args:
            if arg.first_use is not None:
                arg.replace_all_uses_with(_stand_in(arg, end.operands, block))
        _replace(end)
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
    """The first terminator in a region that leaves it."""
    ends = (block.last_op for block in region.blocks)
    return next((end for end in ends if end and _is_terminator(end) and not end.successors), None)


def _erase_unreached(region: Region) -> None:
    reached = {block: None for block in [region.first_block] if block is not None}
    pending = [*reached]
    while pending:
        end = pending.pop().last_op
        new = [block for block in end.successors if block not in reached] if end else []
        reached |= dict.fromkeys(new)
        pending += new
    for block in [block for block in region.blocks if block not in reached]:
        region.detach_block(block).drop_all_references()


def _arguments(module: ModuleOp) -> list[Edit]:
    """Arguments of functions, in calls too, if unused or if another can stand in."""
    users = _users_of_symbols(module)

    def edit(func: FuncOp, number: int) -> None:
        if (entry := func.body.first_block) is not None:
            if not _may_lose_argument(func, number):
                return
            arg = entry.args[number]
            if arg.first_use is not None:
                arg.replace_all_uses_with(_stand_in(arg, (), entry))
            entry.erase_arg(arg)
        inputs, outputs = func.function_type.inputs.data, func.function_type.outputs.data
        func.function_type = FunctionType.from_lists(_without(inputs, number), outputs)
        if func.arg_attrs is not None:
            func.arg_attrs = ArrayAttr(_without(func.arg_attrs.data, number))
        for call in users[func.sym_name.data]:
            if isinstance(call, CallOp):
                call.operands = _without([*call.operands], number)

    return [
        partial(edit, func, number)
        for func in walk(module)
        if isinstance(func, FuncOp)
        for number in range(len(func.function_type.inputs))
        if _may_lose_argument(func, number)
    ]


def _may_lose_argument(func: FuncOp, number: int) -> bool:
    """Whether the body, if there is one, needs no source in place of the argument."""
    if (entry := func.body.first_block) is None:
        return True
    if number >= len(entry.args):  # in IR that is not verified
        return False
    arg, *others = entry.args[number], *entry.args[:number], *entry.args[number + 1 :]
    return arg.first_use is None or any(other.type == arg.type for other in others)


def _results(module: ModuleOp) -> list[Edit]:
    """Results of functions, in calls too."""
    users = _users_of_symbols(module)

    def edit(func: FuncOp, number: int) -> None:
        inputs, outputs = func.function_type.inputs.data, func.function_type.outputs.data
        func.function_type = FunctionType.from_lists(inputs, _without(outputs, number))
        if func.res_attrs is not None:
            func.res_attrs = ArrayAttr(_without(func.res_attrs.data, number))
        for block in func.body.blocks:
            if isinstance(end := block.last_op, ReturnOp):
                end.operands = _without([*end.operands], number)
        calls = users[func.sym_name.data]
        calls[:] = [_call_without(c, number) if isinstance(c, CallOp) else c for c in calls]

    return [
        partial(edit, func, number)
        for func in walk(module)
        if isinstance(func, FuncOp)
        for number in range(len(func.function_type.outputs))
    ]


def _call_without(call: CallOp, number: int) -> CallOp:
    """The call that takes the place of one whose function has lost a result."""
    new = CallOp.create(
        operands=[*call.operands],
        result_types=_without(call.result_types, number),
        properties=call.properties,
        attributes=call.attributes,
        location=call.location,
    )
    assert call.parent is not None
    call.parent.insert_op_before(new, call)
    values: list[SSAValue | None] = [*new.results]
    values.insert(number, None)
    _replace(call, values)
    return new


def _without(items: Sequence[T], number: int) -> list[T]:
    return [*items[:number], *items[number + 1 :]]


def _attributes(module: ModuleOp) -> list[Edit]:
    """Attributes and properties that an op need not have."""

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


def _constants(module: ModuleOp) -> list[Edit]:
    """The elements of dense constants, but for the first, which is repeated."""

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
    """The constant with its first element everywhere; None if that is what it is."""
    if not is_dense(attribute) or not len(attribute):
        return None
    data = attribute.data.data
    splat = data[: len(data) // len(attribute)] * len(attribute)
    return None if splat == data else DenseIntOrFPElementsAttr(attribute.type, BytesAttr(splat))


REDUCTIONS: dict[str, Reduction] = {
    "symbols": _symbols,
    "bodies": _bodies,
    "operations": _operations,
    "regions": _regions,
    "successors": _successors,
    "branches": _branches,
    "results": _results,
    "arguments": _arguments,
    "attributes": _attributes,
    "constants": _constants,
}
"""What can go, those first with which most goes: what of it there is in a module, and how to take
it away.
"""
