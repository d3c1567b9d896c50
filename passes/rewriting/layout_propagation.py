"""Layouts through a function: operations go over to other layouts, and those around them follow.

`convert-layout` and `alter-op-layout` are this, and a hook that says which operations begin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException

from ...analysis.traversal import in_order
from ...dialects.relax.attributes import PropertyValue, properties_of
from ...dialects.relax.base import TensorOp
from ...dialects.relax.constant import ConstantOp, FullOp, is_dense
from ...dialects.relax.interfaces import Conversion, LayoutRule
from ...dialects.relax.layout import Layout, Relayout
from ...dialects.relax.permutation import LayoutTransformOp
from ...dialects.relax.reshape import ExpandDimsOp
from ...dialects.relax.shapes import Shape
from ...dialects.relax.tuples import TupleGetItemOp, TupleOp
from ...dialects.relax.types import is_ranked, is_tensor, shape_of, with_shape
from ...passmanager.ir.access import read_step
from ...passmanager.remarks import Remarks

__all__ = ["Hook", "LayoutCounts", "change_layouts"]

Hook: TypeAlias = Callable[[Operation], Conversion | None]
"""Which layouts an operation is to have; None leaves that to the operations around it."""


class LayoutCounts(NamedTuple):
    """What a change of layouts did."""

    converted: int
    """Operations that a hook gave other layouts."""
    followed: int
    """Operations that went on in these."""
    transforms: int
    """Operations `relax.layout_transform` put in."""


def change_layouts(
    root: Operation,
    hooks: Mapping[str, Hook],
    gate: Callable[[], bool] | None = None,
    remarks: Remarks | None = None,
) -> LayoutCounts:
    """Give operations in `root` the layouts that `hooks` say, by their name, and let those that are
    a LayoutRule go on in the layouts of their operands.

    Everything else, arguments and results of functions and regions too, has its values as they
    were: `relax.layout_transform` is put before the first that needs a value in another layout,
    once for a value and a layout, and where one would undo another, both are left out. Constants
    are transformed at once. What does not split into the blocks of a layout stays, and so does what
    is in a region with several blocks, or is `relax.primitive`.
    `gate`, if given, is asked before each operation that a hook converts.
    """
    plan = Plan(hooks, gate, remarks or None)
    plan.visit_all(root)
    change = Change()
    for op, conversion in plan.steps:
        change.apply(op, conversion)
    change.erase_dead()
    return LayoutCounts(plan.converted, plan.followed, change.transforms)


class Plan:
    """Which operations are computed in which layouts; the IR stays as it is meanwhile."""

    def __init__(
        self, hooks: Mapping[str, Hook], gate: Callable[[], bool] | None, remarks: Remarks | None
    ) -> None:
        self.hooks = hooks
        self.gate = gate
        self.remarks = remarks
        self.relayouts: dict[SSAValue, Relayout] = {}
        """Values that will be in another layout."""
        self.unpacked: set[Operation] = set()
        """Tuples whose elements alone are used."""
        self.steps: list[tuple[Operation, Conversion | None]] = []
        """Operations whose operands change, in order, and how; None is by their operands being
        restored."""
        self.converted = self.followed = 0

    def visit_all(self, root: Operation) -> None:
        """Visit the ops nested in `root` in order, an op before those in its regions."""
        pending = _bodies(root, True)
        while pending:
            ops, free = pending.pop()
            for op in ops:
                operands, _, regions, _ = read_step(op)
                self.visit(op, operands, free)
                if regions:
                    pending.append((ops, free))
                    pending += _bodies(op, free)
                    break

    def visit(self, op: Operation, operands: Sequence[SSAValue], free: bool) -> None:
        """Find out how an operation is computed; as it was if it is not `free`."""
        hook = self.hooks.get(op.name) if free else None
        if hook is not None and (conversion := self.ask(hook, op)) is not None:
            return self.add(op, conversion)
        if self.relayouts.keys().isdisjoint(operands):
            if self.unpacked and isinstance(op, TupleGetItemOp):
                self.visit_item(op)
            return
        conversion = None
        if free and isinstance(op, TupleOp) and _only_unpacked(op):
            self.unpacked.add(op)
            return
        if free and isinstance(op, LayoutRule):
            conversion = self.follow(op, [self.relayouts.get(operand) for operand in operands])
        self.add(op, conversion)

    def visit_item(self, op: TupleGetItemOp) -> None:
        """The element of a tuple is in the layout of what was put there."""
        if op.tuple.owner in self.unpacked and (element := op.element()) is not None:
            if (relayout := self.relayouts.get(element)) is not None:
                self.relayouts[op.result] = relayout
            self.steps.append((op, None))

    def ask(self, hook: Hook, op: Operation) -> Conversion | None:
        """What a hook says, if that is possible and let through."""
        if (conversion := hook(op)) is None:
            return None
        try:
            check(op, conversion)
        except VerifyException as error:
            self.missed(op, error)
            return None
        if _is_as_it_was(op, conversion):
            return conversion
        if self.gate is not None and not self.gate():
            return None
        if self.remarks is not None:
            self.remarks.passed(op, "Converted", "converted to other layouts")
        self.converted += 1
        return conversion

    def follow(self, op: LayoutRule, relayouts: Sequence[Relayout | None]) -> Conversion | None:
        """How an operation goes on in the layouts of its operands, if it does."""
        try:
            conversion = op.convert_layouts(relayouts)
            check(op, conversion)
        except VerifyException as error:
            self.missed(op, error)
            return None
        self.followed += 1
        return conversion

    def missed(self, op: Operation, error: VerifyException) -> None:
        if self.remarks is not None:
            self.remarks.missed(op, "KeptLayout", f"stays in its layout: {error}")

    def add(self, op: Operation, conversion: Conversion | None) -> None:
        """Note what becomes of an operation and its results."""
        if conversion is not None:
            for result, relayout in zip(op.results, conversion.results, strict=True):
                if relayout is not None and not relayout.is_identity:
                    self.relayouts[result] = relayout
            if self.relayouts.keys().isdisjoint(op.operands) and _is_as_it_was(op, conversion):
                return
        self.steps.append((op, conversion))


def check(op: Operation, conversion: Conversion) -> None:
    """VerifyException unless operands and results can be in the layouts of a conversion."""
    operands = zip(op.operands, conversion.operands, strict=True)
    for i, (operand, relayout) in enumerate(operands):
        if relayout is not None and not relayout.is_identity:
            expanded = conversion.expanded.get(i, ())
            relayout.transform(_expanded(_shape(operand.type), expanded))
    for result, relayout in zip(op.results, conversion.results, strict=True):
        if relayout is not None and not relayout.is_identity:
            relayout.transform(_shape(result.type))


def _shape(type: Attribute) -> Shape:
    if not is_ranked(type):
        raise VerifyException(f"the rank of {type} is not known")
    return type.get_shape()


def _expanded(shape: Shape, dimensions: Sequence[int]) -> Shape:
    """The shape with dimensions of size 1, in order the i-th of the result."""
    for i in dimensions:
        shape = shape[:i] + (1,) + shape[i:]
    return shape


def _is_as_it_was(op: Operation, conversion: Conversion) -> bool:
    relayouts = (*conversion.operands, *conversion.results)
    return conversion.op is None and all(r is None or r.is_identity for r in relayouts)


def _only_unpacked(op: TupleOp) -> bool:
    users = [use.operation for use in op.results[0].uses]
    return all(isinstance(user, TupleGetItemOp) and user.element() is not None for user in users)


def _bodies(op: Operation, free: bool) -> list[tuple[Iterator[Operation], bool]]:
    """The ops of each block directly in `op`, last block first, and whether they may change."""
    if "relax.primitive" in op.attributes:
        free = False
    return [
        (in_order(block), free and len(region.blocks) == 1)
        for region in reversed(op.regions)
        for block in reversed(region.blocks)
    ]


class Placed(NamedTuple):
    """Where a value is now."""

    value: SSAValue
    relayout: Relayout | None
    """The layout in which it is; None is as it was."""
    type: Attribute
    """The type that it had."""


Key: TypeAlias = tuple[SSAValue, tuple[int, ...], tuple[str, str] | None]
"""A value, dimensions that it was given, and the layout, None as it was."""


class Change:
    """The state of a change of the IR."""

    def __init__(self) -> None:
        self.placed: dict[SSAValue, Placed] = {}
        """Values that are elsewhere or in another layout."""
        self.had: dict[Key, SSAValue] = {}
        """The layouts in which values are to be had, with these dimensions added."""
        self.forwarded: list[Operation] = []
        """Operations whose result is elsewhere, also for users that are not to change."""
        self.unused: dict[Operation, None] = {}
        """Operations that may have lost their last use."""
        self.transforms = 0

    def apply(self, op: Operation, conversion: Conversion | None) -> None:
        """Compute an operation in other layouts, or as it was on operands as they were."""
        if conversion is None:
            if isinstance(op, TupleGetItemOp):
                return self.unpack(op)
            op.operands = [self.have(operand, None, op) for operand in op.operands]
            return
        pairs = zip(op.operands, conversion.operands, strict=True)
        operands = [
            self.have(operand, relayout, op, tuple(conversion.expanded.get(i, ())))
            for i, (operand, relayout) in enumerate(pairs)
        ]
        if conversion.forwards and operands[0].type == op.results[0].type:
            return self.forward(op, Placed(operands[0], None, operands[0].type))
        if conversion.op is not None:
            op = _replace(op, conversion.op, operands, conversion.properties)
        else:
            assert isinstance(op, IRDLOperation)
            op.operands = operands
            new = {k: v for k, v in conversion.properties.items() if v is not None}
            kept = {k: v for k, v in op.properties.items() if k not in conversion.properties}
            op.properties = kept | properties_of(type(op), new)
        for result, relayout in zip(tuple(op.results), conversion.results, strict=True):
            if relayout is not None and not relayout.is_identity:
                self.retype(result, relayout)

    def unpack(self, op: TupleGetItemOp) -> None:
        """The element of a tuple is what was put there, wherever that is now."""
        assert isinstance(owner := op.tuple.owner, TupleOp)
        element = owner.operands[op.index]
        self.forward(op, self.placed.get(element) or Placed(element, None, element.type))
        self.unused[owner] = None

    def forward(self, op: Operation, placed: Placed) -> None:
        """Take another value for the only result of an operation."""
        self.placed[op.results[0]] = placed
        self.forwarded.append(op)

    def retype(self, result: SSAValue, relayout: Relayout) -> None:
        """Give a result the type of its new layout."""
        assert is_tensor(type := result.type)
        new = with_shape(type, relayout.transform(shape_of(type)))
        value = Rewriter.replace_value_with_new_type(result, new)
        self.placed[value] = Placed(value, relayout, type)
        self.had[value, (), relayout.key] = value

    # Values

    def have(
        self,
        value: SSAValue,
        relayout: Relayout | None,
        user: Operation,
        expanded: tuple[int, ...] = (),
    ) -> SSAValue:
        """A value in a layout, None as it was, for `user`; `expanded` are dimensions put in."""
        if relayout is not None and relayout.is_identity:
            relayout = None
        if relayout is None and not expanded and value not in self.placed:
            return value
        key = value, expanded, None if relayout is None else relayout.key
        if (found := self.had.get(key)) is None:
            found = self.had[key] = self.make(value, relayout, user, expanded)
        return found

    def make(
        self,
        value: SSAValue,
        relayout: Relayout | None,
        user: Operation,
        expanded: tuple[int, ...],
    ) -> SSAValue:
        """The same, where it is not to be had yet."""
        placed = self.placed.get(value) or Placed(value, None, value.type)
        there, now, type = placed
        if now is None and isinstance(owner := there.owner, ConstantOp | FullOp):
            return self.constant(owner, relayout, expanded)
        if expanded:
            there = self.have(value, None, user)
            there = _insert(ExpandDimsOp(there, axis=expanded, location=user.location), user)
            return there if relayout is None else self.transformed(there, relayout, user)
        if relayout is None:
            return there if now is None else self.transformed(there, _undone(now), user, type)
        if now is None:
            return self.transformed(there, relayout, user)
        try:
            dst = relayout.along(now.src).dst
        except VerifyException:  # from one way to split an axis to another
            return self.transformed(self.have(value, None, user), relayout, user)
        return self.transformed(there, Relayout(now.dst, dst), user)

    def transformed(
        self, value: SSAValue, relayout: Relayout, user: Operation, type: Attribute | None = None
    ) -> SSAValue:
        """A value in another layout; what it is transformed from already is transformed at once."""
        while isinstance(before := value.owner, LayoutTransformOp):
            src, dst = Layout.parse(before.src_layout), Layout.parse(before.dst_layout)
            try:
                relayout = Relayout(src, relayout.along(dst).dst)
            except VerifyException:
                break
            self.unused[before] = None
            value = before.input
        if relayout.is_identity and type in (None, value.type):
            return value
        transform = LayoutTransformOp(
            value,
            result_types=None if type is None else [type],
            location=user.location,
            src_layout=relayout.src.text,
            dst_layout=relayout.dst.text,
        )
        self.transforms += 1
        return _insert(transform, user)

    def constant(
        self, op: ConstantOp | FullOp, relayout: Relayout | None, expanded: tuple[int, ...]
    ) -> SSAValue:
        """A constant in another layout, beside it."""
        from ...interpreters.arrays import array_of, dense_of
        from ...interpreters.relax.layout import relayout as transform

        assert is_ranked(type := op.result.type)
        shape = _expanded(type.get_shape(), expanded)
        new_type = TensorType(
            type.element_type, shape if relayout is None else relayout.transform(shape)
        )
        value = op.value
        if is_dense(value):
            array = array_of(value).reshape(shape)
            if relayout is not None:
                array = transform(array, relayout.src, relayout.dst)
            value = dense_of(array, new_type)
        new = (ConstantOp if is_dense(value) else FullOp).create(
            properties={"value": value}, result_types=[new_type], location=op.location
        )
        new.result.name_hint = op.result.name_hint
        assert op.parent is not None
        op.parent.insert_op_before(new, op)
        self.unused[op] = None
        return new.result

    def erase_dead(self) -> None:
        """Erase what lost its last use, and the transforms and constants that only that used."""
        for op in self.forwarded:
            op.results[0].replace_all_uses_with(self.placed[op.results[0]].value)
            self.unused[op] = None
        while self.unused:
            op, _ = self.unused.popitem()
            if op.parent is None or any(result.first_use is not None for result in op.results):
                continue
            for operand in op.operands:
                if isinstance(operand.owner, ConstantOp | FullOp | LayoutTransformOp):
                    self.unused[operand.owner] = None
            _erase(op)


def _undone(relayout: Relayout) -> Relayout:
    return Relayout(relayout.dst, relayout.src)


def _insert(op: TensorOp, user: Operation) -> SSAValue:
    """Put a function of one operand where its users will be: in the block of the operand, before
    what `user` is in there."""
    owner = op.operands[0].owner
    block = owner if isinstance(owner, Block) else owner.parent
    assert block is not None
    before = block.find_ancestor_op_in_block(user) or block.last_op
    assert before is not None
    block.insert_op_before(op, before)
    return op.results[0]


def _replace(
    op: Operation,
    cls: type[IRDLOperation],
    operands: Sequence[SSAValue],
    properties: Mapping[str, PropertyValue],
) -> Operation:
    """Put an operation of another class in the place of one."""
    new = cls.create(
        operands=operands,
        result_types=op.result_types,
        properties=properties_of(cls, properties),
        attributes=op.attributes,
        location=op.location,
    )
    assert op.parent is not None
    op.parent.insert_op_before(new, op)
    for old, result in zip(op.results, new.results, strict=True):
        result.name_hint = old.name_hint
        old.replace_all_uses_with(result)
    _erase(op)
    return new


def _erase(op: Operation) -> None:
    op.detach()
    op.drop_all_references()
