"""LegalizeOps: operations on tensors become kernels, functions on buffers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from types import MappingProxyType
from typing import TypeAlias, cast

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import MemRefType, ModuleOp, TensorType, UnitAttr, i64
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from ...compiler.analysis.symbolic_shapes import SymbolicShapes
from ...compiler.kernels.builder import Legalization, Preparation, Winograd
from ...compiler.kernels.call_sizes import CallSizes
from ...compiler.kernels.choices import NoKernel
from ...compiler.kernels.contraction.contraction import dense_constant
from ...compiler.kernels.data.data_dependent import replace_data_dependent
from ...compiler.kernels.database import Database, TuningRecord
from ...compiler.kernels.gpu.tile_builder import TileKernel, add_entries
from ...compiler.kernels.gpu.tile_kernels import gpu_kernel_of
from ...compiler.kernels.kernel import Kernel, kernel_key, kernel_of
from ...compiler.kernels.legalizations import legalization_of, overriding
from ...dialects.relax.base import TensorOp
from ...dialects.relax.constant import ConstantOp, FullOp
from ...dialects.relax.dynamic.computation import DynamicOp
from ...dialects.relax.dynamic.data_movement import (
    DynamicExpandDimsOp,
    DynamicReshapeOp,
    DynamicSqueezeOp,
)
from ...dialects.relax.interfaces import FusionPattern, View
from ...dialects.relax.kernels import CallTIROp
from ...dialects.relax.types import static_shape
from ...dialects.target import DEFAULT, Target, entered_target, set_target, target_of
from ...dialects.tir.ops import PrimFuncOp
from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.ir.per_class import OpClasses
from ...passmanager.ir.walk import walk
from ...passmanager.names import Rounding
from ...passmanager.registry import PassInfo
from ...passmanager.releases.memref import from_elements
from ..generic.call_graph import CallGraph
from ..generic.dead_code_elimination import remove_dead_operations
from ..named_functions import operation_check, read_functions
from ..sizes import functions_with_unknown_sizes
from .fuse_ops import fuse_operations, keeps_count
from .kernels_on_cores import kernels_on_cores
from .outliner import Outliner, fusible_functions, is_scalar_constant
from .tensor_conditions import legalized
from .to_a_normal_form import a_normal_form

Sizes: TypeAlias = Mapping[Operation, Sequence[SSAValue]]
"""The unknown sizes of the results of calls, and all sizes of the results of views."""

Constants: TypeAlias = Mapping[int, Sequence[ConstantOp | FullOp]]
"""The constants that callers pass, by the number of the parameter."""


def legalize_operations(
    module: ModuleOp,
    target: Target = DEFAULT,
    actions: Actions = SILENT,
    winograd: Winograd = "none",
    database: Database | None = None,
    cores: int = 1,
    skip: Collection[str] = (),
) -> Mapping[str, Kernel]:
    """Replace each operation on tensors in `module`, and each primitive function, by the call of a
    kernel that is scheduled for `target`; equal operations or functions share a kernel. Return the
    kernels by name. Operations whose names are in `skip` stay, and functions with one.

    The schedules are those that were measured, if `database` has them, or else estimated. Kernels
    are built on up to that many cores."""
    # First what has sizes that only the data decide: it becomes operations that compute them.
    replace_data_dependent(module)
    shapes = symbolic_shapes(module)
    # Views at run time become one operation before kernels are outlined, which would capture them.
    if shapes is not None:
        views = {
            op: sizes
            for func in fusible_functions(module)
            for op, sizes in sizes_of_views(func, shapes, DynamicOp).items()
        }
        replace_views(views, shapes)
    # Each operation in a function of its own, then each function a kernel: equal ones are built
    # once.
    outline_operations(module, actions, shapes, skip)
    kernels = build_kernels(module, target, actions, winograd, database, cores, skip)
    # A second look at the calls: a kernel whose result sizes are not known before a call is given
    # up.
    sizes: Sizes = {} if shapes is None else sizes_of_results(module, kernels, shapes, actions)
    replace_calls(module, kernels, sizes)
    tiles = [kernel for kernel in kernels.values() if isinstance(kernel, TileKernel)]
    add_entries(module, (entry for kernel in tiles for entry in kernel.entries))
    replace_views(sizes)
    for func in fusible_functions(module):
        remove_dead_operations(func)  # a call may have effects, the call of a kernel has none
    return kernels


def symbolic_shapes(module: ModuleOp) -> SymbolicShapes | None:
    """Return the sizes of all tensors, or None if none has an unknown one."""
    graph = CallGraph(module)
    return SymbolicShapes(module, graph) if functions_with_unknown_sizes(graph) else None


def outline_operations(
    module: ModuleOp,
    actions: Actions = SILENT,
    shapes: SymbolicShapes | None = None,
    skip: Collection[str] = (),
) -> None:
    """Move each operation outside of primitive functions into one of its own, but for those whose
    names are in `skip`."""
    functions = fusible_functions(module)
    outliner = Outliner(module, is_scalar_constant, shapes, actions)
    for func in functions:
        remove_dead_operations(func)  # plan-memory supports no operation that is not legalized
        fuse_operations(func, outliner, fuse_opt_level=0, shapes=shapes, skip=skip)
        outline_others(func, outliner, skip)
        for op in walk(func):
            if isinstance(op, TensorOp) and legalization_of(op) is None:
                actions.missed(op, "NoKernel", f"'{op.name}' has no legalization")
    outliner.finish()


def outline_others(func: FuncOp, outliner: Outliner, skip: Collection[str] = ()) -> None:
    """Outline the operations that cannot be fused, but have a legalization."""
    for op in [*walk(func)]:
        if op.name in skip:
            continue
        # One that `replace_views` made: a view, for which `plan-memory` needs no kernel.
        if isinstance(op, DynamicReshapeOp) and isinstance(
            op.newshape.owner, tensor.FromElementsOp
        ):
            continue
        if legalization_of(op) is not None and not isinstance(op, FusionPattern):
            outliner.outline([op], {"relax.primitive": UnitAttr()})


def build_kernels(
    module: ModuleOp,
    target: Target,
    actions: Actions,
    winograd: Winograd,
    database: Database | None = None,
    cores: int = 1,
    skip: Collection[str] = (),
) -> dict[str, Kernel]:
    """Replace each primitive function by its kernel if it has one, and no operation whose name is
    in `skip`; return the kernels by name."""
    kernels: dict[str, Kernel] = {}
    constants = constant_arguments(module)
    functions = [op for op in module.body.block.ops if isinstance(op, FuncOp)]
    functions = [func for func in functions if "relax.primitive" in func.attributes]
    if skip:
        functions = [f for f in functions if not any(op.name in skip for op in walk(f))]
    built: Mapping[FuncOp, Kernel] = {}
    if cores > 1 and database is None and not target.is_cuda:
        # Not those of constants, whose callers call a function of this process to prepare them.
        others = [func for func in functions if not constants[func.sym_name.data]]
        built = kernels_on_cores(
            module, others, lambda func: kernel_of(func, target, {}, winograd), cores
        )
    for func in functions:
        given = constants[func.sym_name.data]
        key = kernel_key(func, given, winograd)
        record = None if database is None else database.find(key, target)
        # None is the cost model for all choices, () that of a kernel that was not measured.
        measured = None if database is None else () if record is None else record.choices
        try:
            if target.is_cuda:
                kernel = gpu_kernel_of(func, target, given, measured)
            else:
                kernel = built.get(func) or kernel_of(func, target, given, winograd, measured)
        except NoKernel as error:
            actions.missed(func, "NoKernel", f"no kernel: {error}")
            continue
        if not actions.allowed(_computation(func)):
            continue
        for remark in kernel.remarks:
            report = getattr(actions, remark.kind)
            report(func, remark.name, remark.message, **remark.arguments)
        for op, message in kernel.warnings:
            actions.warning(op, message)
        if record is not None:
            warn_of_unfit(record, kernel, actions)
        kernels[func.sym_name.data] = kernel
        # In its place and under its name, so that calls still find it.
        module.body.block.insert_op_before(kernel.func, func)
        func.detach()
        actions.count("kernels")
    return kernels


def warn_of_unfit(record: TuningRecord, kernel: Kernel, actions: Actions) -> None:
    """Report the choices of a record that are not in the spaces of the kernel."""
    name = kernel.func.sym_name.data
    for choice in kernel.choices.unfit:
        text = f"the {choice.kind} for @{name} is ignored: there is no candidate {choice}"
        actions.warning(None, f"{record.place}: {text}")


def _computation(func: FuncOp) -> Operation:
    """Return the last operation on tensors of a primitive function."""
    return next((op for op in reversed([*walk(func)]) if isinstance(op, TensorOp)), func)


def constant_arguments(module: ModuleOp) -> Mapping[str, Constants]:
    """Return, for each private function, the arguments that are constants in all of its calls, with
    the constant of each call."""
    # Others may call these with anything: none of their arguments is known to be constant.
    public = {op.sym_name.data for op in module.ops if isinstance(op, FuncOp) and is_public(op)}
    constants: dict[str, Constants] = {name: {} for name in public}
    for op in walk(module):
        if isinstance(op, CallOp):
            name = op.callee.root_reference.data
            given = {
                i: [v.owner]
                for i, v in enumerate(op.arguments)
                if isinstance(v.owner, ConstantOp | FullOp)
            }
            others = constants.get(name)
            constants[name] = (
                given
                if others is None
                # Constant in all calls, though not the same constant: each is packed for the
                # kernel.
                else {i: [*others[i], *given[i]] for i in others.keys() & given.keys()}
            )
    return defaultdict(dict, constants)


def is_public(func: FuncOp) -> bool:
    """Return whether code outside of the module may call `func`."""
    return func.sym_visibility is None or func.sym_visibility.data != "private"


def sizes_of_results(
    module: ModuleOp, kernels: dict[str, Kernel], shapes: SymbolicShapes, actions: Actions
) -> Sizes:
    """Compute the unknown sizes of the results of calls and views before them. A kernel is given up
    if they are not known before one of its calls."""
    sizes: dict[Operation, list[SSAValue]] = {}
    missing: dict[str, str] = {}
    for func in fusible_functions(module):
        scope = CallSizes(func, shapes, {name: k.source for name, k in kernels.items()})
        for op in [*walk(func)]:
            name = op.callee.string_value() if isinstance(op, CallOp) else None
            try:
                if name in kernels:
                    sizes[op] = scope.of_results(op)
                elif is_unknown_view(op, shapes):
                    sizes[op] = scope.of_dimensions(op.results[0], op)
            except NoKernel as error:
                if name is None:
                    actions.missed(op, "NoKernel", f"no view: {error}")
                else:
                    missing[name] = str(error)
    for name, reason in missing.items():
        # The function on tensors takes its place again.
        kernel = kernels.pop(name)
        module.body.block.insert_op_before(kernel.source, kernel.func)
        Rewriter.erase_op(kernel.func)
        actions.missed(kernel.source, "NoKernel", f"no kernel: {reason}")
    return sizes


def sizes_of_views(
    func: FuncOp, shapes: SymbolicShapes, cls: type[Operation]
) -> dict[Operation, list[SSAValue]]:
    """Compute the sizes of the results of the views of a class that are unknown."""
    scope = CallSizes(func, shapes, {})
    return {
        op: scope.of_dimensions(op.results[0], op)
        for op in [*walk(func)]
        if isinstance(op, cls) and is_unknown_view(op, shapes)
    }


def is_unknown_view(op: Operation, shapes: SymbolicShapes) -> bool:
    """Return whether `op` is a view of unknown sizes that expressions give, with as many elements
    as its operand."""
    is_view = isinstance(op, View | DynamicReshapeOp | DynamicExpandDimsOp | DynamicSqueezeOp)
    if not is_view or static_shape(op.results[0].type) is not None:
        return False
    if isinstance(op, DynamicReshapeOp) and isinstance(op.newshape.owner, tensor.FromElementsOp):
        return False  # one that this pass made
    return keeps_count(op, shapes)


def replace_views(sizes: Sizes, shapes: SymbolicShapes | None = None) -> None:
    """Replace the views among the operations by `relax.dyn.reshape` to their sizes."""
    # Not tensor.reshape: xDSL's verifier multiplies unknown sizes as if they were numbers.
    for op, dimensions in sizes.items():
        if isinstance(op, CallOp):
            continue
        numbers = [arith.IndexCastOp(size, i64) for size in dimensions]
        shape = from_elements([number.result for number in numbers])
        types = [value.type for value in op.results]
        view = DynamicReshapeOp(op.operands[0], shape.result, result_types=types, allowzero=True)
        for new in (*numbers, shape, view):
            new.location = op.location
        if shapes is not None:
            shapes.move(op.results[0], view.result)
        Rewriter.replace_op(op, [*numbers, shape, view], view.results)


def replace_calls(
    module: ModuleOp, kernels: Mapping[str, Kernel], sizes: Sizes = MappingProxyType({})
) -> None:
    """Replace the calls of functions that became kernels by `relax.call_tir`, with `sizes` and with
    constants in the form that the kernels read."""
    # One constant for all calls, such as those of the steps of an LSTM: 31 copies of its weights
    # would not fit into the cache.
    made: dict[tuple[SSAValue, PrimFuncOp, int], SSAValue] = {}
    for op in [op for op in walk(module) if isinstance(op, CallOp)]:
        if (kernel := kernels.get(op.callee.root_reference.data)) is None:
            continue
        arguments = [*op.arguments]
        for number, preparation in kernel.prepared.items():
            key = arguments[number], kernel.func, number
            if key not in made:
                made[key] = prepare(*key, preparation)
            arguments[number] = made[key]
        call = CallTIROp(op.callee, arguments, [r.type for r in op.results], sizes.get(op, ()))
        call.location = op.location
        before = {value.owner for value in op.arguments}
        Rewriter.replace_op(op, call)
        # A weight that was packed is not needed in its old form: both would be in the file.
        for constant in before:
            if isinstance(constant, ConstantOp) and constant.result.first_use is None:
                Rewriter.erase_op(constant)


def prepare(value: SSAValue, kernel: PrimFuncOp, number: int, preparation: Preparation) -> SSAValue:
    """Return the constant `value` in the form in which a kernel reads it as a parameter."""
    from ...compiler.interpreters.arrays import array_of

    constant, type = value.owner, kernel.function_type.inputs.data[number]
    assert isinstance(constant, ConstantOp) and isa(type, MemRefType)
    new_type = TensorType(type.element_type, type.get_shape())
    new = ConstantOp(dense_constant(preparation(array_of(constant.value)), new_type))
    new.location = constant.location
    new.result.name_hint = value.name_hint
    Rewriter.insert_op(new, InsertPoint.before(constant))
    return new.result


WINOGRAD = Rounding(
    changes=("sign of zero may change", "infinite may become NaN", "finite may become NaN")
)
"""The rounding of a module with Winograd's algorithm, where tiles become NaN as a whole."""


