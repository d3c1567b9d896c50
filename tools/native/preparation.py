"""Preparation of modules for MLIR's tools."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING

from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    NoneAttr,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...analysis.device_analyzer import DEVICE
from ...compat.memref import dim_op
from ...dialects.relax.device import DeviceAttr
from ...dialects.target import Target
from ...interpreters.signature import Function, entry_function, is_buffer
from ...passes.rewriting.dead_symbols import remove_unreachable_symbols
from ...passmanager.errors import PasslineError
from ...passmanager.ir.clone import clone
from ...passmanager.ir.location import place_of
from ...passmanager.ir.printer import ExactPrinter, PrintStyle
from ...passmanager.ir.walk import walk
from .assertions import Failures, report_assertions
from .byte_storage import store_as_bytes
from .lowering import complete_lowering, is_lowered
from .math import expand_math
from .owned_memory import assert_allocated
from .pointer_arguments import is_bare, pass_pointers
from .polls import insert_polls
from .soft_promotion import soft_promote

if TYPE_CHECKING:
    from ...interpreters.arrays import Array

__all__ = [
    "C_INTERFACE",
    "PREFIX",
    "Elsewhere",
    "Prepared",
    "check_dialects",
    "is_plain",
    "mlir_text",
    "prepare",
    "prepare_lowered",
    "prepare_operations",
    "takes_pointers",
    "without_values",
]

PREFIX = "passline."
C_INTERFACE = "_mlir_ciface_"
KNOWN_DIALECTS = frozenset(
    ("affine", "arith", "builtin", "cf", "func", "index", "llvm", "math", "memref", "scf", "ub")
) | {"vector"}
TEXT_BYTES = 1024
"""Larger constants are not printed as text: LLVM gets the address of their elements."""


@dataclass(frozen=True)
class Prepared:
    """A module that MLIR's tools can translate to LLVM IR."""

    module: ModuleOp
    function: Function
    """The function to call, as it was before the preparation."""
    entry: str
    """The symbol of the function to call."""
    by_pointer: bool
    """Whether buffers are passed as the address of their first element, or as descriptors."""
    constants: dict[str, Array]
    """The elements of the large globals, which are only declared in the module, by name."""
    failures: Failures
    """What may fail; if something may, the function has one more parameter, the status."""
    is_long: bool
    """Whether a call may take long, and can be interrupted by the status."""
    threads: int
    """The threads that share the iterations of parallel loops."""


def prepare(
    module: ModuleOp, entry: str, target: Target | None = None, threads: int = 1
) -> Prepared:
    """Lower a copy of the function `entry` and the functions that it calls, as far as xDSL can."""
    if is_lowered(module):
        lowered = clone(module)
    else:
        lowered = complete_lowering(entry, target, threads)(module)
    return prepare_lowered(lowered, entry, threads)


@dataclass(frozen=True)
class Elsewhere:
    """The functions that a module only declares, as they are compiled in other parts of it."""

    work: Mapping[str, int]
    """The operations of each function."""
    failing: frozenset[str] = frozenset()
    """The functions that may fail."""
    parts: int = 1
    """The number of all parts; the module itself is the first one."""


def prepare_lowered(
    module: ModuleOp, entry: str, threads: int, elsewhere: Elsewhere = Elsewhere({})
) -> Prepared:
    """Prepare a lowered module, which is changed."""
    remove_unreachable_symbols(module, (entry,), functions=True)
    check_dialects(module)
    by_pointer = takes_pointers(module)
    function, symbol = clone(entry_function(module, entry)), PREFIX + entry
    is_long = insert_polls(module, entry, elsewhere.work)
    assert_allocated(module)
    failures = report_assertions(module, 0, elsewhere.parts, elsewhere.failing)
    if not by_pointer:
        entry_function(module, entry).attributes["llvm.emit_c_interface"] = UnitAttr()
        symbol = C_INTERFACE + symbol
    prepare_operations(module, threads, elsewhere.work)
    if not by_pointer:
        pass_pointers(module, PREFIX + entry)
    constants = without_values(module)
    return Prepared(module, function, symbol, by_pointer, constants, failures, is_long, threads)


def prepare_operations(module: ModuleOp, threads: int, elsewhere: Collection[str] = ()) -> None:
    """Prepare the operations of a module by themselves, and prefix its symbols, and those of the
    functions `elsewhere`, which it only declares."""
    remove_devices(module)
    prefix_symbols(module, PREFIX, elsewhere)
    hoist_allocas(module, threads)
    expand_copies(module)
    store_as_bytes(module)
    soft_promote(module)
    expand_math(module)


def check_dialects(module: ModuleOp) -> None:
    """Raise PasslineError for the first operation of a dialect that is not converted to LLVM."""
    for op in walk(module):
        if op.name.partition(".")[0] not in KNOWN_DIALECTS:
            raise PasslineError(
                f"'{op.name}'{place_of(op)} cannot be compiled to machine code: no pass lowers it "
                "to a dialect of MLIR"
            )


def remove_devices(module: ModuleOp) -> None:
    """Remove the devices of functions, parameters and results, which mlir-opt cannot read."""
    for op in module.ops:
        if isinstance(op, func.FuncOp):
            op.attributes.pop(DEVICE, None)
            if op.arg_attrs is not None:
                op.arg_attrs = without_devices(op.arg_attrs)
            if op.res_attrs is not None:
                op.res_attrs = without_devices(op.res_attrs)


def without_devices(attributes: ArrayAttr[DictionaryAttr]) -> ArrayAttr[DictionaryAttr]:
    """Return the attributes of parameters or results without those whose value is a device."""
    return ArrayAttr(
        DictionaryAttr({k: v for k, v in each.data.items() if not isinstance(v, DeviceAttr)})
        for each in attributes
    )


