"""Dot products of bytes as instructions of processors, or else as multiplications of i32."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from xdsl.dialects import arith, llvm, vector
from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    IntegerType,
    VectorType,
    i8,
    i16,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.utils.hints import isa

from ...dialects.arith_types import element_of, is_vector
from ...dialects.target import Target
from ...dialects.tir.ops import Dp4aOp, LanewiseOp
from ...passmanager.fast.edit import insert_before

VPDPBUSD = {4: "x86.avx512.vpdpbusd.128", 8: "x86.avx512.vpdpbusd.256"} | {
    16: "x86.avx512.vpdpbusd.512"
}
"""LLVM's intrinsics by lanes; those of AVX2 have the same names as those of AVX-512."""
MULTIPLY_BYTES = {
    4: "x86.ssse3.pmadd.ub.sw.128",
    8: "x86.avx2.pmadd.ub.sw",
    16: "x86.avx512.pmaddubs.w.512",
}
"""LLVM's intrinsics that add pairs of products of bytes."""
MULTIPLY_I16 = {4: "x86.sse2.pmadd.wd", 8: "x86.avx2.pmadd.wd", 16: "x86.avx512.pmaddw.d.512"}
"""LLVM's intrinsics that add pairs of products of i16."""
USDOT, SDOT = "aarch64.neon.usdot.v4i32.v16i8", "aarch64.neon.sdot.v4i32.v16i8"


def lower_dp4a(op: Dp4aOp, target: Target) -> None:
    """Replace `op` by what `target` has for vectors of its width."""
    type = op.res.type
    lanes = type.get_shape()[0] if isa(type, VectorType) and type.get_num_dims() == 1 else 1
    lowering = DotProductLowering(op, lanes)
    match target.byte_dot_product(lanes, exact_pairs=op.exact_pairs is not None):
        case "vpdpbusd":
            result = lowering.dot(VPDPBUSD[lanes], op.sum, op.data, op.weights)
        case "vpmaddubsw":
            result = lowering.add_pairs()
        case "vpmaddwd":
            result = lowering.add_halves()
        case "usdot":
            result = lowering.dot(USDOT, op.sum, op.data, op.weights)
        case "sdot":
            result = lowering.add_signed()
        case None:
            result = lowering.multiply()
    Rewriter.replace_op(op, [], [result])


