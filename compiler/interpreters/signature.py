"""The functions that can be run, their parameters and their results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from typing_extensions import TypeIs
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, MemRefType, ModuleOp, NameLoc
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, BlockArgument, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...dialects.signature import name_in
from ...dialects.tir.ops import PrimFuncOp, output_count
from ...passmanager.errors import PasslineError
from ...passmanager.ir.location import place_of
from ...passmanager.names import did_you_mean

if TYPE_CHECKING:
    from .arrays import Array

__all__ = [
    "Function",
    "Value",
    "argument_names",
    "entry_function",
    "input_types",
    "is_buffer",
    "result_buffers",
    "result_names",
    "result_values",
]

Value: TypeAlias = "Array | tuple[Value, ...] | Callable[..., object]"
"""A value at run time: an array for a tensor or number, a tuple, or a function."""
Function: TypeAlias = FuncOp | PrimFuncOp
"""A function that can be run: on tensors, or on buffers.

The last `tir.outputs` parameters of a function on buffers are its results: the interpreter
allocates and returns them. Without `tir.outputs` all buffers are results, copies of the arguments.
"""


def is_buffer(type: Attribute) -> TypeIs[MemRefType[Attribute]]:
    """Return whether `type` is the type of a buffer."""
    return isinstance(type, MemRefType)


def entry_function(module: ModuleOp, name: str) -> Function:
    """Return the function `name` of the module.

    PasslineError if it does not exist, has no body, or has an invalid `tir.outputs`.
    """
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, Function)}
    if name not in functions:
        raise PasslineError(f"there is no function @{name}{did_you_mean(name, functions)}")
    if functions[name].is_declaration:
        raise PasslineError(f"function @{name} is a declaration: it has no body to run")
    try:
        output_count(functions[name])  # the verifier does not check `tir.outputs` of a func.func
    except VerifyException as error:
        raise PasslineError(f"function @{name}{place_of(functions[name])}: {error}") from None
    return functions[name]


def input_types(func: Function) -> tuple[Attribute, ...]:
    """Return the types of the parameters for which a caller passes arguments."""
    inputs = func.function_type.inputs.data
    return inputs[: len(inputs) - output_count(func)]


def result_buffers(func: Function) -> list[int]:
    """Return the indices of the parameters that hold the results of a function on buffers."""
    types = func.function_type.inputs.data
    buffers = [i for i, type in enumerate(types) if is_buffer(type)]
    return buffers[-output_count(func) :]  # all of them without `tir.outputs`, which counts as 0


def argument_names(func: Function) -> list[str]:
    """Return the names of the parameters: their attributes `onnx.name`, or else their names in the
    text; `arg0`, `arg1`, ... for those without a name."""
    args = func.args[: len(input_types(func))]
    given = _given_names(func.arg_attrs, len(func.args))
    return _unique([n or _name(arg) or f"arg{i}" for i, (n, arg) in enumerate(zip(given, args))])


def result_names(func: Function) -> list[str]:
    """Return the names of the results: their attributes `onnx.name`, or else their names in the
    text; `result0`, `result1`, ... for those without a name."""
    values = result_values(func)
    if isinstance(func, FuncOp) and _returned(func):
        given = _given_names(func.res_attrs, len(values))
    else:
        names = _given_names(func.arg_attrs, len(func.args))
        given = [names[i] for i in result_buffers(func)]
    pairs = zip(given, values, strict=True)
    return _unique([n or _name(value) or f"result{i}" for i, (n, value) in enumerate(pairs)])


def result_values(func: Function) -> list[SSAValue]:
    """Return the values that are the results: those that the last block returns, or buffers."""
    return [*_returned(func)] or [func.args[i] for i in result_buffers(func)]


def _returned(func: Function) -> Sequence[SSAValue]:
    """Return what the last block of a `func.func` returns; nothing of a function on buffers."""
    end = func.body.blocks[-1].last_op
    return end.operands if isinstance(end, ReturnOp) else ()


def _given_names(attributes: ArrayAttr[DictionaryAttr] | None, count: int) -> list[str | None]:
    """Return the names in the attributes of `count` parameters or results, None without one."""
    if attributes is None or len(attributes) != count:  # which xDSL does not verify
        return [None] * count
    return [*map(name_in, attributes)]


def _name(value: SSAValue) -> str | None:
    """Return the name that a frontend gave to `value` (its NameLoc), or its name in the text."""
    location = value.location if isinstance(value, BlockArgument) else None
    return location.desc.data if isinstance(location, NameLoc) else value.name_hint


def _unique(names: Sequence[str]) -> list[str]:
    """Append its position to each name that also occurs earlier in `names`."""
    return [name if names.index(name) == i else f"{name}_{i}" for i, name in enumerate(names)]
