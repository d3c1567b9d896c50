"""FuseOps: operations that can be computed together become one function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import ConstantLike, MemoryEffect, NoMemoryEffect

from ...dialects.relax.annotation import StopFusionOp
from ...dialects.relax.interfaces import FusionKind, FusionPattern, View
from ...dialects.relax.types import is_tensor, shape_of
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.ir.access import read_step
from ...passmanager.ir.dominance import is_graph_region
from ...passmanager.remarks import Remarks
from ..rewriting.outliner import Outliner, erase, fusible_functions

__all__ = ["FuseOps", "fuse_operations", "is_scalar_constant"]

_PRIMITIVE = {"relax.primitive": UnitAttr()}

ELEMENTWISE = FusionKind.ELEMENTWISE
BROADCAST = FusionKind.BROADCAST
INJECTIVE = FusionKind.INJECTIVE
REDUCTION = FusionKind.REDUCTION
ANCHOR = FusionKind.ANCHOR


def fuse_operations(
    func: Operation,
    outliner: Outliner,
    *,
    fuse_opt_level: int = 2,
    max_depth: int = 256,
    gate: Callable[[], bool] | None = None,
    remarks: Remarks | None = None,
) -> int:
    """Move the operations in `func` into primitive functions, together with those that they can be
    computed with; returns how many groups of several there are.

    An operation joins the first one that all of its users lead to, if all in between can join too:
    an anchor if what comes is element-wise on its result, up to the next anchor; a broadcasting
    operation if no anchor is in between, and up to a reduction; an injective one if all are at
    most injective. So a group has one exit, and no path leads out of it and back. Of two anchors
    that an operation joins, the later has it: the other's result is there by then. At level 0 each
    is alone. No group has more than `max_depth` operations; groups that only view are left alone.
    Opaque are operations with effects or regions, and those in graph regions. Unused operations are
    erased. `gate`, if given, is asked before each group, and may keep it from being made.
    """
    graph = Graph(func)
    groups = Groups(graph, max_depth)
    if fuse_opt_level > 0:
        groups.fuse(remarks or None)
    erase([op for op, dead in zip(graph.ops, graph.dead, strict=True) if dead])
    fused = 0
    for ops in groups.members():
        if all(isinstance(op, View) for op in ops) or not (gate is None or gate()):
            continue
        call = outliner.outline(ops, _PRIMITIVE)
        if len(ops) > 1:
            fused += 1
            if remarks:
                name = call.callee.string_value()
                remarks.passed(call, "Fused", "in one function", Function=name, Ops=len(ops))
    for op in graph.stops:
        op.result.replace_all_uses_with(op.input)
    erase(graph.stops)
    return fused


class Graph:
    """The operations in a function that can be computed with others, by number and in order."""

    def __init__(self, func: Operation) -> None:
        self.ops: list[Operation] = []
        self.kinds: list[FusionKind] = []
        self.users: list[list[int]] = []
        self.visible: list[bool] = []
        """Whether something else uses a result too."""
        self.stops: list[StopFusionOp] = []
        self.definitions: dict[int, int] = {}
        """The number of what defines a value, by the identity of the value."""
        self._link(self._collect(func))
        self.dead = [False] * len(self.ops)
        self._find_dead()

    def _collect(self, func: Operation) -> list[tuple[Sequence[SSAValue], int]]:
        """Number the operations; gives the operands of all in `func`, and their number or -1."""
        fusible = _Fusible()
        steps: list[tuple[Sequence[SSAValue], int]] = []
        pending = _blocks_of(func)
        while pending:
            op, in_order = pending.pop()
            while op is not None:
                operands, results, regions, following = read_step(op)
                number = -1
                if in_order and not regions and fusible[type(op)]:
                    number = self._add(op, results)
                elif isinstance(op, StopFusionOp):
                    self.stops.append(op)
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

    def _link(self, steps: Sequence[tuple[Sequence[SSAValue], int]]) -> None:
        """Find the users of each operation, which come in order."""
        ops, users, definitions = self.ops, self.users, self.definitions
        for operands, user in steps:
            for operand in operands:
                if (definition := definitions.get(id(operand))) is None:
                    continue
                if user < 0 or ops[user].parent is not ops[definition].parent:
                    self.visible[definition] = True
                elif not (known := users[definition]) or known[-1] != user:
                    known.append(user)

    def _find_dead(self) -> None:
        """Mark what only leads to unused results; it is nobody's user."""
        dead, visible, all_users = self.dead, self.visible, self.users
        for i in reversed(range(len(self.ops))):
            users = all_users[i]
            if any([dead[user] for user in users]):
                users[:] = [user for user in users if not dead[user]]
            dead[i] = not users and not visible[i]

    def post_dominators(self, limit: int) -> list[int]:
        """For each operation the first one that all paths from it lead to, -1 if there is none, if
        a path to it goes through an anchor or a reduction, or if one is longer than `limit`."""
        nearest = [-1] * len(self.ops)
        for i in reversed(range(len(self.ops))):
            if self.visible[i] or not (users := self.users[i]) or self.kinds[i] is REDUCTION:
                continue
            found = users[0]
            for user in users:
                if found != user and (found := self._meet(found, user, nearest, limit)) < 0:
                    break
            nearest[i] = found
        return nearest

    def _meet(self, a: int, b: int, nearest: Sequence[int], limit: int) -> int:
        """Where the paths from two operations meet: a post-dominator has the greater number."""
        for _ in range(limit):
            if a == b:
                return a
            if a > b:
                a, b = b, a
            a = nearest[a] if self.kinds[a] <= INJECTIVE else -1
            if a < 0:
                return -1
        return -1

    def is_elementwise(self, members: set[int], source: int) -> bool:
        """Whether what the `members` take of each other and of `source` has the shape of what they
        make of it."""
        for i in members:
            if self.kinds[i] is ELEMENTWISE:
                continue
            shape = _shape(self.ops[i].results[0].type)
            for operand in self.ops[i].operands:
                producer = self.definitions.get(id(operand))
                if (producer == source or producer in members) and _shape(operand.type) != shape:
                    return False
        return True


