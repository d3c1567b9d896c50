"""The propagation of layouts through a function, and the rewriting of values to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException

from ..dialects.relax.attributes import PropertyValue, properties_of
from ..dialects.relax.base import TensorOp
from ..dialects.relax.constant import ConstantOp, FullOp, is_dense
from ..dialects.relax.data.manipulation import ExpandDimsOp, LayoutTransformOp
from ..dialects.relax.graph import TupleGetItemOp, TupleOp
from ..dialects.relax.interfaces import Conversion, LayoutRule
from ..dialects.relax.layout import Layout, Relayout
from ..dialects.relax.shapes import Shape
from ..dialects.relax.types import is_ranked, is_tensor, shape_of, with_shape
from ..passmanager.actions import SILENT, Actions
from ..passmanager.fast.edit import erase, insert_before, read_step
from ..passmanager.ir.ordering import in_order

# The rewriter of layout propagation: converts operations, and transforms their operands.


class ValueForm(NamedTuple):
    """The current form of a value that was replaced or retyped."""

    value: SSAValue
    relayout: Relayout | None
    """From the original layout to that of `value`; None if they are the same."""
    type: Attribute
    """The original type."""


Key: TypeAlias = tuple[SSAValue, tuple[int, ...], tuple[str, str] | None]
"""A value, the unit dimensions inserted into it, and the key of its relayout, None if original."""


class LayoutRewriter:
    """Applies conversions in the order of the IR, and inserts the transforms that they need.

    Each layout of a value is made once, where it dominates all later users: in the block of the
    value, before the first user.
    """

    def __init__(self, actions: Actions = SILENT) -> None:
        self.actions = actions
        self.versions: dict[SSAValue, ValueForm] = {}
        """The values that were replaced or retyped."""
        self.available: dict[Key, SSAValue] = {}
        """The layouts of values that have been made."""
        self.forwarded: list[Operation] = []
        """Operations whose result is replaced, for all users, when everything is converted."""
        self.candidates: dict[Operation, None] = {}
        """Operations that may have become dead."""

    def apply(self, op: Operation, conversion: Conversion | None) -> None:
        """Convert `op`; with None, restore the original layouts of its operands."""
        if conversion is None:
            if isinstance(op, TupleGetItemOp):
                return self.unpack(op)
            op.operands = [self.require(operand, None, op) for operand in op.operands]
            return
        pairs = zip(op.operands, conversion.operands, strict=True)
        operands = [
            self.require(operand, relayout, op, tuple(conversion.expanded.get(i, ())))
            for i, (operand, relayout) in enumerate(pairs)
        ]
        if conversion.forwards and (relayout := conversion.results[0]) is not None:
            result = op.results[0]
            self.available[result, (), relayout.key] = operands[0]
            return self.forward(op, ValueForm(operands[0], relayout, result.type))
        # A transform to the layout that the operand has now.
        if conversion.forwards and operands[0].type == op.results[0].type:
            return self.forward(op, ValueForm(operands[0], None, operands[0].type))
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
        """Forward the operand of the tuple to the users of its element."""
        # The tuple keeps its operands in their old form: it is dead once all its elements are
        # forwarded.
        assert isinstance(owner := op.tuple.owner, TupleOp)
        element = owner.operands[op.index]
        self.forward(op, self.versions.get(element) or ValueForm(element, None, element.type))
        self.candidates[owner] = None

    def forward(self, op: Operation, version: ValueForm) -> None:
        """Use `version` in place of the only result of `op`."""
        # The uses are not replaced yet. In %1 = layout_transform %0 (NCHW to NHWC) with %0 in NHWC
        # already, the plan says of users of %1 that they have its original layout; had they %0 as
        # operand, they would be taken for users of a value that was changed.
        self.versions[op.results[0]] = version
        self.forwarded.append(op)

    def retype(self, result: SSAValue, relayout: Relayout) -> None:
        """Give `result` the type of its new layout."""
        assert is_tensor(type := result.type)
        new = with_shape(type, relayout.transform(shape_of(type)))
        value = Rewriter.replace_value_with_new_type(result, new)
        self.versions[value] = ValueForm(value, relayout, type)
        self.available[value, (), relayout.key] = value

    # Values in a layout

    def require(
        self,
        value: SSAValue,
        relayout: Relayout | None,
        user: Operation,
        expanded: tuple[int, ...] = (),
    ) -> SSAValue:
        """Return `value` as `user` needs it: with unit dimensions inserted at `expanded`, and then
        changed by `relayout`. None is the original layout."""
        if relayout is not None and relayout.is_identity:
            relayout = None
        if relayout is None and not expanded and value not in self.versions:
            return value
        key = value, expanded, None if relayout is None else relayout.key
        if (found := self.available.get(key)) is None:
            found = self.available[key] = self.make(value, relayout, user, expanded)
        return found

    def make(
        self,
        value: SSAValue,
        relayout: Relayout | None,
        user: Operation,
        expanded: tuple[int, ...],
    ) -> SSAValue:
        """Make a layout of `value` that is not available yet; see `require`.

        A value that is in another layout already is changed by one transform, NHWC -> NCHW4c. Two
        transforms, by way of the original layout, are needed only if both layouts split an axis in
        different ways.
        """
        present, now, type = self.versions.get(value) or ValueForm(value, None, value.type)
        # At compile time, from the original: the copy serves all users of that layout.
        if now is None and isinstance(owner := present.owner, ConstantOp | FullOp):
            return self.constant(owner, relayout, expanded)
        if expanded:
            # From the original layout: the positions in `expanded` count its dimensions.
            original = self.require(value, None, user)
            widened = _insert(ExpandDimsOp(original, axis=expanded, location=user.location), user)
            return widened if relayout is None else self.transform(widened, relayout, user)
        if relayout is None:
            return present if now is None else self.transform(present, _inverse(now), user, type)
        if now is None:
            return self.transform(present, relayout, user)
        try:
            dst = relayout.along(now.src).dst
        except VerifyException:  # both layouts split an axis, in different ways
            return self.transform(self.require(value, None, user), relayout, user)
        return self.transform(present, Relayout(now.dst, dst), user)

    def transform(
        self, value: SSAValue, relayout: Relayout, user: Operation, type: Attribute | None = None
    ) -> SSAValue:
        """Return `value` after `relayout`, combined with the transforms that compute `value`.

        `type`, if given, is the result type: the inferred one may have fewer known sizes.
        """
        # NCHW -> NHWC -> NCHW4c is NCHW -> NCHW4c.
        while isinstance(before := value.owner, LayoutTransformOp):
            src, dst = Layout.parse(before.src_layout), Layout.parse(before.dst_layout)
            try:
                relayout = Relayout(src, relayout.along(dst).dst)
            except VerifyException:
                break
            self.candidates[before] = None
            value = before.input
        # With another type it stays, as a transform from a layout to itself, which serves as the
        # cast.
        if relayout.is_identity and type in (None, value.type):
            return value
        transform = LayoutTransformOp(
            value,
            result_types=None if type is None else [type],
            location=user.location,
            src_layout=relayout.src.text,
            dst_layout=relayout.dst.text,
        )
        self.actions.count("transforms")
        return _insert(transform, user)

    def constant(
        self, op: ConstantOp | FullOp, relayout: Relayout | None, expanded: tuple[int, ...]
    ) -> SSAValue:
        """Return a copy of a constant in another layout, inserted beside it; see `require`."""
        from ..compiler.interpreters.arrays import array_of, dense_of
        from ..compiler.interpreters.relax.data import relayout as relayout_array

        assert is_ranked(type := op.result.type)
        shape = with_unit_dimensions(type.get_shape(), expanded)
        new_type = TensorType(
            type.element_type, shape if relayout is None else relayout.transform(shape)
        )
        value = op.value
        if is_dense(value):
            array = array_of(value).reshape(shape)
            if relayout is not None:
                array = relayout_array(array, relayout.src, relayout.dst)
            value = dense_of(array, new_type)
        new = (ConstantOp if is_dense(value) else FullOp).create(
            properties={"value": value}, result_types=[new_type], location=op.location
        )
        # Beside the old constant, not before the user: it is there for users in other regions too.
        new.result.name_hint = op.result.name_hint
        insert_before(op, new)
        self.candidates[op] = None
        return new.result

    def erase_dead(self) -> None:
        """Erase forwarded operations, and the transforms and constants that became dead."""
        for op in self.forwarded:
            op.results[0].replace_all_uses_with(self.versions[op.results[0]].value)
            self.candidates[op] = None
        # Each erasure can make the operands dead, so until none is left; linear, as an operation is
        # a candidate again only when a user of it was erased.
        while self.candidates:
            op, _ = self.candidates.popitem()
            if op.parent is None or any(result.first_use is not None for result in op.results):
                continue
            for operand in op.operands:
                if isinstance(operand.owner, ConstantOp | FullOp | LayoutTransformOp):
                    self.candidates[operand.owner] = None
            erase(op)


def with_unit_dimensions(shape: Shape, dimensions: Sequence[int]) -> Shape:
    """Return `shape` with size 1 inserted at `dimensions`, ascending positions in the result."""
    for i in dimensions:
        shape = (*shape[:i], 1, *shape[i:])
    return shape


def _inverse(relayout: Relayout) -> Relayout:
    return Relayout(relayout.dst, relayout.src)


def _insert(op: TensorOp, user: Operation) -> SSAValue:
    """Insert `op` in the block of its operand, before `user` or its ancestor there; return the
    result."""
    owner = op.operands[0].owner
    block = owner if isinstance(owner, Block) else owner.parent
    assert block is not None
    # In the block of the value, so that it dominates all later users, in other branches too.
    before = block.find_ancestor_op_in_block(user) or block.last_op
    assert before is not None
    insert_before(before, op)
    return op.results[0]


def _replace(
    op: Operation,
    cls: type[IRDLOperation],
    operands: Sequence[SSAValue],
    properties: Mapping[str, PropertyValue],
) -> Operation:
    """Replace `op` by an operation of class `cls` with the same result types; return it."""
    new = cls.create(
        operands=operands,
        result_types=op.result_types,
        properties=properties_of(cls, properties),
        attributes=op.attributes,
        location=op.location,
    )
    insert_before(op, new)
    for old, result in zip(op.results, new.results, strict=True):
        result.name_hint = old.name_hint
        old.replace_all_uses_with(result)
    erase(op)
    return new


# Layout propagation: hooks give operations new layouts, and the operations around them follow.
#
# The shared algorithm of `convert-layout` and `alter-op-layout`, which differ in their hooks.


Hook: TypeAlias = Callable[[Operation], Conversion | None]
"""Choose the layouts of an operation; None leaves the choice to the operations around it."""


def change_layouts(
    root: Operation,
    hooks: Mapping[str, Hook],
    *,
    hooks_ask: bool = False,
    actions: Actions = SILENT,
) -> None:
    """Convert the operations in `root` to the layouts that `hooks` choose, by operation name, and
    let each `LayoutRule` follow the layouts of its operands.

    All other operations, and arguments and results of functions and regions, keep their layouts: a
    `relax.layout_transform` is inserted before the first user that needs a value in another layout,
    one for each value and layout, and a transform and its inverse cancel. Constants are transformed
    at compile time. An operation keeps its layout if a dimension does not split into the blocks of
    the new one, in a region with several blocks, and in a `relax.primitive` function.

    `actions` is asked about each conversion that a hook chooses, unless `hooks_ask`: then the hooks
    have asked, before they changed the IR themselves.
    """
    planner = LayoutPlanner(hooks, hooks_ask, actions)
    planner.visit_all(root)
    rewriter = LayoutRewriter(actions)
    for op, conversion in planner.steps:
        rewriter.apply(op, conversion)
    rewriter.erase_dead()


class LayoutPlanner:
    """Decides which operations are computed in which layouts; leaves the IR as it is.

    A first pass of its own, because an operation can only follow once the layouts of all its
    operands are known, and rules read types and properties in the old layout.
    """

    def __init__(self, hooks: Mapping[str, Hook], hooks_ask: bool, actions: Actions) -> None:
        self.hooks = hooks
        self.hooks_ask = hooks_ask
        self.actions = actions
        self.relayouts: dict[SSAValue, Relayout] = {}
        """The values that will be in another layout."""
        self.unpacked: set[Operation] = set()
        """Tuples whose users only read single elements: the tuples need no layout."""
        self.steps: list[tuple[Operation, Conversion | None]] = []
        """The operations whose operands change, in order; None restores the layouts of operands."""

    def visit_all(self, root: Operation) -> None:
        """Visit the operations nested in `root` in order, each before those in its regions."""
        pending = _blocks_of(root, True)
        # A stack of iterators, not recursion: regions may be nested deeper than calls of Python.
        # The visit of a block resumes where it stopped, after the regions of the operation there.
        while pending:
            ops, free = pending.pop()
            for op in ops:
                operands, _, regions, _ = read_step(op)
                self.visit(op, operands, free)
                if regions:
                    pending.append((ops, free))
                    pending += _blocks_of(op, free)
                    break

    def visit(self, op: Operation, operands: Sequence[SSAValue], free: bool) -> None:
        """Plan the layouts of `op`; it keeps them unless it is `free` to change."""
        hook = self.hooks.get(op.name) if free else None
        if hook is not None and (conversion := self.ask(hook, op)) is not None:
            return self.add(op, conversion)
        # The usual case: nothing before it has changed.
        if self.relayouts.keys().isdisjoint(operands):
            if self.unpacked and isinstance(op, TupleGetItemOp):
                self.visit_item(op)
            return
        conversion = None
        # %t = tuple(%a, %b); tuple_get_item %t[1] becomes %b, in the layout of %b.
        if free and isinstance(op, TupleOp) and _is_only_unpacked(op):
            # A tuple of tensors in several layouts has none of its own: its elements are forwarded.
            self.unpacked.add(op)
            return
        if free and isinstance(op, LayoutRule):
            conversion = self.follow(op, [self.relayouts.get(operand) for operand in operands])
        self.add(op, conversion)

    def visit_item(self, op: TupleGetItemOp) -> None:
        """Give the element of an unpacked tuple the layout of the tuple's operand."""
        if op.tuple.owner in self.unpacked and (element := op.element()) is not None:
            if (relayout := self.relayouts.get(element)) is not None:
                self.relayouts[op.result] = relayout
            self.steps.append((op, None))

    def ask(self, hook: Hook, op: Operation) -> Conversion | None:
        """Return the conversion that `hook` chooses, if it is valid and allowed."""
        if (conversion := hook(op)) is None:
            return None
        try:
            check(op, conversion)
        except VerifyException as error:
            self.missed(op, error)
            return None
        # The hook wants the present layouts. That is no conversion to ask about; but `add` restores
        # operands that would come in another layout.
        if _is_identity(op, conversion):
            return conversion
        if not self.hooks_ask and not self.actions.allowed(op):
            return None
        self.actions.count("converted")
        self.actions.passed(op, "Converted", "converted to other layouts")
        return conversion

    def follow(self, op: LayoutRule, relayouts: Sequence[Relayout | None]) -> Conversion | None:
        """Return the conversion of `op` to the layouts of its operands, None if it has none."""
        try:
            conversion = op.convert_layouts(relayouts)
            check(op, conversion)
        except VerifyException as error:
            self.missed(op, error)
            return None
        self.actions.count("followed")
        return conversion

    def missed(self, op: Operation, error: VerifyException) -> None:
        """Report that `op` keeps its layout."""
        if self.actions.wants_remarks:
            self.actions.missed(op, "KeptLayout", f"stays in its layout: {error}")

    def add(self, op: Operation, conversion: Conversion | None) -> None:
        """Record the conversion of `op` and the layouts of its results."""
        if conversion is not None:
            for result, relayout in zip(op.results, conversion.results, strict=True):
                if relayout is not None and not relayout.is_identity:
                    self.relayouts[result] = relayout
            # Nothing comes or goes in another layout: no step, so that IR without a hook's choice
            # costs one look-up for each operand.
            if self.relayouts.keys().isdisjoint(op.operands) and _is_identity(op, conversion):
                return
        self.steps.append((op, conversion))


