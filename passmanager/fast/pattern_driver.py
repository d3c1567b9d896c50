"""The parts of the pattern driver: the index of patterns by the class of operation that they match,
the worklist, and the rewriter that reports changes to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import FunctionType, UnionType
from typing import NamedTuple, TypeAlias, cast

from xdsl.dialects.builtin import LocationAttr, UnknownLoc
from xdsl.folder import Folder
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue, Use
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.rewriter import BlockInsertPoint, InsertPoint
from xdsl.traits import ConstantLike, HasCanonicalizationPatternsTrait, HasFolder
from xdsl.transforms.canonicalize import CanonicalizationRewritePattern

from ..actions import SILENT, Actions
from ..ir.effects import OBSERVABLE, class_effects, is_kept, would_be_dead
from ..ir.location import place_of
from ..ir.per_class import PerClass
from ..ir.walk import walk
from ..releases.pattern_rewriter import BaseRewriter, fold
from .acceleration import choose
from .edit import read_step
from .interface import OpClass, PatternReader

Rule: TypeAlias = Callable[[type[Operation]], Iterable[RewritePattern]]


class Attempt(NamedTuple):
    """A pattern to try on the ops of a class."""

    pattern: RewritePattern
    rewrite: Callable[[Operation, PatternRewriter], None]
    """The method `match_and_rewrite` of the pattern."""


class DeclaredPatterns(RewritePattern):
    """The canonicalization patterns that operations declare (`HasCanonicalizationPatternsTrait`).

    In place of each pattern whose class is in `replaced`, those given there are tried.
    """

    def __init__(self, replaced: Mapping[type[RewritePattern], Sequence[RewritePattern]]) -> None:
        self._replaced = replaced

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        patterns = [*self.patterns_of(type(op))]
        GreedyRewritePatternApplier(patterns).match_and_rewrite(op, rewriter)

    def patterns_of(self, op_class: type[Operation]) -> Iterator[RewritePattern]:
        """Yield the patterns for a class of op, in order."""
        for trait in op_class.get_traits_of_type(HasCanonicalizationPatternsTrait):
            for pattern in trait.get_patterns(op_class):
                yield from self._replaced.get(type(pattern), (pattern,))


class PatternIndex(PerClass[Operation, tuple[Attempt, ...]]):
    """An index of rewrite patterns: for each class of op the patterns to try, in order.

    Patterns that try several others in turn are flattened: GreedyRewritePatternApplier, whose
    folding and removal of dead ops become patterns too, and the patterns that ops declare
    (DeclaredPatterns, CanonicalizationRewritePattern).
    """

    def __init__(self, pattern: RewritePattern) -> None:
        super().__init__(self._patterns_for)
        self._rules = tuple(_rules(pattern))

    def _patterns_for(self, op_class: type[Operation]) -> tuple[Attempt, ...]:
        """Return the patterns for a class of op, each once."""
        # By identity: patterns are often dataclasses, which do not hash.
        found = {id(pattern): pattern for rule in self._rules for pattern in rule(op_class)}
        return tuple(Attempt(pattern, pattern.match_and_rewrite) for pattern in found.values())


class RemoveDead(RewritePattern):
    """A pattern that erases an op without users and side effects."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        for result in op.results:
            if result.first_use is not None:
                return
        if would_be_dead(op):
            rewriter.erase(op)


