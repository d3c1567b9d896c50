"""Object code of prepared modules, the parts of large ones compiled at the same time."""

from __future__ import annotations

import pickle
import struct
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.llvm import AddressOfOp, CallIntrinsicOp, CallOp, FuncOp, GlobalOp
from xdsl.ir import Operation

from ...dialects.target import Target
from ...passmanager.errors import PasslineError
from ...passmanager.forks import available_cores
from ...passmanager.ir.location import place_of
from ...passmanager.ir.walk import walk
from ...passmanager.output.status import doing
from ..interpreters.codegens import CODEGEN
from . import codegen
from .jit import cannot_parse, optimize, processor_of
from .llvm_printer import llvm_ir
from .preparation.preparation import Prepared
from .preparation.soft_promotion import CONVERSION

if TYPE_CHECKING:
    import llvmlite.binding as llvm


T = TypeVar("T")

PART_WORK = 1500
"""The minimum operations for which a process of its own pays: it starts in about 0.1 s."""


class Part(NamedTuple):
    """The LLVM IR of a module, with the bodies of some of its functions."""

    ir: str
    exported: tuple[str, ...]
    """The functions in it that others call."""


def parts_of(module: ModuleOp, entry: str, count: int, inlined: str) -> list[Part]:
    """Return a module as up to `count` parts of about the same size, one if it is small.

    A function is in one part, and declared in the others; one whose name starts with `inlined`, and
    constants, are in each part. A module with variables is one part.
    """
    functions = {
        op.sym_name.data: op
        for op in module.ops
        if isinstance(op, FuncOp) and op.body.first_block is not None
    }
    divided = [name for name in functions if not name.startswith(inlined)]
    sizes = {name: sum(1 for _ in walk(functions[name])) for name in divided}
    count = min(count, len(divided), sum(sizes.values()) // PART_WORK)
    if count < 2 or not all(map(is_constant, module.ops)):
        return [Part(llvm_ir(module, exported=(entry,)), (entry,))]
    called = {name: called_by(functions[name]) for name in divided}
    parts: list[Part] = []
    for group in balanced(sizes, count):
        others = {name for other in divided if other not in group for name in called[other]}
        exported = tuple(name for name in group if name == entry or name in others)
        left_out = {*divided}.difference(group)
        parts.append(Part(llvm_ir(module, exported=exported, declared=left_out), exported))
    return parts


def balanced(sizes: Mapping[T, int], count: int) -> list[list[T]]:
    """Distribute items to `count` groups of similar total size, the largest items first."""
    groups: list[list[T]] = [[] for _ in range(count)]
    totals = [0] * count
    for item in sorted(sizes, key=lambda item: -sizes[item]):
        lightest = totals.index(min(totals))
        groups[lightest].append(item)
        totals[lightest] += sizes[item]
    return groups


def is_constant(op: object) -> bool:
    """Return whether each part of a module may have `op`: it is not a variable."""
    return not isinstance(op, GlobalOp) or op.constant is not None or op.value is None


def called_by(function: FuncOp) -> Sequence[str]:
    """Return the names of the functions that a function refers to."""
    found: list[str] = []
    for op in walk(function):
        if isinstance(op, CallOp) and op.callee is not None:
            found.append(op.callee.string_value())
        elif isinstance(op, AddressOfOp):
            found.append(op.global_name.string_value())
    return found


def object_code(prepared: Prepared, target: Target, machine: llvm.TargetMachine) -> list[bytes]:
    """Compile a prepared module to object files, for `target`; `machine` is LLVM's for it.

    A large module is compiled in parts, one for each core of this process.
    """
    parts = parts_of(prepared.module, prepared.entry, available_cores(), CONVERSION)
    done = list[int]()

    def compiled(part: Part) -> bytes:
        code = compile_apart(part, processor_of(target))
        done.append(len(part.exported))
        return code

    with compiling(sum(len(part.exported) for part in parts), lambda: sum(done)):
        if len(parts) == 1:
            return [machine.emit_object(optimize(parts[0].ir, [prepared.entry], machine))]
        with ThreadPoolExecutor(len(parts)) as threads:
            return [*threads.map(compiled, parts)]


def compiling(total: int, done: Callable[[], int]) -> AbstractContextManager[None]:
    """Show on the terminal that LLVM compiles functions, and which part of them is done."""
    text = "compiling with LLVM" if total == 1 else f"compiling {total} functions with LLVM"
    return doing(text, lambda: done() / max(1, total))


START = """import runpy, sys
script, *sys.path = sys.argv[1:]
runpy.run_path(script, run_name="__main__")"""
"""The program of a worker. It imports llvmlite from where this process does; the current directory
and the environment have no influence."""


def compile_apart(part: Part, processor: codegen.Processor) -> bytes:
    """Return the object file of a part, made in a process; PasslineError if LLVM fails.

    LLVM runs in threads of this process one at a time: llvmlite holds a lock.
    """
    command = [sys.executable, "-I", "-S", "-c", START, codegen.__file__, *sys.path]
    request = pickle.dumps((*part, CONVERSION, tuple(processor)))
    done = subprocess.run(command, input=request, capture_output=True)
    errors = done.stderr.decode(errors="replace").strip()
    if done.returncode == codegen.CANNOT_PARSE:
        raise cannot_parse(errors)
    if done.returncode:
        raise PasslineError(
            f"a process that compiles a part of the module ended with status {done.returncode}: "
            f"{errors[-1000:] or 'no error message'}"
        )
    return done.stdout


# The undefined symbols of object code, and the operations that refer to them.


ELF64 = b"\x7fELF\x02\x01"
"""The first bytes of an ELF file of 64 bits, little-endian."""
SYMBOL_TABLE = 2
"""The type of the section with the symbols."""
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
TABLE, COUNTS = 0x28, 0x3C
"""Offsets in the header: the table of sections, their number and the section of names."""


def undefined_symbols(*codes: bytes) -> list[str]:
    """Return the symbols that no object file of several defines, in the order of their symbol
    tables; none for files that are not little-endian ELF of 64 bits."""
    found = [symbols_in(code, sections_of(code)) for code in codes if code.startswith(ELF64)]
    symbols = dict.fromkeys((name, is_defined) for each in found for _, name, is_defined in each)
    defined = {name for name, is_defined in symbols if is_defined}
    # The linker defines this symbol itself.
    defined.add("_GLOBAL_OFFSET_TABLE_")
    return [name for name, _ in symbols if name not in defined]


def sections_of(code: bytes | bytearray) -> list[list[int]]:
    """Return the fields in the header of each section of an ELF file."""
    (table,) = struct.unpack_from("<Q", code, TABLE)
    (count,) = struct.unpack_from("<H", code, COUNTS)
    return [[*SECTION.unpack_from(code, table + i * SECTION.size)] for i in range(count)]


def symbols_in(
    code: bytes | bytearray, sections: Sequence[Sequence[int]]
) -> Iterator[tuple[int, str, bool]]:
    """Yield the offset and name of each ELF symbol, and whether it is defined."""
    for _, kind, _, _, offset, size, link, *_ in sections:
        if kind == SYMBOL_TABLE:
            for entry in range(offset, offset + size, SYMBOL.size):
                name, _, _, section, _, _ = SYMBOL.unpack_from(code, entry)
                if name:
                    start = sections[link][4] + name
                    yield entry, code[start : code.index(b"\0", start)].decode(), bool(section)


def missing_text(module: ModuleOp, missing: Iterable[str], place: str = "this process") -> str:
    """Return an error message about symbols that neither a module in the dialect llvm nor `place`
    defines, with an operation that needs each, if there is one."""
    users: dict[str, Operation] = {}
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
    for op in walk(module):
        if isinstance(op, CallOp) and op.callee is not None:
            users.setdefault(op.callee.string_value(), op)
        elif isinstance(op, CallIntrinsicOp):  # llvm.sin.f64 becomes sin, that of f32 sinf
            name = op.intrin.data.split(".")[1]
            users.setdefault(name, op)
            users.setdefault(f"{name}f", op)
    return "; ".join(
        f"function @{symbol} {_lack(functions.get(symbol), place)}"
        + (f": the call{place_of(users[symbol])} needs it" if symbol in users else "")
        for symbol in missing
    )


def _lack(callee: FuncOp | None, place: str) -> str:
    name = None if callee is None else callee.attributes.get(CODEGEN)
    if isinstance(name, StringAttr):
        return (
            f"is computed by the back end '{name.data}', which only the engine numpy calls, "
            "not machine code"
        )
    return f"is called, but has no body, neither in the module nor in {place}"