@dataclass(frozen=True)
class DotProductLowering:
    """The lowering of one operation, whose vectors have `lanes` lanes; 1 for no vectors."""

    op: Dp4aOp
    lanes: int

    def add(self, op: Operation) -> SSAValue:
        op.location = self.op.location
        insert_before(self.op, op)
        return op.results[0]

    def splat(self, number: int) -> SSAValue:
        """Return an i32 in all lanes."""
        type = self.op.res.type
        if isa(type, VectorType):
            numbers = DenseIntOrFPElementsAttr.from_list(
                cast("VectorType[IntegerType]", type), [number]
            )
            return self.add(arith.ConstantOp(numbers))
        return self.add(arith.ConstantOp(IntegerAttr(number, i32)))

    def parts(self, value: SSAValue, element: IntegerType) -> SSAValue:
        """Return the bits of a vector of i32 as a vector of shorter integers."""
        count = self.lanes * 32 // element.bitwidth
        return self.add(llvm.BitcastOp(value, VectorType(element, [count])))

    def call(self, name: str, operands: list[SSAValue], type: Attribute) -> SSAValue:
        none = DenseArrayBase.from_list(i32, [])
        return self.add(
            llvm.CallIntrinsicOp(f"llvm.{name}", operands, [type], op_bundle_sizes=none)
        )

    def dot(self, name: str, total: SSAValue, data: SSAValue, weights: SSAValue) -> SSAValue:
        """Add four products to each lane by an intrinsic."""
        operands = [total, self.parts(data, i8), self.parts(weights, i8)]
        return self.call(name, operands, self.op.res.type)

    def add_pairs(self) -> SSAValue:
        """Add pairs of products in i16, which hold them, then pairs of these sums in i32."""
        half = VectorType(i16, [2 * self.lanes])
        operands = [self.parts(self.op.data, i8), self.parts(self.op.weights, i8)]
        pairs = self.call(MULTIPLY_BYTES[self.lanes], operands, half)
        # `pmadd.wd` adds pairs of products of i16: with ones, pairs of the sums. The first
        # instruction saturates at 16 bits, so it serves only where the pairs are known to fit
        # (`exact_pairs`).
        ones = self.parts(self.splat(1 | 1 << 16), i16)
        products = self.call(MULTIPLY_I16[self.lanes], [pairs, ones], self.op.res.type)
        return self.add(arith.AddiOp(self.op.sum, products))

    def add_halves(self) -> SSAValue:
        """Multiply bytes 0 and 2 of a word as i16, then bytes 1 and 3. The bytes of an operand are
        extended once for all products with it: those of 2 vectors of weights and 6 words of data
        by 18 instructions, beside 48 for the products. As words of two i16,

            data d0 d1 d2 d3 -> d0 d2, d1 d3        weights w0 w1 w2 w3 -> w0 w2, w1 w3
        """
        data, weights = self.parts(self.op.data, i16), self.parts(self.op.weights, i16)
        mask, eight = (self.parts(self.splat(n | n << 16), i16) for n in (255, 8))
        even = self.add(arith.AndIOp(data, mask))
        odd = self.add(arith.ShRUIOp(data, eight))
        signed_even = self.add(arith.ShRSIOp(self.add(arith.ShLIOp(weights, eight)), eight))
        signed_odd = self.add(arith.ShRSIOp(weights, eight))
        total = self.op.sum
        for pair in ([even, signed_even], [odd, signed_odd]):
            products = self.call(MULTIPLY_I16[self.lanes], pair, self.op.res.type)
            total = self.add(arith.AddiOp(total, products))
        return total

    def add_signed(self) -> SSAValue:
        """Multiply signed bytes: with d - 128 in place of d, and 128 times the weights added.

        -128 is a signed byte and 128 is not, so their product with -128 is subtracted:

            d * w = (d - 128) * w - (-128) * w
        """
        minimum = self.splat(-0x7F7F7F80)  # -128 in each byte
        # Flipping the highest bit of an unsigned byte subtracts 128, as a signed one.
        shifted = self.add(arith.XOrIOp(self.op.data, minimum))
        total = self.dot(SDOT, self.op.sum, shifted, self.op.weights)
        others = self.dot(SDOT, self.splat(0), minimum, self.op.weights)
        return self.add(arith.SubiOp(total, others))

    def multiply(self) -> SSAValue:
        """Multiply byte after byte in i32."""
        total = self.op.sum
        for byte in range(4):
            # The data are unsigned and the weights signed: the one is shifted in zeros, the other
            # its sign.
            data = self.add(arith.ShRUIOp(self.op.data, self.splat(8 * byte)))
            data = self.add(arith.AndIOp(data, self.splat(255)))
            weight = self.add(arith.ShLIOp(self.op.weights, self.splat(24 - 8 * byte)))
            weight = self.add(arith.ShRSIOp(weight, self.splat(24)))
            total = self.add(arith.AddiOp(total, self.add(arith.MuliOp(data, weight))))
        return total


# Operations on the lanes of vectors, repeated for each lane.


def repeat_for_lanes(op: LanewiseOp) -> None:
    """Extract the scalars of each lane, do the operation on them, and insert the result.

    For two lanes, "arith.extsi" of %0 becomes:

        %1 = vector.extract %0[0] : i8 from vector<2xi8>
        %2 = arith.extsi %1 : i8 to i32
        %3 = vector.insert %2, %zeros[0] : i32 into vector<2xi32>
        %4 = vector.extract %0[1] : i8 from vector<2xi8>
        %5 = arith.extsi %4 : i8 to i32
        %6 = vector.insert %5, %3[1] : i32 into vector<2xi32>
    """
    type = op.res.type
    assert is_vector(type)

    def add(new: Operation) -> SSAValue:
        new.location = op.location
        insert_before(op, new)
        return new.results[0]

    def lane_of(value: SSAValue, lane: int) -> SSAValue:
        return add(vector.ExtractOp(value, [lane], element_of(value.type)))

    count = type.get_shape()[0]
    # Every lane is overwritten: what is in it at first does not matter.
    whole = add(arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(type, [0] * count)))  # pyright: ignore
    for lane in range(count):
        scalars = [lane_of(value, lane) for value in op.arguments]
        whole = add(vector.InsertOp(add(op.on(scalars, type.element_type)), whole, [lane]))
    Rewriter.replace_op(op, [], [whole])
