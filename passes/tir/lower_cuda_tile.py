"""lower-to-cuda-tile: kernels on buffers become tile programs, and launches of them."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ...compiler.kernels.choices import NoKernel
from ...compiler.kernels.gpu.loop_entries import ENTRY_MODULE, lower_kernel
from ...dialects.cuda_tile import module_ops
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
    entry_module(module).body.block.add_ops(entries)
    actions.count("lowered")


def entry_module(module: ModuleOp) -> module_ops.ModuleOp:
    """Return the module of entries, which is added at the end if there is none."""
    for op in module.ops:
        if isinstance(op, module_ops.ModuleOp) and op.sym_name.data == ENTRY_MODULE:
            return op
    module.body.block.add_op(new := module_ops.ModuleOp(ENTRY_MODULE))
    return new


@dataclass(frozen=True)
class LowerToCudaTile(ModulePass):
    """Turn kernels on buffers into programs on tiles and launches of these."""

    name = "lower-to-cuda-tile"

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        lower_to_cuda_tile(module, target_of(module), actions=ctx.actions)