def prefix_symbols(module: ModuleOp, prefix: str, elsewhere: Collection[str] = ()) -> None:
    """Add `prefix` to the names of globals and of functions with a body, here or in another part
    (`elsewhere`), which could otherwise collide with functions of the C library."""
    defined = [
        op
        for op in module.ops
        if isinstance(op, memref.GlobalOp)
        or (
            isinstance(op, func.FuncOp) and (not op.is_declaration or op.sym_name.data in elsewhere)
        )
    ]
    names = {op.sym_name.data for op in defined}
    for op in defined:
        op.sym_name = StringAttr(prefix + op.sym_name.data)
    for op in walk(module):
        if isinstance(op, func.CallOp) and op.callee.string_value() in names:
            op.callee = SymbolRefAttr(prefix + op.callee.string_value())
        elif isinstance(op, memref.GetGlobalOp) and op.name_.string_value() in names:
            op.name_ = SymbolRefAttr(prefix + op.name_.string_value())


def hoist_allocas(module: ModuleOp, threads: int) -> None:
    """Move stack allocations of static size to the entry block of their function, as an allocation
    in a loop would take stack space in each iteration. In parallel loops, they become allocations
    on the heap if there are several threads: each needs memory of its own."""
    for function in module.ops:
        if not isinstance(function, func.FuncOp) or function.is_declaration:
            continue
        entry = function.body.blocks[0]
        for op in [*walk(function)]:
            if not isinstance(op, memref.AllocaOp):
                continue
            if threads > 1 and is_in_parallel_loop(op):
                put_on_heap(op)
            elif op.parent is not entry and not op.operands:
                op.detach()
                Rewriter.insert_op(op, InsertPoint.at_start(entry))


def is_in_parallel_loop(op: Operation) -> bool:
    """Return whether `op` is in a parallel loop."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, scf.ParallelOp):
        parent = parent.parent_op()
    return parent is not None


def put_on_heap(op: memref.AllocaOp) -> None:
    """Replace an allocation on the stack by one on the heap that lives as long as its block."""
    new = memref.AllocOp.create(
        operands=op.operands,
        result_types=op.result_types,
        properties=op.properties,
        location=op.location,
    )
    assert op.parent is not None and (end := op.parent.last_op) is not None
    Rewriter.replace_op(op, new)
    Rewriter.insert_op(memref.DeallocOp.get(new.memref), InsertPoint.before(end))


def expand_copies(module: ModuleOp) -> None:
    """Replace copies from or to strided views by loops: MLIR would call its runtime library."""
    for op in [op for op in walk(module) if isinstance(op, memref.CopyOp)]:
        source, target = op.source.type, op.destination.type
        if is_buffer(source) and is_buffer(target) and not (is_plain(source) and is_plain(target)):
            _copy_by_loops(op, source)


def _copy_by_loops(op: memref.CopyOp, type: MemRefType[Attribute]) -> None:
    point = InsertPoint.before(op)

    def add(new: Operation) -> SSAValue:
        new.location = op.location
        Rewriter.insert_op(new, point)
        return new.results[0] if new.results else op.source

    def constant(value: int) -> SSAValue:
        return add(arith.ConstantOp(IntegerAttr(value, IndexType())))

    zero, one = constant(0), constant(1)
    sizes = [
        add(dim_op(op.source, constant(axis))) if size == DYNAMIC_INDEX else constant(size)
        for axis, size in enumerate(type.get_shape())
    ]
    indices: list[SSAValue] = []
    for size in sizes:
        body = Block([scf.YieldOp()], arg_types=[IndexType()])
        add(scf.ForOp(zero, size, one, [], body))
        indices.append(body.args[0])
        point = InsertPoint.at_start(body)
    value = add(memref.LoadOp.get(op.source, indices))
    add(memref.StoreOp.get(value, op.destination, indices))
    Rewriter.erase_op(op)


def takes_pointers(module: ModuleOp) -> bool:
    """Return whether all buffers that are parameters can be passed as bare pointers, and none is a
    result."""
    types = [op.function_type for op in module.ops if isinstance(op, func.FuncOp)]
    return all(
        is_bare(type) for each in types for type in each.inputs if is_buffer(type)
    ) and not any(is_buffer(type) for each in types for type in each.outputs)


def is_plain(type: MemRefType[Attribute]) -> bool:
    """Return whether a memref type has no layout: its elements are contiguous, in row-major
    order."""
    return isinstance(type.layout, NoneAttr)


# Constants


def without_values(module: ModuleOp) -> dict[str, Array]:
    """Turn globals of more than `TEXT_BYTES` into declarations, and return their elements by name.

    The array of a constant global is a view of the bytes of its attribute.
    """
    arrays: dict[str, Array] = {}
    for op in module.ops:
        if not isinstance(op, memref.GlobalOp):
            continue
        value = op.initial_value
        if isinstance(value, DenseIntOrFPElementsAttr) and len(value.data.data) > TEXT_BYTES:
            arrays[op.sym_name.data] = _memory(value, writable=op.constant is None)
            for name in ("initial_value", "sym_visibility", "alignment"):
                op.properties.pop(name, None)
    return arrays


def _memory(value: DenseIntOrFPElementsAttr, writable: bool) -> Array:
    """Return the elements as LLVM stores them."""
    import numpy as np

    data: Array = np.frombuffer(value.data.data, np.uint8)
    return data.copy() if writable else data


def mlir_text(op: Operation) -> str:
    """Return a module or another operation as text in the generic form, which all versions of MLIR
    parse, with locations for error messages."""
    printer = ExactPrinter(stream := StringIO(), PrintStyle(generic=True, debuginfo=True))
    printer.print_op(op)
    return stream.getvalue()
