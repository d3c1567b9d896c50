"""Host functions of libraries: what they do with device memory becomes calls of a runtime.

`library_runtime` has the functions that are called, `gpu.alloc` and so on. Their first argument is
the state of a call, which each function that works on the device gets as its first parameter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects import arith, cf, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FunctionType,
    IndexType,
    IntegerType,
    MemRefType,
    ModuleOp,
    i8,
)
from xdsl.dialects.func import CallOp as FuncCallOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.cuda_tile.module_ops import ModuleOp as TileModuleOp
from ...dialects.tir.ops import CallOp, LaunchOp, PrefetchOp, output_count
from ...passmanager.errors import PasslineError
from ...passmanager.fast.edit import erase, insert_before
from ...passmanager.ir.location import place_of
from ...passmanager.ir.walk import walk
from ...passmanager.releases.memref import AssumeAlignmentOp, dim_op
from ..analysis.memory.buffers import element_bytes
from ..interpreters.signature import Function, entry_function, is_buffer
from ..native.parameters import is_plain
from .program import check_host_functions, entry_kinds, launching_functions

__all__ = ["LibraryHost", "split_library"]

INDEX = IndexType()
BYTES = MemRefType(i8, [DYNAMIC_INDEX])
RUNTIME: Mapping[str, tuple[int, Sequence[Attribute]]] = {
    "gpu.alloc": (2, [BYTES]),
    "gpu.constant": (4, [BYTES]),
    "gpu.free": (2, []),
    "gpu.copy": (4, []),
    "gpu.read": (4, []),
    "gpu.launch": (6, []),
}
"""The functions of the runtime: the number of their parameters, of type index, and their
results."""


@dataclass
class LibraryHost:
    """The host functions of a library: the module, and the numbers of its kernels."""

    module: ModuleOp
    kernels: TileModuleOp
    constants: int
    """The number of constants on the device."""


def split_library(module: ModuleOp, entry: str) -> LibraryHost:
    """Take the kernels out of a lowered module, which is changed, and let its host functions call
    the runtime. The entry gets, and returns, buffers in host memory.

    PasslineError if there are no kernels, and for what a library cannot do with device memory.
    """
    check_host_functions(module, entry)
    kernels = next((op for op in module.ops if isinstance(op, TileModuleOp)), None)
    if kernels is None:
        raise PasslineError(f"@{entry} has no kernels for a GPU")
    kinds, working = entry_kinds(kernels), {entry, *launching_functions(module)}
    kernels.detach()
    work = DeviceWork(working, [*kinds], kinds)
    for name in working:
        work.rewrite(entry_function(module, name), is_entry=name == entry)
    for name, (count, results) in RUNTIME.items():
        module.body.block.add_op(FuncOp.external(name, [INDEX] * count, results))
    return LibraryHost(module, kernels, len(work.constants))


@dataclass
class DeviceWork:
    """The rewriting of functions that work on the device."""

    working: set[str]
    """The names of these functions."""
    kernels: Sequence[str]
    kinds: Mapping[str, Sequence[str]]
    """The kinds of the parameters of each kernel."""
    constants: list[str] = field(default_factory=list[str])
    call: SSAValue = field(init=False)
    """The state of the call, the first parameter of the function at hand."""
    point: Operation = field(init=False)
    """The operation before which new ones are inserted."""

    def rewrite(self, function: Function, *, is_entry: bool) -> None:
        body = function.body.block
        outputs, parameters = output_count(function), body.args
        results = function.function_type.outputs.data
        if not is_entry and any(map(is_buffer, results)):
            raise PasslineError(f"@{function.sym_name.data} returns buffers of a device")
        ops = [*walk(function)][1:]
        self.point = ops[0]
        self.call = body.insert_arg(INDEX, 0)
        if is_entry:
            changed = outputs or (0 if results else len(parameters))
            self.move_parameters([*parameters], outputs, changed, ops[-1])
        for op in ops:
            self.point = op
            if not isinstance(op, ReturnOp):
                self.operation(op)
            elif is_entry:
                self.return_copies(op)
        function.function_type = FunctionType.from_lists(body.arg_types, results)
        function.arg_attrs = None

    # The building of operations

    def add(self, op: Operation) -> SSAValue:
        op.location = self.point.location
        insert_before(self.point, op)
        return op.results[0] if op.results else self.call

    def number(self, value: int) -> SSAValue:
        return self.add(arith.ConstantOp.from_int_and_width(value, INDEX))

    def runtime(self, name: str, *arguments: SSAValue) -> SSAValue:
        return self.add(FuncCallOp(name, [self.call, *arguments], RUNTIME[name][1]))

    def sizes(self, buffer: SSAValue) -> list[SSAValue]:
        """Return the sizes of a buffer that its type leaves open."""
        shape = enumerate(_type_of(buffer).get_shape())
        return [self.add(dim_op(buffer, self.number(i))) for i, n in shape if n == DYNAMIC_INDEX]

    def size(self, type: MemRefType[Attribute], unknown: Sequence[SSAValue]) -> SSAValue:
        """Return the bytes of a buffer."""
        width = element_bytes(type.element_type)
        assert width is not None
        total = self.number(width * prod(n for n in type.get_shape() if n != DYNAMIC_INDEX))
        for size in unknown:
            total = self.add(arith.MuliOp(total, size))
        return total

    def address(self, buffer: SSAValue) -> SSAValue:
        if not is_plain(_type_of(buffer)):
            raise PasslineError(
                f"'{self.point.name}'{place_of(self.point)} is on a buffer with gaps"
            )
        return self.add(memref.ExtractAlignedPointerAsIndexOp.get(buffer))

    def viewed(
        self, memory: SSAValue, type: MemRefType[Attribute], unknown: Sequence[SSAValue]
    ) -> SSAValue:
        return self.add(memref.ViewOp(memory, self.number(0), unknown, type))

    def new(self, type: MemRefType[Attribute], unknown: Sequence[SSAValue]) -> SSAValue:
        """Return a new buffer on the device."""
        return self.viewed(self.runtime("gpu.alloc", self.size(type, unknown)), type, unknown)

    def copy(self, target: SSAValue, source: SSAValue, how: str = "gpu.copy") -> None:
        size = self.size(_type_of(source), self.sizes(source))
        self.runtime(how, self.address(target), self.address(source), size)

    def on_stack(self, value: SSAValue, type: Attribute) -> SSAValue:
        """Return the address of a value on the stack."""
        slot = self.add(memref.AllocaOp.get(type, shape=[1]))
        self.add(memref.StoreOp.get(value, slot, [self.number(0)]))
        return self.address(slot)

    # The entry, which has buffers of the host

    def move_parameters(
        self, parameters: Sequence[SSAValue], outputs: int, changed: int, end: Operation
    ) -> None:
        """Copy the buffers of the caller to the device, and those that are changed back at the
        end."""
        start, count = self.point, len(parameters)
        for i, buffer in enumerate(parameters):
            if not is_buffer(buffer.type):
                continue
            self.point = start
            uses = [(use.operation, use.index) for use in buffer.uses]
            device = self.new(_type_of(buffer), self.sizes(buffer))
            for op, index in uses:
                op.operands[index] = device
            if i < count - outputs:
                self.copy(device, buffer)
            if i >= count - changed:
                self.point = end
                self.copy(buffer, device)

    def return_copies(self, op: ReturnOp) -> None:
        for i, buffer in enumerate(op.operands):
            if is_buffer(buffer.type):
                unknown, type = self.sizes(buffer), _type_of(buffer)
                host = self.add(
                    memref.AllocOp.get(
                        type.element_type, 64, type.get_shape(), dynamic_sizes=unknown
                    )
                )
                self.copy(host, buffer)
                op.operands[i] = host

    # Operations

    def operation(self, op: Operation) -> None:
        """Rewrite an operation on device memory; others stay as they are."""
        match op:
            case memref.AllocOp() | memref.AllocaOp():
                self.alloc(op)
            case memref.DeallocOp():
                self.dealloc(op)
            case memref.CopyOp():
                self.copied(op)
            case memref.GetGlobalOp():
                self.constant(op)
            case memref.LoadOp():
                self.load(op)
            case memref.StoreOp():
                self.store(op)
            case LaunchOp():
                self.launch(op)
            case CallOp() | FuncCallOp():
                self.called(op)
            case PrefetchOp():
                erase(op)
            case AssumeAlignmentOp():
                self.replace(op, op.operands[0])
            case _:
                pass

    def replace(self, op: Operation, value: SSAValue) -> None:
        op.results[0].replace_all_uses_with(value)
        erase(op)

    def alloc(self, op: memref.AllocOp | memref.AllocaOp) -> None:
        self.replace(op, self.new(_type_of(op.memref), op.dynamic_sizes))

    def dealloc(self, op: memref.DeallocOp) -> None:
        self.runtime("gpu.free", self.address(op.memref))
        erase(op)

    def copied(self, op: memref.CopyOp) -> None:
        self.copy(op.destination, op.source)
        erase(op)

    def constant(self, op: memref.GetGlobalOp) -> None:
        name = op.name_.string_value()
        if name not in self.constants:
            self.constants.append(name)
        host = self.add(memref.GetGlobalOp(name, op.memref.type))
        number, size = self.number(self.constants.index(name)), self.size(_type_of(host), ())
        memory = self.runtime("gpu.constant", number, self.address(host), size)
        self.replace(op, self.viewed(memory, _type_of(host), ()))

    def element(self, buffer: SSAValue, indices: Sequence[SSAValue]) -> SSAValue:
        """Return the address of an element."""
        type, unknown = _type_of(buffer), iter(self.sizes(buffer))
        place = self.number(0)
        for index, size in zip(indices, type.get_shape(), strict=True):
            extent = next(unknown) if size == DYNAMIC_INDEX else self.number(size)
            place = self.add(arith.AddiOp(self.add(arith.MuliOp(place, extent)), index))
        width = self.size(MemRefType(type.element_type, []), ())
        return self.add(arith.AddiOp(self.address(buffer), self.add(arith.MuliOp(place, width))))

    def load(self, op: memref.LoadOp) -> None:
        slot = self.add(memref.AllocaOp.get(op.res.type, shape=[1]))
        size = self.size(MemRefType(op.res.type, []), ())
        self.runtime("gpu.read", self.address(slot), self.element(op.memref, op.indices), size)
        self.replace(op, self.add(memref.LoadOp.get(slot, [self.number(0)])))

    def store(self, op: memref.StoreOp) -> None:
        size = self.size(MemRefType(op.value.type, []), ())
        slot = self.on_stack(op.value, op.value.type)
        self.runtime("gpu.copy", self.element(op.memref, op.indices), slot, size)
        erase(op)

    def launch(self, op: LaunchOp) -> None:
        name = op.callee.nested_references.data[-1].data
        kinds = self.kinds[name]
        places = [self.argument(name, *row) for row in zip(op.arguments, kinds, strict=True)]
        table = self.add(memref.AllocaOp.get(INDEX, shape=[len(places)]))
        for i, place in enumerate(places):
            self.add(memref.StoreOp.get(place, table, [self.number(i)]))
        grid, number = (op.grid_x, op.grid_y, op.grid_z), self.number(self.kernels.index(name))
        self.runtime("gpu.launch", number, *grid, self.address(table))
        erase(op)

    def argument(self, kernel: str, value: SSAValue, kind: str) -> SSAValue:
        """Return the address of an argument of a kernel, after a check that it has the bits."""
        if is_buffer(value.type):
            return self.on_stack(self.address(value), INDEX)
        type = value.type
        if isinstance(type, IndexType):
            type, whole = IntegerType(int(kind.removeprefix("i"))), value
            value = self.add(arith.IndexCastOp(value, type))
            back = self.add(arith.IndexCastOp(value, INDEX))
            fits = self.add(arith.CmpiOp(back, whole, "eq"))
            self.add(cf.AssertOp(fits, f"kernel @{kernel} takes sizes of {kind}: one exceeds it"))
        return self.on_stack(value, type)

    def called(self, op: CallOp | FuncCallOp) -> None:
        """Pass the state of the call; a function that does not work on the device gets copies of
        its buffers."""
        arguments = op.operands
        if op.callee.string_value() in self.working:
            op.operands = [self.call, *arguments]
            return
        copies: list[tuple[SSAValue, SSAValue]] = []
        for i, buffer in enumerate(arguments):
            if is_buffer(buffer.type):
                type, unknown = _type_of(buffer), self.sizes(buffer)
                shape, element = type.get_shape(), type.element_type
                host = self.add(memref.AllocOp.get(element, 64, shape, dynamic_sizes=unknown))
                self.copy(host, buffer, "gpu.read")
                copies.append((buffer, host))
                op.operands[i] = host
        after = op.next_op
        assert after is not None
        self.point = after
        for buffer, host in copies:
            self.copy(buffer, host)


def _type_of(value: SSAValue) -> MemRefType[Attribute]:
    assert is_buffer(value.type)
    return value.type
