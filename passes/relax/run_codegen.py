"""RunCodegen: functions that another back end compiles become external functions."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    UnitAttr,
    i8,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import PassFailedException, VerifyException

from ...compiler.interpreters.codegens import CODEGEN, EXTERNAL, codegen_named
from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import erase
from ...passmanager.ir.walk import PRIVATE
from ...passmanager.names import did_you_mean
from ..generic.call_graph import CallGraph
from ..generic.purity import PURE


def run_codegen(
    module: ModuleOp, entry_functions: Collection[str] = (), actions: Actions = SILENT
) -> None:
    """Hand each private function with `relax.codegen` that the entry functions reach, by default
    each one, to its back end, and erase the composite functions that nothing calls any more.

    Errors: PassFailedException for an entry function that is not in the module; PasslineError for a
    back end that is not registered, or lacks a package. What a back end refuses is an error at the
    function.
    """
    graph = CallGraph(module)
    for name in entry_functions:
        if name not in graph.symbols:
            hint = did_you_mean(name, graph.symbols)
            raise PassFailedException(f"entry function @{name} is not in the module{hint}")
    roots = [graph.symbols[name] for name in entry_functions] or [*graph.symbols.values()]
    reached = graph.reachable(roots)
    functions = {name: op for name, op in graph.symbols.items() if isinstance(op, FuncOp)}
    compiled = [
        func
        for func in functions.values()
        if func in reached
        and CODEGEN in func.attributes
        and not func.is_declaration
        and actions.allowed(func)
        and compile_function(func, functions, actions)
    ]
    # Last, as a back end reads the composites of the function that it compiles.
    if compiled:
        actions.count("compiled", len(compiled))
        _erase_composites(module)


def compile_function(func: FuncOp, functions: Mapping[str, FuncOp], actions: Actions) -> bool:
    """Replace the body of `func` by the code that its back end makes; return whether it did."""
    name = func.attributes[CODEGEN]
    if not isinstance(name, StringAttr):
        actions.error(func, f"{CODEGEN} is {name}: expected the name of a back end")
        return False
    if func.sym_visibility != PRIVATE:
        actions.error(
            func, f"is public, and has {CODEGEN}: a function that has its body elsewhere is private"
        )
        return False
    try:
        external = codegen_named(name.data).compile(func, functions)
    except VerifyException as error:
        actions.error(func, f"cannot be compiled by '{name.data}': {error}")
        return False
    # As bytes of a tensor: an attribute that every printer and parser knows.
    type = TensorType(i8, [len(external)])
    func.attributes[EXTERNAL] = DenseIntOrFPElementsAttr(type, BytesAttr(external))
    # A declaration would have unknown effects; what was outlined here was pure.
    func.attributes[PURE] = UnitAttr()
    for block in [*func.body.blocks]:
        func.body.erase_block(block)
    actions.passed(func, "Compiled", "by another back end", Codegen=name.data, Bytes=len(external))
    return True


def _erase_composites(module: ModuleOp) -> None:
    """Erase the private composite functions that nothing refers to."""
    graph = CallGraph(module)
    unused: list[Operation] = [
        op
        for op in graph.symbols.values()
        if "relax.composite" in op.attributes
        and op.get_attr_or_prop("sym_visibility") == PRIVATE
        and not graph.callers(op)
    ]
    for op in unused:
        erase(op)


@dataclass(frozen=True)
class RunCodegen(ModulePass):
    """Compile the functions with `relax.codegen` with their back ends.

    Such a function becomes a declaration that holds what the back end made of it
    (`relax.external`); on numpy, the back end computes its calls. The functions are those of
    `merge-composite-functions`, or of `fuse-ops-by-pattern{annotate-codegen=true}`. Source:
    `relax.transform.RunCodegen`.
    """

    name = "run-codegen"
    after = ("merge-composite-functions",)
    preserves = ("infer-type",)
    rounds = True

    entry_functions: tuple[str, ...] = ()
    """Compile only what these functions reach."""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        run_codegen(module, self.entry_functions, ctx.actions)
