"""Soft promotion of bf16 and f16 (LLVM's term): stored as their bits in i16, computed in f32.
Floats of 4 and 8 bits, which are only converted, are stored as their codes in i8.

Processors differ in their support for these types: some have none, some have conversions that flush
denormal numbers to zero. Where an instruction is missing, LLVM calls compiler-rt (`__truncsfbf2`).
Integer arithmetic is the same everywhere, and as no bf16 or f16 remains in the module, LLVM makes
no such call.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TypeAlias, cast

from typing_extensions import TypeIs
from xdsl.dialects import arith, func, math, memref, vector
from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    TensorType,
    VectorType,
    f32,
    f64,
    i8,
    i16,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ....dialects.relax.types import SmallFloat
from ....dialects.vector_types import element_of, is_vector, with_element
from ....passmanager.ir.types import convert_types
from ....passmanager.ir.walk import ops_of, walk
from ....passmanager.releases.floats import pack
from .arithmetic import Lanes
from .conversions import EXTEND, TRUNCATE, Half, integer_to_odd, sum_to_odd, truncate_to_odd
from .small_floats import SmallFloats

__all__ = ["CONVERSION", "soft_promote"]

CONVERSION = "conversion."
"""The prefix of the names of conversion functions."""


def soft_promote(module: ModuleOp) -> None:
    """Replace bf16 and f16 in all types of a module by i16, and arithmetic on them by arithmetic on
    f32 whose results are rounded to nearest, ties to even.

    A conversion becomes a call of a function to be inlined; its name begins with `CONVERSION`. The
    result is valid for MLIR, but xDSL 0.74 cannot verify the comparisons of vectors in it.
    """
    if not any(as_bits(type) != type for type in types_of(module)):
        return
    for op in [*walk(module)]:
        if any(is_half(type) for type in (*op.operand_types, *op.result_types)):
            promote(op)
    conversions = [(op, half) for op in walk(module) if (half := _converted(op)) is not None]
    for op in walk(module):
        hold_constant(op)
    convert_types(module, as_bits)
    functions: dict[str, func.FuncOp] = {}
    tables = SmallFloats(module, CONVERSION)
    for op, half in conversions:
        call_conversion(op, half, functions, tables)
    module.body.block.add_ops(functions.values())
    for op in ops_of(module, arith.BitcastOp):
        if op.input.type == op.result.type:
            Rewriter.replace_op(op, [], [op.input])


def types_of(module: ModuleOp) -> Iterable[Attribute]:
    """Return the types of the values, functions and globals of a module."""
    found: dict[int, Attribute] = {}  # by identity: equality of attributes takes time
    for op in walk(module):
        types = [result.type for result in op.results]
        if op.regions:
            types += (arg.type for r in op.regions for block in r.blocks for arg in block.args)
            if isinstance(op, func.FuncOp):
                types += [*op.function_type.inputs, *op.function_type.outputs]
        elif type(op) is memref.GlobalOp:
            types.append(op.type)
        for each in types:
            found[id(each)] = each
    return found.values()


Narrow: TypeAlias = Half | SmallFloat


def is_half(type: Attribute) -> TypeIs[Half | VectorType[Half]]:
    """Return whether `type` is bf16 or f16, or a vector of either."""
    return isinstance(element_of(type), Half)


# Arithmetic


def promote(op: Operation) -> None:
    """Replace arithmetic on bf16 or f16 by arithmetic on f32 or f64, with conversions of the
    operands and the result."""
    match op:
        case arith.ExtFOp() | arith.TruncFOp():
            pass
        case arith.ConstantOp() | arith.SelectOp() | arith.BitcastOp():
            pass  # these move bits, whatever their type
        case arith.SIToFPOp() | arith.UIToFPOp():
            _promote_of_integer(op)
        case math.FmaOp() | vector.FMAOp():
            _promote_fma(op)
        case vector.ReductionOp() if op.kind.data.value in ("add", "mul"):
            _promote_reduction(op)
        case vector.ReductionOp():
            _promote(op)
        case _ if op.name.startswith(("arith.", "math.")):
            _promote(op)
        case _:
            pass


def _promote(op: Operation) -> None:
    """Compute in f32 and round the result.

    Sums, products, quotients and square roots are rounded twice. This gives the same result as
    rounding once, because the 24 digits of f32 are at least 2p + 2 for the p = 8 digits of bf16 and
    the 11 of f16 (Figueroa: When is double rounding innocuous?, 1995). The theorem does not cover
    results of bf16 that are denormal in f32 too; `test_denormal_results_of_bf16` tests these.
    Comparisons, minima, maxima and roundings to integers are exact.
    """
    new = type(op).create(
        operands=[_extended(op, operand, f32).value for operand in op.operands],
        result_types=[with_element(t, f32) if is_half(t) else t for t in op.result_types],
        properties=op.properties,
        attributes=op.attributes,
    )
    new.location = op.location
    Rewriter.insert_op(new, InsertPoint.before(op))
    _replace_rounded(op, Lanes(op, new.results[0]))


def _extended(op: Operation, operand: SSAValue, element: Attribute) -> Lanes:
    """Return an operand of `op` extended to `element` if it is bf16 or f16, else unchanged."""
    value = Lanes(op, operand)
    return value.convert(arith.ExtFOp, element) if is_half(operand.type) else value


def _replace_rounded(op: Operation, value: Lanes) -> None:
    """Replace `op` by `value`, rounded if the result of `op` is bf16 or f16."""
    if is_half(old := op.results[0].type):
        value = value.convert(arith.TruncFOp, element_of(old))
    Rewriter.replace_op(op, [], [value.value])


def _promote_of_integer(op: arith.SIToFPOp | arith.UIToFPOp) -> None:
    """Convert integers to f32 or f64, and round the result to bf16 or f16.

    Only one rounding has an effect: integers that f32 does not hold exactly overflow to infinity in
    f16, and integers of more than 53 bits are rounded to odd before they become f64.
    """
    x = Lanes(op, op.input)
    integer = element_of(x.type)
    assert isinstance(integer, IntegerType)
    is_f16 = isinstance(element_of(op.result.type), Float16Type)
    wide = f32 if is_f16 or integer.bitwidth <= 24 else f64
    if wide == f64 and integer.bitwidth > 53:
        x = integer_to_odd(x, signed=isinstance(op, arith.SIToFPOp))
    _replace_rounded(op, x.convert(type(op), wide))


def _promote_fma(op: math.FmaOp | vector.FMAOp) -> None:
    """Multiply in f64, which is exact, add and round to odd, and then round the sum to bf16 or
    f16."""
    a, b, c = (_extended(op, operand, f64) for operand in op.operands)
    _replace_rounded(op, sum_to_odd(a * b, c))


def _promote_reduction(op: vector.ReductionOp) -> None:
    """Add or multiply the lanes in order, and round after each step."""
    combine = arith.AddfOp if op.kind.data.value == "add" else arith.MulfOp
    lanes = range(cast("VectorType[Half]", op.vector.type).get_shape()[0])
    whole = Lanes(op, op.vector)
    values = [
        whole.insert(vector.ExtractOp(op.vector, [lane], op.dest.type)).value for lane in lanes
    ]
    total, *rest = values if op.acc is None else [op.acc, *values]
    steps: list[Operation] = []
    for value in rest:
        steps.append(step := combine(total, value, op.fastmath))
        total = whole.insert(step).value
    Rewriter.replace_op(op, [], [total])
    for step in steps:
        promote(step)


# Bits


@cache
def as_bits(type: Attribute) -> Attribute:
    """Return `type` with i16 in place of bf16 and f16."""
    match type:
        case BFloat16Type() | Float16Type():
            return i16
        case _ if isinstance(type, SmallFloat):
            return i8
        case VectorType():
            return with_element(type, as_bits(type.element_type))
        case TensorType():
            return TensorType(as_bits(type.element_type), type.shape, type.encoding)
        case MemRefType():
            element = as_bits(type.element_type)
            return MemRefType(element, type.shape, type.layout, type.memory_space)
        case _:
            return type


def hold_constant(op: Operation) -> None:
    """Store the numbers of a constant or global of bf16 or f16 as their bits."""
    for name, value in op.properties.items():
        match value:
            case FloatAttr(value=number, type=BFloat16Type() | Float16Type() as half):
                bits = int.from_bytes(pack(half, (number.data,)), "little")
                op.properties[name] = IntegerAttr(bits, i16)
            case FloatAttr(value=number, type=type) if isinstance(type, SmallFloat):
                code = int.from_bytes(type.pack((number.data,)), "little", signed=True)
                op.properties[name] = IntegerAttr(code, i8)
            case DenseIntOrFPElementsAttr() as dense if isinstance(
                dense.get_element_type(), Narrow
            ):
                type = cast("TensorType[IntegerType]", as_bits(dense.type))
                op.properties[name] = DenseIntOrFPElementsAttr(type, dense.data)
            case _:
                pass


def _converted(op: Operation) -> Narrow | None:
    """Return bf16, f16 or a small float if `op` is a conversion from or to that type, else None."""
    match op:
        case arith.ExtFOp():
            narrow = element_of(op.input.type)
        case arith.TruncFOp():
            narrow = element_of(op.result.type)
        case _:
            return None
    return narrow if isinstance(narrow, Narrow) else None


def call_conversion(
    op: Operation, narrow: Narrow, functions: dict[str, func.FuncOp], tables: SmallFloats
) -> None:
    """Replace a conversion from or to a narrow float by a call of a function on the bits, which is
    added to `functions` if it is not there yet."""
    source, target = op.operands[0].type, op.results[0].type
    name = CONVERSION + ".".join((op.name, narrow.name, str(source), str(target)))
    if name not in functions:
        functions[name] = conversion_function(name, op, narrow, tables)
    call = func.CallOp(name, op.operands, [target])
    call.location = op.location
    Rewriter.replace_op(op, call)


def conversion_function(
    name: str, op: Operation, narrow: Narrow, tables: SmallFloats
) -> func.FuncOp:
    """Return a function that does the conversion `op` by integer arithmetic, or by tables."""
    source, target = op.operands[0].type, op.results[0].type
    function = func.FuncOp(name, ((source,), (target,)), visibility="private")
    function.body.block.add_op(end := func.ReturnOp(function.args[0]))
    value = Lanes(end, function.args[0])
    if isinstance(narrow, SmallFloat):
        value = converted_small(op, value, narrow, tables)
    elif isinstance(op, arith.ExtFOp):
        value = EXTEND[type(narrow)](value)
        if element_of(target) != f32:
            value = value.convert(arith.ExtFOp, element_of(target))
    else:
        if element_of(source) != f32:
            value = truncate_to_odd(value)
        value = TRUNCATE[type(narrow)](value)
    end.operands[0] = value.value
    return function


def converted_small(op: Operation, value: Lanes, narrow: SmallFloat, tables: SmallFloats) -> Lanes:
    """Return `value` converted from or to a small float, a vector lane by lane."""
    convert = tables.extend if isinstance(op, arith.ExtFOp) else tables.truncate
    if not is_vector(value.type):
        return convert(value, narrow)
    # All lanes are replaced; xDSL has `ub.poison` since 0.66.
    total = value.constant(0, op.results[0].type)
    for lane in range(value.type.get_shape()[0]):
        element = value.insert(vector.ExtractOp(value.value, [lane], value.type.element_type))
        lanes = vector.InsertOp(convert(element, narrow).value, total.value, [lane])
        total = value.insert(lanes)
    return total