def check(op: Operation, conversion: Conversion) -> None:
    """Raise VerifyException unless the shapes of `op` allow the layouts of `conversion`."""
    operands = zip(op.operands, conversion.operands, strict=True)
    for i, (operand, relayout) in enumerate(operands):
        if relayout is not None and not relayout.is_identity:
            expanded = conversion.expanded.get(i, ())
            relayout.transform(with_unit_dimensions(_shape(operand.type), expanded))
    for result, relayout in zip(op.results, conversion.results, strict=True):
        if relayout is not None and not relayout.is_identity:
            relayout.transform(_shape(result.type))


def _shape(type: Attribute) -> Shape:
    if not is_ranked(type):
        raise VerifyException(f"the rank of {type} is not known")
    return type.get_shape()


def _is_identity(op: Operation, conversion: Conversion) -> bool:
    relayouts = (*conversion.operands, *conversion.results)
    return conversion.op is None and all(r is None or r.is_identity for r in relayouts)


def _is_only_unpacked(op: TupleOp) -> bool:
    users = [use.operation for use in op.results[0].uses]
    return all(isinstance(user, TupleGetItemOp) and user.element() is not None for user in users)


def _blocks_of(op: Operation, free: bool) -> list[tuple[Iterator[Operation], bool]]:
    """Return the operations of each block directly in `op`, last block first, and whether they are
    free to change."""
    if "relax.primitive" in op.attributes:
        free = False
    return [
        # With several blocks, the order in the text need not be one of dominance: the layout of an
        # operand may be chosen after its user was visited.
        (in_order(block), free and len(region.blocks) == 1)
        for region in reversed(op.regions)
        for block in reversed(region.blocks)
    ]
