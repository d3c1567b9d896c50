"""FakeQuantizationToInteger: operations on dequantized tensors become integer arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ...dialects.relax.elementwise.quantization import DequantizeOp, QuantizeOp
from ...dialects.target import known_target
from ...passmanager.base import FunctionPass
from ...passmanager.context import PassContext
from ...passmanager.ir.per_class import OpClasses
from ...passmanager.names import Rounding


@dataclass(frozen=True)
class FakeQuantizationToInteger(FunctionPass):
    """Compute what stands between `relax.dequantize` and `relax.quantize` in integers.

    A region is replaced as a whole: each operation in it has a rule, scales and zero points are
    constants, no value of it is used as a float elsewhere, and no sum exceeds an i32. The table of
    rules is in `quantization_rules.py`, beside this file. Each rule bounds how far its numbers are
    from those of floats: a region whose error may exceed half a step of its result stays float, so
    that results differ by at most one step; movements of elements are exact. If the module carries
    a target with dot products of bytes, the data of products become unsigned ones, which these
    take. Run it before fold-constant, which dequantizes constants. Source:
    `relay.FakeQuantizationToInteger`.

    Before:

        func.func @main(%q: tensor<2x3xui8>) -> tensor<2x2xui8> {
          %s = relax.full 0.5 : tensor<f32>
          %z = relax.full 0 : tensor<ui8>
          %wz = relax.full 0 : tensor<i8>
          %v = relax.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>
          %x = relax.dequantize %q, %s, %z
              : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3xf32>
          %w = relax.dequantize %v, %s, %wz
              : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
          %y = relax.nn.dense %x, %w : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
          %0 = relax.quantize %y, %s, %z
              : (tensor<2x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x2xui8>
          func.return %0 : tensor<2x2xui8>
        }

    After:

        func.func @main(%q: tensor<2x3xui8>) -> tensor<2x2xui8> {
          %v = relax.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>
          %0 = relax.nn.dense %q, %v {out_dtype = i32}
              : (tensor<2x3xui8>, tensor<2x3xi8>) -> tensor<2x2xi32>
          %1 = relax.full 0 : tensor<ui8>
          %2 = relax.full 0.5 : tensor<f32>
          %3 = relax.requantize %0, %2, %1
              : (tensor<2x2xi32>, tensor<f32>, tensor<ui8>) -> tensor<2x2xui8>
          func.return %3 : tensor<2x2xui8>
        }
    """

    name = "fake-quantization-to-integer"
    opt_level = 3
    rounds = Rounding(changes=("sign of zero may change",))
    required = ("infer-type",)
    preserves = ("infer-type",)
    acts_on = (DequantizeOp, QuantizeOp)

    hard_fail: bool = False
    """Report an error for a region that stays float, and why."""
    use_qat: bool = False
    """Compute convolutions and matrix products of dequantized tensors in integers even if their
    results are not quantized."""

    def load_code(self, module: ModuleOp, ops: OpClasses) -> None:
        import_module(".quantized_regions", __package__)

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        from .quantized_regions import convert_regions

        target = known_target(module)
        convert_regions(
            func,
            use_qat=self.use_qat,
            hard_fail=self.hard_fail,
            unsigned=target is not None
            and target.byte_dot_product(target.lanes(32), exact_pairs=False) is not None,
            actions=ctx.actions,
        )
