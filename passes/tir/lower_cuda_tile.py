"""tir-lower-to-cuda-tile: kernels on buffers become tile programs, and launches of them."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ...compiler.kernels.choices import NoKernel
from ...compiler.kernels.gpu.loop_entries import lower_kernel
from ...compiler.kernels.gpu.tile_builder import add_entries
from ...dialects.target import Target, target_of
from ...dialects.tir.ops import CallOp, LaunchOp, PrimFuncOp
from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.fast.clone import clone
from ...passmanager.ir.walk import ops_of, walk


def lower_to_cuda_tile(module: ModuleOp, target: Target, *, actions: Actions = SILENT) -> None:
    """Replace the loops of the kernels in `module`, functions that `tir.call` calls, by launches of
    tile programs, which are added to the `cuda_tile.module` of the name `kernels`.

    A kernel that has no tile program stays as it is, with a remark.
    """
    called = {op.callee.root_reference.data for op in ops_of(module, CallOp)}
    for func in [*module.ops]:
        if not isinstance(func, PrimFuncOp) or func.sym_name.data not in called:
            continue
        if func.is_declaration or any(isinstance(op, CallOp | LaunchOp) for op in walk(func)):
            continue
        if actions.allowed(func):
            _lower(func, module, target, actions)


def _lower(func: PrimFuncOp, module: ModuleOp, target: Target, actions: Actions) -> None:
    new = clone(func)
    try:
        entries = lower_kernel(new, target, actions=actions)
    except NoKernel as error:
        actions.missed(func, "TileProgram", f"it stays on the host: {error}")
        return
    body = func.detach_region(func.body)
    body.drop_all_references()
    func.add_region(new.detach_region(new.body))
    for entry in entries:
        entry.location = func.location
    add_entries(module, entries)
    actions.count("lowered")


@dataclass(frozen=True)
class LowerToCudaTile(ModulePass):
    """Turn kernels, functions on buffers that `tir.call` calls, into launches of tile programs.

    The iterations of independent loops become the lanes of tiles, and conditions become masks. A
    kernel that cannot be one stays as it is, with a remark.

    Before:

        func.func @main(%x: memref<256xf32>, %y: memref<256xf32>) {
          tir.call @exp(%x, %y) : memref<256xf32>, memref<256xf32>
          func.return
        }
        tir.prim_func private @exp(%x: memref<256xf32>, %y: memref<256xf32>) {
          %0 = arith.constant 0 : index
          %1 = arith.constant 256 : index
          tir.for %i = %0 extent %1 {
            %2 = memref.load %x[%i] : memref<256xf32>
            %3 = math.exp %2 : f32
            memref.store %3, %y[%i] : memref<256xf32>
          }
        }

    After:

        func.func @main(%x: memref<256xf32>, %y: memref<256xf32>) {
          tir.call @exp(%x, %y) : memref<256xf32>, memref<256xf32>
          func.return
        }
        tir.prim_func private @exp(%x: memref<256xf32>, %y: memref<256xf32>) {
          %0 = arith.constant 0 : index
          %1 = arith.constant 256 : index
          %2 = arith.constant 1 : index
          %3 = arith.constant 2 : index
          tir.launch @kernels::@exp_0[%3, %2, %2] (%x, %y) : memref<256xf32>, memref<256xf32>
        }
        cuda_tile.module @kernels {
          entry @exp_0(%0: tile<ptr<f32>>, %1: tile<ptr<f32>>) {
            %2, %3, %4 = get_tile_block_id : tile<i32>
            %5 = constant <i32: 128> : tile<i32>
            %6 = muli %2, %5 : tile<i32>
            %7 = iota : tile<128xi32>
            %8 = reshape %6 : tile<i32> -> tile<1xi32>
            %9 = broadcast %8 : tile<1xi32> -> tile<128xi32>
            %10 = addi %9, %7 : tile<128xi32>
            %11 = constant <i32: 0> : tile<i32>
            %12 = constant <i32: 256> : tile<i32>
            %13 = reshape %0 : tile<ptr<f32>> -> tile<1xptr<f32>>
            %14 = broadcast %13 : tile<1xptr<f32>> -> tile<128xptr<f32>>
            %15 = offset %14, %10 : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
            %16, %17 = load_ptr_tko weak %15 : tile<128xptr<f32>> -> tile<128xf32>, token
            %18 = exp %16 : tile<128xf32>
            %19 = reshape %1 : tile<ptr<f32>> -> tile<1xptr<f32>>
            %20 = broadcast %19 : tile<1xptr<f32>> -> tile<128xptr<f32>>
            %21 = offset %20, %10 : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
            %22 = store_ptr_tko weak %21, %18 : tile<128xptr<f32>>, tile<128xf32> -> token
            return
          }
        }
    """

    name = "tir-lower-to-cuda-tile"

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        lower_to_cuda_tile(module, target_of(module), actions=ctx.actions)