@dataclass(frozen=True)
class LegalizeOps(ModulePass):
    """Convert primitive functions, and each other operation on tensors, to kernels on buffers;
    source: `relax.transform.LegalizeOps`.

    A kernel is called by `relax.call_tir`; equal ones are one function. Views and constants need no
    kernel and stay; so do tensors of unknown rank and operations without a legalization, each with
    a remark.

    Before:

        func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
          %0 = relax.exp %x : (tensor<8xf32>) -> tensor<8xf32>
          func.return %0 : tensor<8xf32>
        }

    After:

        func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
          %0 = relax.call_tir @fused_exp(%x) : (tensor<8xf32>) -> tensor<8xf32>
          func.return %0 : tensor<8xf32>
        }
        tir.prim_func private @fused_exp(%x: memref<8xf32>, %0: memref<8xf32>) {
          %1 = arith.constant 0 : index
          %2 = arith.constant 8 : index
          tir.for vectorized %3 = %1 extent %2 {
            %4 = memref.load %x[%3] : memref<8xf32>
            %5 = math.exp %4 : f32
            memref.store %5, %0[%3] : memref<8xf32>
          }
        }
    """

    name = "legalize-ops"
    rounds = Rounding(
        changes=(
            "sign of zero may change",
            "infinite may become NaN",
        )
    )
    required = ("infer-type",)
    requires = (a_normal_form,)
    ensures = (legalized,)

    target: str = ""
    """The processor to schedule kernels for: x86-64, x86-64-v2, -v3, -v4, aarch64 or host, with
    changes in braces, as in x86-64-v3{cores=4}; by default that of the module, that of
    `with Target(...)`, or x86-64-v3."""
    winograd: Winograd = "none"
    """Use Winograd's algorithm for convolutions of 3x3 windows in f32 where it is estimated to be
    faster: in tiles of 2x2 outputs (f2), or of 2x2 or 4x4 outputs (f4). With 4x4 outputs, the error
    is about twice that of the direct kernel; docs/relax.md has the figures."""

    database: str = ""
    """A file of measured schedules, as `passline-tune` writes it: kernels that are in it for the
    target are scheduled so, others by the cost model."""

    skip_ops: tuple[str, ...] = ()
    """Operations that stay, by name, and the primitive functions with one of them."""
    customize_legalize_map: tuple[str, ...] = ()
    """Legalizations that are used instead of those that are registered: the name of an operation,
    and the module and name of the function, `relax.exp=package.module:function`."""

    def __post_init__(self) -> None:
        if self.target:
            Target(self.target)
        if self.skip_ops:
            # Of this pass alone: the class still is what establishes the condition.
            object.__setattr__(self, "ensures", ())

    def load_code(self, module: ModuleOp, ops: OpClasses) -> None:
        import_module("...compiler.interpreters.arrays", __package__)

    @cached_property
    def info(self) -> PassInfo:
        own = super().info
        return own if self.winograd == "none" else replace(own, rounds=WINOGRAD)

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        if self.target:
            set_target(module, Target(self.target))
        elif (entered := entered_target(module)) is not None:
            set_target(module, entered)  # later passes may run where it is not entered
        database = Database.read(self.database) if self.database else None
        for warning in () if database is None else database.warnings:
            ctx.diagnostics.warning(None, warning)
        target = target_of(module)
        for name in self.skip_ops:
            operation_check("skip-ops", ctx.ir_context)(name)
        check = operation_check("legalization", ctx.ir_context)
        entries, example = self.customize_legalize_map, "an operation, as relax.exp"
        own = read_functions(entries, "legalization", example, check)
        with overriding(cast("Mapping[str, Legalization]", own)):
            legalize_operations(
                module, target, ctx.actions, self.winograd, database, ctx.workers, self.skip_ops
            )
