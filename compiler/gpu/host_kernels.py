"""Functions that have no tile program and run on the host: as machine code with LLVM, else on
numpy."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import ModuleOp

from ...dialects.target import host
from ..interpreters.arrays import NarrowFloat, codes_of, numbers_of
from ..interpreters.interpret import interpret
from ..interpreters.signature import Function, Value, entry_function, is_buffer
from ..interpreters.tir.table import element_type

if TYPE_CHECKING:
    from ..interpreters.arrays import Array

HostKernel = Callable[[Sequence[Any]], "list[Array | None]"]


class HostKernels:
    """The functions of a module, called with arrays as they are in device memory."""

    def __init__(self, module: ModuleOp) -> None:
        self._module = module
        self._kernels: dict[str, HostKernel] = {}

    def call(self, name: str, arguments: Sequence[object]) -> list[Array | None]:
        """Call a function, and return its buffers after the call; None in place of a number."""
        if name not in self._kernels:
            self._kernels[name] = self._kernel(entry_function(self._module, name))
        return self._kernels[name](arguments)

    def _kernel(self, function: Function) -> HostKernel:
        name = function.sym_name.data
        text = f"@{name} has no tile program: it runs on the host, and its buffers are copied"
        warnings.warn(text, RuntimeWarning, stacklevel=2)
        if find_spec("llvmlite") is None:
            return on_numpy(self._module, function)
        from ..native import compile_module

        compiled = compile_module(self._module, name, host())

        def call(arguments: Sequence[Any]) -> list[Array | None]:
            compiled(*arguments)
            return [
                argument if is_buffer(type) else None
                for type, argument in zip(function.function_type.inputs, arguments, strict=True)
            ]

        return call


def on_numpy(module: ModuleOp, function: Function) -> HostKernel:
    """Return a function that runs on the interpreter."""
    run = interpret(module, function)
    types = function.function_type.inputs.data

    def call(arguments: Sequence[Any]) -> list[Array | None]:
        given: list[Value] = []
        for type, argument in zip(types, arguments, strict=True):
            element = element_type(type)
            if is_buffer(type) and isinstance(element, NarrowFloat):
                argument = numbers_of(argument, element)
            given.append(argument)
        results = iter(cast("tuple[Array, ...]", run(*given)))
        written: list[Array | None] = []
        for type in types:
            array = next(results) if is_buffer(type) else None
            element = element_type(type)
            if array is not None and isinstance(element, NarrowFloat):
                array = codes_of(array, element)
            written.append(array)
        return written

    return call
