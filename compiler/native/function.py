"""Compilation of a function to machine code that can be called with arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from operator import is_
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from xdsl.dialects.builtin import ModuleOp

from ...dialects.target import Target, entered_target, host
from ...dialects.tir.ops import output_count
from ...passmanager.context import PassContext
from ...passmanager.errors import PasslineError
from ...passmanager.ir.garbage_collection import paused_collector
from ..interpreters.arguments import check_arguments, has_related_sizes
from ..interpreters.signature import Value, entry_function
from . import cache
from .compiled import Compiled, in_one_block
from .entry import (
    ALLOCATE,
    ALLOCATION_IR,
    ENTRY,
    FAILED,
    REFUSED,
    builtin_function,
    entry_ir,
    interruptible,
)
from .jit import (
    is_in_process,
    link,
    load_llvm,
    machine_of,
    optimize,
    processor_of,
    runtime_symbols,
    target_machine,
    usable_threads,
)
from .kernel_groups import compile_kernels, is_divisible
from .lowering import lowering_to_kernels
from .objects import missing_text, object_code, undefined_symbols
from .parameters import BufferParameter, CallWords, address, parameters_of
from .preparation.assertions import STATUS_WORDS, STOP
from .preparation.preparation import Prepared, prepare

if TYPE_CHECKING:
    import llvmlite.binding as llvm

    from ..interpreters.arrays import Array


Lowering: TypeAlias = Callable[[ModuleOp], ModuleOp]

MAX_CHECKED = 1000
"""The number of different shapes of arguments that a function remembers."""


def compile_module(
    module: ModuleOp, entry: str = "main", target: Target | None = None, threads: int = 1
) -> NativeFunction:
    """Compile a function and the functions that it calls, for `target`, by default the entered one,
    or this machine. A call runs on up to `threads` threads, where there is enough work.

    The module is on tensors, on buffers, or lowered from there: `complete_lowering` runs first. It
    is not changed. If the module carries a target, it takes the place of the entered one: kernels
    are scheduled for it, and the code is for this machine. PasslineError if it cannot be compiled,
    if this machine cannot run code for `target`, or if a tool is missing; the message explains what
    to install. Without an OpenMP runtime, there is a warning, and one thread is used.
    """
    start = perf_counter()
    return NativeFunction(compile_code(module, entry, target, threads), start)


def compile_code(
    module: ModuleOp, entry: str = "main", target: Target | None = None, threads: int = 1
) -> Compiled:
    """Compile as `compile_module`, but do not load the code into memory."""
    if threads < 1:
        raise PasslineError(f"the number of threads is {threads}: expected at least 1")
    entry_function(module, entry)
    load_llvm()  # `host` would raise a ValueError without it
    target = target or entered_target(module)
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
    codes = codes or complete_objects(prepared, processor, machine)
    return Compiled(
        prepared.function,
        [*codes, entry_object(prepared, processor)],
        in_one_block(prepared.constants),
        prepared.failures,
        prepared.is_long,
    )


def cached_function(
    module: ModuleOp,
    entry: str,
    target: Target | None,
    *settings: object,
    lower: Lowering,
    threads: int = 1,
) -> NativeFunction:
    """Return a function that is compiled to machine code, from the cache if it is there. One that
    code of this process alone takes part in is not kept.

    `lower` does what `settings` describe to the module first; they are part of the key.
    """
    start = perf_counter()
    load_llvm()
    threads = usable_threads(threads)
    target = target or entered_target(module)
    if not cache.is_covered(module):
        return NativeFunction(compile_code(lower(module), entry, target, threads), start)
    known = (entry, target or host(), target is None, threads, digest_of_database())
    key = cache.key_of(module, *known, *settings)
    if (found := cache.load(key)) is not None:
        with suppress(PasslineError):  # a library that was in the process then is not there now
            return NativeFunction(found, start)
    compiled = compile_code(lower(module), entry, target, threads)
    function = NativeFunction(compiled, start)
    cache.store(key, compiled)
    return function


def digest_of_database() -> str:
    """Return a hash of the database of schedules that legalize-ops reads in the current context;
    "" if there is none."""
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


def entry_object(prepared: Prepared, target: Target) -> bytes:
    """Compile the entry of a prepared function. It is not optimized: that takes milliseconds, and
    gains nanoseconds in a call."""
    ir = entry_ir(prepared.function, prepared.entry, has_status=bool(prepared.failures))
    machine = target_machine(*processor_of(target)._replace(opt=0))
    return machine.emit_object(optimize(ir + ALLOCATION_IR, (ENTRY, ALLOCATE), machine, level=0))


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

    def __init__(self, compiled: Compiled, start: float) -> None:
        """Load a compiled function into memory; `start` is when its compilation began.

        PasslineError if this process lacks a function that it calls, or if a result exceeds the
        limit on tensors.
        """
        import numpy as np

        from ..interpreters import dlpack

        self.function = function = compiled.function
        """The function as it was compiled: its type, and the names of parameters and results."""
        parameters = parameters_of(function)
        for parameter in parameters:
            if isinstance(parameter, BufferParameter):
                parameter.check_size()
        known = {name: address(array) for name, array in compiled.constants.items()}
        known |= runtime_symbols(undefined_symbols(*compiled.objects))
        self._call = builtin_function(link(compiled.objects, ENTRY, known))
        self.compile_seconds = perf_counter() - start
        """The time of the compilation, in seconds."""
        self._inputs = parameters[: len(parameters) - output_count(function)]
        self._layout = CallWords(function)
        self._keeps = [*compiled.constants.values()]
        outputs = [p for p in parameters[len(self._inputs) :] if isinstance(p, BufferParameter)]
        self._outputs = outputs
        self._new = [output.new for output in outputs]
        self._results = outputs or self._layout.buffers
        self._has_narrow = any(result.narrow for result in self._results)
        self._failures, self._is_long = compiled.failures, compiled.is_long
        self._interface_of: Callable[[Any], object] = np.ndarray.__array_struct__.__get__  # pyright: ignore
        self._dlpack = dlpack
        self._shape_of: Callable[[Any], tuple[int, ...]] = np.ndarray.shape.__get__  # pyright: ignore
        needs_check = has_related_sizes(function) or any(p.narrow for p in self._inputs)
        self._checked = set[tuple[tuple[int, ...], ...]]() if needs_check else None
        """The shapes that were checked already; None if the code itself checks all."""

    @property
    def returns_results(self) -> bool:
        """Whether the results are new arrays; if not, they are arguments that are changed."""
        return bool(self._results)

    def __call__(self, *arguments: Value | float) -> tuple[Array, ...]:
        if self._checked is None or self._are_checked(arguments):
            results = self._run(arguments)
            if results is not None:
                return self._widened(results) if self._has_narrow else results
        return self._run_otherwise(arguments)

    def _are_checked(self, arguments: Sequence[object]) -> bool:
        """Return whether an earlier call had arrays of these shapes."""
        try:
            return tuple(map(self._shape_of, arguments)) in cast("set[object]", self._checked)
        except TypeError:  # not all are arrays
            return False

    def call_into(self, memory: Sequence[Array], arguments: Sequence[Value]) -> Sequence[Array]:
        """Call the function with arrays of numpy, and return the results. Each is its array in
        `memory`, where machine code can write to it; else it is a new one.

        Nothing is written to `memory` if an array has another shape or dtype than its result.
        """
        import numpy as np

        used = [np.asarray(argument) for argument in arguments]  # which may share its memory
        pairs = [*zip(self._outputs, memory)]
        fit = all(p.shape == array.shape and p.stored == array.dtype for p, array in pairs)
        results: list[Array] = []
        for p, array in pairs if fit else ():
            results.append(array if is_separate(array, used) else p.new())
            used.append(array)
        raw = self._run_numpy(arguments, results)
        rows = zip(self._results, raw, memory, strict=True)
        return [array if array is place else p.from_memory(array) for p, array, place in rows]

    def _run_otherwise(self, arguments: Sequence[Value | float]) -> tuple[Array, ...]:
        """Call the code with arguments that it cannot read as they are."""
        if (library := self._dlpack.library_of(arguments)) is None:
            return self._widened(self._run_checked(arguments))
        results = self._run_numpy(self._dlpack.borrowed(self.function, arguments))
        return self._dlpack.returned(results, [p.type for p in self._results], library)

    def _run_numpy(
        self, arguments: Sequence[Value], memory: Sequence[Array] = ()
    ) -> tuple[Array, ...]:
        """Call the code with arrays of numpy; narrow floats of the results are bits."""
        if self._checked is None or self._are_checked(arguments):
            if (results := self._run(arguments, memory)) is not None:
                return results
        return self._run_checked(arguments, memory)

    def _run_checked(
        self, arguments: Sequence[Value | float], memory: Sequence[Array] = ()
    ) -> tuple[Array, ...]:
        """Check the arguments, and call the code with copies of those that it cannot read."""
        arrays = cast("tuple[Value, ...]", arguments)
        given = check_arguments(self.function, arrays, keep_bits=True)
        pairs = [*zip(self._inputs, cast("tuple[Array, ...]", given), strict=True)]
        in_place = not self.returns_results
        inputs = [p.in_memory(value, writable=in_place) for p, value in pairs]
        if self._checked is not None and len(self._checked) < MAX_CHECKED:
            if all(map(is_, inputs, arguments)):
                self._checked.add(tuple(map(self._shape_of, inputs)))
        results = self._run(inputs, memory)
        assert results is not None, "machine code refuses arguments that fit"
        for (p, value), array in zip(pairs, inputs, strict=True) if in_place else ():
            if isinstance(p, BufferParameter) and array is not value and value.flags.writeable:
                value[...] = array if array.dtype == value.dtype else p.from_memory(array)
        return results

    def _widened(self, results: Sequence[Array]) -> tuple[Array, ...]:
        """Return results with bits of narrow floats as f32."""
        if not self._has_narrow:
            return tuple(results)
        return tuple(p.from_memory(array) for p, array in zip(self._results, results, strict=True))

    def _run(
        self, inputs: Sequence[object], memory: Sequence[Array] = ()
    ) -> tuple[Array, ...] | None:
        """Call the code, and return the results, narrow floats as bits, in `memory` if it is given;
        None if it cannot read the arguments."""
        words = self._layout.new()
        results = memory or [new() for new in self._new]
        try:
            arrays = [*map(self._interface_of, (*inputs, *results))]
        except TypeError:  # not all are arrays
            return None
        if self._is_long:
            with interruptible(lambda: words.__setitem__(STOP, 1)):
                code = self._call(ctypes.addressof(words), *arrays)
        else:
            code = self._call(ctypes.addressof(words), *arrays)
        if code == REFUSED:
            return None
        if code == FAILED:
            raise PasslineError(self._failures.text(words[:STATUS_WORDS]))
        if self._layout.buffers:
            results = self._layout.results(words)
        return tuple(results)


def is_separate(array: Array, others: Sequence[Array]) -> bool:
    """Return whether machine code can write to an array: it is contiguous, aligned and writable,
    and shares no memory with `others`."""
    import numpy as np

    flags = array.flags
    if not (flags.c_contiguous and flags.aligned and flags.writeable):
        return False
    return not any(np.may_share_memory(array, other) for other in others)
