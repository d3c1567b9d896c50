"""Scalar operations of arith and math as operations on tiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from xdsl.dialects import arith, math, scf
from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    Float16Type,
    IndexType,
    IntegerAttr,
    IntegerType,
    UnrealizedConversionCastOp,
    f32,
    f64,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.hints import isa

from ....dialects.cuda_tile import elementwise_ops as tile
from ....dialects.cuda_tile.attributes import ComparisonPredicate, RoundingMode, Signedness
from ....dialects.relax.types import SmallFloat, is_integer, is_unsigned
from ....dialects.tir.ops import LikelyOp, YieldOp
from ..approximations import double_precision, exponential, logarithm, trigonometric
from ..approximations.arithmetic import Lanes
from ..approximations.polynomials import Expansion, in_f64
from ..approximations.small_codes import number_of, truncate
from ..choices import NoKernel
from .tile_writer import TileWriter, tile_of

__all__ = ["DIVISIONS", "on_tiles", "scalar_block_on_tiles", "tile_element"]

OnTiles: TypeAlias = Callable[[TileWriter, Operation, Sequence[SSAValue]], SSAValue]
SIGNED, UNSIGNED = Signedness.SIGNED, Signedness.UNSIGNED


def tile_element(type: Attribute, index: Attribute = i32) -> Attribute:
    """Return the element type of tiles of a scalar type; NoKernel if there is none. Small floats
    are their codes, in bytes, and narrow integers bytes."""
    if isinstance(type, IndexType):
        return index
    if isinstance(type, SmallFloat):
        return i8
    if isa(type, IntegerType):
        return type if type == i1 else IntegerType(max(8, type.bitwidth))
    if not isinstance(type, AnyFloat) or type.bitwidth > 64:
        raise NoKernel(f"tiles have no elements of {type}")
    return type


def on_tiles(
    w: TileWriter, op: Operation, operands: Sequence[SSAValue], index: Attribute = i32
) -> SSAValue:
    """Compute an operation of arith or math for each element of tiles, which are broadcast to one
    shape. The type `index` takes the place of indices.

    Errors: NoKernel for an operation that no tiles compute.
    """
    operands = together(w, operands)
    if (function := TABLE.get(type(op))) is not None:
        return function(w, op, operands)
    if isinstance(op, CASTS):
        return convert(w, op, operands[0], tile_element(op.results[0].type, index))
    if (expansion := _expansion(op)) is not None:
        return _in_wide(w, op, expansion, operands)
    raise NoKernel(f"tiles have no '{op.name}' of {', '.join(map(str, op.operand_types))}")


def together(w: TileWriter, tiles: Sequence[SSAValue]) -> list[SSAValue]:
    """Broadcast tiles, some of which are scalars, to one shape."""
    shape = max((tile_of(t).get_shape() for t in tiles), key=len, default=())
    return [w.broadcast(t, shape) for t in tiles]


def scalar_block_on_tiles(
    w: TileWriter, block: Block, values: dict[SSAValue, SSAValue], index: Attribute = i32
) -> list[SSAValue]:
    """Compute the pure scalar operations of a block for each element of tiles, those in `values`;
    return the tiles of the operands of its terminator. Both sides of a branch are computed."""
    last = block.last_op
    assert last is not None
    for op in block.ops:
        if op is last:
            break
        if isinstance(op, scf.IfOp):
            sides = [scalar_block_on_tiles(w, r.block, values, index) for r in op.regions]
            condition = values[op.cond]
            results = [w.select(condition, *pair) for pair in zip(*sides, strict=True)]
        elif isinstance(op, arith.ConstantOp):
            results = [constant(w, op, index)]
        else:
            results = [on_tiles(w, op, [values[v] for v in op.operands], index)]
        values.update(zip(op.results, results, strict=True))
    return [values[v] for v in last.operands]


def constant(w: TileWriter, op: arith.ConstantOp, index: Attribute) -> SSAValue:
    value = op.value
    if isinstance(value, IntegerAttr):
        return w.number(value.value.data, tile_element(op.result.type, index))
    return w.number(value.value.data, tile_element(op.result.type))  # pyright: ignore


# Conversions.


CASTS = (
    arith.BitcastOp,
    arith.ExtFOp,
    arith.ExtSIOp,
    arith.ExtUIOp,
    arith.FPToSIOp,
    arith.FPToUIOp,
    arith.IndexCastOp,
    arith.SIToFPOp,
    arith.TruncFOp,
    arith.TruncIOp,
    arith.UIToFPOp,
    UnrealizedConversionCastOp,
)


def convert(w: TileWriter, op: Operation, x: SSAValue, to: Attribute) -> SSAValue:
    """Compute a cast of x to elements of type `to`."""
    source, target = op.operands[0].type, op.results[0].type
    signed = SIGNED if isinstance(op, arith.ExtSIOp | arith.SIToFPOp | arith.FPToSIOp) else UNSIGNED
    result = tile_of(x).with_element(to)
    match op:
        case UnrealizedConversionCastOp():
            return narrowed(w, x, target)
        case arith.BitcastOp():
            return x if x.type == result else w.insert(tile.BitcastOp(x, types=[result]))
        case arith.ExtFOp() | arith.TruncFOp():
            return float_cast(w, x, source, target)
        case arith.SIToFPOp() | arith.UIToFPOp():
            if tile_of(x).element_type == i1:
                x = resized(w, x, i32, signed)
            return w.insert(tile.IToFOp(x, types=[result], signedness=signed))
        case arith.FPToSIOp() | arith.FPToUIOp():
            return w.insert(tile.FToIOp(x, types=[result], signedness=signed))
        case arith.IndexCastOp():
            unsigned = is_unsigned(source) or source == i1
            return index_cast(w, x, to, UNSIGNED if unsigned else SIGNED)
        case _:
            return narrowed(w, resized(w, x, to, signed), target)


def narrowed(w: TileWriter, x: SSAValue, type: Attribute) -> SSAValue:
    """Extend the sign of an integer of less than 8 bits, which is a byte."""
    if not isa(type, IntegerType) or type.bitwidth in (1, 8, 16, 32, 64):
        return x
    bits = w.number(8 - type.bitwidth, tile_of(x).element_type)
    x, bits = together(w, [x, bits])
    sign = UNSIGNED if is_unsigned(type) else SIGNED
    return w.insert(tile.ShRIOp(w.insert(tile.ShLIOp(x, bits)), bits, signedness=sign))


def resized(w: TileWriter, x: SSAValue, to: Attribute, sign: Signedness) -> SSAValue:
    """Convert integers to another width: extend or truncate them."""
    result, source = tile_of(x).with_element(to), tile_of(x).element_type
    assert is_integer(source) and is_integer(to)
    if source == to:
        return x
    if source.bitwidth > to.bitwidth:
        return w.insert(tile.TruncIOp(x, types=[result]))
    return w.insert(tile.ExtIOp(x, types=[result], signedness=sign))


def index_cast(w: TileWriter, x: SSAValue, to: Attribute, sign: Signedness) -> SSAValue:
    """Convert integers; a number that 32 bits do not hold becomes their nearest."""
    if tile_of(x).element_type == i64 and to == i32:
        # Kernels clamp indices after this, so that one out of range must not wrap around.
        for op, bound in ((tile.MaxIOp, -(1 << 31)), (tile.MinIOp, (1 << 31) - 1)):
            x = w.insert(op(*together(w, [x, w.number(bound, i64)]), signedness=SIGNED))
    return resized(w, x, to, sign)


def float_cast(w: TileWriter, x: SSAValue, source: Attribute, target: Attribute) -> SSAValue:
    if isinstance(source, SmallFloat):
        code = resized(w, x, i64, UNSIGNED)
        x = expanded(w, partial(number_of, element=source), [code])
    if isinstance(target, SmallFloat):
        code = expanded(w, partial(truncate, element=target), [cast_float(w, x, f64)])
        return resized(w, code, i8, UNSIGNED)
    return cast_float(w, x, target)


def cast_float(w: TileWriter, x: SSAValue, to: Attribute) -> SSAValue:
    result = tile_of(x).with_element(to)
    return x if x.type == result else w.insert(tile.FToFOp(x, types=[result]))


# The table: functions of the writer, the operation and tiles of one shape.


def same(*ops: Callable[..., Operation], **properties: object) -> OnTiles:
    """Return the function that applies an operation on tiles to the operands."""
    (cls,) = ops
    return lambda w, _, tiles: w.insert(cls(*tiles, **properties))


def in_f32(cls: Callable[..., Operation], **properties: object) -> OnTiles:
    """Return the function that computes floats of 16 bits in f32."""

    def compute(w: TileWriter, op: Operation, tiles: Sequence[SSAValue]) -> SSAValue:
        element = tile_of(tiles[0]).element_type
        if not isinstance(element, Float16Type | BFloat16Type):
            return w.insert(cls(*tiles, **properties))
        wide = [cast_float(w, x, f32) for x in tiles]
        return cast_float(w, w.insert(cls(*wide, **properties)), element)

    return compute


def compare_floats(w: TileWriter, op: Operation, tiles: Sequence[SSAValue]) -> SSAValue:
    assert isinstance(op, arith.CmpfOp)
    name = FLOAT_PREDICATES[op.predicate.value.data]
    shape = tile_of(tiles[0]).get_shape()
    if name in ("false", "true"):
        return w.number(name == "true", i1, shape)
    x, y = tiles
    if name in ("ord", "uno"):
        nan = w.either(w.is_nan(x), w.is_nan(y))
        return nan if name == "uno" else negation(w, nan)
    return w.compare(PREDICATES[name[1:]], x, y, unordered=name[0] == "u")


def negation(w: TileWriter, condition: SSAValue) -> SSAValue:
    true = w.number(True, i1, tile_of(condition).get_shape())
    return w.insert(tile.XOrIOp(condition, true))


def compare_integers(w: TileWriter, op: Operation, tiles: Sequence[SSAValue]) -> SSAValue:
    assert isinstance(op, arith.CmpiOp)
    name = INTEGER_PREDICATES[op.predicate.value.data]
    unsigned = name[0] == "u"
    if tile_of(tiles[0]).element_type == i1:
        sign = UNSIGNED if name in ("eq", "ne") or unsigned else SIGNED
        tiles = [resized(w, x, i32, sign) for x in tiles]
    bare = name if name in ("eq", "ne") else name[1:]
    return w.compare(PREDICATES[bare], *tiles, unsigned=unsigned)


def of_bits(function: Callable[[TileWriter, SSAValue], SSAValue]) -> OnTiles:
    return lambda w, _, tiles: function(w, tiles[0])


def rounded_to_even(w: TileWriter, x: SSAValue) -> SSAValue:
    """Round to the nearest integer, of two equally near ones to the even one."""
    floor = w.insert(tile.FloorOp(x))
    difference = w.subtract(x, floor)
    half = w.number(0.5, tile_of(x).element_type)
    two = w.number(2.0, tile_of(x).element_type)
    odd = w.compare(
        ComparisonPredicate.NOT_EQUAL,
        w.multiply(w.insert(tile.FloorOp(w.divide(floor, two))), two),
        floor,
    )
    tie = w.compare(ComparisonPredicate.EQUAL, difference, half)
    up = w.compare(ComparisonPredicate.GREATER_THAN, difference, half)
    up = w.either(up, w.both(tie, odd))
    one = w.number(1.0, tile_of(x).element_type)
    result = w.select(up, w.add(floor, one), floor)
    return signed_like(w, w.select(finite(w, x), result, x), x)


def finite(w: TileWriter, x: SSAValue) -> SSAValue:
    """Return whether numbers are finite."""
    infinity = w.number(float("inf"), tile_of(x).element_type)
    return w.less(w.insert(tile.AbsFOp(x)), infinity)


def rounded_from_zero(w: TileWriter, x: SSAValue) -> SSAValue:
    """Round to the nearest integer, of two equally near ones to the one farther from 0."""
    size = w.insert(tile.AbsFOp(x))
    floor = w.insert(tile.FloorOp(size))
    half, one = (w.number(n, tile_of(x).element_type) for n in (0.5, 1.0))
    up = w.compare(ComparisonPredicate.GREATER_THAN_OR_EQUAL, w.subtract(size, floor), half)
    return signed_like(w, w.select(up, w.add(floor, one), floor), x)


def truncated(w: TileWriter, x: SSAValue) -> SSAValue:
    """Round to zero."""
    return signed_like(w, w.insert(tile.FloorOp(w.insert(tile.AbsFOp(x)))), x)


def signed_like(w: TileWriter, x: SSAValue, sign: SSAValue) -> SSAValue:
    """Return the absolute value of x with the sign of another number."""
    element = tile_of(x).element_type
    assert isinstance(element, AnyFloat)
    bits = IntegerType(element.bitwidth)
    top = w.number(1 << element.bitwidth - 1, bits, tile_of(x).get_shape())
    rest = w.number((1 << element.bitwidth - 1) - 1, bits, tile_of(x).get_shape())
    whole = tile_of(x).with_element(bits)
    x, sign = (w.insert(tile.BitcastOp(v, types=[whole])) for v in (x, sign))
    both = w.insert(tile.OrIOp(w.insert(tile.AndIOp(x, rest)), w.insert(tile.AndIOp(sign, top))))
    return w.insert(tile.BitcastOp(both, types=[whole.with_element(element)]))


def arctangent(w: TileWriter, _: Operation, tiles: Sequence[SSAValue]) -> SSAValue:
    one = w.number(1.0, tile_of(tiles[0]).element_type, tile_of(tiles[0]).get_shape())
    return in_f32(tile.Atan2Op)(w, _, [tiles[0], one])


PREDICATES = {
    "eq": ComparisonPredicate.EQUAL,
    "ne": ComparisonPredicate.NOT_EQUAL,
    "lt": ComparisonPredicate.LESS_THAN,
    "le": ComparisonPredicate.LESS_THAN_OR_EQUAL,
    "gt": ComparisonPredicate.GREATER_THAN,
    "ge": ComparisonPredicate.GREATER_THAN_OR_EQUAL,
}
INTEGER_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
FLOAT_PREDICATES = (
    *("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
    *("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"),
)
"""The predicates of `arith.cmpi` and `arith.cmpf` by their numbers."""


DIVISIONS = (
    *(arith.CeilDivSIOp, arith.CeilDivUIOp, arith.DivSIOp, arith.DivUIOp),
    *(arith.FloorDivSIOp, arith.RemSIOp, arith.RemUIOp),
)
"""The operations that have no result where the second operand is 0."""


TABLE: Mapping[type[Operation], OnTiles] = {
    arith.AddfOp: same(tile.AddFOp),
    arith.AddiOp: same(tile.AddIOp),
    arith.AndIOp: same(tile.AndIOp),
    arith.CeilDivSIOp: same(tile.DivIOp, signedness=SIGNED, rounding=RoundingMode.POSITIVE_INF),
    arith.CeilDivUIOp: same(tile.DivIOp, signedness=UNSIGNED, rounding=RoundingMode.POSITIVE_INF),
    arith.CmpfOp: compare_floats,
    arith.CmpiOp: compare_integers,
    arith.DivSIOp: same(tile.DivIOp, signedness=SIGNED),
    arith.DivUIOp: same(tile.DivIOp, signedness=UNSIGNED),
    arith.DivfOp: same(tile.DivFOp),
    arith.FloorDivSIOp: same(tile.DivIOp, signedness=SIGNED, rounding=RoundingMode.NEGATIVE_INF),
    arith.MaxSIOp: same(tile.MaxIOp, signedness=SIGNED),
    arith.MaxUIOp: same(tile.MaxIOp, signedness=UNSIGNED),
    arith.MaximumfOp: same(tile.MaxFOp, propagate_nan=True),
    arith.MaxnumfOp: same(tile.MaxFOp),
    arith.MinSIOp: same(tile.MinIOp, signedness=SIGNED),
    arith.MinUIOp: same(tile.MinIOp, signedness=UNSIGNED),
    arith.MinimumfOp: same(tile.MinFOp, propagate_nan=True),
    arith.MinnumfOp: same(tile.MinFOp),
    arith.MulfOp: same(tile.MulFOp),
    arith.MuliOp: same(tile.MulIOp),
    arith.NegfOp: same(tile.NegFOp),
    arith.OrIOp: same(tile.OrIOp),
    arith.RemSIOp: same(tile.RemIOp, signedness=SIGNED),
    arith.RemUIOp: same(tile.RemIOp, signedness=UNSIGNED),
    arith.SelectOp: lambda w, _, tiles: w.insert(tile.SelectOp(*tiles)),
    arith.ShLIOp: same(tile.ShLIOp),
    arith.ShRSIOp: same(tile.ShRIOp, signedness=SIGNED),
    arith.ShRUIOp: same(tile.ShRIOp, signedness=UNSIGNED),
    arith.SubfOp: same(tile.SubFOp),
    arith.SubiOp: same(tile.SubIOp),
    arith.XOrIOp: same(tile.XOrIOp),
    LikelyOp: lambda _, __, tiles: tiles[0],
    math.AbsFOp: same(tile.AbsFOp),
    math.AbsIOp: same(tile.AbsIOp),
    math.Atan2Op: in_f32(tile.Atan2Op),
    math.AtanOp: arctangent,
    math.CeilOp: in_f32(tile.CeilOp),
    math.CopySignOp: lambda w, _, tiles: signed_like(w, *tiles),
    math.CosOp: in_f32(tile.CosOp),
    math.CoshOp: in_f32(tile.CosHOp),
    math.Exp2Op: in_f32(tile.Exp2Op),
    math.ExpOp: in_f32(tile.ExpOp),
    math.FloorOp: in_f32(tile.FloorOp),
    math.FmaOp: same(tile.FmaOp),
    math.Log2Op: in_f32(tile.Log2Op),
    math.LogOp: in_f32(tile.LogOp),
    math.PowFOp: in_f32(tile.PowOp),
    math.RoundEvenOp: of_bits(rounded_to_even),
    math.RoundOp: of_bits(rounded_from_zero),
    math.RsqrtOp: in_f32(tile.RsqrtOp),
    math.SinOp: in_f32(tile.SinOp),
    math.SinhOp: in_f32(tile.SinHOp),
    math.SqrtOp: in_f32(tile.SqrtOp),
    math.TanOp: in_f32(tile.TanOp),
    math.TanhOp: in_f32(tile.TanHOp),
    math.TruncOp: of_bits(truncated),
}
"""The operations that tiles have, or that a few operations on tiles compute."""


# Functions that tiles lack are expanded to arithmetic, as for processors.


EXPANSIONS: Mapping[type[Operation], tuple[Expansion, Expansion]] = {
    math.AcosOp: (trigonometric.acos, double_precision.acos),
    math.AcoshOp: (in_f64(logarithm.acosh), double_precision.acosh),
    math.AsinOp: (trigonometric.asin, double_precision.asin),
    math.AsinhOp: (in_f64(logarithm.asinh), double_precision.asinh),
    math.AtanhOp: (in_f64(logarithm.atanh), double_precision.atanh),
    math.CbrtOp: (in_f64(exponential.cbrt), double_precision.cbrt),
    math.ErfOp: (exponential.erf, double_precision.erf),
    math.ExpM1Op: (in_f64(exponential.expm1), exponential.expm1_of_f64),
    math.Log10Op: (in_f64(logarithm.log10_in_f64), double_precision.log10_of_f64),
    math.Log1pOp: (in_f64(logarithm.log1p), exponential.log1p_of_f64),
}
"""The expansions of functions on f32, and on f64."""


def _expansion(op: Operation) -> Expansion | None:
    found = EXPANSIONS.get(type(op))
    return None if found is None else found[op.results[0].type == f64]


def _in_wide(
    w: TileWriter, op: Operation, expansion: Expansion, operands: Sequence[SSAValue]
) -> SSAValue:
    """Compute an expansion, of floats of 16 bits in f32."""
    wide = f64 if op.results[0].type == f64 else f32
    result = expanded(w, expansion, [cast_float(w, x, wide) for x in operands])
    return cast_float(w, result, op.results[0].type)


def expanded(w: TileWriter, expansion: Expansion, operands: Sequence[SSAValue]) -> SSAValue:
    """Compute a function that is written as scalar operations."""
    block = Block(arg_types=[tile_of(x).element_type for x in operands])
    end = YieldOp()
    block.add_op(end)
    result = expansion(*(Lanes(end, argument) for argument in block.args))
    block.insert_op_before(scf.YieldOp(result.value), end)
    end.detach()
    (computed,) = scalar_block_on_tiles(w, block, dict(zip(block.args, operands, strict=True)))
    return w.broadcast(computed, tile_of(operands[0]).get_shape())
