"""Object code of prepared modules, the parts of large ones compiled at the same time."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from ...dialects.target import Target
from ...passmanager.errors import PasslineError
from . import codegen
from .jit import cannot_parse, optimize, processor_of
from .parts import Part, parts_of
from .preparation.preparation import Prepared
from .preparation.soft_promotion import CONVERSION

if TYPE_CHECKING:
    import llvmlite.binding as llvm

__all__ = ["object_code"]


def object_code(prepared: Prepared, target: Target, machine: llvm.TargetMachine) -> list[bytes]:
    """Compile a prepared module to object files, for `target`, of which `machine` is LLVM's.

    A large module is compiled in parts, one for each core of this process.
    """
    parts = parts_of(prepared.module, prepared.entry, available_cores(), CONVERSION)
    if len(parts) == 1:
        return [machine.emit_object(optimize(parts[0].ir, prepared.entry, machine))]

    def compiled(part: Part) -> bytes:
        with Worker() as worker:
            return worker.compile(part.ir, part.exported, processor_of(target))

    with ThreadPoolExecutor(len(parts)) as threads:
        return [*threads.map(compiled, parts)]


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
