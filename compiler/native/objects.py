"""Object code of prepared modules, the parts of large ones compiled at the same time."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.llvm import AddressOfOp, CallOp, FuncOp, GlobalOp

from ...dialects.target import Target
from ...passmanager.errors import PasslineError
from ...passmanager.ir.walk import walk
from ...passmanager.output.status import doing
from . import codegen
from .jit import cannot_parse, optimize, processor_of
from .llvm_ir import llvm_ir
from .preparation.preparation import Prepared
from .preparation.soft_promotion import CONVERSION

if TYPE_CHECKING:
    import llvmlite.binding as llvm

__all__ = ["Part", "balanced", "compiling", "object_code", "parts_of"]

T = TypeVar("T")

PART_WORK = 1500
"""The least operations for which a process of its own pays: it starts in about 0.1 s."""


@dataclass(frozen=True)
class Part:
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
    """Return items in `count` groups of about the same total size; the largest ones are distributed
    first."""
    groups: list[list[T]] = [[] for _ in range(count)]
    totals = [0] * count
    for item in sorted(sizes, key=lambda item: -sizes[item]):
        least = totals.index(min(totals))
        groups[least].append(item)
        totals[least] += sizes[item]
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
    """Compile a prepared module to object files, for `target`, of which `machine` is LLVM's.

    A large module is compiled in parts, one for each core of this process.
    """
    parts = parts_of(prepared.module, prepared.entry, available_cores(), CONVERSION)
    done = list[int]()

    def compiled(part: Part) -> bytes:
        with Worker() as worker:
            code = worker.compile(part.ir, part.exported, processor_of(target))
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


def available_cores() -> int:
    """Return the number of cores on which this process may run."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


START = """import runpy, sys
script, *sys.path = sys.argv[1:]
runpy.run_path(script, run_name="__main__")"""
"""The program of a worker. It imports llvmlite from where this process does; the current directory
and the environment have no influence."""


class Worker:
    """A process that compiles one part of a module. LLVM runs in threads of this process one at a
    time: llvmlite holds a lock."""

    def __init__(self) -> None:
        command = [sys.executable, "-I", "-S", "-c", START, codegen.__file__, *sys.path]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()

    def compile(self, ir: str, exported: tuple[str, ...], processor: codegen.Processor) -> bytes:
        """Return the object file of LLVM IR; PasslineError if LLVM fails."""
        request = codegen.Request(ir, exported, CONVERSION, processor)
        plain = (*request[:-1], tuple(processor))
        output, errors = self.process.communicate(pickle.dumps(plain))
        if self.process.returncode == codegen.CANNOT_PARSE:
            raise cannot_parse(errors.decode(errors="replace").strip())
        if self.process.returncode:
            status = self.process.returncode
            raise PasslineError(
                f"a process that compiles a part of the module ended with status {status}: "
                f"{errors.decode(errors='replace').strip()[-1000:] or 'no error message'}"
            )
        return output
