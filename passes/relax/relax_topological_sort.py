"""relax-topological-sort: order the operations of blocks along the values that they use."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult

from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import FunctionPass
from ...passmanager.context import PassContext
from ...passmanager.ir.dominance import is_graph_region
from ...passmanager.ir.effects import NESTED, is_kept
from ...passmanager.ir.walk import walk
from ..generic.call_graph import is_opaque
from ..generic.purity import Purity

Order: TypeAlias = Literal["depth-first", "breadth-first"]
Direction: TypeAlias = Literal["from-inputs", "from-outputs"]
Node: TypeAlias = Operation | BlockArgument


def sort_blocks(
    func: Operation,
    purity: Purity,
    *,
    order: Order = "depth-first",
    direction: Direction = "from-inputs",
    actions: Actions = SILENT,
) -> None:
    """Sort the operations of each block in `func`, in the order of a search along its values.

    From the inputs, an operation follows the last one of its operands; from the outputs, it stands
    before the first one of its users. Ties are broken by the order in the block, or that of the
    operands. Operations with effects keep their order, and the terminator stays the last one.
    Blocks of graph regions, whose operations have no order, stay.
    """
    for graph in graphs_of(func, purity):
        search = from_inputs if direction == "from-inputs" else from_outputs
        ops = search(graph, depth_first=order == "depth-first")
        moved = sum(old is not new for old, new in zip(graph.ops, ops, strict=True))
        if not moved or not actions.allowed(ops[0]):
            continue
        for op in ops:
            op.detach()
        rest = graph.block.first_op
        if rest is None:
            graph.block.add_ops(ops)
        else:
            graph.block.insert_ops_before(ops, rest)
        actions.count("sorted")
        actions.passed(func, "Sorted", "operations have another order", Moved=moved)


@dataclass
class ValueGraph:
    """The operations of a block but the terminator, and those that each of them depends on."""

    block: Block
    ops: list[Operation] = field(default_factory=list[Operation])
    needs: dict[Operation, dict[Node, None]] = field(
        default_factory=dict[Operation, dict[Node, None]]
    )
    """The arguments and operations of the block that an operation needs, in the order of use. Those
    of the terminator are the outputs of the block."""
    last_effect: Operation | None = None


def graphs_of(func: Operation, purity: Purity) -> list[ValueGraph]:
    """Return the graphs of the blocks in `func` whose operations run in order."""
    graphs: dict[Block, ValueGraph] = {}
    # The operation of each block in which the walk is: that one uses a value of the block for all
    # operations nested in it. No operation looks for the ones around it, which may be many.
    current: dict[Block, Operation] = {}
    ordered: set[Operation] = set()
    for op in walk(func):
        if (block := op.parent) is None or op is func:
            continue
        current[block] = op
        if block not in graphs:
            graphs[block] = ValueGraph(block)
        graph = graphs[block]
        graph.needs[op] = {}
        if op.next_op is not None or not is_kept[type(op)]:
            graph.ops.append(op)
        if not is_kept[type(op)] and purity.effects(op) & ~NESTED:
            order_effects(op, func, ordered, graphs)
        for value in op.operands:
            owner = value.owner
            home = owner if isinstance(owner, Block) else owner.parent
            if home is None or (user := current.get(home)) is None or user is owner:
                continue
            if isinstance(value, OpResult):
                graphs[home].needs[user][value.op] = None
            elif isinstance(value, BlockArgument):
                graphs[home].needs[user][value] = None
    return [graph for graph in graphs.values() if graph.ops and runs_in_order(graph.block)]


def order_effects(
    op: Operation, func: Operation, ordered: set[Operation], graphs: dict[Block, ValueGraph]
) -> None:
    """Let `op`, and each operation of `func` around it, follow the one before it with effects."""
    # Stops at an operation that was reached before: all around it were, too.
    around: Operation | None = op
    while around is not None and around is not func and around not in ordered:
        ordered.add(around)
        assert around.parent is not None
        graph = graphs[around.parent]
        if graph.last_effect is not None:
            graph.needs[around][graph.last_effect] = None
        graph.last_effect = around
        around = around.parent_op()


def runs_in_order(block: Block) -> bool:
    region = block.parent
    return region is not None and not is_graph_region(region)


def from_inputs(graph: ValueGraph, *, depth_first: bool) -> list[Operation]:
    """Return the operations in the order of a search along the users of values: an operation is
    found when all that it needs was found."""
    waiting = {op: len(graph.needs[op]) for op in graph.ops}
    users: dict[Node, list[Operation]] = {}
    for op in graph.ops:
        for needed in graph.needs[op]:
            users.setdefault(needed, []).append(op)
    # An operation without operands, such as a constant, is found when nothing else is left, just
    # before the first one that needs it.
    roots = [*graph.block.args, *(op for op in graph.ops if not waiting[op])]
    return search(roots, users, waiting, depth_first=depth_first)


def from_outputs(graph: ValueGraph, *, depth_first: bool) -> list[Operation]:
    """Return the operations in the order of a search along operands, backwards from the terminator:
    an operation is found when all its users were found."""
    waiting = dict.fromkeys(graph.ops, 0)
    needs: dict[Node, list[Operation]] = {
        # The last operand first: its operations are the last ones of those of all operands.
        op: [other for other in reversed(needed) if isinstance(other, Operation)]
        for op, needed in graph.needs.items()
    }
    for needed in needs.values():
        for op in needed:
            waiting[op] += 1
    unused = [op for op in reversed(graph.ops) if not waiting[op]]
    end = graph.block.last_op
    outputs = [] if end is None or end in waiting else released(needs[end], waiting)
    return search([*outputs, *unused], needs, waiting, depth_first=depth_first)[::-1]


def search(
    roots: Iterable[Node],
    edges: Mapping[Node, Sequence[Operation]],
    waiting: dict[Operation, int],
    *,
    depth_first: bool,
) -> list[Operation]:
    """Return the operations in the order in which a search from `roots` along `edges` finds them;
    `waiting` has the number of edges to each that were not followed yet."""
    found: list[Operation] = []
    pending = deque(roots)
    while pending:
        node = pending.popleft()
        if isinstance(node, Operation):
            found.append(node)
        ready = released(edges.get(node, ()), waiting)
        if depth_first:
            pending.extendleft(reversed(ready))
        else:
            pending.extend(ready)
    return found


def released(ops: Iterable[Operation], waiting: dict[Operation, int]) -> list[Operation]:
    """Follow an edge to each of `ops`; return those to which it was the last one."""
    ready: list[Operation] = []
    for op in ops:
        waiting[op] -= 1
        if not waiting[op]:
            ready.append(op)
    return ready


@dataclass(frozen=True)
class RelaxTopologicalSort(FunctionPass):
    """Order the operations of each block along the values that they use; source:
    `relax.TopologicalSort`.

    Depth-first, an operation stands next to those whose values it uses, so that few values live at
    the same time and `plan-memory` needs less memory. Operations with effects keep their order.

    Before:

        func.func @f(%x: tensor<8xf32>) -> tensor<2xf32> {
          %0 = relax.exp %x : (tensor<8xf32>) -> tensor<8xf32>
          %1 = relax.sin %x : (tensor<8xf32>) -> tensor<8xf32>
          %2 = relax.sum %0 {keepdims = true} : (tensor<8xf32>) -> tensor<1xf32>
          %3 = relax.sum %1 {keepdims = true} : (tensor<8xf32>) -> tensor<1xf32>
          %4 = relax.concatenate %2, %3 : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
          func.return %4 : tensor<2xf32>
        }

    After:

        func.func @f(%x: tensor<8xf32>) -> tensor<2xf32> {
          %0 = relax.exp %x : (tensor<8xf32>) -> tensor<8xf32>
          %1 = relax.sum %0 {keepdims = true} : (tensor<8xf32>) -> tensor<1xf32>
          %2 = relax.sin %x : (tensor<8xf32>) -> tensor<8xf32>
          %3 = relax.sum %2 {keepdims = true} : (tensor<8xf32>) -> tensor<1xf32>
          %4 = relax.concatenate %1, %3 : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
          func.return %4 : tensor<2xf32>
        }
    """

    name = "relax-topological-sort"
    preserves = ("infer-type",)

    order: Order = "depth-first"
    """Whether the users of a value, or from the outputs the operands of an operation, come right
    after it (depth-first), or after all that were found before (breadth-first)."""
    direction: Direction = "from-inputs"
    """Where the search begins. From the outputs, depth-first, the fewest values live at a time."""

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        if not is_opaque(func):
            purity = ctx.analyses.get(Purity, module)
            sort_blocks(
                func, purity, order=self.order, direction=self.direction, actions=ctx.actions
            )
