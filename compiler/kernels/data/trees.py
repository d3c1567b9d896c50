"""The kernel of `relax.tree_leaves`.

A step from a node to its child depends on the step before it through three loads from memory. A
processor that makes one walk waits most of the time. So the kernel walks several trees at once:
their steps do not depend on each other, and each walk hides the latency of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import ArrayAttr, IndexType, StringAttr, i1, i32
from xdsl.ir import Operation, SSAValue

from ....dialects.relax.data.trees import TreeLeavesOp
from ....dialects.tir.builder import Index
from ....dialects.tir.functions import Extent
from ....dialects.tir.ops import ForKind
from ..builder import KernelBuilder, Legalization, Store, Tensor
from ..scalars import as_index, convert, widen
from ..tensors import scheduled
from .bounds import require_elements, within
from .indexing import clipped

WALKS = 16
"""The number of walks at once. A step takes about 20 cycles, most of them for loads one after the
other, and has 8 instructions: with 16 walks, the instructions take the time, not the loads."""

LEVELS = 2
"""The number of steps between two checks whether all walks are at a leaf, and end."""

ROWS = 64
"""The rows that walk through a group of trees one after the other, while it is in the cache: 16
trees of 1,000 nodes have 256 KB."""


def tree_leaves(
    op: TreeLeavesOp,
    b: KernelBuilder,
    data: Tensor,
    nodes: Tensor,
    splits: Tensor,
    roots: Tensor,
) -> Tensor:
    (rows, features), (trees,) = data.shape, roots.shape
    b.require_equal(nodes.shape[0], splits.shape[0], "the numbers of nodes and splits differ", op)
    b.require_equal(nodes.shape[1], 3, "a node has not 3 columns", op)
    for what, size in (("axis 1 of the data", features), ("the table of nodes", nodes.shape[0])):
        require_elements(op, b, what, size)
    # This keeps LLVM from computing the nodes of several walks as a vector: gathers take longer.
    b.func.attributes["passthrough"] = ArrayAttr([StringAttr("noimplicitfloat")])
    known = is_in_range(op, b, features, nodes.shape[0])
    forest = Forest(op, b, data, nodes, splits, roots, known)
    return scheduled(op, b, (rows, trees), i32, forest.write)


@dataclass(frozen=True)
class TreeLanes:
    """The walks that are made at once, of some rows through some trees. A row or a tree beyond the
    last one is replaced by the last one."""

    rows: tuple[int, Index, Extent]
    """The number of rows, the first one, and the number of all rows."""
    trees: tuple[int, Index, Extent]
    """The same for trees."""

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows[0], self.trees[0]

    def place(self, b: KernelBuilder, lane: Sequence[Index]) -> list[Index]:
        """Return the row and the tree of a lane."""
        return [
            first + i if end % count == 0 else b.min(first + i, end - 1)
            for i, (count, first, end) in zip(lane, (self.rows, self.trees), strict=True)
        ]


@dataclass(frozen=True)
class Forest:
    """The operands of an operation, and the loops that walk through its trees."""

    op: TreeLeavesOp
    b: KernelBuilder
    data: Tensor
    nodes: Tensor
    splits: Tensor
    roots: Tensor
    is_in_range: bool
    """Whether no element of the tables needs to be clipped."""

    def write(self, store: Store) -> None:
        """Write loops over groups of rows and trees that walk together."""
        b, rows, trees = self.b, self.data.shape[0], self.roots.shape[0]
        together, at_once = WALKS, 1
        if isinstance(trees, int) and trees:
            # 18 trees are groups of 9 and 9, not of 16 and 2.
            together = -(-trees // -(-trees // WALKS))
            at_once = WALKS // together
        size = ROWS // at_once * at_once  # so that no row is in two blocks
        with b.loop(b.ceildiv(rows, size), ForKind.PARALLEL) as block:
            first = block * size
            count = b.min(size, rows - first)
            with (
                b.loop(b.ceildiv(trees, together)) as group,
                b.loop(b.ceildiv(count, at_once)) as i,
            ):
                row, tree = first + i * at_once, group * together
                self.walk(TreeLanes((at_once, row, rows), (together, tree, trees)), store)

    def walk(self, lanes: TreeLanes, store: Store) -> None:
        """Write loops over the levels of the trees for all lanes, and store the nodes that they
        reach."""
        b, depth = self.b, self.op.depth
        kinds = (ForKind.UNROLLED, ForKind.UNROLLED)
        at = b.alloc(lanes.shape, IndexType(), "local")
        with b.nest(lanes.shape, kinds) as lane:
            _, tree = lanes.place(b, lane)
            root = self.index(self.roots, [tree], self.nodes.shape[0])
            b.store(root, at, lane)

        def step() -> SSAValue:
            """Let each lane take a step; return whether a lane has moved to another node."""
            moved = b.variable(b.number(False, i1))
            with b.nest(lanes.shape, kinds) as lane:
                node = b.load_index(at, lane)
                child = self.child(lanes.place(b, lane)[0], node)
                b.store(child, at, lane)
                differs = b.pure(arith.CmpiOp, b.index(node), b.index(child), arg="ne")
                b.store(b.pure(arith.OrIOp, b.load(moved, [0]), differs), moved, [0])
            return b.load(moved, [0])

        self.repeat(step, depth)
        with b.nest(lanes.shape, kinds) as lane:
            store(lanes.place(b, lane), convert(b, b.load(at, lane), i32))

    def repeat(self, step: Callable[[], SSAValue], depth: int) -> None:
        """Write loops that call `step` up to `depth` times. They check every LEVELS steps whether a
        lane has moved, and end if none has."""
        b = self.b
        going = b.variable(b.number(True, i1))
        with b.loop(depth // LEVELS), b.when([b.load(going, [0])]):
            with b.loop(LEVELS - 1):
                step()
            b.store(step(), going, [0])
        with b.loop(depth % LEVELS):
            step()

    def child(self, row: Index, node: Index) -> Index:
        """Return the child of a node to which a row of the data goes."""
        b, count = self.b, self.nodes.shape[0]
        feature = self.index(self.nodes, [node, 0], self.data.shape[1])
        first, second = (self.index(self.nodes, [node, i], count) for i in (1, 2))
        value, split = b.read(self.data, [row, feature]), b.read(self.splits, [node])
        is_first = b.pure(arith.CmpfOp, widen(b, value), widen(b, split), arg="ole")
        return b.select(is_first, first, second)

    def index(self, table: Tensor, place: Sequence[Index], size: Extent) -> Index:
        """Return an element of a table as an index of a dimension of `size`."""
        value = self.b.read(table, place)
        return as_index(self.b, value) if self.is_in_range else clipped(self.b, value, size)


def is_in_range(op: TreeLeavesOp, b: KernelBuilder, features: Extent, nodes: Extent) -> bool:
    """Return whether the tables are constants whose elements are all known to be in range."""
    tables = b.elements_of(op.nodes)
    if not tables or not isinstance(features, int) or not isinstance(nodes, int):
        return False
    sizes = (features, nodes, nodes)
    return within(b.range_of(op.roots), (0, nodes - 1)) and all(
        bool(((table >= 0) & (table < sizes)).all()) for table in tables
    )


TREES: dict[type[Operation], Legalization] = {TreeLeavesOp: tree_leaves}
