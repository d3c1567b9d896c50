"""The sizes of intermediate results that are not expressions of the sizes of a kernel's parameters:
the kernel computes them when it starts."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IndexType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, OpResult, SSAValue

from ....dialects.relax.types import is_ranked
from ....dialects.sizes import Size, Symbol
from ....dialects.tir.extents import extent_of
from ....dialects.tir.index_builder import IndexBuilder, unknown
from ...analysis.shapes.symbolic_shapes import SymbolicShapes
from ..no_kernel import NoKernel
from ..scalars import is_unsigned
from .call_sizes import SizeScope

__all__ = ["KernelSizes"]


class KernelSizes(SizeScope):
    """The sizes of the intermediate results of a kernel, computed at its start.

    A slice `x[:128]` of n elements has min(n, 128) elements, which a `Size` cannot express.
    """

    def __init__(
        self,
        func: FuncOp,
        shapes: SymbolicShapes,
        b: IndexBuilder,
        parameters: Mapping[SSAValue, SSAValue],
    ) -> None:
        """`parameters` are the buffers of the parameters of `func`."""
        super().__init__(func, shapes)
        self._b = b
        self._parameters = parameters

    def of_symbol(self, symbol: Symbol) -> SSAValue:
        """Return the value of the size that is `symbol`, by the rule of the operation whose result
        has it.

        Errors: UnknownExtent if no result in the kernel has it, NoKernel if the rule needs what the
        kernel computes.
        """
        value, axis = self.places.get(symbol, (None, 0))
        return self.of_result(value, axis) if isinstance(value, OpResult) else unknown(symbol)

    def value_of(self, size: Size) -> SSAValue:
        return self._b.index(extent_of(size))

    def read_element(self, value: SSAValue, index: int) -> SSAValue:
        buffer, type = self._parameter(value), value.type
        assert is_ranked(type)
        if is_unsigned(type.element_type):
            raise NoKernel(f"a size is an element of unsigned type {type.element_type}")
        at = [self._b.index(index)] * type.get_num_dims()  # a vector, or a scalar without indices
        return self.insert(
            arith.IndexCastOp(self.insert(memref.LoadOp.get(buffer, at)), IndexType())
        )

    def read_number(self, value: SSAValue) -> SSAValue:
        return self.insert(memref.LoadOp.get(self._parameter(value), []))

    def insert(self, op: Operation) -> SSAValue:
        return self._b.at_start(op)

    def _parameter(self, value: SSAValue) -> SSAValue:
        if (buffer := self._parameters.get(value)) is None:
            raise NoKernel("a size is computed in the same kernel as the tensor that has it")
        return buffer
