"""Kernels made of tile programs: the entries, and the function on the host that launches them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import FunctionType, ModuleOp, SymbolRefAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.cuda_tile.module_ops import EntryOp
from ....dialects.cuda_tile.module_ops import ModuleOp as TileModuleOp
from ....dialects.relax.types import tensor_type
from ....dialects.target import Target
from ....dialects.tir.functions import Extent, PrimFuncOp, Shape
from ....dialects.tir.launch import LaunchOp
from ..builder import KernelBuilder
from ..call_sizes import KernelSizes
from ..choices import Choice
from ..kernel import Kernel, buffer_type, sizes_of, symbolic_shapes
from .tile_writer import TileWriter

__all__ = [
    "ENTRIES",
    "Family",
    "OnTiles",
    "TileGroup",
    "TileKernel",
    "TileLaunch",
    "TileLaunches",
    "add_entries",
    "elements_of",
    "group_of",
    "kernel_from",
]

ENTRIES = "kernels"
"""The name of the module with the entries of all kernels."""


OnTiles = Callable[[TileWriter, Operation, Sequence[SSAValue]], SSAValue]
"""A function that computes an element-wise operation on tiles of one shape."""


@dataclass(frozen=True)
class TileLaunch:
    """A launch of an entry by a kernel."""

    entry: EntryOp
    grid: Sequence[Extent]
    """The tile blocks in up to three dimensions."""
    tensors: Sequence[int]
    """The tensors that it gets: parameters of the kernel by number, then buffers of the kernel."""
    sizes: Sequence[Extent]
    """The sizes that it gets after them."""


@dataclass(frozen=True)
class TileLaunches:
    """The launches of a kernel, in the order in which they run, and the buffers between them."""

    launches: Sequence[TileLaunch]
    buffers: Sequence[tuple[Shape, Attribute]] = ()


@dataclass(frozen=True)
class TileGroup:
    """A fused group that becomes a tile program."""

    func: FuncOp
    sizes: Mapping[SSAValue, Shape]
    """The shapes of all values."""
    target: Target
    elementwise: OnTiles
    host: KernelBuilder
    """The builder of the function on the host, which makes choices and remarks."""

    @property
    def ops(self) -> list[Operation]:
        """The operations of the group, without its end."""
        *ops, _ = self.func.body.block.ops
        return ops

    @property
    def results(self) -> Sequence[SSAValue]:
        end = self.func.body.block.last_op
        assert isinstance(end, ReturnOp)
        return end.operands

    @property
    def tensors(self) -> list[SSAValue]:
        """The values in buffers: parameters, then results."""
        return [*self.func.args, *self.results]


def elements_of(values: Sequence[SSAValue]) -> list[Attribute]:
    """Return the element types of tensors."""
    return [tensor_type(value).element_type for value in values]


Family = Callable[[TileGroup], TileLaunches | None]
"""A function that returns the tile program of a group, or None if the group has none."""


@dataclass(frozen=True)
class TileKernel(Kernel):
    """A kernel whose function, on the host, launches entries."""

    entries: Sequence[EntryOp]


def group_of(
    func: FuncOp, target: Target, elementwise: OnTiles, measured: Sequence[Choice] | None
) -> TileGroup:
    """Return `func` as a group, whose function on the host has parameters and no operations yet.

    Errors: NoKernel for tensors of unknown rank, UnknownExtent for sizes that are not known."""
    shapes = symbolic_shapes(func)
    sizes = sizes_of(func, shapes)
    inputs = [buffer_type(type) for type in func.function_type.inputs]
    outputs = [buffer_type(type) for type in func.function_type.outputs]
    stub = PrimFuncOp(func.sym_name.data, [*inputs, *outputs], visibility="private")
    host = KernelBuilder(stub, target, measured=measured)
    host.sizes = sizes
    group = TileGroup(func, sizes, target, elementwise, host)
    for value, buffer in zip(group.tensors, stub.args, strict=True):
        buffer.name_hint = value.name_hint
        host.shapes[buffer] = sizes[value]
        for axis, extent in enumerate(sizes[value]):
            if not isinstance(extent, int) and (symbol := extent.size.lone_symbol) is not None:
                host.read_size(symbol.name, buffer, axis)
    if shapes is not None:
        parameters = dict[SSAValue, SSAValue](zip(func.args, stub.args))
        host.unnamed = KernelSizes(func, shapes, host, parameters).of_symbol
    return group


def kernel_from(group: TileGroup, program: TileLaunches) -> TileKernel:
    """Return the kernel that runs the launches of `program` one after the other."""
    host = group.host
    stub = host.func
    buffers = [*stub.args, *(host.alloc(*buffer) for buffer in program.buffers)]
    for launch in program.launches:
        host.insert(_launch(host, launch, buffers))
    host.finish()
    stub.function_type = FunctionType.from_lists(stub.body.block.arg_types, [])
    entries = [launch.entry for launch in program.launches]
    return TileKernel(group.func, stub, {}, host.remarks, host.warnings, host.choices, entries)


def _launch(host: KernelBuilder, launch: TileLaunch, buffers: Sequence[SSAValue]) -> LaunchOp:
    grid = [*launch.grid, 1, 1][:3]
    arguments = [buffers[number] for number in launch.tensors]
    sizes = [host.index(size) for size in launch.sizes]
    callee = SymbolRefAttr(ENTRIES, [launch.entry.sym_name.data])
    return LaunchOp(callee, [host.index(size) for size in grid], [*arguments, *sizes])


def add_entries(module: ModuleOp, entries: Iterable[EntryOp]) -> None:
    """Add entries to the module of tile programs in `module`, which is added at the end if there is
    none and there are entries."""
    if not (new := [*entries]):
        return
    for op in module.ops:
        if isinstance(op, TileModuleOp) and op.sym_name.data == ENTRIES:
            op.body.block.add_ops(new)
            return
    module.body.block.add_op(tiles := TileModuleOp(ENTRIES))
    tiles.body.block.add_ops(new)
