"""The tables of passes and of named pipelines; the module of a pass is imported on first use."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from xdsl.ir import Dialect
from xdsl.passes import ModulePass

from ..passmanager.config import register_config_option
from ..passmanager.names import (
    factory_of,
    lazy_names,
    load_place,
    register_foreign_names,
    register_namespace,
)
from ..passmanager.registry import ExtendingUniverse
from . import generic
from .generic import passes_of
from .pipelines import PIPELINES

if TYPE_CHECKING:
    from .generic import *
    from .generic import REPLACEMENTS as REPLACEMENTS
    from .levels import at_level as at_level
    from .llvm.lower_arith import LowerArith as LowerArith
    from .llvm.lower_func import LowerFunc as LowerFunc
    from .llvm.lower_math import LowerMath as LowerMath
    from .llvm.lower_memref import LowerMemref as LowerMemref
    from .llvm.lower_parallel import LowerParallel as LowerParallel
    from .llvm.lower_scf import LowerSCF as LowerSCF
    from .llvm.lower_vector import LowerVector as LowerVector
    from .pipelines import LOWER_TO_LLVM as LOWER_TO_LLVM
    from .pipelines import LOWER_TO_MLIR as LOWER_TO_MLIR
    from .pipelines import LOWER_TO_TIR as LOWER_TO_TIR
    from .pipelines import OPTIMIZE as OPTIMIZE
    from .pipelines_by_name import get_pipeline as get_pipeline
    from .pipelines_by_name import register_pipeline as register_pipeline
    from .relax.adjust_matmul_order import AdjustMatmulOrder as AdjustMatmulOrder
    from .relax.alter_op_layout import AlterOpLayout as AlterOpLayout
    from .relax.bind_params import BindParams as BindParams
    from .relax.bind_shapes import BindShapes as BindShapes
    from .relax.cancel_transposes import CancelTransposes as CancelTransposes
    from .relax.canonicalize_ops import CanonicalizeOps as CanonicalizeOps
    from .relax.combine_parallel import CombineParallelConv2D as CombineParallelConv2D
    from .relax.combine_parallel import CombineParallelMatmul as CombineParallelMatmul
    from .relax.convert_layout import ConvertLayout as ConvertLayout
    from .relax.dataflow_use_inplace_calls import DataflowUseInplaceCalls as DataflowUseInplaceCalls
    from .relax.dynamic_to_static import DynamicToStatic as DynamicToStatic
    from .relax.expand_matmul_of_sum import ExpandMatmulOfSum as ExpandMatmulOfSum
    from .relax.expand_tuple_arguments import ExpandTupleArguments as ExpandTupleArguments
    from .relax.fake_quantization_to_integer import (
        FakeQuantizationToInteger as FakeQuantizationToInteger,
    )
    from .relax.flatten_concatenate import FlattenConcatenate as FlattenConcatenate
    from .relax.fold_constant import FoldConstant as FoldConstant
    from .relax.fold_explicit_padding import FoldExplicitPadding as FoldExplicitPadding
    from .relax.fold_scale_axis import BackwardFoldScaleAxis as BackwardFoldScaleAxis
    from .relax.fold_scale_axis import FoldScaleAxis as FoldScaleAxis
    from .relax.fold_scale_axis import ForwardFoldScaleAxis as ForwardFoldScaleAxis
    from .relax.fold_symbolic_shapes import FoldSymbolicShapes as FoldSymbolicShapes
    from .relax.fuse_ops import FuseOps as FuseOps
    from .relax.fuse_ops_by_pattern import FuseOpsByPattern as FuseOpsByPattern
    from .relax.fuse_ops_by_pattern import MergeCompositeFunctions as MergeCompositeFunctions
    from .relax.fuse_transpose_matmul import FuseTransposeMatmul as FuseTransposeMatmul
    from .relax.gradient.gradient import Gradient as Gradient
    from .relax.infer_symbolic_shapes import InferSymbolicShapes as InferSymbolicShapes
    from .relax.infer_type import InferType as InferType
    from .relax.lambda_lift import LambdaLift as LambdaLift
    from .relax.legalize_ops import LegalizeOps as LegalizeOps
    from .relax.lift_transform_params import LiftTransformParams as LiftTransformParams
    from .relax.plan_devices import PlanDevices as PlanDevices
    from .relax.plan_memory.plan_memory import PlanMemory as PlanMemory
    from .relax.preallocate_collections import PreallocateCollections as PreallocateCollections
    from .relax.recognize_ops import RecognizeOps as RecognizeOps
    from .relax.relax_topological_sort import RelaxTopologicalSort as RelaxTopologicalSort
    from .relax.reorder_take_after_matmul import ReorderTakeAfterMatmul as ReorderTakeAfterMatmul
    from .relax.run_codegen import RunCodegen as RunCodegen
    from .relax.simplify_expr import SimplifyExpr as SimplifyExpr
    from .relax.simplify_inference import SimplifyInference as SimplifyInference
    from .relax.to_a_normal_form import ToANormalForm as ToANormalForm
    from .relax.to_mixed_precision import ToMixedPrecision as ToMixedPrecision
    from .relax.unroll_loops import UnrollLoops as UnrollLoops
    from .tir.bind_target import BindTarget as BindTarget
    from .tir.common_subexpr_elim import CommonSubexprElim as CommonSubexprElim
    from .tir.flatten_buffer import FlattenBuffer as FlattenBuffer
    from .tir.hoist_expression import HoistExpression as HoistExpression
    from .tir.hoist_if_then_else import HoistIfThenElse as HoistIfThenElse
    from .tir.inject_double_buffer import InjectDoubleBuffer as InjectDoubleBuffer
    from .tir.instrument_bound_checkers import InstrumentBoundCheckers as InstrumentBoundCheckers
    from .tir.loop_partition import LoopPartition as LoopPartition
    from .tir.lower_cuda_tile import LowerToCudaTile as LowerToCudaTile
    from .tir.lower_tir import LowerTIR as LowerTIR
    from .tir.narrow_data_type import NarrowDataType as NarrowDataType
    from .tir.outline_parallel import OutlineParallel as OutlineParallel
    from .tir.parallelize import Parallelize as Parallelize
    from .tir.remove_assume import RemoveAssume as RemoveAssume
    from .tir.remove_no_op import RemoveNoOp as RemoveNoOp
    from .tir.simplify import Simplify as Simplify
    from .tir.storage_rewrite import StorageRewrite as StorageRewrite
    from .tir.unroll_loop import UnrollLoop as UnrollLoop
    from .tir.use_assume_to_reduce_branches import (
        UseAssumeToReduceBranches as UseAssumeToReduceBranches,
    )
    from .tir.vectorize_loop import VectorizeLoop as VectorizeLoop

    __all__: list[str]
else:
    __all__, __getattr__, __dir__ = lazy_names(__name__, ("PASSES", "UNIVERSE"))

PASSES = {
    name: f"generic.{place}"
    for name, place in passes_of(generic.__name__).items()
    if name not in generic.REPLACEMENTS
} | dict(
    sorted(
        (name if "tir" in name.split("-") or not place.startswith("tir.") else f"tir-{name}", place)
        for name, place in passes_of(__name__).items()
        if "." in place  # in a folder: else it is a name of this module
    )
)
"""Pass name -> `module:Class`, the module relative to this package."""


def _pipeline(name: str) -> Callable[[], type[ModulePass]]:
    """Return a function that makes the class of the pipeline `name`, on its first call."""

    @cache
    def make() -> type[ModulePass]:
        from ..passmanager.stages import named_pipeline

        return named_pipeline(name, PIPELINES[name], f"{__name__}.pipelines")

    return make


EXTENDED = (
    *("affine", "arith", "bufferization", "cf", "func", "memref", "scf", "tensor", "vector"),
)
"""The dialects of xDSL that are extended by the file of their name in `dialects/extensions`."""


def _extension(place: str) -> Callable[[Dialect], Dialect]:
    """Return a function that extends a dialect of xDSL by the operations that it lacks, which are
    at `place`: imported when the dialect is."""

    def extend(dialect: Dialect) -> Dialect:
        return load_place(f".dialects.{place}:extend", __name__)(dialect)

    return extend


TOOL_FORMATS = ".dialects.cuda_tile.bytecode.tool_formats"

UNIVERSE = ExtendingUniverse(
    all_dialects={
        "relax": factory_of(".dialects.relax:Relax", __name__),
        "tir": factory_of(".dialects.tir:Tir", __name__),
        "cuda_tile": factory_of(".dialects.cuda_tile.dialect:CUDA_TILE", __name__),
        "index": factory_of(".dialects.extensions.index:Index", __name__),
    },
    all_passes={
        **{name: factory_of(place, __name__) for name, place in PASSES.items()},
        **{name: _pipeline(name) for name in PIPELINES},
    },
    all_frontends={
        "onnx": factory_of(".compiler.frontends.onnx_frontend:OnnxFrontend", __name__),
        "tileirbc": factory_of(f"{TOOL_FORMATS}:TileBytecodeFrontend", __name__),
    },
    all_targets={"tileirbc": factory_of(f"{TOOL_FORMATS}:TileBytecodeTarget", __name__)},
    dialect_extensions={
        "llvm": _extension("llvm_extension"),
        **{name: _extension(f"extensions.{name}") for name in EXTENDED},
    },
)

for key, place, default in (
    ("relax.fallback_device_type", ".dialects.target:DeviceType", "cpu"),
    ("relax.fastmath", ".dialects.arith_types:FastMath", "none"),
):
    register_config_option(key, factory_of(place, __name__), default)

for namespace in ("relax", "relay"):
    register_namespace(namespace)
for namespace in ("tir", "tirx", "s_tir"):
    register_namespace(namespace, "tir")
register_foreign_names(lambda: load_place("tvm_names:read_names", __name__)())
