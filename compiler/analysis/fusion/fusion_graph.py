"""The dataflow graph that fusion partitions: fusible operations, their users and post-dominators.

Source: TVM's `IndexedForwardGraph` and `DominatorTree`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue
from xdsl.traits import MemoryEffect, NoMemoryEffect

from ....dialects.relax.annotation import StopFusionOp
from ....dialects.relax.interfaces import FusionKind, FusionPattern
from ....dialects.relax.types import is_tensor, shape_of
from ....passmanager.fast.access import read_step
from ....passmanager.ir.checks.dominance import is_graph_region
from ....passmanager.ir.per_class import PerClass
from ..shapes.symbolic_shapes import SymbolicShapes

__all__ = ["FusionGraph"]

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
        """With `shapes`, unknown sizes are compared by them; with `keep_sizes`, operations whose
        results have only elements that they know are not fusible."""
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

        It is -1 for a visible operation or a reduction, if a path to the post-dominator passes an
        anchor or a reduction, and if the search takes more than `limit` steps, which keeps the
        whole linear in the size of the graph.
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

        Users that read an element at the index of their own share it; each operand that is read at
        another index is computed again.
        """
        # Of a = exp(x), b = flip(a), c = a * a, d = b + c: two copies of a, one of b and c.
        counts = {sink: 1}
        for i in sorted((source, *path), reverse=True):  # users have greater numbers
            same, moved = 0, 0
            for result in self.ops[i].results:
                for use in result.uses:
                    user = self.definitions[id(use.operation.results[0])]
                    count = counts.get(user, 0)  # of a dead user, none
                    if self.kinds[user] is INJECTIVE:
                        moved += count
                    else:
                        same = max(same, count)
            counts[i] = same + moved
        return counts

    def keeps_shape(self, members: set[int], source: int) -> bool:
        """Return whether no edge from `source` to `members`, or between these, changes shape, and
        no other operand of `members` broadcasts along columns of unknown number: its elements would
        be read one by one."""
        for i in members:
            if self.kinds[i] is ELEMENTWISE and self._shapes is None:
                continue
            shape = self._shape(self.ops[i].results[0])
            for operand in self.ops[i].operands:
                producer = self.definitions.get(id(operand))
                # An anchor writes each element of its result once: operations after it run in its
                # epilogue only if each element of theirs depends on one of these.
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
