"""An extension of Passline's tools: the option `--stackvm-program`, in all of them.

Each start of a tool imports this module, which imports the dialect only if the option is given.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from passline.passmanager import PasslineError
from passline.tools.extension import Group, ToolExtension

__all__ = ["StackVMExtension"]


class StackVMExtension(ToolExtension):
    """The choice of one program of the input."""

    def add_pipeline_options(self, group: Group) -> None:
        help = "read this program of the stack machine only"
        group.add_argument("--stackvm-program", metavar="NAME", help=help)

    def prepare_module(self, module: ModuleOp, frontend: str) -> None:
        name: str | None = self.tool.args.stackvm_program
        if name is None:
            return
        from .dialect import ProgramOp

        programs = {op.sym_name.data: op for op in module.ops if isinstance(op, ProgramOp)}
        if name not in programs:
            known = ", ".join(programs) or "none"
            raise PasslineError(f"there is no program '{name}'; the input has: {known}")
        for other in programs.keys() - {name}:
            module.body.block.erase_op(programs[other])
