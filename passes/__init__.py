"""The tables of passes and of named pipelines; the module of a pass is imported on first use."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from xdsl.ir import Dialect
from xdsl.passes import ModulePass

from ..passmanager.config import register_config_hint, register_config_option
from ..passmanager.registration.missing_names import missing_name
from ..passmanager.registration.names import register_namespace, register_successor
from ..passmanager.registration.places import factory_of, load_place
from ..passmanager.registry import ExtendingUniverse
from . import generic
from .generic import REPLACEMENTS
from .pipelines import LOWER_TO_LLVM, LOWER_TO_MLIR, LOWER_TO_TIR, OPTIMIZE, PIPELINES

if TYPE_CHECKING:
    from .generic.canonicalize.canonicalize import Canonicalize
    from .generic.cse import CommonSubexpressionElimination
    from .generic.dead_code_elimination import DeadCodeElimination
    from .generic.eliminate_common_subexpr import EliminateCommonSubexpr
    from .generic.mlir_opt import MLIROpt
    from .generic.print_ir import PrintIR
    from .generic.print_op_stats import PrintOpStats
    from .generic.remove_unused_functions import RemoveUnusedFunctions
    from .generic.remove_unused_parameters import RemoveUnusedParameters
    from .llvm.lower_arith import LowerArith
    from .llvm.lower_func import LowerFunc
    from .llvm.lower_math import LowerMath
    from .llvm.lower_memref import LowerMemref
    from .llvm.lower_parallel import LowerParallel
    from .llvm.lower_scf import LowerSCF
    from .llvm.lower_vector import LowerVector
    from .relax.adjust_matmul_order import AdjustMatmulOrder
    from .relax.alter_op_layout.alter_op_layout import AlterOpLayout
    from .relax.cancel_transposes import CancelTransposes
    from .relax.canonicalize_ops import CanonicalizeOps
    from .relax.combine_parallel.combine_parallel_conv2d import CombineParallelConv2D
    from .relax.combine_parallel.combine_parallel_matmul import CombineParallelMatmul
    from .relax.convert_layout import ConvertLayout
    from .relax.dataflow_use_inplace_calls import DataflowUseInplaceCalls
    from .relax.fake_quantization_to_integer.fake_quantization_to_integer import (
        FakeQuantizationToInteger,
    )
    from .relax.flatten_concatenate import FlattenConcatenate
    from .relax.fold_constant import FoldConstant
    from .relax.fold_explicit_padding import FoldExplicitPadding
    from .relax.fold_scale_axis.backward_fold_scale_axis import BackwardFoldScaleAxis
    from .relax.fold_scale_axis.fold_scale_axis import FoldScaleAxis
    from .relax.fold_scale_axis.forward_fold_scale_axis import ForwardFoldScaleAxis
    from .relax.functions.bind_params import BindParams
    from .relax.functions.inline import Inline
    from .relax.functions.lambda_lift import LambdaLift
    from .relax.functions.run_codegen import RunCodegen
    from .relax.fuse_ops.fuse_ops import FuseOps
    from .relax.fuse_ops.fuse_ops_by_pattern import FuseOpsByPattern
    from .relax.fuse_ops.merge_composite_functions import MergeCompositeFunctions
    from .relax.gradient.gradient import Gradient
    from .relax.infer_type import InferType
    from .relax.legalize_ops import LegalizeOps
    from .relax.lift_transform_params.lift_transform_params import LiftTransformParams
    from .relax.plan_devices import PlanDevices
    from .relax.plan_memory.plan_memory import PlanMemory
    from .relax.preallocate_collections import PreallocateCollections
    from .relax.recognize_ops.recognize_ops import RecognizeOps
    from .relax.simplify_expr.simplify_expr import SimplifyExpr
    from .relax.simplify_inference import SimplifyInference
    from .relax.sizes.bind_shapes import BindShapes
    from .relax.sizes.dynamic_to_static import DynamicToStatic
    from .relax.sizes.fold_symbolic_shapes import FoldSymbolicShapes
    from .relax.sizes.infer_symbolic_shapes import InferSymbolicShapes
    from .relax.to_a_normal_form import ToANormalForm
    from .relax.to_mixed_precision.to_mixed_precision import ToMixedPrecision
    from .relax.unroll_loops import UnrollLoops
    from .tir.bind_target import BindTarget
    from .tir.common_subexpr_elim import CommonSubexprElim
    from .tir.flatten_buffer.flatten_buffer import FlattenBuffer
    from .tir.hoist_if_then_else import HoistIfThenElse
    from .tir.inject_double_buffer import InjectDoubleBuffer
    from .tir.loop_partition.loop_partition import LoopPartition
    from .tir.lower_tir.lower_tir import LowerTIR
    from .tir.outline_parallel import OutlineParallel
    from .tir.parallelize import Parallelize
    from .tir.remove_no_op import RemoveNoOp
    from .tir.simplify import Simplify
    from .tir.storage_rewrite import StorageRewrite
    from .tir.unroll_loop import UnrollLoop
    from .tir.vectorize_loop.vectorize_loop import VectorizeLoop

__all__ = [
    "LOWER_TO_LLVM",
    "LOWER_TO_MLIR",
    "LOWER_TO_TIR",
    "OPTIMIZE",
    "PASSES",
    "REPLACEMENTS",
    "UNIVERSE",
    "AdjustMatmulOrder",
    "AlterOpLayout",
    "BackwardFoldScaleAxis",
    "BindParams",
    "BindShapes",
    "BindTarget",
    "CancelTransposes",
    "Canonicalize",
    "CanonicalizeOps",
    "CombineParallelConv2D",
    "CombineParallelMatmul",
    "CommonSubexprElim",
    "CommonSubexpressionElimination",
    "ConvertLayout",
    "DataflowUseInplaceCalls",
    "DeadCodeElimination",
    "DynamicToStatic",
    "EliminateCommonSubexpr",
    "FakeQuantizationToInteger",
    "FlattenBuffer",
    "FlattenConcatenate",
    "FoldConstant",
    "FoldExplicitPadding",
    "FoldScaleAxis",
    "FoldSymbolicShapes",
    "ForwardFoldScaleAxis",
    "FuseOps",
    "FuseOpsByPattern",
    "Gradient",
    "HoistIfThenElse",
    "InferSymbolicShapes",
    "InferType",
    "InjectDoubleBuffer",
    "Inline",
    "LambdaLift",
    "LegalizeOps",
    "LiftTransformParams",
    "LoopPartition",
    "LowerArith",
    "LowerFunc",
    "LowerMath",
    "LowerMemref",
    "LowerParallel",
    "LowerSCF",
    "LowerTIR",
    "LowerVector",
    "MLIROpt",
    "MergeCompositeFunctions",
    "OutlineParallel",
    "Parallelize",
    "PlanDevices",
    "PlanMemory",
    "PreallocateCollections",
    "PrintIR",
    "PrintOpStats",
    "RecognizeOps",
    "RemoveNoOp",
    "RemoveUnusedFunctions",
    "RemoveUnusedParameters",
    "RunCodegen",
    "Simplify",
    "SimplifyExpr",
    "SimplifyInference",
    "StorageRewrite",
    "ToANormalForm",
    "ToMixedPrecision",
    "UnrollLoop",
    "UnrollLoops",
    "VectorizeLoop",
]

# pass name -> `module:Class`, the module relative to this package
PASSES = {
    **{name: f"generic.{place}" for name, place in generic.PASSES.items()},
    "adjust-matmul-order": "relax.adjust_matmul_order:AdjustMatmulOrder",
    "alter-op-layout": "relax.alter_op_layout.alter_op_layout:AlterOpLayout",
    "backward-fold-scale-axis": "relax.fold_scale_axis.backward_fold_scale_axis:BackwardFoldScaleAxis",
    "bind-params": "relax.functions.bind_params:BindParams",
    "bind-shapes": "relax.sizes.bind_shapes:BindShapes",
    "cancel-transposes": "relax.cancel_transposes:CancelTransposes",
    "canonicalize-ops": "relax.canonicalize_ops:CanonicalizeOps",
    "combine-parallel-conv2d": "relax.combine_parallel.combine_parallel_conv2d:CombineParallelConv2D",
    "combine-parallel-matmul": "relax.combine_parallel.combine_parallel_matmul:CombineParallelMatmul",
    "convert-layout": "relax.convert_layout:ConvertLayout",
    "dataflow-use-inplace-calls": "relax.dataflow_use_inplace_calls:DataflowUseInplaceCalls",
    "dynamic-to-static": "relax.sizes.dynamic_to_static:DynamicToStatic",
    "fake-quantization-to-integer": "relax.fake_quantization_to_integer.fake_quantization_to_integer:FakeQuantizationToInteger",
    "flatten-concatenate": "relax.flatten_concatenate:FlattenConcatenate",
    "fold-constant": "relax.fold_constant:FoldConstant",
    "fold-explicit-padding": "relax.fold_explicit_padding:FoldExplicitPadding",
    "fold-scale-axis": "relax.fold_scale_axis.fold_scale_axis:FoldScaleAxis",
    "fold-symbolic-shapes": "relax.sizes.fold_symbolic_shapes:FoldSymbolicShapes",
    "forward-fold-scale-axis": "relax.fold_scale_axis.forward_fold_scale_axis:ForwardFoldScaleAxis",
    "fuse-ops": "relax.fuse_ops.fuse_ops:FuseOps",
    "fuse-ops-by-pattern": "relax.fuse_ops.fuse_ops_by_pattern:FuseOpsByPattern",
    "gradient": "relax.gradient.gradient:Gradient",
    "infer-symbolic-shapes": "relax.sizes.infer_symbolic_shapes:InferSymbolicShapes",
    "infer-type": "relax.infer_type:InferType",
    "inline": "relax.functions.inline:Inline",
    "lambda-lift": "relax.functions.lambda_lift:LambdaLift",
    "legalize-ops": "relax.legalize_ops:LegalizeOps",
    "lift-transform-params": "relax.lift_transform_params.lift_transform_params:LiftTransformParams",
    "lower-arith": "llvm.lower_arith:LowerArith",
    "lower-func": "llvm.lower_func:LowerFunc",
    "lower-math": "llvm.lower_math:LowerMath",
    "lower-memref": "llvm.lower_memref:LowerMemref",
    "lower-parallel": "llvm.lower_parallel:LowerParallel",
    "lower-scf": "llvm.lower_scf:LowerSCF",
    "lower-tir": "tir.lower_tir.lower_tir:LowerTIR",
    "lower-vector": "llvm.lower_vector:LowerVector",
    "merge-composite-functions": "relax.fuse_ops.merge_composite_functions:MergeCompositeFunctions",
    "plan-devices": "relax.plan_devices:PlanDevices",
    "plan-memory": "relax.plan_memory.plan_memory:PlanMemory",
    "preallocate-collections": "relax.preallocate_collections:PreallocateCollections",
    "recognize-ops": "relax.recognize_ops.recognize_ops:RecognizeOps",
    "run-codegen": "relax.functions.run_codegen:RunCodegen",
    "simplify-expr": "relax.simplify_expr.simplify_expr:SimplifyExpr",
    "simplify-inference": "relax.simplify_inference:SimplifyInference",
    "tir-bind-target": "tir.bind_target:BindTarget",
    "tir-common-subexpr-elim": "tir.common_subexpr_elim:CommonSubexprElim",
    "tir-flatten-buffer": "tir.flatten_buffer.flatten_buffer:FlattenBuffer",
    "tir-hoist-if-then-else": "tir.hoist_if_then_else:HoistIfThenElse",
    "tir-inject-double-buffer": "tir.inject_double_buffer:InjectDoubleBuffer",
    "tir-loop-partition": "tir.loop_partition.loop_partition:LoopPartition",
    "tir-outline-parallel": "tir.outline_parallel:OutlineParallel",
    "tir-parallelize": "tir.parallelize:Parallelize",
    "tir-remove-no-op": "tir.remove_no_op:RemoveNoOp",
    "tir-simplify": "tir.simplify:Simplify",
    "tir-storage-rewrite": "tir.storage_rewrite:StorageRewrite",
    "tir-unroll-loop": "tir.unroll_loop:UnrollLoop",
    "tir-vectorize-loop": "tir.vectorize_loop.vectorize_loop:VectorizeLoop",
    "to-a-normal-form": "relax.to_a_normal_form:ToANormalForm",
    "to-mixed-precision": "relax.to_mixed_precision.to_mixed_precision:ToMixedPrecision",
    "unroll-loops": "relax.unroll_loops:UnrollLoops",
}


def _pipeline(name: str) -> Callable[[], type[ModulePass]]:
    """Return a function that makes the class of the pipeline `name`."""

    def make() -> type[ModulePass]:
        from .named_pipeline import named_pipeline

        return named_pipeline(name, PIPELINES[name])

    return make


def _extend_llvm(dialect: Dialect) -> Dialect:
    """Return xDSL's dialect llvm with the operations that it lacks."""
    return load_place(".dialects.llvm_extension:extend", __name__)(dialect)


