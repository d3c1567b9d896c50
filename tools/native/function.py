"""A function of a module as machine code."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ModuleOp, TensorType, UnitAttr

from ...passes.relax.remove_unused_functions import RemoveUnusedFunctions
from ...passes.tir.lower_tir import LowerTIR
from ...passmanager.errors import PasslineError
from ...passmanager.ir.location import place_of
from ...passmanager.sequential import Sequential
from ..interpret import (
    Function,
    Value,
    argument_names,
    checked_arguments,
    entry_function,
    is_buffer,
    output_count,
    result_names,
)
from .calling import (
    address,
    check_buffer,
    descriptor,
    from_memory,
    in_memory,
    new_buffer,
    number_type,
)
from .expansion import expand_math
from .jit import Code, link, optimize
from .preparation import (
    check_dialects,
    expand_copies,
    hoist_allocas,
    mlir_text,
    prefix_symbols,
    takes_pointers,
    without_values,
)
from .toolchain import find_tools, to_llvm

if TYPE_CHECKING:
    from ...dialects.relax.semantics.arrays import Array

__all__ = ["NativeFunction", "compile_module"]

PREFIX = "passline."
C_INTERFACE = "_mlir_ciface_"


def compile_module(module: ModuleOp, entry: str = "main") -> NativeFunction:
    """Compile a function on buffers, and what it calls, for this machine.

    The module is one of `tir`, or lowered from it, and is left as it is. PasslineError for what
    cannot be compiled, and for tools that are missing; it says what to install.
    """
    start = perf_counter()
    function = entry_function(module, entry)
    check_entry(function)
    tools = find_tools()
    lowered = Sequential([RemoveUnusedFunctions((entry,)), LowerTIR()])(module)
    check_dialects(lowered)
    by_pointer = takes_pointers(lowered)
    entry_symbol = PREFIX + entry
    if not by_pointer:
        entry_function(lowered, entry).attributes["llvm.emit_c_interface"] = UnitAttr()
        entry_symbol = C_INTERFACE + entry_symbol
    prefix_symbols(lowered, PREFIX)
    hoist_allocas(lowered)
    expand_copies(lowered)
    expand_math(lowered)
    constants = without_values(lowered)
    ir = tools.llvm_ir(mlir_text(lowered), to_llvm(by_pointer))
    symbols = {name: address(array) for name, array in constants.items()}
    code = link(optimize(ir, entry_symbol), entry_symbol, symbols)
    seconds = perf_counter() - start
    return NativeFunction(function.clone(), code, by_pointer, [*constants.values()], seconds)


def check_entry(function: Function) -> None:
    """PasslineError if a function cannot be called with arrays in memory."""
    name = f"function @{function.sym_name.data}{place_of(function)}"
    types = function.function_type
    if any(isinstance(type, TensorType) for type in (*types.inputs, *types.outputs)):
        raise PasslineError(
            f"{name} is on tensors: expected one on buffers, as `-p lower-to-tir` and "
            "`-p lower-to-mlir` make it"
        )
    if types.outputs.data:
        raise PasslineError(f"{name} returns values: expected one that writes them into buffers")
    inputs = len(types.inputs) - output_count(function)
    for i, (parameter, type) in enumerate(zip(_names(function), types.inputs, strict=True)):
        if is_buffer(type):
            check_buffer(parameter, type, is_output=i >= inputs)
        else:
            number_type(parameter, type)


def _names(function: Function) -> list[str]:
    """The names of all parameters."""
    outputs = result_names(function) if output_count(function) else []
    return [*argument_names(function), *outputs]


class NativeFunction:
    """A compiled function; called with arrays, it gives its results, which are new arrays.

    A function that has not said with `tir.outputs` which of its buffers are results gives none: it
    changes the arrays of the caller. Buffers must not overlap. PasslineError for arguments that do
    not fit its type. It may be called by several threads at once.
    """

    def __init__(
        self,
        function: Function,
        code: Code,
        by_pointer: bool,
        constants: list[Array],
        compile_seconds: float,
    ) -> None:
        self.compile_seconds = compile_seconds
        """How long it took to compile."""
        self._function = function
        self._keeps = code, constants
        self._by_pointer = by_pointer
        self._types = function.function_type.inputs.data
        self._outputs = self._types[len(self._types) - output_count(function) :]
        kinds = [
            ctypes.c_void_p if is_buffer(type) else number_type(name, type)
            for name, type in zip(_names(function), self._types, strict=True)
        ]
        self._call = ctypes.CFUNCTYPE(None, *kinds)(code.address)

    def __call__(self, *arguments: Value | float) -> tuple[Array, ...]:
        values = checked_arguments(self._function, cast("tuple[Value, ...]", arguments))
        given = cast("tuple[Array, ...]", values)
        in_place = not self._outputs
        inputs = [
            in_memory(value, type, writable=in_place) if is_buffer(type) else value
            for value, type in zip(given, self._types, strict=False)
        ]
        outputs = [new_buffer(type) for type in self._outputs if is_buffer(type)]
        self._run([*inputs, *outputs])
        if in_place:
            for value, memory, type in zip(given, inputs, self._types, strict=True):
                if is_buffer(type) and memory is not value and value.flags.writeable:
                    value[...] = from_memory(memory, type)
        results = zip(outputs, self._outputs, strict=True)
        return tuple(from_memory(memory, type) for memory, type in results if is_buffer(type))

    def _run(self, values: list[Array]) -> None:
        """Call the code with what is in memory, and with numbers."""
        passed: Callable[[Array], object] = address if self._by_pointer else descriptor
        pairs = zip(values, self._types, strict=True)
        try:
            self._call(*(passed(value) if is_buffer(type) else value for value, type in pairs))
        except ctypes.ArgumentError as error:
            raise PasslineError(f"@{self._function.sym_name.data}: {error}") from error
