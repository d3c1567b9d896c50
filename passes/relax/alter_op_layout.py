"""AlterOpLayout: a hook for each operation decides in which layouts it is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import PassFailedException, VerifyException

from ...dialects.relax.interfaces import Conversion
from ...passmanager.base import FunctionPass
from ...passmanager.context import PassContext
from ..rewriting.layout_propagation import Hook, change_layouts

__all__ = ["AlterOpLayout", "layout_hooks", "register_layout_hook"]

_registered: dict[tuple[str, str], Hook] = {}
"""The hooks by target and name of the operation."""


def register_layout_hook(op: str, hook: Hook, target: str = "") -> None:
    """Let a hook decide about the operations of that name for a target, or for those that have none
    of their own.

    The hook may put operations before the one that it is given, and change the operands of that. It
    returns None where the layouts stay. Source: `relay.op.register_alter_op_layout`.
    Errors: ValueError if there is one already.
    """
    if (target, op) in _registered:
        where = f" for target '{target}'" if target else ""
        raise ValueError(f"'{op}' has a layout hook already{where}")
    _registered[target, op] = hook


def layout_hooks(target: str = "") -> dict[str, Hook]:
    """The registered hooks by the name of the operation, those of a target before others."""
    return {
        op: hook
        for known in dict.fromkeys(("", target))
        for (its, op), hook in _registered.items()
        if its == known
    }


@dataclass(frozen=True)
class AlterOpLayout(FunctionPass):
    """Compute operations in the layouts that hooks say, and others with them; source:
    `relay.AlterOpLayout`.

    Hooks are those registered for the target, and before these the ones given as
    "relax.nn.conv2d=package.module:function".
    """

    name = "alter-op-layout"
    opt_level = 3
    required = ("infer-type",)
    preserves = ("infer-type",)

    target: str = ""
    """Whose hooks are asked first."""
    hooks: tuple[str, ...] = ()
    """More hooks: the operation, and where the function is."""

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        hooks = layout_hooks(self.target) | read_hooks(self.hooks, ctx.ir_context)
        gate, error = ctx.gate(self.name), ctx.diagnostics.error
        checked = {op: _checked(hook, gate, error) for op, hook in hooks.items()}
        counts = change_layouts(func, checked, remarks=ctx.remarks)
        for name, count in counts._asdict().items():
            ctx.count(name, count)


def _checked(
    hook: Hook, gate: Callable[[], bool] | None, error: Callable[[Operation, str], object]
) -> Hook:
    """The hook, with what it says compared with the operation, and its failures reported there."""

    def ask(op: Operation) -> Conversion | None:
        if gate is not None and not gate():
            return None
        try:
            conversion = hook(op)
        except VerifyException as wrong:
            error(op, f"cannot have the layouts that its hook says: {wrong}")
            return None
        if conversion is None:
            return None
        numbers = len(conversion.operands), len(conversion.results)
        if numbers != (len(op.operands), len(op.results)):
            error(
                op,
                f"its hook has layouts of {numbers[0]} operands and {numbers[1]} results, "
                f"but it has {len(op.operands)} and {len(op.results)}",
            )
            return None
        return conversion

    return ask


def read_hooks(entries: Iterable[str], ctx: Context) -> dict[str, Hook]:
    """The functions by the name of the operation; PassFailedException for a wrong entry."""
    hooks: dict[str, Hook] = {}
    for entry in entries:
        name, _, place = entry.partition("=")
        module, _, function = place.partition(":")
        if not function:
            raise PassFailedException(
                f"hook '{entry}': expected an operation and a function, as "
                "'relax.nn.conv2d=package.module:function'"
            )
        if ctx.get_optional_op(name) is None:
            near = get_close_matches(name, [cls.name for cls in ctx.loaded_ops], 1)
            hint = f", did you mean '{near[0]}'?" if near else ""
            raise PassFailedException(f"hook '{entry}': there is no operation '{name}'{hint}")
        try:
            hook = getattr(import_module(module), function)
        except (ImportError, AttributeError) as error:
            raise PassFailedException(f"hook '{entry}': {error}") from None
        hooks[name] = hook
    return hooks
