"""Preparation of lowered modules, and their way to the dialect llvm."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects import arith, func, llvm, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from ....dialects.target import Target
from ....dialects.tir.ops import LanewiseOp
from ....passes.generic.dead_code_elimination import remove_unreachable_symbols
from ....passes.llvm.lower_parallel import share_loops
from ....passes.llvm.lower_to_llvm import lower_to_llvm
from ....passmanager.errors import PasslineError
from ....passmanager.fast.clone import clone
from ....passmanager.ir.location import place_of
from ....passmanager.ir.walk import ops_of, walk
from ....passmanager.releases.memref import dim_op
from ...interpreters.signature import Function, entry_function, is_buffer
from ..lowering import complete_lowering, is_lowered
from ..parameters import is_plain, parameters_of
from .assertions import Failures, report_assertions
from .expansion import expand_math
from .owned_memory import assert_allocated, check_returned, insert_polls
from .small_floats import store_as_bytes
from .soft_promotion import soft_promote

if TYPE_CHECKING:
    from ...interpreters.arrays import Array


PREFIX = "passline."
KNOWN_DIALECTS = frozenset(
    ("affine", "arith", "builtin", "cf", "func", "index", "llvm", "math", "memref", "scf", "ub")
) | {"vector"}
TEXT_BYTES = 1024
"""Larger constants are not printed as text: LLVM gets the address of their elements."""


@dataclass(frozen=True)
class Prepared:
    """A module in the dialect llvm."""

    module: ModuleOp
    function: Function
    """The function to call, as it was before the preparation."""
    entry: str
    """The symbol of the function to call."""
    constants: dict[str, Array]
    """The elements of the large globals, which are only declared in the module, by name."""
    failures: Failures
    """The assertions that may fail; if any, the function has one more parameter, the status."""
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
    """Prepare a lowered module, which is changed. PasslineError if a parameter or a result of the
    function is none that a caller in C has."""
    remove_unreachable_symbols(module, (entry,), functions=True)
    widen_lanes(module)
    check_dialects(module)
    function = clone(entry_function(module, entry))
    parameters_of(function)
    check_returned(module)
    is_long = insert_polls(module, entry, elsewhere.work)
    assert_allocated(module)
    failures = report_assertions(module, 0, elsewhere.parts, elsewhere.failing)
    prepare_operations(module, threads, elsewhere.work)
    constants = without_values(module)
    return Prepared(module, function, PREFIX + entry, constants, failures, is_long, threads)


def prepare_operations(module: ModuleOp, threads: int, elsewhere: Collection[str] = ()) -> None:
    """Turn a prepared module into the dialect llvm, with a prefix before its symbols, and those of
    the functions `elsewhere`, which it only declares."""
    if threads > 1:
        share_loops(module, threads)
    prefix_symbols(module, PREFIX, elsewhere)
    hoist_allocas(module)
    expand_copies(module)
    store_as_bytes(module)
    soft_promote(module)
    expand_math(module)
    lower_to_llvm(module)


def widen_lanes(module: ModuleOp) -> None:
    """Replace `tir.lanewise` by the operations of arith on vectors, as MLIR has them."""
    for op in ops_of(module, LanewiseOp):
        Rewriter.replace_op(op, op.on(op.arguments, op.res.type))


def check_dialects(module: ModuleOp) -> None:
    """Raise PasslineError for the first operation of a dialect that is not converted to LLVM."""
    first: dict[type[Operation], Operation] = {}
    for op in walk(module):
        first.setdefault(type(op), op)  # an operation that is not registered has a class of its own
    for op in first.values():
        if op.name.partition(".")[0] not in KNOWN_DIALECTS:
            raise PasslineError(
                f"'{op.name}'{place_of(op)} cannot be compiled to machine code: no pass lowers it "
                "to a dialect of MLIR"
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
    for op in ops_of(module, func.CallOp, memref.GetGlobalOp):
        if isinstance(op, func.CallOp) and op.callee.string_value() in names:
            op.callee = SymbolRefAttr(prefix + op.callee.string_value())
        elif isinstance(op, memref.GetGlobalOp) and op.name_.string_value() in names:
            op.name_ = SymbolRefAttr(prefix + op.name_.string_value())


def hoist_allocas(module: ModuleOp) -> None:
    """Move stack allocations of static size to the entry block of their function, as an allocation
    in a loop would take stack space in each iteration."""
    for function in module.ops:
        if not isinstance(function, func.FuncOp) or function.is_declaration:
            continue
        entry = function.body.blocks[0]
        for op in ops_of(function, memref.AllocaOp):
            if op.parent is not entry and not op.operands:
                op.detach()
                Rewriter.insert_op(op, InsertPoint.at_start(entry))


def expand_copies(module: ModuleOp) -> None:
    """Replace copies from or to strided views by loops: MLIR would call its runtime library."""
    for op in ops_of(module, memref.CopyOp):
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


# Constants


def without_values(module: ModuleOp) -> dict[str, Array]:
    """Turn globals of more than `TEXT_BYTES` into declarations, and return their elements by name.

    The array of a constant global is a view of the bytes of its attribute.
    """
    arrays: dict[str, Array] = {}
    for op in module.ops:
        if not isinstance(op, llvm.GlobalOp):
            continue
        value = op.value
        if isa(value, DenseIntOrFPElementsAttr) and len(value.data.data) > TEXT_BYTES:
            arrays[op.sym_name.data] = _memory(value, writable=op.constant is None)
            op.linkage = llvm.LinkageAttr("external")
            op.value = op.alignment = None
    return arrays


def _memory(value: DenseIntOrFPElementsAttr, writable: bool) -> Array:
    """Return the elements as LLVM stores them."""
    import numpy as np

    data: Array = np.frombuffer(value.data.data, np.uint8)
    return data.copy() if writable else data
