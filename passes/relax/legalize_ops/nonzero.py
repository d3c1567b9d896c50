"""The kernels of `relax.nonzero`: one counts the elements, and one writes their coordinates."""

from __future__ import annotations

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    MemRefType,
    ModuleOp,
    TensorType,
    i1,
    i64,
)
from xdsl.dialects.tensor import CastOp, ExtractOp
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import Rewriter

from ....dialects.relax.gather import NonzeroOp
from ....dialects.relax.kernels import CallTIROp
from ....dialects.relax.types import SmallFloat, Tensor, is_integer, static_shape, tensor_type
from ....dialects.tir.builder import TirBuilder
from ....dialects.tir.ops import PrimFuncOp
from ....passmanager.ir.edit import insert_before
from ....passmanager.ir.symbols import symbol_of
from ....passmanager.ir.walk import walk
from .scalars import signless_form, with_sign

__all__ = ["call_nonzero_kernels"]


def call_nonzero_kernels(module: ModuleOp) -> None:
    """Replace each `relax.nonzero` of a tensor of known shape by calls of two kernels: the number
    of columns that the second computes is the result of the first."""
    names: dict[Attribute, tuple[str, str]] = {}
    taken = {symbol_of(op) for op in module.ops}
    for op in [op for op in walk(module) if isinstance(op, NonzeroOp)]:
        type = tensor_type(op.x)
        if not static_shape(type) or isinstance(type.element_type, SmallFloat):
            continue
        if type not in names:
            number = 0
            while {pair := f"nonzero{number}", f"{pair}_count"} & taken:
                number += 1
            names[type] = pair, f"{pair}_count"
            taken |= {*names[type]}
            module.body.block.add_ops(kernels(type, *names[type]))
        fill, count = names[type]
        total = CallTIROp(count, [op.x], [TensorType(i64, [])])
        element = ExtractOp(total.res[0], [], i64)
        size = arith.IndexCastOp(element, IndexType())
        whole = TensorType(i64, [len(static_shape(type) or ()), DYNAMIC_INDEX])
        call = CallTIROp(fill, [op.x], [whole], [size])
        for new in (total, element, size, call):
            new.location = op.location
        insert_before(op, total, element, size)
        if op.result.type == whole:
            Rewriter.replace_op(op, call)
        else:  # a declared number of columns
            insert_before(op, call)
            cast = CastOp.create(
                operands=[call.res[0]], result_types=[op.result.type], location=op.location
            )
            Rewriter.replace_op(op, cast)


def kernels(type: Tensor, fill: str, count: str) -> list[PrimFuncOp]:
    """Return the two kernels for tensors of `type`."""
    shape = static_shape(type) or ()
    given = MemRefType(type.element_type, shape)
    columns = MemRefType(i64, [len(shape), DYNAMIC_INDEX])
    functions: list[PrimFuncOp] = []
    for name, result in ((fill, columns), (count, MemRefType(i64, []))):
        func = PrimFuncOp(name, [given, result], visibility="private")
        b = TirBuilder(func)
        x, output = func.args
        place = b.alloc((1,), IndexType(), "local")
        b.store(b.index(0), place, [0])
        with b.elements(shape) as index:
            flag = is_nonzero(b, b.load(x, index))
            with b.when([flag]):
                at = b.load(place, [0])
                if name == fill:
                    size = b.insert(memref.DimOp(output, b.index(1))).results[0]
                    with b.when([b.less(at, size)]):
                        for axis, i in enumerate(index):
                            number = b.pure(arith.IndexCastOp, b.index(i), target_type=i64)
                            b.store(number, output, [axis, at])
                b.store(b.index(b.add(at, 1)), place, [0])
        if name == count:
            total = b.pure(arith.IndexCastOp, b.load(place, [0]), target_type=i64)
            b.store(total, output, [])
        functions.append(b.finish())
    return functions


def is_nonzero(b: TirBuilder, x: SSAValue) -> SSAValue:
    """Return whether a number is not 0; NaN is not."""
    if x.type == i1:
        return x
    if not is_integer(x.type):
        return b.pure(arith.CmpfOp, x, b.number(0.0, x.type), arg="une")
    x = with_sign(b, x, signless_form(x.type))
    return b.pure(arith.CmpiOp, x, b.number(0, x.type), arg="ne")
