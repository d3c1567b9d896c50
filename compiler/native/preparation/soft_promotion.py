"""Soft promotion of bf16 and f16 (LLVM's term): stored as their bits in i16, computed in f32.
Floats of 4 and 8 bits, which are only converted, are stored as their codes in i8.

Processors differ in their support for these types: some have none, some have conversions that flush
denormal numbers to zero. Where an instruction is missing, LLVM calls compiler-rt (`__truncsfbf2`).
Integer arithmetic is the same everywhere, and as no bf16 or f16 remains in the module, LLVM makes
no such call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import TypeAlias, cast

from typing_extensions import TypeIs
from xdsl.dialects import arith, func, math, memref, vector
from xdsl.dialects.builtin import (
    AnyFloat,
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
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ....dialects.arith_types import element_of, is_vector, with_element
from ....dialects.relax.types import SmallFloat
from ....passmanager.ir.types import convert_types
from ....passmanager.ir.walk import ops_of, walk
from ....passmanager.releases.floats import pack
from ...kernels.approximations.arithmetic import Lanes
from .small_floats import SmallFloats

# Conversions between f32 and bf16 or f16, which are stored as their bits in i16, by integer
# arithmetic.
#
# They round to nearest, ties to even. A NaN keeps its sign and the high bits of its payload; a
# narrowing conversion makes it quiet.


Half: TypeAlias = BFloat16Type | Float16Type
"""A float of 16 bits, bf16 or f16."""

Conversion: TypeAlias = Callable[[Lanes], Lanes]
"""A function that builds a conversion of bits of type i16 to f32, or the reverse."""


def extend_bf16(half: Lanes) -> Lanes:
    """Extend bf16 to f32 by appending 16 zero bits: bf16 is the upper half of f32."""
    bits = half.convert(arith.ExtUIOp, i32) << 16
    return bits.of_bits(f32)


def truncate_bf16(x: Lanes) -> Lanes:
    """Round f32 to bf16: add half a unit in the last place of bf16, and drop the low 16 bits.

    If the last bit that stays is 0, one less is added, so that ties are rounded down to it. A carry
    into the exponent gives the right result, also from the maximum number to infinity.
    """
    bits = x.bits()
    upper = bits >> 16
    half_unit = (upper & 1) + 0x7FFF
    rounded = bits + half_unit >> 16
    quiet = upper | 0x40
    result = x.compare("uno", x).select(quiet, rounded)
    return result.convert(arith.TruncIOp, i16)


def extend_f16(half: Lanes) -> Lanes:
    """Extend f16 to f32 by changing the bias of the exponent from 15 to 127."""
    half = half.convert(arith.ExtUIOp, i32)
    size = half & 0x7FFF
    sign = (half ^ size) << 16
    shifted = size << 13
    normal = shifted + (127 - 15 << 23)
    # Infinity and NaN: the maximum exponent of f16, 31, becomes that of f32, 255.
    special = shifted + (255 - 31 << 23)
    # A denormal number m * 2^-24 has no implicit 1: with the exponent -14 and the digits m, f32 is
    # 2^-14 + m * 2^-24. Subtracting 2^-14 is exact.
    with_one = (shifted + (127 - 14 << 23)).of_bits(f32)
    denormal = (with_one - 2.0**-14).bits()
    result = size.compare("slt", 0x400).select(denormal, normal)
    result = size.compare("sgt", 0x7BFF).select(special, result)
    return (sign | result).of_bits(f32)


def truncate_f16(x: Lanes) -> Lanes:
    """Round f32 to f16, normal numbers as `truncate_bf16` does, and change the bias of the exponent
    from 127 to 15."""
    bits = x.bits()
    size = bits & 0x7FFFFFFF
    sign = (bits ^ size) >> 16
    upper = size >> 13
    half_unit = (upper & 1) + 0xFFF
    bounded = size.integer(arith.MinSIOp, 127 + 16 << 23)  # 2^16 rounds to infinity
    shifted = bounded - (127 - 15 << 23)
    normal = shifted + half_unit >> 13
    # The last place of 0.5 in f32 is 2^-24, as that of a denormal f16: adding 0.5 rounds to f16,
    # and the low bits of the sum are the digits.
    sum = (size.of_bits(f32) + 0.5).bits()
    denormal = sum - (127 - 1 << 23)
    payload = upper & 0x3FF
    quiet = payload | 0x7E00
    result = size.compare("slt", 127 - 14 << 23).select(denormal, normal)
    result = size.compare("sgt", 255 << 23).select(quiet, result)
    return (sign | result).convert(arith.TruncIOp, i16)


EXTEND: Mapping[type[Half], Conversion] = {BFloat16Type: extend_bf16, Float16Type: extend_f16}
TRUNCATE: Mapping[type[Half], Conversion] = {
    BFloat16Type: truncate_bf16,
    Float16Type: truncate_f16,
}


# Rounding to odd: a number that the type holds stays; of the two neighbours of another one, take
# that whose last bit is 1. Rounding the result to nearest, to a type with at least two bits less
# precision, gives the same as rounding the exact number once (Boldo, Melquiond: Emulation of a FMA
# and correctly rounded sums, 2008).


def truncate_to_odd(x: Lanes) -> Lanes:
    """Convert f64 to f32, rounded to odd."""
    near = x.convert(arith.TruncFOp, f32)
    back = near.convert(arith.ExtFOp, f64)
    size, exact = abs(back), abs(x)
    too_large = size.compare("ogt", exact)
    return _to_odd(near, too_large, back.compare("one", x), f32)


def sum_to_odd(a: Lanes, b: Lanes) -> Lanes:
    """Add two f64, rounded to odd."""
    near = a + b
    # Knuth's TwoSum: the error of the sum is exactly representable in f64.
    rest = near - a
    error = a - (near - rest) + (b - rest)
    signs = near.bits() ^ error.bits()
    too_large = signs.compare("slt", 0)
    return _to_odd(near, too_large, error.compare("one", 0.0), f64)


def _to_odd(
    near: Lanes,
    too_large: Lanes,
    inexact: Lanes,
    element: AnyFloat,
) -> Lanes:
    """Return a number rounded to odd, given that number rounded to nearest (`near`), and whether
    that is too large in magnitude or inexact."""
    # The two neighbours are `toward_zero` and the next bit pattern; the odd one has bit 0 set.
    bits = near.bits()
    toward_zero = too_large.select(bits - 1, bits)
    odd = inexact.select(toward_zero | 1, bits)
    return odd.of_bits(element)


def integer_to_odd(x: Lanes, signed: bool) -> Lanes:
    """Round 64-bit integers to odd, to integers that f64 holds exactly.

    Those of a magnitude above 2^53 become multiples of 2^11, odd ones if they are inexact; others
    stay as they are.
    """
    low = x & 0x7FF
    high = x ^ low
    exact = low.compare("eq", 0)
    odd = exact.select(high, high | 0x800)
    # One unsigned comparison tests whether x is outside [-2^53, 2^53], or [0, 2^53] if unsigned.
    offset, limit = (1 << 53, 1 << 54) if signed else (0, 1 << 53)
    large = (x + offset).compare("ugt", limit)
    return large.select(odd, x)


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
