"""The number of kernels in a model."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.tensor import CastOp

from passline.compiler.interpreters.signature import entry_function
from passline.dialects.relax.constant import ConstantOp, FullOp
from passline.dialects.relax.data.concatenation import ConcatenateOp
from passline.dialects.relax.graph import TupleGetItemOp, TupleOp
from passline.dialects.relax.interfaces import View

__all__ = ["count_kernels", "primitive_functions"]

NO_KERNELS = (ConcatenateOp, ConstantOp, FullOp, View, TupleOp, TupleGetItemOp, CastOp, ReturnOp)


def count_kernels(module: ModuleOp) -> int:
    """Return the number of kernels in `@main`: calls of primitive functions, and other
    operations that compute. A concatenation in it is in place."""
    ops = entry_function(module, "main").body.block.ops
    return sum(not isinstance(op, NO_KERNELS) for op in ops)


def primitive_functions(module: ModuleOp) -> list[FuncOp]:
    """Return the primitive functions, which `fuse-ops` makes."""
    functions = [op for op in module.ops if isinstance(op, FuncOp)]
    return [func for func in functions if "relax.primitive" in func.attributes]