UNIVERSE = ExtendingUniverse(
    all_dialects={
        "relax": factory_of(".dialects.relax:Relax", __name__),
        "tir": factory_of(".dialects.tir:Tir", __name__),
    },
    all_passes={
        **{name: factory_of(place, __name__) for name, place in PASSES.items()},
        **{name: _pipeline(name) for name in PIPELINES},
    },
    all_frontends={"onnx": factory_of(".compiler.frontends.onnx_frontend:OnnxFrontend", __name__)},
    dialect_extensions={"llvm": _extend_llvm},
)

for key, place, default in (
    ("relax.fallback_device_type", ".dialects.device_type:DeviceType", "cpu"),
    ("relax.fastmath", ".dialects.fast_math:FastMath", "none"),
):
    register_config_option(key, factory_of(place, __name__), default)

for namespace in ("relax", "relay"):
    register_namespace(namespace)
for namespace in ("tir", "tirx", "s_tir"):
    register_namespace(namespace, "tir")

for key, hint in {  # keys of TVM
    "testing.immutable_module": "leave it out: a call of a pass never changes its input",
    "tir.disable_storage_rewrite": 'write disabled_pass=["tir-storage-rewrite"]',
    "tir.disable_vectorize": 'write disabled_pass=["tir-vectorize-loop"]',
    "tirx.disable_storage_rewrite": 'write disabled_pass=["tir-storage-rewrite"]',
    "tirx.disable_vectorize": 'write disabled_pass=["tir-vectorize-loop"]',
}.items():
    register_config_hint(key, hint)

for name, successor in {  # passes of TVM, with the classes of the passes that do what they do
    "BindSymbolicVars": "BindShapes",
    "CombineParallelBatchMatmul": "CombineParallelMatmul",
    "CombineParallelDense": "CombineParallelMatmul",
    "CommonSubexprElimTIR": "CommonSubexprElim",
    "DecomposeOpsForInference": "SimplifyInference",
    "RealizeVDevice": "PlanDevices",
    "RemoveUnusedOutputs": "RemoveUnusedParameters",
    "StaticPlanBlockMemory": "PlanMemory",
    "StorageFlatten": "FlattenBuffer",
}.items():
    register_successor(name, successor)

# The classes of passes, imported when they are used: `passline.passes.FoldConstant`.

_PLACES = (*PASSES.values(), *(f"generic.{place}" for place in generic.REPLACING.values()))
_CLASSES = {place.partition(":")[2]: place for place in _PLACES}

if not TYPE_CHECKING:  # a type checker would take any name for one that exists

    def __getattr__(name: str) -> object:
        if name not in _CLASSES:
            raise missing_name(__name__, name, {"": _CLASSES})
        found = globals()[name] = load_place(_CLASSES[name], __name__)
        return found

    def __dir__() -> list[str]:
        return sorted(__all__)
