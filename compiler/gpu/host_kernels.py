"""Functions that have no tile program and run on the host: as machine code with LLVM, else on
numpy."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import ModuleOp

from ...dialects.target import host
from ...dialects.tir.functions import OUTPUTS
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
        module = self._module.clone()
        function = entry_function(module, name)
        function.attributes.pop(OUTPUTS, None)  # results are buffers that are changed, too
        if find_spec("llvmlite") is None:
            return on_numbers(function, interpret(module, function))
        from ..native import compile_module

        compiled = compile_module(module, name, host())
        is_changed = [is_buffer(type) for type in function.function_type.inputs]

        def run(*arguments: Any) -> Sequence[Value]:
            compiled(*arguments)
            return [argument for argument, changed in zip(arguments, is_changed) if changed]

        return on_numbers(function, run)


def numbers_in(memory: Array, element: NarrowFloat) -> Array:
    """Return the numbers in device memory, which may not be written yet."""
    return numbers_of(memory & ((1 << element.bitwidth) - 1), element)


def on_numbers(function: Function, run: Callable[..., Sequence[Value]]) -> HostKernel:
    """Return a function on arrays as they are in device memory, by one on numbers: floats that
    numpy lacks are f32. `run` returns the buffers after the call."""
    types = function.function_type.inputs.data
    elements = [element_type(type) if is_buffer(type) else None for type in types]
    narrow = [element if isinstance(element, NarrowFloat) else None for element in elements]

    def call(arguments: Sequence[Any]) -> list[Array | None]:
        rows = zip(narrow, arguments, strict=True)
        given = [a if element is None else numbers_in(a, element) for element, a in rows]
        results = iter(cast("Sequence[Array]", run(*given)))
        written: list[Array | None] = []
        for type, element in zip(types, narrow, strict=True):
            array = next(results) if is_buffer(type) else None
            written.append(array if array is None or element is None else codes_of(array, element))
        return written

    return call
