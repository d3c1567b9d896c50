"""The verification of a module, or of its changes only.

xDSL's `Operation.verify` recurses, and prints the whole module into an exception: a second for 30
thousand ops. So each op's own verifier, `verify_`, is called here, and xDSL's checks around it, of
ops, blocks and regions, are repeated here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Final, TypeAlias, cast

from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, ErasedSSAValue, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.traits import (
    IsolatedFromAbove,
    IsTerminator,
    NoTerminator,
    OpTrait,
    SingleBlockImplicitTerminator,
    SymbolTable,
    SymbolUserOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from ..fast.definition_checks import check_of_definition
from ..fast.edit import Fields, read_fields, read_type
from ..fast.op_checks import Check, OpChecks, check_types, checks_of, checks_of_definition
from ..fast.signatures import Signature, Signatures
from ..names import did_you_mean
from .changes import Changes
from .dominance import invalid, verify_dominance, verify_scope
from .location import place_of
from .per_class import PerClass
from .walk import name_of, symbol_of, walk

__all__ = ["OpVerifier", "verify", "verify_changes", "verify_passed", "verify_successors"]


# The verification of branches: the blocks that they lead to, and the operands for their arguments.
#
# xDSL checks neither, and has no interface by which a branch tells which operands it passes. The
# branches of its dialects `cf`, `llvm` and `riscv_cf` name them after the blocks; those of `x86`
# may pass registers to blocks without arguments.


_OPERANDS_OF: Final = {
    "successor": ("arguments", "block_arguments"),
    "then_block": ("then_arguments",),
    "else_block": ("else_arguments",),
    "default_block": ("default_operands",),
    "case_blocks": ("case_operand",),  # one sequence for each block
}
"""The names of the operands for the arguments of a block, by the name of the successor."""

Passed: TypeAlias = tuple[Block, Sequence[SSAValue]]
"""A block, and the operands that a branch passes to it."""


def verify_successors(op: Operation) -> None:
    """Raise InvalidIRError if an op with successors is not the last of its block, or if one of
    these is in another region or is an entry block."""
    if op.parent is None or (region := op.parent.parent) is None:
        raise invalid(op, "has successors, but is in no region")
    if op.next_op is not None:
        raise invalid(op, "has successors, so it must be the last in its block")
    for number, successor in enumerate(op.successors):
        if successor.parent is not region:
            raise invalid(op, "is branching to a block of a different region")
        if successor is region.first_block:
            raise invalid(
                op,
                f"has the entry block of its region for successor #{number}: "
                "no block may branch to it",
            )


def verify_passed(op: Operation) -> None:
    """Raise InvalidIRError if a branch, which is valid otherwise, passes other operands to a
    successor than that has arguments."""
    for number, (block, operands) in enumerate(_passed(op)):
        _verify_arguments(op, number, block, operands)


def _verify_arguments(
    op: Operation, number: int, block: Block, operands: Sequence[SSAValue]
) -> None:
    """Raise unless `operands` are as many as the arguments of `block`, and have their types."""
    if len(operands) != len(block.args):
        raise invalid(
            op,
            f"passes {len(operands)} operands to successor #{number}, "
            f"which has {len(block.args)} arguments",
        )
    for index, (operand, argument) in enumerate(zip(operands, block.args, strict=True)):
        if read_type(operand) != read_type(argument):
            raise invalid(
                op,
                f"passes a value of type '{operand.type}' for argument #{index} of successor "
                f"#{number}, which has type '{argument.type}'",
            )


def _passed(op: Operation) -> Iterator[Passed]:
    """Yield the successors of a branch with the operands for each; nothing for an op of which
    these are not known."""
    for block_name, operands_name in _names[type(op)]:
        blocks = cast("Block | Sequence[Block]", getattr(op, block_name))
        operands = getattr(op, operands_name)
        if isinstance(blocks, Block):
            yield blocks, operands
        else:
            yield from zip(blocks, operands)


def _names_of(op_class: type[Operation]) -> Sequence[tuple[str, str]]:
    """Return the names of the fields of a branch that hold blocks and the operands for them."""
    if not issubclass(op_class, IRDLOperation):
        return ()
    definition = op_class.get_irdl_definition()
    fields = {name for name, _ in definition.operands}
    return [
        (name, operands)
        for name, _ in definition.successors
        for operands in _OPERANDS_OF.get(name, ())
        if operands in fields or hasattr(op_class, operands)
    ]


_names = PerClass[Operation, Sequence[tuple[str, str]]](_names_of)


def verify(op: Operation, *, dominance: bool = True) -> None:
    """Raise InvalidIRError if `op`, or any op nested in it, is invalid; with `dominance` also if a
    use is not dominated by its definition, which xDSL does not check."""
    if not dominance:
        return _verify(op, OpVerifier(), dominance=False)
    # Dominance implies that no value comes from outside of an isolated op, which xDSL's trait looks
    # up for each operand. If anything is invalid, the first error in xDSL's order is raised.
    if not _is_valid(op, OpVerifier(checks_isolation=False)):
        _verify(op, OpVerifier())


def _is_valid(op: Operation, verifier: OpVerifier) -> bool:
    try:
        _verify(op, verifier)
    except Exception:
        return False
    return True


def _verify(op: Operation, verifier: OpVerifier, *, dominance: bool = True) -> None:
    holders: list[Operation] = []
    for inner in walk(op):
        if inner.regions:
            holders.append(inner)
        else:
            verifier.verify_op(inner)
    # Inner ops first: as in xDSL, the verifier of an op may rely on its nested ops being valid.
    for holder in reversed(holders):
        for region in holder.regions:
            for block in region.blocks:
                _verify_parents(block)
        verifier.verify_op(holder)
    if dominance:
        verify_dominance(op)


def verify_changes(
    module: ModuleOp, changes: Changes, *, dominance: bool = True, cores: int = 1
) -> None:
    """Raise InvalidIRError if `module`, which was valid before `changes`, is invalid; `dominance`
    as for `verify`. Many changes are verified on up to that many cores."""
    if not changes:
        return
    for block in changes.blocks:
        _verify_parents(block)
    # `verify_dominance` finds what an isolated op uses from outside, in one walk of the whole op.
    verifier = OpVerifier(checks_isolation=not dominance)
    depths = _depths(module, _affected(module, changes))
    ops = sorted(depths, key=depths.__getitem__, reverse=True)
    scopes = verify_scope(module) if dominance else ()
    scopes = [scope for scope in scopes if _top_level_op(scope, module) in changes.top_level]
    if cores > 1 and len(ops) > _MANY and _are_valid_in_forks(ops, scopes, verifier, cores):
        return
    for op in ops:
        verifier.verify_op(op)
    for scope in scopes:
        verify_dominance(scope)


_MANY = 4000
"""The number of ops that take several times as long to verify as a fork."""


def _are_valid_in_forks(
    ops: Sequence[Operation], scopes: Sequence[Operation], verifier: OpVerifier, cores: int
) -> bool:
    """Return whether ops, and dominance in `scopes`, are valid, verified in forks of this process;
    False also if that is not known."""
    from ..forks import available_cores, can_fork, in_forks

    cores = min(cores, available_cores())
    if cores < 2 or not can_fork():
        return False

    def work(part: int) -> bool:
        # Ops of one depth are successive, and ops that are alike: both are shared out evenly.
        for start in range(part * _SLICE, len(ops), cores * _SLICE):
            for op in ops[start : start + _SLICE]:
                verifier.verify_op(op)
        for scope in scopes[part::cores]:
            verify_dominance(scope)
        return True

    return in_forks(cores, work) is not None


_SLICE = 256
"""The number of successive ops that one fork verifies."""


# What changes affect


def _affected(module: ModuleOp, changes: Changes) -> Iterator[Operation]:
    """Yield the ops that the changes may have made invalid; the ops around them may be invalid,
    too.
    """
    yield module
    for op in changes.ops:
        yield op
        # The op decides which terminators its regions may have.
        yield from (block.last_op for block in _blocks(op) if block.last_op is not None)
    for value in (*changes.retyped, *changes.blocks):
        yield from (use.operation for use in value.uses)
    yield from (op for block in changes.blocks if (op := block.parent_op()) is not None)
    for block in changes.blocks:
        if block.last_op is not None:
            yield block.last_op
        yield from _having(IsTerminator, block.ops)  # only the last op of a block may be one
    if changes.symbols_changed:
        yield from _having(SymbolUserOpInterface, walk(module))


def _having(trait: type[OpTrait], ops: Iterable[Operation]) -> Iterator[Operation]:
    """Yield the ops whose class has a trait."""
    has_trait = PerClass[Operation, bool](
        lambda op_class: op_class.has_trait(trait, value_if_unregistered=False)
    )
    return (op for op in ops if has_trait[type(op)])


def _depths(module: ModuleOp, ops: Iterable[Operation]) -> dict[Operation, int]:
    """Return the nesting depth of each of `ops` and of all ops around them, without ops that are
    not attached to the IR of `module`, as the users of a value may be.
    """
    around: list[Operation] = [module]
    while (holder := around[-1].parent_op()) is not None:
        around.append(holder)
    depths = {op: depth for depth, op in enumerate(reversed(around))}
    for op in ops:
        path: list[Operation] = []
        holder = op
        while holder is not None and holder not in depths:
            path.append(holder)
            holder = holder.parent_op()
        if holder is not None:
            outer = depths[holder]
            depths.update({inner: outer + n for n, inner in enumerate(reversed(path), 1)})
    return depths


def _top_level_op(op: Operation, module: ModuleOp) -> Operation:
    """Return the op directly in `module` that contains `op`."""
    while (holder := op.parent_op()) is not None and holder is not module:
        op = holder
    return op


# One op


class OpVerifier:
    """A verifier of single ops, with caches that are valid while the IR does not change."""

    def __init__(self, *, checks_isolation: bool = True) -> None:
        self.known = 0
        """The number of ops of a signature that was verified before."""
        self._functions: dict[Operation, dict[str, FuncOp]] = {}
        self._functions_above: dict[Block | None, dict[str, FuncOp]] = {}
        self._types: dict[int, Attribute] = {}
        self._checks = PerClass[Operation, OpChecks | None](
            checks_of if checks_isolation else partial(checks_of, without=IsolatedFromAbove)
        )

    def verify_op(self, op: Operation) -> None:
        """Raise InvalidIRError if `op` is invalid, apart from its nested ops and dominance."""
        fields = read_fields(op)
        operands, _, _, _, successors, regions, next_op = fields
        if ErasedSSAValue in map(type, operands):
            _verify_operands(op, operands)
        if successors:
            verify_successors(op)
        if regions:
            _verify_regions(op)
        if next_op is None and _needs_terminator(op.parent) and not _is_terminator[type(op)]:
            message = f"is the last op of its block, but no terminator{_terminator_of(op)}"
            raise invalid(op, message)
        if (checks := self._checks[type(op)]) is not None:
            self._verify_checks(op, fields, checks)
        if successors:
            verify_passed(op)

    def _verify_checks(self, op: Operation, fields: Fields, checks: OpChecks) -> None:
        """Run the checks of an op; InvalidIRError if one fails."""
        try:
            if not checks.by_signature:
                for check in checks.all:
                    check(op)
                check_types(op, self._types)
            else:
                self._verify_by_signature(op, fields, checks)
        except VerifyException as error:
            if (both := _redefinition(op)) is not None:
                first, second = both
                place = f", first defined{place}" if (place := place_of(first)) else ""
                name = symbol_of(second)
                raise invalid(second, f"redefinition of symbol '{name}'{place}") from error
            if isinstance(op, FuncOp):
                verify_dominance(op)  # says more of an operand from outside
            message = str(error).removeprefix(f"'{name_of(op)}' ")
            if message.endswith("could not be found in symbol table") and isinstance(op, CallOp):
                functions = [f"@{name}" for name in self._functions_around(op)]
                message += did_you_mean(str(op.callee), functions)
            raise invalid(op, message) from error
        except (RecursionError, MemoryError):
            raise
        except Exception as error:  # of a verifier that assumes what it should check
            message = f"its verifier failed: {type(error).__name__}: {error}"
            raise invalid(op, message) from error

    def _verify_by_signature(self, op: Operation, fields: Fields, checks: OpChecks) -> None:
        """Run all checks of an op; if an op of the same signature was valid, only those that look
        at more than the signature (`OpChecks.others`)."""
        *_, successors, regions, _ = fields
        shape = self._shape(successors, regions) if successors or regions else ()
        key = _signatures.of(op, fields)
        if key + shape not in _valid:
            key = _signatures.complete(op, fields, key) + shape
            if key not in _valid:
                for check in self._all_checks(op, checks):
                    check(op)
                check_types(op, self._types)
                if len(_valid) > _LIMIT:
                    _valid.clear()
                return _valid.add(key)
        self.known += 1
        if others := checks.others:
            if _is_call[type(op)] and self._is_right_call(cast(CallOp, op)):
                others = _CALL.others
            for check in others:
                check(op)

    def _shape(
        self, successors: tuple[Block, ...], regions: tuple[Region, ...]
    ) -> tuple[object, ...]:
        """Return the part of the signature for successors and regions: their number, and of each
        region whether it has no block, one or more, the types of the first block's arguments, and
        the last op of the first block with the types of its operands.
        """
        shape: tuple[object, ...] = (..., len(successors))
        for region in regions:
            if (entry := region.first_block) is None:
                shape += (...,)
                continue
            types: tuple[Attribute, ...] = (*entry.arg_types,)
            ends: type[Operation] | None = None
            if (last := entry.last_op) is not None:
                ends = type(last)
                types += (*map(read_type, read_fields(last)[0]),)
            numbers = map(_signatures.number, types)
            shape += (..., entry.next_block is None, len(entry.args), ends, *numbers)
        return shape

    def _all_checks(self, op: Operation, checks: OpChecks) -> tuple[Check, ...]:
        """Return the checks of an op, without slow ones that are known to find nothing."""
        if _is_call[type(op)] and self._is_right_call(cast(CallOp, op)):
            return _CALL.all
        if _is_function[type(op)] and _has_right_arguments(cast(FuncOp, op)):
            return _FUNC.all
        return checks.all

    def _is_right_call(self, call: CallOp) -> bool:
        """Return whether a call has the type of the function that it names."""
        callee = call.properties.get("callee")
        if not isinstance(callee, SymbolRefAttr) or callee.nested_references:
            return False
        function = self._functions_around(call).get(callee.root_reference.data)
        type = None if function is None else function.properties.get("function_type")
        if not isinstance(type, FunctionType):
            return False
        operands, results, *_ = read_fields(call)
        return type.inputs.data == (*map(read_type, operands),) and (
            type.outputs.data == (*map(read_type, results),)
        )

    def _functions_around(self, op: Operation) -> dict[str, FuncOp]:
        """Return the functions in the nearest symbol table around `op`, by name."""
        if (known := self._functions_above.get(op.parent)) is not None:
            return known
        table = op.parent_op()
        while table is not None and not table.has_trait(SymbolTable, value_if_unregistered=False):
            table = table.parent_op()
        if table is None:
            return {}
        if table not in self._functions:
            functions = (op for block in _blocks(table) for op in block.ops)
            self._functions[table] = {
                name.data: op
                for op in functions
                if isinstance(op, FuncOp)
                and isinstance(name := op.properties.get("sym_name"), StringAttr)
            }
        found = self._functions_above[op.parent] = self._functions[table]
        return found


def _redefinition(table: Operation) -> tuple[Operation, Operation] | None:
    """Return the first two ops in a symbol table that have one symbol, or None."""
    if table.has_trait(SymbolTable, value_if_unregistered=False):
        seen: dict[str, Operation] = {}
        for op in (op for block in _blocks(table) for op in block.ops):
            if (name := symbol_of(op)) and seen.setdefault(name, op) is not op:
                return seen[name], op
    return None


def _has_right_arguments(function: FuncOp) -> bool:
    """Return whether the entry block of a function has arguments of its input types."""
    if (entry := function.body.first_block) is None:
        return True
    function_type = function.properties.get("function_type")
    inputs = function_type.inputs.data if isinstance(function_type, FunctionType) else None
    return inputs == entry.arg_types


def _checks_without(op_class: type[IRDLOperation], trait: type[OpTrait]) -> OpChecks:
    """Return the checks of the definition of an op class, except those of a trait."""
    definition = op_class.get_irdl_definition()
    check = check_of_definition(definition, without=trait)
    return OpChecks(True, (check,), checks_of_definition(definition, without=trait))


# xDSL's verifier of a call looks through all symbols; `_is_right_call` looks its callee up in a
# table. That of a function walks up from each operand in it, 1.5 us per op, to find values from
# outside, which `verify_dominance` finds anyway.
_CALL = _checks_without(CallOp, SymbolUserOpInterface)
_FUNC = _checks_without(FuncOp, IsolatedFromAbove)

_signatures = Signatures(scalars_only=True)
_valid: set[Signature] = set()
"""The signatures of ops that were valid: of all modules, as most ops are verified again and again,
after each pass that changes something around them."""
_LIMIT = 1 << 15
"""The table of valid signatures starts anew when it has more entries."""


def _verify_operands(op: Operation, operands: tuple[SSAValue, ...]) -> None:
    """Raise if an operand is an erased value."""
    for operand in operands:
        if type(operand) is ErasedSSAValue:
            raise invalid(op, f"operand #{operands.index(operand)} is an erased value")


def _verify_regions(op: Operation) -> None:
    """Raise if a region or block of `op` has a wrong parent, or is empty but needs a terminator."""
    for region in op.regions:
        if region.parent is not op:
            raise invalid(op, "holds a region that has another op for parent")
        for block in region.blocks:
            if block.parent is not region:
                raise invalid(op, "holds a block that has another region for parent")
            if block.is_empty and _needs_terminator(block):
                raise invalid(op, "holds an empty block, which must have a terminator")


def _verify_parents(block: Block) -> None:
    """Raise if an op in the block has another parent."""
    for op in block.ops:
        if op.parent is not block:
            raise invalid(op, "is in a block that is not its parent")


def _needs_terminator(block: Block | None) -> bool:
    """Return whether the last op of `block` must be a terminator. In the only block of a region it
    need not if the op around it has the trait NoTerminator, or is not known.
    """
    if block is None or (region := block.parent) is None:
        return False
    if region.first_block is not region.last_block:
        return True
    return region.parent is not None and not _has_no_terminator[type(region.parent)]


def _terminator_of(op: Operation) -> str:
    """Return `: expected 'func.return'`, if the op around says with what its blocks end."""
    around = op.parent_op()
    if isinstance(around, FuncOp):
        return f": expected '{ReturnOp.name}'"
    trait = around and around.get_trait(SingleBlockImplicitTerminator)
    return f": expected '{trait.op_type.name}'" if trait else ""


_is_terminator = PerClass[Operation, bool](
    lambda op_class: op_class.has_trait(IsTerminator, value_if_unregistered=True)
)
_has_no_terminator = PerClass[Operation, bool](
    lambda op_class: op_class.has_trait(NoTerminator, value_if_unregistered=True)
)
_is_call = PerClass[Operation, bool](lambda op_class: issubclass(op_class, CallOp))
_is_function = PerClass[Operation, bool](lambda op_class: issubclass(op_class, FuncOp))


def _blocks(op: Operation) -> Iterator[Block]:
    return (block for region in op.regions for block in region.blocks)