class Fold(RewritePattern):
    """A pattern that replaces an op by the result of its folder."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        fold(op, self._folder, rewriter)


@op_type_rewrite_pattern
def _typed(self: RewritePattern, op: Operation, rewriter: PatternRewriter, /) -> None: ...


# xDSL's decorator checks the class of the op inside of the function that it returns, and offers no
# way to ask for that class. But all these functions share one code object, and each has the class
# in its closure. Without the class each pattern would be called for every op: 20 patterns take 9
# times as long (0.5 against 4.4 us per op).
assert isinstance(_typed, FunctionType)
_TYPED_CODE = _typed.__code__


def _class_in_closure(pattern: RewritePattern) -> OpClass:
    method = getattr(pattern.match_and_rewrite, "__func__", None)
    if isinstance(method, FunctionType) and method.__code__ is _TYPED_CODE:
        for cell in method.__closure__ or ():
            if isinstance(found := cell.cell_contents, type | UnionType):
                return cast(OpClass, found)
    return Operation


def _any_class(pattern: RewritePattern) -> OpClass:
    return Operation


matched_class: PatternReader = choose("rewriting", lambda: _class_in_closure, lambda: _any_class)


def _rules(pattern: RewritePattern) -> Iterator[Rule]:
    # Exact classes: a subclass may do anything.
    if type(pattern) is GreedyRewritePatternApplier:
        if pattern.dce_enabled:
            yield _removals
        if pattern.folding_enabled:
            yield _folds(pattern)
        for part in pattern.rewrite_patterns:
            yield from _rules(part)
    elif type(pattern) is CanonicalizationRewritePattern:
        yield partial(_canonicalizations, DeclaredPatterns({}))
    elif isinstance(pattern, DeclaredPatterns):
        yield partial(_canonicalizations, pattern)
    else:
        matched = matched_class(pattern)
        yield lambda op_class: (pattern,) if issubclass(op_class, matched) else ()


_REMOVE_DEAD = (RemoveDead(),)


def _removals(op_class: type[Operation]) -> Iterable[RewritePattern]:
    return () if is_kept[op_class] or class_effects[op_class] & OBSERVABLE else _REMOVE_DEAD


def _folds(applier: GreedyRewritePatternApplier) -> Rule:
    if applier.ctx is None:
        raise ValueError("folding needs ctx: the dialects in it create the constants")
    fold = (Fold(Folder(applier.ctx)),)

    def rule(op_class: type[Operation]) -> Iterable[RewritePattern]:
        folds = op_class.has_trait(HasFolder, value_if_unregistered=False)
        # Folding a constant creates the same constant again, without end.
        return (
            fold
            if folds and not op_class.has_trait(ConstantLike, value_if_unregistered=True)
            else ()
        )

    return rule


def _canonicalizations(
    declared: DeclaredPatterns, op_class: type[Operation]
) -> Iterator[RewritePattern]:
    patterns = [*declared.patterns_of(op_class)]
    applier = GreedyRewritePatternApplier(patterns, dce_enabled=len(patterns) > 1)  # as xDSL does
    for rule in _rules(applier):
        yield from rule(op_class)


# The worklist of the pattern driver, and the rewriter that reports changes to it.


class Worklist:
    """The ops to visit: a stack, and after it the ops that rewrites touched, with their neighbours.

    The invariant: an op is on the stack at most once, and only if some pattern may apply to its
    class.
    """

    def __init__(self, root: Operation, index: PatternIndex, ops: Iterable[Operation]) -> None:
        self._root = root
        self._index = index
        self._stack = [op for op in ops if index[type(op)]]
        self._stack.reverse()
        # By id, as hashing an op is slow; an op on the stack is alive and keeps its id.
        self._queued = set(map(id, self._stack))
        self._touched: dict[int, Operation] = {}
        # Blocks known to be nested in the root, since the last visit began; by id, as above.
        self._visited: Block | None = None
        self._inside: set[int] = set()

    def drain(self) -> Iterator[Operation]:
        """Yield the ops to visit, until no op is left; ops may be added meanwhile."""
        stack, queued = self._stack, self._queued
        while stack or self._touched:
            if not stack:
                self._push_touched()
                continue
            op = stack.pop()
            queued.remove(id(op))
            if op.parent is not None:  # else it is erased
                self._visited = op.parent
                if self._inside:
                    self._inside.clear()
                yield op

    def push(self, op: Operation) -> None:
        """Put `op` on top of the stack, unless it is there already or no pattern applies to it."""
        if self._index[type(op)] and id(op) not in self._queued:
            if op is not self._root and self._is_inside(op.parent):
                self._queued.add(id(op))
                self._stack.append(op)

    def touch(self, op: Operation) -> None:
        """Mark `op` as touched: once the stack is empty, it and its neighbours are visited.

        This replaces the repeated walks over all IR of other drivers by a walk around the changes.
        """
        self._touched[id(op)] = op

    def forget(self, op: Operation) -> None:
        """Remove an erased op from the touched ops."""
        self._touched.pop(id(op), None)

    def _is_inside(self, block: Block | None) -> bool:
        """Return whether a block is nested in the root, at any depth.

        Blocks found to be inside are kept until the next visit, so that the walk up passes none of
        them twice; the block of the visited op is inside.
        """
        path: list[int] = []
        holder: Operation | None = None
        while holder is not self._root:
            if block is None:
                return False
            if block is self._visited or id(block) in self._inside:
                break
            path.append(id(block))
            holder = block.parent_op()
            block = None if holder is None else holder.parent
        self._inside.update(path)
        return True

    def _push_touched(self) -> None:
        self._visited = None  # a rewrite may have removed its block from the root
        self._inside.clear()
        touched, self._touched = self._touched, {}
        for op in reversed(touched.values()):
            for neighbour in _neighbours(op):
                self.push(neighbour)
            self.push(op)


class TrackingRewriter(BaseRewriter):
    """The rewriter that patterns use; it reports changes to the worklist, and gives new ops
    locations.
    """

    matched: Operation
    """The op that is being visited; the adapter to older releases of xDSL reads it, too."""

    def __init__(self, worklist: Worklist, actions: Actions = SILENT) -> None:
        super().__init__(InsertPoint(Block()))
        self.actions = actions
        self.inserted: list[Operation] = []
        self.erased: list[Operation] = []
        self._worklist = worklist
        self._operands: tuple[SSAValue, ...] = ()

    @property
    def insertion_point(self) -> InsertPoint:
        """The insertion point, before the matched op unless set; created on demand, as most visits
        match nothing.
        """
        if self._insertion_point is None:
            self._insertion_point = InsertPoint.before(self.matched)
        return self._insertion_point

    @insertion_point.setter
    def insertion_point(  # pyright: ignore[reportIncompatibleVariableOverride]
        self, point: InsertPoint
    ) -> None:
        self._insertion_point: InsertPoint | None = point

    def visit(self, op: Operation, attempts: Iterable[Attempt]) -> RewritePattern | None:
        """Try the patterns on `op` until one rewrites, and return that one, or None."""
        self._current_operation = self.matched = op
        self._operands = read_step(op)[0]
        self._insertion_point = None
        self._name_hint = None
        for pattern, rewrite in attempts:
            try:
                rewrite(op, self)
            except Exception as error:
                name = type(pattern).__name__
                error.add_note(f"while pattern {name} was rewriting '{op.name}'{place_of(op)}")
                raise
            if self.has_done_action:
                return pattern
        return None

    def finish_rewrite(self, op: Operation) -> None:
        """Touch `op`, and the ops that defined its operands if these changed; reset the visit.

        Patterns may change operands without notifying the rewriter.
        """
        if op.parent is not None:
            self._worklist.touch(op)
            if read_step(op)[0] is not self._operands:
                self._touch_owners(self._operands)
        self.inserted.clear()
        self.erased.clear()
        self.has_done_action = False

    # Changes that xDSL notifies of

    def handle_operation_insertion(self, op: Operation) -> None:
        new = _with_nested(op)
        _locate(new, self.matched.location)
        self.inserted += new
        for inner in reversed(new):  # the stack yields them in the order of the text
            self._worklist.push(inner)
        self._worklist.touch(op)
        super().handle_operation_insertion(op)

    def handle_operation_removal(self, op: Operation) -> None:
        removed = _with_nested(op)
        for inner in removed:
            for operand in read_step(inner)[0]:
                if isinstance(operand, OpResult):
                    self._worklist.touch(operand.op)
                    if operand.has_one_use():  # by the erased op: it may be dead now
                        self._worklist.push(operand.op)
        if (parent := op.parent_op()) is not None:
            self._worklist.touch(parent)
        self.erased += removed
        for inner in removed:
            self._worklist.forget(inner)
        super().handle_operation_removal(op)

    def handle_operation_modification(self, op: Operation) -> None:
        self.has_done_action = True
        self._worklist.push(op)
        self._worklist.touch(op)
        super().handle_operation_modification(op)

    def replace(
        self,
        op: Operation,
        new_ops: Operation | Sequence[Operation],
        new_results: Sequence[SSAValue | None] | None = None,
        safe_erase: bool = True,
    ) -> None:
        for new in (new_ops,) if isinstance(new_ops, Operation) else new_ops:
            _locate(_with_nested(new), op.location)
        super().replace(op, new_ops, new_results, safe_erase)

    # Changes that xDSL does not notify of

    def replace_all_uses_with(
        self, from_value: SSAValue, to_value: SSAValue | None, safe_erase: bool = True
    ) -> None:
        super().replace_all_uses_with(from_value, to_value, safe_erase)
        self._touch_owners([from_value])

    def replace_uses_with_if(
        self, from_value: SSAValue, to_value: SSAValue, predicate: Callable[[Use], bool]
    ) -> None:
        super().replace_uses_with_if(from_value, to_value, predicate)
        self._touch_owners([from_value])

    def replace_value_with_new_type(self, val: SSAValue, new_type: Attribute) -> SSAValue:
        new = super().replace_value_with_new_type(val, new_type)
        self._push_users([new])
        if isinstance(new, OpResult):  # patterns on terminators read the result types of the parent
            for inner in reversed(_with_nested(new.op)):
                self._worklist.push(inner)
        return new

    def inline_block(
        self, block: Block, insertion_point: InsertPoint, arg_values: Sequence[SSAValue] = ()
    ) -> None:
        self._push_users(block.args)
        moved = list(block.ops)
        super().inline_block(block, insertion_point, arg_values)
        for op in moved:
            self._worklist.touch(op)

    def inline_region(self, region: Region, insertion_point: BlockInsertPoint) -> None:
        moved = [op for block in region.blocks for op in block.ops]
        super().inline_region(region, insertion_point)
        for op in moved:
            self._worklist.touch(op)

    def _touch_owners(self, values: Iterable[SSAValue]) -> None:
        for value in values:
            if isinstance(value, OpResult):
                self._worklist.touch(value.op)

    def _push_users(self, values: Iterable[SSAValue]) -> None:
        for value in values:
            for use in value.uses:
                self._worklist.push(use.operation)
                self._worklist.touch(use.operation)


def actions_of(rewriter: PatternRewriter) -> Actions:
    """Return the actions that a pattern reports to; silent ones in a driver of xDSL's."""
    return rewriter.actions if isinstance(rewriter, TrackingRewriter) else SILENT


def _neighbours(op: Operation) -> Iterator[Operation]:
    """Yield the ops that define the operands of an op, use its results, and hold it."""
    for operand in read_step(op)[0]:
        if isinstance(operand, OpResult):
            yield operand.op
    for result in op.results:
        for use in result.uses:
            yield use.operation
    if (parent := op.parent_op()) is not None:
        yield parent


def _with_nested(op: Operation) -> list[Operation]:
    return list(walk(op)) if op.regions else [op]


def _locate(ops: Iterable[Operation], location: LocationAttr) -> None:
    """Set the location of each op that has none."""
    for op in ops:
        if isinstance(op.location, UnknownLoc):
            op.location = location
