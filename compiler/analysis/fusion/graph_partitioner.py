"""The partition of a fusion graph into groups that become kernels.

Source: TVM's `GraphPartitioner`.
"""

from __future__ import annotations

from xdsl.ir import Operation

from ....dialects.relax.constant import ConstantOp
from ....dialects.relax.data.permutation import TransposeOp
from ....dialects.relax.interfaces import FusionKind
from ....passmanager.diagnostics.actions import SILENT, Actions
from .fusion_graph import FusionGraph

__all__ = ["GraphPartitioner"]

BROADCAST = FusionKind.BROADCAST
INJECTIVE = FusionKind.INJECTIVE
REDUCTION = FusionKind.REDUCTION
ANCHOR = FusionKind.ANCHOR

COPIES = 4
"""How often a kernel of the maximum depth may compute its operations for one element."""


def is_prepared(op: Operation) -> bool:
    """Return whether `op` transposes a constant, such as one that is too large for `fold-constant`.

    In the kernel of its user that takes no time: callers pass the constant as the kernel reads it.
    The last product of a language model has such a weight, which embeds the tokens, too.
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
        """Fuse anchors with the operations after them, then operations up to broadcasting ones with
        those after them, then injective operations, then transpositions of constants with whatever
        uses them.

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
        """Extend the group that ends with the anchor `i` to `sink`; return whether it fits."""
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
        # All paths from `i` end in `sink`; the search takes at most `max_depth` steps.
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
            # No union by rank: kind and position of the last operation are the group's.
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