class Groups:
    """A partition of a graph; a group is known by its last operation, which alone others use."""

    def __init__(self, graph: Graph, max_depth: int) -> None:
        self.graph = graph
        self.max_depth = max_depth
        self.parent = list(range(len(graph.ops)))
        self.size = [1] * len(graph.ops)
        self.kinds = list(graph.kinds)
        """The kind of the group, for its last operation."""

    def fuse(self, remarks: Remarks | None = None) -> None:
        """Fuse anchors with what follows, then broadcasting operations, then injective ones.

        In another order an operation between two anchors could join the wrong one.
        """
        nearest = self.graph.post_dominators(self.max_depth)
        kinds = self.graph.kinds
        for i in reversed(range(len(nearest))):
            if kinds[i] is ANCHOR:
                anchor = i
                while (sink := nearest[anchor]) >= 0 and self.join_anchor(anchor, sink, remarks):
                    anchor = sink
        for i, sink in enumerate(nearest):
            if sink >= 0 and self.kinds[i] <= BROADCAST and kinds[sink] <= REDUCTION:
                self.join(i, sink, INJECTIVE, ANCHOR, remarks)
        for i, sink in enumerate(nearest):
            if sink >= 0 and kinds[i] is INJECTIVE:
                self.join(i, sink, INJECTIVE, INJECTIVE, remarks)

    def join_anchor(self, i: int, sink: int, remarks: Remarks | None) -> bool:
        """Let the group of an anchor, which ends with `i`, go on to `sink`, if that is
        element-wise."""
        if self.graph.kinds[sink] > BROADCAST:
            return False
        if self.kinds[self.find(sink)] is ANCHOR:
            if remarks is not None:
                op = self.graph.ops[sink]
                remarks.missed(op, "SecondAnchor", "fused with the later of two operations")
            return False
        path = self.path(i, sink, BROADCAST)
        if path is None or not self.graph.is_elementwise({*path, sink}, i):
            return False
        return self.merge(i, sink, path, remarks)

    def join(
        self, i: int, sink: int, inner: FusionKind, last: FusionKind, remarks: Remarks | None
    ) -> None:
        """Fuse `i` with `sink`, if the groups between are at most `inner` and that of the sink at
        most `last`."""
        leader = self.find(sink)
        if self.find(i) == leader or self.kinds[leader] > last:
            return
        if (path := self.path(i, sink, inner)) is not None:
            self.merge(i, sink, path, remarks)

    def path(self, i: int, sink: int, kind: FusionKind) -> set[int] | None:
        """What is between an operation and its post-dominator; None if a group there is of a
        higher kind, or they are too many."""
        found: set[int] = set()
        pending = [user for user in self.graph.users[i] if user != sink]
        while pending:
            if (user := pending.pop()) in found:
                continue
            if self.kinds[self.find(user)] > kind or len(found) >= self.max_depth:
                return None
            found.add(user)
            pending += [later for later in self.graph.users[user] if later != sink]
        return found

    def merge(self, i: int, sink: int, path: set[int], remarks: Remarks | None) -> bool:
        """Make one group of those of `i`, `sink` and the `path`, if it is not too large."""
        leader = self.find(sink)
        others = {self.find(i), *map(self.find, path)} - {leader}
        size = self.size[leader] + sum([self.size[other] for other in others])
        if size > self.max_depth:
            if remarks is not None:
                op, limit = self.graph.ops[sink], self.max_depth
                remarks.missed(op, "MaxDepth", "too many to fuse", Ops=size, Limit=limit)
            return False
        self.size[leader] = size
        for other in others:
            self.parent[other] = leader
        if self.kinds[i] is ANCHOR:
            self.kinds[leader] = ANCHOR
        return True

    def find(self, i: int) -> int:
        """The last operation of a group."""
        parent = self.parent
        while parent[i] != i:
            parent[i] = i = parent[parent[i]]
        return i

    def members(self) -> list[list[Operation]]:
        """The operations of each group that are not dead, in order."""
        groups: dict[int, list[Operation]] = {}
        for i, op in enumerate(self.graph.ops):
            if not self.graph.dead[i]:
                groups.setdefault(self.find(i), []).append(op)
        return [groups[leader] for leader in sorted(groups)]


