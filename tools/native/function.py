"""Compilation of a function to machine code that can be called with arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, TypeAlias, cast

from xdsl.dialects.builtin import ModuleOp

from ...dialects.target import Target, host
from ...dialects.tir.ops import output_count
from ...interpreters.arguments import check_arguments
from ...interpreters.signature import (
    Function,
    Value,
    entry_function,
    is_buffer,
    result_names,
)
from ...passmanager.context import PassContext
from ...passmanager.errors import PasslineError
from ...passmanager.ir.garbage_collection import paused_collector
from . import cache
from .calls.calling import (
    Buffer,
    Number,
    Status,
    address,
    descriptor,
    parameters_of,
    status_passing,
)
from .calls.interruption import interruptible
from .calls.returned_buffers import ReturnedBuffers
from .compiled import Compiled, in_one_block
from .jit import Code, is_in_process, link, load_llvm, machine_of
from .kernels import compile_kernels, is_divisible
from .lowering import lowering_to_kernels
from .objects import object_code
from .openmp import runtime_symbols, usable_threads
from .preparation.assertions import STOP, Failures
from .preparation.preparation import Prepared, prepare
from .symbols import missing_text, undefined_symbols

if TYPE_CHECKING:
    import llvmlite.binding as llvm

    from ...interpreters.arrays import Array

__all__ = ["Lowering", "NativeFunction", "cached_function", "compile_module"]

Lowering: TypeAlias = Callable[[ModuleOp], ModuleOp]

Passing: TypeAlias = Callable[[object], object]
MAX_CHECKED = 1000
"""The number of different shapes of arguments that a function remembers."""


def compile_module(
    module: ModuleOp, entry: str = "main", target: Target | None = None, threads: int = 1
) -> NativeFunction:
    """Compile a function and the functions that it calls, for `target`, by default this machine.
    A call runs on up to `threads` threads, where there is enough work.

    The module is on tensors, on buffers, or lowered from there: `complete_lowering` runs first. It
    is not changed. Without `target`, kernels are scheduled for the target of the module, if it
    carries one. PasslineError if it cannot be compiled, if this machine cannot run code for
    `target`, or if a tool is missing; the message explains what to install. Without an OpenMP
    runtime, there is a warning, and one thread is used.
    """
    start = perf_counter()
    return load_compiled(compile_code(module, entry, target, threads), start)


def compile_code(
    module: ModuleOp, entry: str = "main", target: Target | None = None, threads: int = 1
) -> Compiled:
    """Compile as `compile_module`, but do not load the code into memory."""
    if threads < 1:
        raise PasslineError(f"the number of threads is {threads}: expected at least 1")
    entry_function(module, entry)
    load_llvm()  # `host` would raise a ValueError without it
    check_runnable(processor := target or host())
    machine, threads = machine_of(processor), usable_threads(threads)
    with paused_collector():
        divided = None
        if is_divisible(module):
            module = lowering_to_kernels(entry, target, threads)(module)
            divided = compile_kernels(module, entry, threads, machine)
        if divided is not None and not missing_symbols(*divided):
            prepared, codes = divided
        else:
            prepared, codes = prepare(module, entry, target, threads), None
    return Compiled(
        prepared.function,
        prepared.entry,
        prepared.by_pointer,
        codes or complete_objects(prepared, processor, machine),
        in_one_block(prepared.constants),
        prepared.failures,
        prepared.is_long,
    )


def load_compiled(compiled: Compiled, start: float) -> NativeFunction:
    """Load a compiled function into memory; `start` is the time when its compilation began.
    PasslineError if this process lacks a function that it calls, and if a result exceeds the limit
    on tensors."""
    parameters = parameters_of(compiled.function)
    for parameter in parameters:
        if isinstance(parameter, Buffer):
            parameter.check_size()
    known = {name: address(array) for name, array in compiled.constants.items()}
    known |= runtime_symbols(undefined_symbols(*compiled.objects))
    return NativeFunction(
        compiled.function,
        parameters,
        link(compiled.objects, compiled.entry, known),
        compiled.by_pointer,
        [*compiled.constants.values()],
        compiled.failures,
        perf_counter() - start,
        is_long=compiled.is_long,
    )


def cached_function(
    module: ModuleOp,
    entry: str,
    target: Target | None,
    *settings: object,
    lower: Lowering,
    threads: int = 1,
) -> NativeFunction:
    """Return a function that is compiled to machine code, from the cache if it is there.

    `lower` does what `settings` describe to the module first; they are part of the key.
    """
    start = perf_counter()
    load_llvm()
    threads = usable_threads(threads)
    known = (entry, target or host(), target is None, threads, digest_of_database())
    key = cache.key_of(module, *known, *settings)
    if (found := cache.load(key)) is not None:
        with suppress(PasslineError):  # a library that was in the process then is not there now
            return load_compiled(found, start)
    compiled = compile_code(lower(module), entry, target, threads)
    function = load_compiled(compiled, start)
    cache.store(key, compiled)
    return function


def digest_of_database() -> str:
    """Return a hash of the database of schedules that legalize-ops reads in the current context;
    an empty text if there is none."""
    match PassContext.current().config.get("legalize-ops"):
        case {"database": str(path)} if path:
            try:
                return sha256(Path(path).read_bytes()).hexdigest()
            except OSError:  # the pass will say so
                return ""
        case _:
            return ""


def check_runnable(target: Target) -> None:
    """Raise PasslineError if this machine cannot run code for `target`."""
    arch = target.triple.partition("-")[0]
    if arch != (own := host().triple.partition("-")[0]):
        raise PasslineError(f"this machine ({own}) cannot run code for {arch}")
    if missing := target.wants - host().wants:
        raise PasslineError(
            f"this machine cannot run code for {target.cpu}: it lacks {', '.join(sorted(missing))}"
        )


def complete_objects(
    prepared: Prepared, target: Target, machine: llvm.TargetMachine
) -> list[bytes]:
    """Compile a prepared module to object files; PasslineError if it calls a function that neither
    the module nor this process defines."""
    codes = object_code(prepared, target, machine)
    if missing := missing_symbols(prepared, codes):
        raise PasslineError(missing_text(prepared.module, missing))
    return codes


def missing_symbols(prepared: Prepared, codes: Sequence[bytes]) -> list[str]:
    """Return the symbols that neither the object files of a module nor this process define."""
    undefined = [n for n in undefined_symbols(*codes) if n not in prepared.constants]
    runtime = runtime_symbols(undefined)
    return [name for name in undefined if name not in runtime and not is_in_process(name)]


class NativeFunction:
    """A compiled function, which is called with arrays and returns its results as new arrays.

    The attribute `tir.outputs` tells which buffers are results; a function without it returns
    nothing and writes to the arrays of the caller. The arrays must not overlap. PasslineError for
    arguments that do not match the type of the function, and for an assertion that fails, such as
    that an index is in bounds. Several threads may call it at once. Ctrl-C stops a call that takes
    long.
    """

    def __init__(
        self,
        function: Function,
        parameters: list[Buffer | Number],
        code: Code,
        by_pointer: bool,
        constants: list[Array],
        failures: Failures,
        compile_seconds: float,
        *,
        is_long: bool = False,
    ) -> None:
        self.compile_seconds = compile_seconds
        """The time of the compilation, in seconds."""
        self.function = function
        """The function as it was compiled: its type, and the names of parameters and results."""
        self._keeps = code, constants
        passed = cast("Passing", address if by_pointer else descriptor)
        inputs = len(parameters) - output_count(function)
        self._inputs = parameters[:inputs]
        self._outputs = [p for p in parameters[inputs:] if isinstance(p, Buffer)]
        self._passings = [passed if isinstance(p, Buffer) else as_is for p in parameters]
        """What makes an argument of the code of an array or a number, for each parameter."""
        self._checked: set[tuple[tuple[int, ...] | None, ...]] = set()
        """The shapes of the arguments of earlier calls, which need not be checked again."""
        self._failures = failures
        self._is_long = is_long
        types = [ctypes.c_void_p if isinstance(p, Buffer) else p for p in parameters]
        returned = [type for type in function.function_type.outputs if is_buffer(type)]
        self._returned = ReturnedBuffers(result_names(function), returned) if returned else None
        if self._returned:
            types.insert(0, ctypes.c_void_p)
        if failures:
            types.append(ctypes.c_void_p)
            self._pass_status = status_passing(by_pointer)
        self._call = ctypes.CFUNCTYPE(None, *types)(code.address)

    @property
    def returns_results(self) -> bool:
        """Whether the results are new arrays; if not, they are arguments that are changed."""
        return bool(self._outputs or self._returned)

    def __call__(self, *arguments: Value | float) -> tuple[Array, ...]:
        if self._are_checked(arguments):
            return self._run(arguments)
        given = check_arguments(self.function, cast("tuple[Value, ...]", arguments))
        if len(self._checked) < MAX_CHECKED:
            self._checked.add(tuple([getattr(value, "shape", None) for value in given]))
        pairs = [*zip(self._inputs, cast("tuple[Array, ...]", given), strict=True)]
        in_place = not self.returns_results
        inputs = [
            p.in_memory(value, writable=in_place) if isinstance(p, Buffer) else value
            for p, value in pairs
        ]
        results = self._run(inputs)
        for (p, value), memory in zip(pairs, inputs, strict=True) if in_place else ():
            if isinstance(p, Buffer) and memory is not value and value.flags.writeable:
                value[...] = p.from_memory(memory)
        return results

    def _are_checked(self, arguments: Sequence[object]) -> bool:
        """Return whether these are arrays that can be passed as they are, of shapes that an earlier
        call had. A quick test: False also for others that fit."""
        if len(arguments) != len(self._inputs):
            return False
        for parameter, argument in zip(self._inputs, arguments, strict=True):
            if not isinstance(parameter, Buffer) or not parameter.is_in_memory(argument):
                return False
        arrays = cast("Sequence[Array]", arguments)
        return tuple([array.shape for array in arrays]) in self._checked

    def _run(self, inputs: Sequence[object]) -> tuple[Array, ...]:
        """Call the code with the arrays and numbers as it stores them, and allocate the results."""
        outputs = [p.new() for p in self._outputs]
        values = zip(self._passings, (*inputs, *outputs), strict=True)
        passed = [passing(value) for passing, value in values]
        returned = None if self._returned is None else self._returned.new()
        if returned is not None:
            passed.insert(0, returned)
        if not self._failures:
            self._call(*passed)
        else:
            status = Status()
            passed.append(self._pass_status(status))
            if self._is_long:
                with interruptible(lambda: status.__setitem__(STOP, 1)):
                    self._call(*passed)
            else:
                self._call(*passed)
            if status[0]:
                if returned is not None and self._returned is not None:
                    self._returned.free(returned)
                raise PasslineError(self._failures.text([*status]))
        if returned is not None and self._returned is not None:
            return self._returned.arrays(returned)
        return tuple([p.from_memory(m) for p, m in zip(self._outputs, outputs, strict=True)])


def as_is(value: object) -> object:
    """Return a number, which ctypes converts."""
    return value
