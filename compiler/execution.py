"""The optimization of modules, and their functions as Python functions on arrays."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias, cast, get_args, overload

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..dialects.target import NAMED, Target, entered_target
from ..passes import OPTIMIZE
from ..passmanager.context import PassContext
from ..passmanager.diagnostics import DiagnosticError
from ..passmanager.errors import PasslineError
from ..passmanager.limits import deep_recursion
from ..passmanager.registry import check_context_level
from ..passmanager.stages import StagedPipeline
from .interpreters.arguments import is_shaped, named_arguments
from .interpreters.interpret import ArrayFunction, interpret
from .interpreters.signature import (
    Function,
    Value,
    entry_function,
    is_buffer,
    result_names,
    result_values,
)
from .source import Source, load

if TYPE_CHECKING:
    from .gpu.cuda_function import CudaFunction
    from .gpu.device import Device
    from .interpreters.arrays import Array
    from .interpreters.dlpack import SupportsDLPack
    from .native import NativeFunction

__all__ = [
    "ENGINES",
    "ON_GPU",
    "PROCESSORS",
    "Argument",
    "CompiledFunction",
    "Engine",
    "array_function",
    "compile",
    "device_of",
    "engine_for",
    "flat",
    "on_numpy_text",
    "optimize",
    "parse_processor",
    "returning_results",
    "run",
]


# The engines that run a function of a module: numpy, machine code, a GPU, and a simulated one.


Engine: TypeAlias = Literal["numpy", "native", "cuda", "cuda-interpreter"]
ENGINES: tuple[Engine, ...] = get_args(Engine)
ON_GPU = frozenset[str]({"cuda", "cuda-interpreter"})
"""The engines that run tile programs."""


def device_of(engine: str, target: Target | None) -> Device:
    """Return the device of an engine in `ON_GPU`, for `target` if it is a simulated one.

    PasslineError without a driver or a GPU.
    """
    if engine == "cuda":
        from .gpu.device import default_device

        return default_device()
    from .gpu.simulated import simulated_device

    if target is not None and not target.is_cuda:
        raise PasslineError(f"{engine} cannot run code for {target}: expected a GPU, such as sm_90")
    return simulated_device("sm_90" if target is None else target.cpu)


def engine_for(engine: Engine, target: Target | None) -> Engine:
    """Return the engine that runs code for `target`: machine code of a GPU is tile programs."""
    return "cuda" if engine == "native" and target is not None and target.is_cuda else engine


def array_function(
    module: ModuleOp,
    func: Function,
    engine: Engine,
    ctx: Context | None = None,
    target: Target | None = None,
    threads: int = 1,
    warn_of_launch: Callable[[str], None] | None = None,
) -> ArrayFunction:
    """Return `func` as a function of arrays, which does not change its arguments.

    `ctx` is the context of xDSL's own interpreter functions, `target` and `threads` are those of
    machine code. With `warn_of_launch`, numpy checks launches of tile blocks for races.
    """
    if engine == "numpy":
        return interpret(module, func, ctx, output=sys.stdout, warn_of_launch=warn_of_launch)
    if engine in ON_GPU:
        from .gpu.build import compile_for_device

        device = device_of(engine, target)
        return returning_results(compile_for_device(module, func.sym_name.data, target, device))
    from .native import compile_module

    native = compile_module(module, func.sym_name.data, target, threads)
    return returning_results(native)


def returning_results(native: NativeFunction | CudaFunction) -> ArrayFunction:
    """Return a function that does not change its arguments: one that writes to buffers runs on
    copies of them, and returns the copies."""
    if native.returns_results:
        return native
    import numpy as np

    from .interpreters.dlpack import borrowed, library_of, returned

    types = native.function.function_type.inputs.data
    buffers = [i for i, type in enumerate(types) if is_buffer(type)]

    def call(*arguments: Value) -> tuple[Value, ...]:
        copies = [np.array(argument) for argument in borrowed(native.function, arguments)]
        native(*copies)
        results = [copies[i] for i in buffers]
        if (library := library_of(arguments)) is None:
            return tuple(results)
        return returned(results, [types[i] for i in buffers], library)

    return call


def flat(name: str, value: Value) -> Iterator[tuple[str, Array]]:
    """Yield the arrays in a result, those of tuples as `name.0`; PasslineError for functions."""
    if isinstance(value, tuple):
        for i, element in enumerate(cast("tuple[Value, ...]", value)):
            yield from flat(f"{name}.{i}", element)
    elif callable(value):
        raise PasslineError(f"result '{name}' is a function, which cannot be shown")
    else:
        yield name, value


# The processors that options and functions name.


PROCESSORS = (*NAMED, "host")
"""The names of processors."""


def parse_processor(named: str | Target | None) -> Target | None:
    """Return the processor that an option names; PasslineError for a mistake in it."""
    try:
        return Target(named) if isinstance(named, str) else named
    except ValueError as error:
        raise PasslineError(str(error)) from None


# The optimization of modules, and their functions as Python functions on arrays.


Argument: TypeAlias = "Value | float | SupportsDLPack | Mapping[str, Array | SupportsDLPack]"
"""An argument of a function: an array, a number, a tuple; or all arguments by their names."""
Place: TypeAlias = "Array | SupportsDLPack"
"""An array that takes a result."""

_HIGHEST_LEVEL = 3
"""The highest level of `-O`."""


def optimize(source: Source, level: int = 3) -> ModuleOp:
    """Return a copy of a module that the pipeline of `passline-opt -O` has optimized.

    `level` is 0 to 3. The other settings and the instruments are those of the current PassContext.

    Errors: ConfigError for another level.
    """
    return optimize_with((), source, level)


def optimize_with(first: Sequence[ModulePass], source: Source, level: int) -> ModuleOp:
    """Return the module that `optimize` returns, if the passes `first` run before the others."""
    check_context_level(level, _HIGHEST_LEVEL, "level")
    module = load(source)
    pipeline = StagedPipeline({"first": first, **OPTIMIZE.passes()})
    with PassContext.current().at_level(level):
        return pipeline(module)


@overload
def run(
    source: Source,
    *arguments: Value | float | Mapping[str, Array],
    function: str = "main",
    out: None = None,
) -> tuple[Array, ...]: ...
@overload
def run(
    source: Source,
    *arguments: Argument,
    function: str = "main",
    out: Place | Sequence[Place] | None = None,
) -> tuple[Any, ...]: ...
def run(
    source: Source,
    *arguments: Argument,
    function: str = "main",
    out: Place | Sequence[Place] | None = None,
) -> tuple[Any, ...]:
    """Compute a function of a module on numpy, as its operations define it, and return its results.

    The arguments are in order, or one dictionary of arrays by the names of the parameters. A tuple
    among the results is replaced by its elements. Arguments, results and `out` are as those of the
    function that `compile` returns; for many calls, call that.

    Errors: PasslineError for a function that does not exist, for arguments that do not match its
    type, and for an operation that cannot be computed.
    """
    with deep_recursion():
        call = compile(source, function=function, level=None, engine="numpy")
        return call(*arguments, out=out)


def compile(
    source: Source,
    *,
    function: str = "main",
    level: int | None = 3,
    engine: Engine = "native",
    target: str | Target | None = None,
    threads: int = 1,
    cache: bool = True,
) -> CompiledFunction:
    """Return a function of a module as a Python function on arrays.

    The module is optimized at `level` first, unless it is None; it does not change. The engine
    `native` makes machine code, with llvmlite; `numpy` does not need it. Kernels are made for
    `target`, such as `x86-64-v3`, by default for the target of the module, that of
    `with Target(...)`, or this machine. For a GPU, such as `sm_90`, the engine is `cuda`, which
    makes tile programs; `cuda-interpreter` runs them without a GPU, slowly. A call of machine code
    runs on up to `threads` threads, where there is enough work; without an OpenMP runtime, there
    is a warning, and it runs on one.
    With `cache`, machine code is kept in `$XDG_CACHE_HOME/passline`, and loaded from there if the
    same module is compiled again; it is not where instruments are to see the passes.

    Errors: PasslineError for a function that does not exist or cannot be compiled, and for a tool
    that is missing, with what to install.
    """
    if engine not in ENGINES:
        known = ", ".join(map(repr, ENGINES))
        raise PasslineError(f"there is no engine {engine!r}: expected one of {known}")
    if threads < 1:
        raise PasslineError(f"the number of threads is {threads}: expected at least 1")
    if level is not None:
        check_context_level(level, _HIGHEST_LEVEL, "level")
    start = perf_counter()
    module = load(source)
    declared = entry_function(module, function)
    processor = parse_processor(target) or entered_target(module)
    engine = engine_for(engine, processor)
    ctx = PassContext.current()

    def lowered(module: ModuleOp) -> ModuleOp:
        if level is None:
            return module
        return optimize_with(first, module, level)

    first: list[ModulePass] = []
    required: tuple[str, ...] = ()
    if engine == "native":
        from .native.lowering import NECESSARY, bind_target

        first, required = [bind_target(processor, threads)], NECESSARY
    if engine in ON_GPU:
        return _compile_for_gpu(module, declared, engine, processor, level, cache, start)
    with ctx.at_level(ctx.opt_level if level is None else level, required) as inner:
        if engine == "native" and cache and not inner.is_observed:
            from .native import cached_function

            settings = processor, "compile", level, inner
            native = cached_function(module, function, *settings, lower=lowered, threads=threads)
            call = returning_results(native)
        else:
            module = lowered(module)
            entry = entry_function(module, function)
            call = array_function(module, entry, engine, target=processor, threads=threads)
    return CompiledFunction(declared, call, engine, perf_counter() - start)


def _compile_for_gpu(
    module: ModuleOp,
    declared: Function,
    engine: Engine,
    processor: Target | None,
    level: int | None,
    cache: bool,
    start: float,
) -> CompiledFunction:
    from .gpu.build import NECESSARY, cached_device_function, compile_for_device, target_for
    from .native.lowering import bind_target

    device = device_of(engine, processor)
    processor = target_for(module, processor, device)
    first = [bind_target(processor, processor.cores)]
    name, ctx = declared.sym_name.data, PassContext.current()

    def lowered(module: ModuleOp) -> ModuleOp:
        return module if level is None else optimize_with(first, module, level)

    call: ArrayFunction
    with ctx.at_level(ctx.opt_level if level is None else level, NECESSARY) as inner:
        settings = "compile", level, inner
        try:
            if cache and not inner.is_observed:
                compiled = cached_device_function(
                    module, name, processor, device, *settings, lower=lowered
                )
            else:
                compiled = compile_for_device(lowered(module), name, processor, device)
            call = returning_results(compiled)
        except DiagnosticError as error:
            warnings.warn(on_numpy_text(name, error), RuntimeWarning, stacklevel=3)
            call = array_function(module, declared, "numpy")
    return CompiledFunction(declared, call, engine, perf_counter() - start)


def on_numpy_text(name: str, error: DiagnosticError) -> str:
    """Return the warning that a function has no program for a GPU."""
    return f"@{name} has no program for a GPU, and runs on numpy: {str(error).splitlines()[0]}"


class CompiledFunction:
    """A function of a module, called with arrays; the result is a tuple of arrays.

    The arguments are in order, or one dictionary of arrays by the names of the parameters. They do
    not change. Arrays are numpy's, or those of a library with DLPack, such as PyTorch or JAX, which
    are read where they are; the results are arrays of the library of the first such argument, or
    else numpy's. `out` are arrays for the results, or one for the only result, which are returned
    then: machine code writes to them directly, where they are contiguous and share no memory.
    PasslineError for arguments that do not match the type of the function, or are on a device that
    the function does not run on.
    """

    def __init__(
        self, function: Function, call: ArrayFunction, engine: Engine, compile_seconds: float
    ) -> None:
        self.name = function.sym_name.data
        self.type = str(function.function_type)
        """The type of the function in the module that was compiled."""
        self.engine: Engine = engine
        self.compile_seconds = compile_seconds
        """The time of the compilation, with the optimization, in seconds."""
        self._function = function
        self._call = call
        self._results = result_names(function)
        self._types = [value.type for value in result_values(function)]
        self._are_arrays = all(map(is_shaped, self._types))

    @overload
    def __call__(
        self, *arguments: Value | float | Mapping[str, Array], out: None = None
    ) -> tuple[Array, ...]: ...
    @overload
    def __call__(
        self, *arguments: Argument, out: Place | Sequence[Place] | None = None
    ) -> tuple[Any, ...]: ...
    def __call__(
        self, *arguments: Argument, out: Place | Sequence[Place] | None = None
    ) -> tuple[Any, ...]:
        given: Sequence[Any] = arguments
        if (
            len(arguments) == 1
            and not hasattr(arguments[0], "__array_struct__")  # faster than isinstance
            and isinstance(arguments[0], Mapping)
        ):
            given = named_arguments(self._function, cast("Mapping[str, Array]", arguments[0]))
        if out is not None:
            return self._call_into(out, given)
        results = self._call(*given)
        if self._are_arrays:
            return results
        names = [*self._results, *map(str, range(len(self._results), len(results)))]
        pairs = zip(names, results, strict=False)
        return tuple(array for name, result in pairs for _, array in flat(name, result))

    def _call_into(
        self, out: Place | Sequence[Place], arguments: Sequence[object]
    ) -> tuple[Any, ...]:
        """Call the function, write its results to `out`, and return these arrays."""
        from .interpreters.dlpack import borrowed
        from .interpreters.result_arrays import memory_for, write_results

        on_device = getattr(self._call, "write_into", None)  # of a function on a device
        places = cast("Sequence[Place]", out if isinstance(out, list | tuple) else (out,))
        if on_device is not None:
            on_device(places, arguments)
            return tuple(places)
        memory = memory_for(self._results, self._types, places)
        given = borrowed(self._function, arguments)
        direct = getattr(self._call, "call_into", None)  # of machine code that returns its results
        results = self._call(*given) if direct is None else direct(memory, given)
        write_results(self._results, self._types, results, memory)
        return tuple(places)

    def __copy__(self) -> CompiledFunction:
        return self  # calls change nothing

    def __deepcopy__(self, memo: dict[int, object]) -> CompiledFunction:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"the compiled function @{self.name} cannot be pickled: its code belongs to this "
            "process. Send the module, and compile it there, which the cache makes a load; or "
            "write a library with passline-compile, which passline.compiler.compile.runtime loads"
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__} @{self.name}: {self.type}, {self.engine}>"
