"""Fusion: the graph of fusible operations, and its partition into groups."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, Operation, OpResult, SSAValue
from xdsl.traits import MemoryEffect, NoMemoryEffect

from ...dialects.relax.constant import ConstantOp
from ...dialects.relax.data.manipulation import TransposeOp
from ...dialects.relax.graph import StopFusionOp
from ...dialects.relax.interfaces import FusionKind, FusionPattern
from ...dialects.relax.types import is_tensor, shape_of
from ...passmanager.actions import SILENT, Actions
from ...passmanager.fast.edit import read_step
from ...passmanager.ir.dominance import is_graph_region
from ...passmanager.ir.per_class import PerClass
from ...passmanager.ir.walk import walk
from .symbolic_shapes import SymbolicShapes

# The dataflow graph that fusion partitions: fusible operations, their users and post-dominators.
#
# Source: TVM's `IndexedForwardGraph` and `DominatorTree`.


# Looking up a member of an enum class costs more than a global, and these are in inner loops.
ELEMENTWISE = FusionKind.ELEMENTWISE
INJECTIVE = FusionKind.INJECTIVE
REDUCTION = FusionKind.REDUCTION
ANCHOR = FusionKind.ANCHOR

Step: TypeAlias = tuple[Sequence[SSAValue], int]
"""The operands of an operation, and its number in the graph, -1 if it has none."""


class FusionGraph:
    """The fusible operations of a function, numbered in the order of the IR.

    An operation is fusible if it has a `FusionKind` below opaque, no effects and no regions, and is
    outside of graph regions. Each field that is a list is indexed by the number of an operation.
    """

    def __init__(
        self, func: Operation, shapes: SymbolicShapes | None = None, keep_sizes: bool = False
    ) -> None:
        """`shapes` are used to compare unknown sizes. With `keep_sizes`, an operation is not
        fusible if `shapes` has all elements of its results."""
        self._shapes = shapes
        self._keep_sizes = keep_sizes
        self.ops: list[Operation] = []
        self.kinds: list[FusionKind] = []
        self.users: list[list[int]] = []
        """The fusible users of each operation in its block, ascending, each once."""
        self.visible: list[bool] = []
        """True if a result also has a user that is not fusible, or a live one in another block."""
        self._users_outside: dict[int, list[int]] = {}
        """The fusible users of an operation in other blocks."""
        self.stops: list[StopFusionOp] = []
        self.definitions: dict[int, int] = {}
        """The operation that defines a value, by the `id` of the value."""
        self._link(self._collect(func))
        self.dead = [False] * len(self.ops)
        """True if all uses of the results lead to unused results."""
        self._find_dead()

    def _collect(self, func: Operation) -> list[Step]:
        """Number the fusible operations in `func`; return a step for each operation in it."""
        fusible = PerClass(_is_fusible)
        steps: list[Step] = []
        pending = _blocks_of(func)
        while pending:
            op, in_order = pending.pop()
            while op is not None:
                operands, results, regions, following = read_step(op)
                number = -1
                if (
                    in_order
                    and not regions
                    and fusible[type(op)]
                    and not (
                        self._keep_sizes
                        and self._shapes is not None
                        and _computes_sizes(results, self._shapes)
                    )
                ):
                    number = self._add(op, results)
                elif isinstance(op, StopFusionOp):
                    self.stops.append(op)
                # Steps are kept, not linked at once: in a graph region, or a block before its
                # dominator in the text, an operand may be defined later.
                steps.append((operands, number))
                if regions:
                    pending.append((following, in_order))
                    pending += _blocks_of(op)
                    break
                op = following
        return steps

    def _add(self, op: Operation, results: Sequence[SSAValue]) -> int:
        assert isinstance(op, FusionPattern)
        if (kind := op.fusion_kind()) > ANCHOR:
            return -1
        number = len(self.ops)
        self.ops.append(op)
        self.kinds.append(kind)
        self.users.append([])
        self.visible.append(False)
        for result in results:
            self.definitions[id(result)] = number
        return number

    def _link(self, steps: Sequence[Step]) -> None:
        """Record the users of each operation; `steps` come in the order of the IR."""
        ops, all_users, definitions = self.ops, self.users, self.definitions
        for operands, user in steps:
            for operand in operands:
                if (definition := definitions.get(id(operand))) is None:
                    continue
                if user < 0:
                    self.visible[definition] = True
                # A kernel is one block: a use in a branch or loop needs the value in memory.
                elif ops[user].parent is not ops[definition].parent:
                    self._users_outside.setdefault(definition, []).append(user)
                # Steps come in order, so a repeated user is the last one: no set is needed.
                elif not (users := all_users[definition]) or users[-1] != user:
                    users.append(user)

    def _find_dead(self) -> None:
        """Mark dead operations, and remove them from the users of others.

        Users have greater numbers, so one sweep from the last operation sees each user first;
        those in a block that stands before its dominator count as live.
        """
        dead, visible, all_users = self.dead, self.visible, self.users
        for i in reversed(range(len(self.ops))):
            if not all([dead[user] for user in self._users_outside.get(i, ())]):
                visible[i] = True
            users = all_users[i]
            if any([dead[user] for user in users]):
                users[:] = [user for user in users if not dead[user]]
            dead[i] = not users and not visible[i]

    def post_dominators(self, limit: int) -> list[int]:
        """Return the immediate post-dominator of each operation, or -1 if it cannot be fused with
        one.

        It is -1 for a visible operation or a reduction, or if a path to the post-dominator passes
        an anchor or a reduction. It is also -1 if the search takes more than `limit` steps, which
        keeps the time linear in the size of the graph.
        """
        nearest = [-1] * len(self.ops)
        for i in reversed(range(len(self.ops))):
            users = self.users[i]
            # Only the last operation of a group may have a value that others see.
            if self.visible[i] or not users or self.kinds[i] is REDUCTION:
                continue
            #   a -> b, a -> c, b -> d, c -> d: of a diamond, d is the post-dominator of a.
            common = users[0]
            for user in users:
                if common != user and (common := self._meet(common, user, nearest, limit)) < 0:
                    break
            nearest[i] = common
        return nearest

    def _meet(self, a: int, b: int, nearest: Sequence[int], limit: int) -> int:
        """Return the nearest common post-dominator of `a` and `b`, or -1.

        The smaller number moves to its own post-dominator until both are equal: a post-dominator
        has the greater number (the intersection of Cooper, Harvey, Kennedy, A Simple, Fast
        Dominance Algorithm, 2001).
        """
        for _ in range(limit):
            if a == b:
                return a
            if a > b:
                a, b = b, a
            # The kernel recomputes only cheap operations before a post-dominator.
            a = nearest[a] if self.kinds[a] <= INJECTIVE else -1
            if a < 0:
                return -1
        return -1

    def copies(self, source: int, sink: int, path: Collection[int]) -> Mapping[int, int]:
        """Return how often a kernel computes `source` and each operation on the `path` from there
        to `sink` for one element of `sink`.

        Users that read an element at their own index share it. An operand that is read at another
        index is computed again.
        """
        # For a = exp(x), b = flip(a), c = a * a, d = b + c, there are two copies of a, one of b and
        # one of c.
        counts = {sink: 1}
        for i in sorted((source, *path), reverse=True):  # users have greater numbers
            same, moved = 0, 0
            for result in self.ops[i].results:
                for use in result.uses:
                    user = self.definitions[id(use.operation.results[0])]
                    count = counts.get(user, 0)  # 0 for a dead user
                    if self.kinds[user] is INJECTIVE:
                        moved += count
                    else:
                        same = max(same, count)
            counts[i] = same + moved
        return counts

    def keeps_shape(self, members: set[int], source: int) -> bool:
        """Return whether no edge from `source` to `members`, or between these, changes the shape,
        and no other operand of `members` broadcasts along an unknown number of columns. The
        elements of such an operand would be read one by one."""
        for i in members:
            if self.kinds[i] is ELEMENTWISE and self._shapes is None:
                continue
            shape = self._shape(self.ops[i].results[0])
            for operand in self.ops[i].operands:
                producer = self.definitions.get(id(operand))
                # An anchor writes each element of its result once. Operations after it run in its
                # epilogue only if each of their elements depends on one of these.
                if producer == source or producer in members:
                    if self._shape(operand) != shape:
                        return False
                elif shape and not self._fits_columns(operand, shape[-1]):
                    return False
        return True

    def _fits_columns(self, value: SSAValue, columns: object) -> bool:
        """Return whether the last dimension of `value` is known or equal to `columns`."""
        if self._shapes is None or not (shape := self._shapes.of(value)):
            return True
        return shape[-1].known is not None or shape[-1] == columns

    def _shape(self, value: SSAValue) -> Sequence[object] | None:
        shape = shape_of(value.type) if is_tensor(value.type) else None
        # Without `_shapes`, all unknown sizes count as equal.
        if self._shapes is None or shape is None or DYNAMIC_INDEX not in shape:
            return shape
        return self._shapes.of(value)


def _is_fusible(cls: type[Operation]) -> bool:
    """Return whether operations of a class have a fusion kind and are known to have no effects."""
    effects = cls.get_traits_of_type(MemoryEffect)
    return (
        issubclass(cls, FusionPattern)
        and bool(effects)
        and all(isinstance(effect, NoMemoryEffect) for effect in effects)
    )


def _blocks_of(op: Operation) -> list[tuple[Operation | None, bool]]:
    """Return the first op of each block of `op`, last block first, and whether it runs in order."""
    return [
        (block.first_op, not is_graph_region(region))
        for region in reversed(op.regions)
        for block in reversed(region.blocks)
    ]


def _computes_sizes(results: Sequence[SSAValue], shapes: SymbolicShapes) -> bool:
    """Return whether all elements of all results are sizes that are known by expressions."""
    elements = [shapes.elements_of(result) for result in results]
    return all(row is not None and None not in row for row in elements)


# The partition of the operations in a block into groups. Each group can become one call.


K = TypeVar("K", bound=Hashable)


@dataclass
class FusionGroup:
    """A group of operations. Sets of groups are integers with a bit for each group."""

    ops: list[Operation]
    bits: int
    """This group, and those that were merged into it."""
    direct: int = 0
    """The groups whose results its operations use."""
    via: int = 0
    """The groups that are reached first on paths through operations that are in no group."""


@dataclass
class MergeGroups(Generic[K]):
    """A partition of operations of equal `kind`, where neighbours are merged without cycles.

    Two neighbours are merged unless one depends on the other through an operation outside of both:
    the outside would have to run between two parts of one call. Operations without a `kind` join
    no group. Source: TVM's `MergeCompositeFunctions`.
    """

    kind: Callable[[Operation], K | None]
    is_ordered: Callable[[Operation], bool]
    """Whether an operation has effects, so that it stays in the order of the others with effects.
    """
    groups: list[FusionGroup] = field(default_factory=list[FusionGroup])
    _root: list[int] = field(default_factory=list[int])
    _group_of: dict[Operation, int] = field(default_factory=dict[Operation, int])
    _first_groups: dict[Operation, int] = field(default_factory=dict[Operation, int])
    """Operation in no group -> the groups that are reached first on the paths up from it."""

    def add(self, block: Block) -> None:
        """Partition the operations of `block`."""
        for op, needed in dependences(block.ops, self.is_ordered):
            # A set of groups is an integer; an operation on it takes n/30 digits.
            direct = via = 0
            neighbours: dict[int, None] = {}
            for producer in needed:
                if (number := self._group_of.get(producer)) is not None:
                    direct |= 1 << number
                    neighbours[number] = None
                else:
                    # Only the first groups on each path: the groups behind them follow from these.
                    via |= self._first_groups[producer]
            if (kind := self.kind(op)) is None:
                self._first_groups[op] = direct | via
                continue
            number = self._group_of[op] = len(self.groups)
            self._root.append(number)
            self.groups.append(FusionGroup([op], 1 << number, direct, via))
            # Greedily in the order of operands, as TVM; others may give fewer groups.
            for neighbour in neighbours:
                if self.kind(self.groups[self.root(neighbour)].ops[0]) == kind:
                    self.merge(number, neighbour)

    def merge(self, a: int, b: int) -> None:
        """Merge the groups of two numbers unless that makes a cycle."""
        a, b = self.root(a), self.root(b)
        if a == b:
            return
        one, other = self.groups[a], self.groups[b]
        if self.passes_outside(one, other) or self.passes_outside(other, one):
            return
        # The smaller number stays, so that groups come in the order of their first operations.
        early, late = sorted((a, b))
        into, merged = self.groups[early], self.groups[late]
        self._root[late] = early
        into.ops += merged.ops
        into.bits |= merged.bits
        into.direct |= merged.direct
        into.via |= merged.via
        merged.ops = []

    def passes_outside(self, late: FusionGroup, early: FusionGroup) -> bool:
        """Return whether `late` depends on `early` through an operation outside of both."""
        both = late.bits | early.bits
        found = 0
        # Direct uses of `early` are inside of the merged group. Other paths to it are not.
        pending = late.via | late.direct & ~both
        while pending:
            if pending & early.bits:
                return True
            group = self.groups[self.root((pending & -pending).bit_length() - 1)]
            found |= group.bits
            pending = (pending | group.direct | group.via) & ~found
        return False

    def root(self, number: int) -> int:
        """Return the number of the group that has the operations of the group `number`."""
        roots = self._root
        while roots[number] != number:
            roots[number] = number = roots[roots[number]]  # path halving
        return number

    def found(self) -> list[list[Operation]]:
        """Return the groups, each in the order of its block."""
        order = {op: i for i, op in enumerate(self._group_of)}
        return [sorted(group.ops, key=order.__getitem__) for group in self.groups if group.ops]


def dependences(
    ops: Iterable[Operation], is_ordered: Callable[[Operation], bool]
) -> Iterator[tuple[Operation, Iterable[Operation]]]:
    """Yield the operations of a block with those that they depend on, by values or effects."""
    last: Operation | None = None
    for op in ops:
        needed: dict[Operation, None] = {}
        for inner in walk(op) if op.regions else (op,):
            for value in read_step(inner)[0]:
                if isinstance(value, OpResult) and value.op.parent is op.parent:
                    needed[value.op] = None
        # Each with the last one only: the order is transitive.
        if is_ordered(op):
            if last is not None:
                needed[last] = None
            last = op
        yield op, needed


# The partition of a fusion graph into groups that become kernels.
#
# Source: TVM's `GraphPartitioner`.


BROADCAST = FusionKind.BROADCAST

COPIES = 4
"""How often a kernel of the maximum depth may compute its operations for one element."""


def is_prepared(op: Operation) -> bool:
    """Return whether `op` transposes a constant, such as one that is too large for `fold-constant`.

    In the kernel of its user, the transposition takes no time: callers pass the constant as the
    kernel reads it. The last product of a language model has such a weight, which also embeds the
    tokens.
    """
    return isinstance(op, TransposeOp) and isinstance(op.operands[0].owner, ConstantOp)


class GraphPartitioner:
    """A union-find of the operations of a graph, in groups of at most `max_depth` operations.

    Invariant: the last operation of a group is its representative, and the only one that operations
    outside of the group use. An operation is therefore only merged with a post-dominator, together
    with all operations on the paths between them.
    """

    def __init__(self, graph: FusionGraph, max_depth: int, actions: Actions = SILENT) -> None:
        self.graph = graph
        self.max_depth = max_depth
        self.actions = actions
        self.parent = list(range(len(graph.ops)))
        self.size = [1] * len(graph.ops)
        self.work = [1] * len(graph.ops)
        """The operations of a group, each as often as it is computed for one element."""
        self.kinds = list(graph.kinds)
        """The kind of a group, at the index of its representative."""

    def fuse(self) -> None:
        """Fuse the operations in four steps: anchors with what follows them, then operations up to
        broadcasting ones with what follows these, then injective operations, then transpositions of
        constants with their users.

        In another order an operation between two anchors could join the wrong one. Here the later
        convolution gets the sum; the negation must stay with the first:

            a = conv(x); n = negative(a); c = conv(y); s = add(n, c)    {a, n}, {c, s}
        """
        nearest = self.graph.post_dominators(self.max_depth)
        kinds = self.graph.kinds
        for i in reversed(range(len(nearest))):
            if kinds[i] is ANCHOR:
                anchor = i
                while (sink := nearest[anchor]) >= 0 and self.join_anchor(anchor, sink):
                    anchor = sink
        for i, sink in enumerate(nearest):
            if sink >= 0 and self.kinds[i] <= BROADCAST and kinds[sink] <= REDUCTION:
                self.join(i, sink, INJECTIVE, ANCHOR)
        for i, sink in enumerate(nearest):
            if sink >= 0 and kinds[i] is INJECTIVE:
                self.join(i, sink, INJECTIVE, INJECTIVE)
        for i, sink in enumerate(nearest):
            if self.graph.users[i] == [sink] and is_prepared(self.graph.ops[i]):
                self.join(i, sink, INJECTIVE, ANCHOR)

    def join_anchor(self, i: int, sink: int) -> bool:
        """Extend the group that ends with the anchor `i` to `sink` if the operations up to it are
        at most broadcasting, and keep the shape; return whether the group was extended."""
        if self.graph.kinds[sink] > BROADCAST:
            return False
        # Two anchors in one kernel would be two loop nests with nothing in common.
        if self.kinds[self.find(sink)] is ANCHOR:
            op = self.graph.ops[sink]
            self.actions.missed(op, "SecondAnchor", "fused with the later of two operations")
            return False
        path = self.path(i, sink, BROADCAST)
        if path is None or not self.graph.keeps_shape({*path, sink}, i):
            return False
        return self.merge(i, sink, path)

    def join(self, i: int, sink: int, inner: FusionKind, last: FusionKind) -> None:
        """Fuse `i` with `sink` unless its kind exceeds `last`, or one between them `inner`."""
        leader = self.find(sink)
        if self.find(i) == leader or self.kinds[leader] > last:
            return
        if (path := self.path(i, sink, inner)) is not None:
            self.merge(i, sink, path)

    def path(self, i: int, sink: int, kind: FusionKind) -> set[int] | None:
        """Return the operations between `i` and its post-dominator `sink`; None if one is in a
        group of a kind above `kind`, or if there are more than `max_depth`."""
        found: set[int] = set()
        # All paths from `i` end in `sink`, as it post-dominates; the search takes at most
        # `max_depth` steps.
        pending = [user for user in self.graph.users[i] if user != sink]
        while pending:
            if (user := pending.pop()) in found:
                continue
            if self.kinds[self.find(user)] > kind or len(found) >= self.max_depth:
                return None
            found.add(user)
            pending += [later for later in self.graph.users[user] if later != sink]
        return found

    def merge(self, i: int, sink: int, path: set[int]) -> bool:
        """Merge the groups of `i`, `sink` and `path` unless too large; return whether merged."""
        leader = self.find(sink)
        merged = {self.find(i), *map(self.find, path)} - {leader}
        size = self.size[leader] + sum([self.size[group] for group in merged])
        if size > self.max_depth:
            return self.too_many(sink, size, self.max_depth)
        copies = self.graph.copies(i, sink, path)
        work = self.work[leader] + sum([self.work[group] * copies[group] for group in merged])
        if work > self.max_depth * COPIES:
            return self.too_many(sink, work, self.max_depth * COPIES)
        self.size[leader], self.work[leader] = size, work
        for group in merged:
            # No union by rank: the last operation has to be the root, as its kind and position are
            # the group's.
            self.parent[group] = leader
        if self.kinds[i] is ANCHOR:
            self.kinds[leader] = ANCHOR
        return True

    def too_many(self, sink: int, count: int, limit: int) -> bool:
        """Report that a group would have too many operations; return False."""
        op = self.graph.ops[sink]
        self.actions.missed(op, "MaxDepth", "too many to fuse", Ops=count, Limit=limit)
        return False

    def find(self, i: int) -> int:
        """Return the representative of the group of `i`."""
        parent = self.parent
        while parent[i] != i:
            parent[i] = i = parent[parent[i]]  # path halving
        return i

    def groups(self) -> list[list[Operation]]:
        """Return the live groups in the order of their last operations, each in IR order."""
        groups: dict[int, list[Operation]] = {}
        for i, op in enumerate(self.graph.ops):
            if not self.graph.dead[i]:
                groups.setdefault(self.find(i), []).append(op)
        return [groups[leader] for leader in sorted(groups)]
