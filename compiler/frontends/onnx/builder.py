"""A builder of the operations of a function."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from onnx import GraphProto
from xdsl.ir import Block, Operation, SSAValue

from ....dialects.relax.shapes import Shape
from ....dialects.relax.tuples import TupleOp
from ....dialects.relax.types import Element
from ...interpreters.arrays import Array
from .external_data import DataFiles
from .scopes import GraphScope
from .types import tensor_of
from .values import ConstantValues, constant_of, fill_of

__all__ = ["Builder"]


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