class _Fusible(dict[type[Operation], bool]):
    """Whether operations of a class may be moved into a function."""

    def __missing__(self, cls: type[Operation]) -> bool:
        effects = cls.get_traits_of_type(MemoryEffect)
        self[cls] = answer = (
            issubclass(cls, FusionPattern)
            and bool(effects)
            and all(isinstance(effect, NoMemoryEffect) for effect in effects)
        )
        return answer


def is_scalar_constant(op: Operation) -> bool:
    """Whether it is a constant of rank 0, which a function holds rather than has passed in."""
    type = op.results[0].type
    return (not is_tensor(type) or shape_of(type) == ()) and op.has_trait(ConstantLike)


def _blocks_of(op: Operation) -> list[tuple[Operation | None, bool]]:
    """The first op of each block directly in `op`, last block first, and whether they are in
    order."""
    return [
        (block.first_op, not is_graph_region(region))
        for region in reversed(op.regions)
        for block in reversed(region.blocks)
    ]


def _shape(type: Attribute) -> tuple[int, ...] | None:
    return shape_of(type) if is_tensor(type) else None


@dataclass(frozen=True)
class FuseOps(ModulePass):
    """Make functions of what is computed together; source: `relay.FuseOps` and `relax.FuseOps`.

    The functions are private and marked `relax.primitive`; equal ones are one. As in Relay, an
    operation by itself is a function too, and constants of rank 0 are in the functions.
    """

    name = "fuse-ops"
    required = ("infer-type",)
    preserves = ("infer-type",)

    fuse_opt_level: int | None = None
    """At 0 each operation is by itself; the context's level if it is not given."""
    max_depth: int = 256
    """The most operations in a function."""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        level = ctx.opt_level if self.fuse_opt_level is None else self.fuse_opt_level
        outliner = Outliner(module, is_scalar_constant)
        for func in fusible_functions(module):
            fused = fuse_operations(
                func,
                outliner,
                fuse_opt_level=level,
                max_depth=self.max_depth,
                gate=ctx.gate(self.name),
                remarks=ctx.remarks,
            )
            ctx.count("fused", fused)
        outliner.finish()
