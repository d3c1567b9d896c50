"""The semantics of `tir.launch`, in functions on buffers."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager

from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import SSAValue
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import InterpretationError

from ....dialects.relax.types import SmallFloat
from ....dialects.tir.ops import LaunchOp
from ..arrays import codes_of, numbers_of
from ..tir.table import element_type
from ..xdsl_interpreter import DirectInterpreter

__all__ = ["LaunchFunctions"]


@contextmanager
def stored_as_codes(values: Iterable[SSAValue], arguments: PythonValues) -> Generator[PythonValues]:
    """Give the arguments of a launch, in which small floats are their codes; take the codes that it
    leaves as numbers."""
    elements = [element_type(value.type) for value in values]
    given = tuple(
        codes_of(argument, element) if isinstance(element, SmallFloat) else argument
        for argument, element in zip(arguments, elements, strict=True)
    )
    yield given
    for argument, codes, element in zip(arguments, given, elements, strict=True):
        if isinstance(element, SmallFloat):
            argument[...] = numbers_of(codes, element)


@register_impls
class LaunchFunctions(InterpreterFunctions):
    """The function of launches. An entry is translated when it is launched first."""

    @impl(LaunchOp)
    def run_launch(
        self, interpreter: Interpreter, op: LaunchOp, args: PythonValues
    ) -> PythonValues:
        # Here, as functions on buffers are run without GPUs, too.
        from ....dialects.cuda_tile.module_ops import EntryOp
        from .grid import launch
        from .tile_program import TileProgram

        entry = SymbolTable.lookup_symbol(op, op.callee)
        if not isinstance(entry, EntryOp):
            raise InterpretationError(f"{op.callee} is not an entry of the module")
        assert isinstance(interpreter, DirectInterpreter)
        warn = interpreter.warn_of_launch
        program = interpreter.get_data(
            LaunchFunctions,
            str(op.callee),
            lambda: TileProgram(entry, warn is not None, interpreter.file),
        )
        x, y, z = args[:3]
        with stored_as_codes(op.arguments, args[3:]) as given:
            warnings = launch(program, (x, y, z), given)
        if warn is not None:
            for text in warnings:
                warn(text)
        return ()
