"""SCCP: sparse conditional constant propagation, through branches, regions and calls."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    NoneAttr,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue, TypedAttribute
from xdsl.traits import HasFolder, IsolatedFromAbove

from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.dataflow.sparse import ForwardAnalysis
from ...passmanager.fast.edit import erase
from ...passmanager.ir.effects import would_be_dead
from ...passmanager.ir.per_class import PerClass
from ...passmanager.ir.walk import ancestors, is_skipped, walk
from ...passmanager.releases.floats import key_of
from .canonicalize.scalar_folds import fold_scalar, is_foldable_scalar

# The analysis.


@dataclass(frozen=True)
class ConstantValue:
    """The constant that a value is; two are equal if they are so bit for bit."""

    key: object
    attribute: Attribute = field(compare=False)
    source: Operation | None = field(default=None, compare=False)
    """An operation that defines the constant, of which there may be copies; None for one of
    `arith`."""

    def __str__(self) -> str:
        return str(self.attribute) if self != VARYING else "not constant"


VARYING: Final = ConstantValue(None, NoneAttr())
"""The state of a value that is no constant, or not the same one each time."""


class ConstantPropagation(ForwardAnalysis[ConstantValue]):
    """The values that are constants, given that only the branches are taken that constants allow
    (MLIR's `SparseConstantPropagation`).

    An operation on constants is folded as `canonicalize` folds it, and by its own `HasFolder`.
    """

    def start(self) -> None:
        self._constants: dict[object, SSAValue] = {}
        super().start()

    def join(self, a: ConstantValue, b: ConstantValue) -> ConstantValue:
        return a if a == b else VARYING

    def entry(self, value: SSAValue) -> ConstantValue:
        return VARYING

    def constant(self, state: ConstantValue) -> Attribute | None:
        return None if state == VARYING else state.attribute

    def transfer(
        self, op: Operation, operands: Sequence[ConstantValue]
    ) -> Sequence[ConstantValue] | None:
        if not _may_fold[type(op)] or op.regions:
            return None
        # The folds look at the operations that define operands: constants, or else those that do.
        values = [
            known if state == VARYING else self._value(state, known.type)
            for known, state in zip(op.operands, operands, strict=True)
        ]
        if any(value is not known for value, known in zip(values, op.operands, strict=True)):
            folded = type(op).create(
                operands=values,
                result_types=op.result_types,
                properties=op.properties.copy(),
                attributes=op.attributes.copy(),
            )
            found = fold(folded)
            folded.drop_all_references()
        else:
            found = fold(op)
        if found is None:
            return None
        states: list[ConstantValue] = []
        for item, result in zip(found, op.results, strict=True):
            if isinstance(item, SSAValue):
                states.append(operands[values.index(item)] if item in values else VARYING)
            else:
                states.append(_constant(op, item, result.type))
        return states

    def _value(self, state: ConstantValue, type: Attribute) -> SSAValue:
        """Return a value of the constant, which is in no block."""
        if (value := self._constants.get(state.key)) is None:
            value = self._constants[state.key] = materialized(state).results[0]
        return value


def _constant(op: Operation, attribute: Attribute, type: Attribute) -> ConstantValue:
    """Return the constant that a result of `op` is."""
    if not op.operands:  # an operation of its own class defines it
        return ConstantValue((op.name, key_of(attribute), type), attribute, op)
    typed = isinstance(attribute, IntegerAttr | FloatAttr | DenseIntOrFPElementsAttr)
    if not typed or cast("TypedAttribute", attribute).get_type() != type:
        return VARYING  # it is not known which operation defines such a constant
    key = (arith.ConstantOp.name, key_of(cast("Attribute", attribute)), type)
    return ConstantValue(key, cast("Attribute", attribute))


def fold(op: Operation) -> Sequence[SSAValue | Attribute] | None:
    """Return the attributes of constants, or the values, that the results of `op` are equal to;
    None if that is not known."""
    if type(op) is arith.ConstantOp:
        return (op.properties["value"],)
    if is_foldable_scalar(type(op)):
        folded = fold_scalar(op)
        return None if folded is None else (folded,)
    folder = op.get_trait(HasFolder)
    return None if folder is None else folder.fold(op)


def _may_fold_class(cls: type[Operation]) -> bool:
    return (
        is_foldable_scalar(cls)
        or cls is arith.ConstantOp
        or cls.has_trait(HasFolder, value_if_unregistered=False)
    )


_may_fold: Final = PerClass[Operation, bool](_may_fold_class)


def materialized(constant: ConstantValue) -> Operation:
    """Return a new operation that defines `constant`."""
    if (source := constant.source) is not None:
        return source.clone()
    return arith.ConstantOp(constant.attribute)  # pyright: ignore[reportArgumentType]


# The rewrite.


def propagate_constants(root: Operation, actions: Actions = SILENT) -> int:
    """Replace the values in `root` that are constants, and erase the operations that nothing else
    needs; return the number of operations with such results or arguments."""
    known = ConstantPropagation(root, actions=actions)
    return replace_by_constants(root, known.state, known.reached, actions)


def replace_by_constants(
    root: Operation,
    constant_of: Callable[[SSAValue], ConstantValue | None],
    reached: Container[Block | None],
    actions: Actions,
) -> int:
    """Replace the values in the `reached` blocks of `root` that `constant_of` says to be constants;
    return the number of operations with such results or arguments.

    Constants are defined at the start of the region around that is isolated from above; of equal
    ones in it, one is left.
    """
    constants = _Constants(root)
    skipped: set[Operation] = set()
    replaced = 0
    for op in [*walk(root)]:
        if op.parent_op() in skipped or is_skipped(op):
            skipped.add(op)
            continue
        arguments = [arg for region in op.regions for block in region.blocks for arg in block.args]
        found = _constants_among(op.results if op.parent in reached else (), constant_of)
        if constants.keeps(op, found):
            continue
        found |= _constants_among(arguments, constant_of)
        erased = bool(op.results) and all(r in found for r in op.results) and would_be_dead(op)
        if not (erased or any(value.first_use for value in found)) or not actions.allowed(op):
            continue
        replaced += 1
        for value, state in found.items():
            if value.first_use is not None:
                value.replace_all_uses_with(constants.get(value, state))
        actions.passed(op, "Folded", "replaced by its value", Erased=int(erased))
        if erased:
            erase(op)
    if replaced:
        actions.count("folded", replaced)
    return replaced


def _constants_among(
    values: Sequence[SSAValue], constant_of: Callable[[SSAValue], ConstantValue | None]
) -> dict[SSAValue, ConstantValue]:
    states = ((value, constant_of(value)) for value in values)
    return {value: state for value, state in states if state is not None and state != VARYING}


class _Constants:
    """The constants at the start of regions that are isolated from above."""

    def __init__(self, root: Operation) -> None:
        self._root = root
        self._known: dict[tuple[Block, object], SSAValue] = {}
        self._entries: dict[Operation, Block] = {}
        self._last: dict[Block, Operation] = {}

    def keeps(self, op: Operation, found: Mapping[SSAValue, ConstantValue]) -> bool:
        """Return whether `op` is a constant that stays: at the top of its region, the first of
        equal ones."""
        if op.operands or len(op.results) != 1:
            return False
        if (state := found.get(op.results[0])) is None or state.source is not op:
            return False
        entry = self._entry(op.results[0])
        if op.parent is not entry or (entry, state.key) in self._known:
            return False
        self._known[entry, state.key] = op.results[0]
        return True

    def get(self, value: SSAValue, state: ConstantValue) -> SSAValue:
        """Return a value of the constant that may be used wherever `value` is."""
        entry = self._entry(value)
        if (found := self._known.get((entry, state.key))) is None:
            new = materialized(state)
            if (last := self._last.get(entry)) is not None:
                entry.insert_ops_after([new], last)
            elif (first := entry.first_op) is not None:
                entry.insert_ops_before([new], first)
            else:
                entry.add_op(new)
            self._last[entry] = new
            found = self._known[entry, state.key] = new.results[0]
        return found

    def _entry(self, value: SSAValue) -> Block:
        """Return the first block of the region around `value` that is isolated from above."""
        owner = value.owner
        block = owner if isinstance(owner, Block) else owner.parent
        assert block is not None
        path: list[Operation] = []
        for around in ancestors(block.parent_op()):
            if (found := self._entries.get(around)) is not None:
                block = found
                break
            path.append(around)
            region = block.parent
            assert region is not None and region.first_block is not None
            block = region.first_block
            isolated = around.has_trait(IsolatedFromAbove, value_if_unregistered=True)
            if isolated or around is self._root or around.parent is None:
                break
            block = around.parent
        self._entries.update(dict.fromkeys(path, block))
        return block


@dataclass(frozen=True)
class SCCP(ModulePass):
    """Replace the values that are constants, given that only the branches are taken that constants
    allow, on any dialect: sparse conditional constant propagation.

    Values are followed through blocks, regions, and calls of private functions, by the interfaces
    of control flow; branches and blocks stay, `canonicalize` removes them. Source: MLIR's `sccp`.

    Before:

        func.func @f(%c: i1) -> i32 {
          %one = arith.constant 1 : i32
          %0 = scf.if %c -> (i32) {
            scf.yield %one : i32
          } else {
            %1 = arith.constant 1 : i32
            scf.yield %1 : i32
          }
          %2 = arith.addi %0, %one : i32
          func.return %2 : i32
        }

    After:

        func.func @f(%c: i1) -> i32 {
          %0 = arith.constant 2 : i32
          %one = arith.constant 1 : i32
          func.return %0 : i32
        }
    """

    name = "sccp"
    opt_level = 1
    preserves = ("infer-type",)

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        propagate_constants(module, ctx.actions)
