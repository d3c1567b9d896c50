"""The semantics of `tir.launch`, in functions on buffers."""

from __future__ import annotations

from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import InterpretationError

from ....dialects.tir.ops import LaunchOp
from ..xdsl_interpreter import DirectInterpreter

__all__ = ["LaunchFunctions"]


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
        warnings = launch(program, (x, y, z), args[3:])
        if warn is not None:
            for text in warnings:
                warn(text)
        return ()
