"""Kernels of operations whose result sizes depend on data, which are called before the operations
around them are legalized: what they compute gives the sizes of tensors."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, ModuleOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.utils.hints import isa

from ....dialects.sizes import Size
from ....dialects.tir.builder import TirBuilder
from ....dialects.tir.extents import Shape, extent_of
from ....dialects.tir.ops import PrimFuncOp
from ....passmanager.fast.edit import insert_before
from ....passmanager.ir.symbols import symbol_of

__all__ = ["SeparateKernels", "parameter_shape"]


class SeparateKernels:
    """The kernels that are added to a module, one for each kind of operation and its types."""

    def __init__(self, module: ModuleOp) -> None:
        self._module = module
        self._names: dict[tuple[str, object], str] = {}
        self._taken = {symbol_of(op) for op in module.ops}

    def named(self, kind: str, key: Attribute, build: Callable[[str], PrimFuncOp]) -> str:
        """Return the name of the kernel of a kind for `key`; `build` builds it for a new name."""
        # Calls with operands of equal types share a kernel. Names that the module has are left to
        # it.
        if (name := self._names.get((kind, key))) is None:
            number = 0
            while (name := f"{kind}{number}") in self._taken:
                number += 1
            self._taken.add(name)
            self._names[kind, key] = name
            self._module.body.block.add_op(build(name))
        return name

    def insert(self, before: Operation, new: Operation) -> SSAValue:
        """Insert an operation with the location of the one that it stands before; return its first
        result."""
        new.location = before.location
        insert_before(before, new)
        return new.results[0]


def parameter_shape(b: TirBuilder, buffer: SSAValue) -> Shape:
    """Return the shape of a parameter; sizes that are not known are read at the start."""
    type = buffer.type
    assert isa(type, MemRefType) and isinstance(buffer, BlockArgument)
    sizes: list[Size] = []
    for axis, size in enumerate(type.get_shape()):
        # A symbol for each unknown size, also where shape rules know that two are equal: the kernel
        # serves calls for which that is not so.
        name = f"?{buffer.index}.{axis}"
        if size == DYNAMIC_INDEX:
            b.read_size(name, buffer, axis)
        sizes.append(Size.symbol(name) if size == DYNAMIC_INDEX else Size.of(size))
    b.shapes[buffer] = shape = tuple(map(extent_of, sizes))
    return shape
