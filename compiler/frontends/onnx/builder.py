"""A builder of the operations of a function, and the functions of a model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from onnx import AttributeProto, FunctionProto, GraphProto, NodeProto
from xdsl.ir import Block, Operation, SSAValue

from ....dialects.relax.graph import TupleOp
from ....dialects.relax.shapes import Shape
from ....dialects.relax.types import Element
from ...interpreters.arrays import Array
from .external_data import DataFiles
from .types import tensor_of
from .values import ConstantValues, GraphScope, constant_of, fill_of

# A builder of the operations of a function.


class Builder(ABC):
    """A function under construction: the current block, and its constants."""

    def __init__(self, files: DataFiles, warn: Callable[[str], None]) -> None:
        self.files = files
        """The files that hold the data of large tensors."""
        self.warn = warn
        """Gets messages for the user."""
        self.block = Block()
        self.constants: dict[tuple[object, ...], Operation] = {}
        """Stand at the start of the function, once each."""
        self.values = ConstantValues()

    def add(self, op: Operation) -> Operation:
        """Add an operation at the end of the current block."""
        self.block.add_op(op)
        self.values.follow(op)
        return op

    def add_constant(self, key: tuple[object, ...], make: Callable[[], Operation]) -> SSAValue:
        """Return the constant with this key; create it with `make` the first time."""
        if (op := self.constants.get(key)) is None:
            op = self.constants[key] = make()
            self.values.follow(op)
        return op.results[0]

    def full(self, value: float, element: Element, shape: Shape) -> SSAValue:
        """Return a fill of a shape."""
        return self.add_constant(
            (repr(value), element, shape),
            lambda: fill_of(value, tensor_of(element, shape), element),
        )

    def constant(self, array: Array, element: Element) -> SSAValue:
        """Return a constant with these elements."""
        key = (array.tobytes(), array.shape, element)
        return self.add_constant(key, lambda: constant_of(array, element))

    def array(self, value: SSAValue) -> Array | None:
        """Return the elements of a value that depends on constants alone, else None."""
        return self.values.array(value)

    @abstractmethod
    def convert_subgraph(
        self, graph: GraphProto, scope: GraphScope, inputs: Sequence[SSAValue] = ()
    ) -> list[SSAValue]:
        """Convert a nested graph at the end of the current block; return its outputs."""

    @contextmanager
    def nested(self, block: Block) -> Generator[Block]:
        """Make `block` the current block inside of the `with` statement."""
        outer, self.block = self.block, block
        try:
            yield block
        finally:
            self.block = outer

    def erase_after(self, last: Operation | None) -> None:
        """Erase the operations of the current block after `last`."""
        while (op := self.block.last_op) is not None and op is not last:
            op.detach()
            op.erase(safe_erase=False)

    def finish(self, block: Block) -> None:
        """Insert the used constants at the start of `block`, and erase operations that were only
        needed to compute shapes, axes and the like."""
        erase_unused(block, self.values)
        used = [op for op in self.constants.values() if op.results[0].first_use]
        if (first := block.first_op) is not None:
            block.insert_ops_before(used, first)
        else:
            block.add_ops(used)
        for op in self.constants.values():
            if op.parent is None:
                op.erase()


def erase_unused(block: Block, values: ConstantValues) -> None:
    """Erase the operations on constants and the tuples without uses, in nested blocks too."""
    op = block.last_op
    while op is not None:
        previous = op.prev_op
        if (values.is_followed(op) or isinstance(op, TupleOp)) and not any(
            result.first_use for result in op.results
        ):
            op.detach()
            op.erase()
        else:
            for region in op.regions:
                for inner in region.blocks:
                    erase_unused(inner, values)
        op = previous


# The functions of a model: the attributes of their calls, and their size when inlined.


Functions: TypeAlias = Mapping[tuple[str, str, str], FunctionProto]
"""The functions of a model by domain, name and overload."""


def function_key(item: FunctionProto | NodeProto) -> tuple[str, str, str]:
    """Return the key of a function, or of the function that a node calls."""
    name = item.op_type if isinstance(item, NodeProto) else item.name
    return item.domain, name, getattr(item, "overload", "")


def inlined_size(nodes: Iterable[NodeProto], functions: Functions) -> int:
    """Return the number of nodes, those of graphs in attributes included, once all calls of
    `functions` are inlined; a recursive call counts as one node."""
    sizes: dict[tuple[str, str, str], int] = {}

    def size_of(node: NodeProto) -> int:
        key = function_key(node)
        if (size := sizes.get(key)) is not None:
            return size
        if (function := functions.get(key)) is None:
            return 1 + sum(map(size_of, _inner_nodes(node)))
        sizes[key] = 1
        sizes[key] = sum(map(size_of, function.node))
        return sizes[key]

    return sum(map(size_of, nodes))


def _inner_nodes(node: NodeProto) -> Iterator[NodeProto]:
    """Yield the nodes of the graphs in the attributes of a node."""
    for attribute in node.attribute:
        for graph in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])):
            yield from graph.node


def substitute(node: NodeProto, attributes: Mapping[str, AttributeProto]) -> NodeProto:
    """Return a copy of a node of a function body with references replaced by attributes of the
    call."""
    if not any(a.ref_attr_name or a.HasField("g") for a in node.attribute):
        return node
    copy = NodeProto()
    copy.CopyFrom(node)
    substitute_in(copy, attributes)
    return copy


def substitute_in(node: NodeProto, attributes: Mapping[str, AttributeProto]) -> None:
    """Replace references in a node by attributes of the call, in nested graphs too."""
    own = list(node.attribute)
    del node.attribute[:]
    for attribute in own:
        if attribute.ref_attr_name:
            if (given := attributes.get(attribute.ref_attr_name)) is not None:
                copy = node.attribute.add()
                copy.CopyFrom(given)
                copy.name = attribute.name
            continue
        for inner in attribute.g.node if attribute.HasField("g") else ():
            substitute_in(inner, attributes)
        node.attribute.append(attribute)
