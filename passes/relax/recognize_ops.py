"""RecognizeOps: operations that were written out become one operation again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

from xdsl.dialects.builtin import ModuleOp
from xdsl.pattern_rewriter import RewritePattern

from ...dialects.relax.data.manipulation import TransposeOp
from ...dialects.relax.elementwise.unary import ErfOp, ExpOp, SigmoidOp, TanhOp
from ...dialects.relax.reduction.nn import SoftmaxOp
from ...dialects.relax.reduction.normalization import LayerNormOp, RMSNormOp
from ...dialects.relax.reduction.reduction import MeanOp
from ...passmanager.ir.per_class import OpClasses
from ...passmanager.names import Rounding
from ...passmanager.rewriting import PatternPass


@dataclass(frozen=True)
class RecognizeOps(PatternPass):
    """Replace attention, softmax, normalizations and activation functions that are written out by
    the operations that they are, each of which has one kernel.

    The forms are those of exporters, and of `simplify-inference`; `operation_forms.py` has a table
    of them. A match must have no other uses of its intermediate results, and its constants have to
    be those of the form.

    Before:

        func.func @main(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x8x4xf32>, %v: tensor<1x2x4x8xf32>)
            -> tensor<1x2x4x8xf32> {
          %c = relax.full 0.25 : tensor<f32>
          %0 = relax.matmul %q, %k
              : (tensor<1x2x4x8xf32>, tensor<1x2x8x4xf32>) -> tensor<1x2x4x4xf32>
          %1 = relax.multiply %0, %c : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
          %2 = relax.nn.softmax %1 : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
          %3 = relax.matmul %2, %v
              : (tensor<1x2x4x4xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
          func.return %3 : tensor<1x2x4x8xf32>
        }

    After:

        func.func @main(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x8x4xf32>, %v: tensor<1x2x4x8xf32>)
            -> tensor<1x2x4x8xf32> {
          %0 = relax.transpose %q {axes = [0, 2, 1, 3]}
              : (tensor<1x2x4x8xf32>) -> tensor<1x4x2x8xf32>
          %1 = relax.transpose %k {axes = [0, 3, 1, 2]}
              : (tensor<1x2x8x4xf32>) -> tensor<1x4x2x8xf32>
          %2 = relax.transpose %v {axes = [0, 2, 1, 3]}
              : (tensor<1x2x4x8xf32>) -> tensor<1x4x2x8xf32>
          %3 = relax.nn.attention %0, %1, %2 {scale = 0.25}
              : (tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>)
              -> tensor<1x4x2x8xf32>
          %4 = relax.transpose %3 {axes = [0, 2, 1, 3]}
              : (tensor<1x4x2x8xf32>) -> tensor<1x2x4x8xf32>
          func.return %4 : tensor<1x2x4x8xf32>
        }
    """

    name = "recognize-ops"
    opt_level = 2
    rounds = Rounding(
        changes=(
            "sign of zero may change",
            "infinite may become finite",
        )
    )
    required = ("infer-type",)
    preserves = ("infer-type",)
    # Each form has one of them; layers of normalization get their weights here, and transpositions
    # between views are merged.
    acts_on = (
        ErfOp,
        ExpOp,
        LayerNormOp,
        MeanOp,
        RMSNormOp,
        SigmoidOp,
        SoftmaxOp,
        TanhOp,
        TransposeOp,
    )
    remove_dead = True

    def load_code(self, module: ModuleOp, ops: OpClasses) -> None:
        import_module(".attention_forms", __package__)

    def patterns(self) -> Sequence[RewritePattern]:
        # Imported here, as they import numpy.
        from .attention_forms import RecognizeAttention
        from .operation_forms import RecognizeForm
        from .simplify_expr import MergeViewedTransposes

        # PyTorch's exporter transposes keys with batch and heads as one dimension.
        return (RecognizeForm(), MergeViewedTransposes(), RecognizeAttention())
