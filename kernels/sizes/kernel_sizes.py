"""The sizes that a kernel computes when it starts: of intermediate results whose sizes are not
expressions of the sizes of its parameters."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IndexType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, OpResult, SSAValue

from ...analysis.shapes.symbolic_shapes import SymbolicShapes
from ...dialects.relax.types import is_ranked
from ...dialects.sizes import Size, Symbol
from ...dialects.tir.extents import extent_of
from ...dialects.tir.index_builder import IndexBuilder, unknown
from ..no_kernel import NoKernel
from ..scalars import is_unsigned
from .call_sizes import Scope

__all__ = ["KernelSizes"]


class KernelSizes(Scope):
    """The sizes of the intermediate results of a kernel: a slice `x[:128]` of n elements has
    min(n, 128)."""

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
        """Return the value of a size that has no expression."""
        value, axis = self.places.get(symbol, (None, 0))
        return self.of_result(value, axis) if isinstance(value, OpResult) else unknown(symbol)

    def value_of(self, size: Size) -> SSAValue:
        return self._b.index(extent_of(size))

    def read_element(self, value: SSAValue, index: int) -> SSAValue:
        buffer, type = self._parameter(value), value.type
        assert is_ranked(type)
        if is_unsigned(type.element_type):
            raise NoKernel(f"a size is an element of {type.element_type}")
        at = [self._b.index(index)] * type.get_num_dims()
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
