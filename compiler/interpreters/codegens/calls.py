"""The semantics of functions that another back end has compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    impl_callable,
    register_impls,
)
from xdsl.utils.exceptions import InterpretationError

from ....dialects.relax.shapes import merge
from ....dialects.relax.types import is_tensor, shape_of
from . import codegen_named
from .codegen import CODEGEN, EXTERNAL, External

if TYPE_CHECKING:
    from ..arrays import Array


@register_impls
class ExternalFunctions(InterpreterFunctions):
    """Calls of functions; where one has no body, the code that a back end compiled is run."""

    @impl_callable(FuncOp)
    def call_func(self, interpreter: Interpreter, op: FuncOp, args: PythonValues) -> PythonValues:
        if not op.is_declaration:
            return interpreter.run_ssacfg_region(op.body, args, op.sym_name.data)
        name, external = op.attributes.get(CODEGEN), op.attributes.get(EXTERNAL)
        if not isinstance(name, StringAttr) or not isinstance(external, DenseIntOrFPElementsAttr):
            return interpreter.call_external(op.sym_name.data, op, args)

        def load() -> External:
            return codegen_named(name.data).load(external.data.data)

        function = interpreter.get_data(ExternalFunctions, op.sym_name.data, load)
        return checked(op, name.data, function(args))


def checked(func: FuncOp, codegen: str, results: Sequence[Array]) -> PythonValues:
    """Return the results of `func` that the back end `codegen` computed.

    InterpretationError if their number, shapes or element types are not those of `func`.
    """
    from ..arrays import dtype_of, element_of

    types = func.function_type.outputs.data
    if len(results) != len(types):
        raise InterpretationError(
            f"'{codegen}' returned {len(results)} results of @{func.sym_name.data}, "
            f"which has {len(types)}"
        )
    for result, type in zip(results, types):
        if not is_tensor(type):
            continue
        shape = shape_of(type)
        is_of_shape = shape is None or merge(shape, result.shape) is not None
        if not is_of_shape or result.dtype != dtype_of(element_of(type)):
            raise InterpretationError(
                f"'{codegen}' returned {result.dtype}{list(result.shape)} for a result of "
                f"@{func.sym_name.data} of type {type}"
            )
    return tuple(results)
