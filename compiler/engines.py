"""The engines that run a function of a module: numpy, and machine code."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ..dialects.target import Target
from ..passmanager.errors import PasslineError
from .interpreters.interpret import ArrayFunction, interpret
from .interpreters.signature import Function, Value, is_buffer

if TYPE_CHECKING:
    from .interpreters.arrays import Array
    from .native import NativeFunction

__all__ = ["Engine", "array_function", "flat", "returning_results"]

Engine: TypeAlias = Literal["numpy", "native"]


def array_function(
    module: ModuleOp,
    func: Function,
    engine: Engine,
    ctx: Context | None = None,
    target: Target | None = None,
    threads: int = 1,
) -> ArrayFunction:
    """Return `func` as a function of arrays, which does not change its arguments.

    `ctx` is the context of xDSL's own interpreter functions, `target` and `threads` are those of
    machine code.
    """
    if engine == "numpy":
        return interpret(module, func, ctx, output=sys.stdout)
    from .native import compile_module

    native = compile_module(module, func.sym_name.data, target, threads)
    return returning_results(native)


def returning_results(native: NativeFunction) -> ArrayFunction:
    """Return a function that does not change its arguments: one that writes to buffers runs on
    copies of them, and returns the copies."""
    if native.returns_results:
        return native
    import numpy as np

    def call(*arguments: Value) -> tuple[Value, ...]:
        copies = [np.array(argument) for argument in arguments]
        native(*copies)
        types = native.function.function_type.inputs
        return tuple(a for a, type in zip(copies, types, strict=True) if is_buffer(type))

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
