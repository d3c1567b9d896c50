"""AlterOpLayout: hooks choose the layouts of operations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import PassFailedException, VerifyException

from ....dialects.relax.interfaces import Conversion
from ....dialects.target import has_target, target_of
from ....passmanager.base import FunctionPass
from ....passmanager.context import PassContext
from ....passmanager.diagnostics.actions import Actions
from ....passmanager.ir.per_class import OpClasses
from ....passmanager.registration.names import did_you_mean
from ....passmanager.registration.rounding import Rounding
from ...constants.evaluation_code import load_relayout
from ...layouts.propagation import Hook, change_layouts
from .blocked_layouts import blocked_layouts

__all__ = ["AlterOpLayout", "layout_hooks", "register_layout_hook"]

_registered: dict[tuple[str, str], Hook] = {}
"""The hooks by target and operation name."""


def register_layout_hook(op: str, hook: Hook, target: str = "") -> None:
    """Register the hook that chooses the layouts of operations named `op` on `target`; without a
    target, on all targets that have no hook of their own.

    The hook may insert operations before its argument, and change the operands of its argument. It
    returns None if the layouts stay. Source: `relay.op.register_alter_op_layout`.
    Errors: ValueError if `op` has a hook for `target` already.
    """
    if (target, op) in _registered:
        where = f" for target '{target}'" if target else ""
        raise ValueError(f"'{op}' has a layout hook already{where}")
    _registered[target, op] = hook


def layout_hooks(target: str = "") -> dict[str, Hook]:
    """Return the registered hooks by operation name; those for `target` override general ones."""
    return {
        op: hook
        # General hooks first: those of the target override them in the dict.
        for wanted in dict.fromkeys(("", target))
        for (registered, op), hook in _registered.items()
        if registered == wanted
    }


@dataclass(frozen=True)
class AlterOpLayout(FunctionPass):
    """Convert operations to the layouts that hooks choose, and let others follow; source:
    `relay.AlterOpLayout`.

    If the module carries a target (`tir-bind-target`), convolutions get layouts in blocks as long
    as its vectors. The hooks that are registered for the option `target` override that; an entry of
    the option `hooks`, such as "relax.nn.conv2d=package.module:function", overrides those. With the
    hook

        def hook(op: Operation) -> Conversion | None:
            return op.to_layouts("NHWC", "HWIO")

    the pass does the same as `convert-layout{desired=relax.nn.conv2d:NHWC:HWIO}`.
    """

    name = "alter-op-layout"
    opt_level = 3
    rounds = Rounding(changes=())
    required = ("infer-type",)
    preserves = ("infer-type",)

    target: str = ""
    """The target whose hooks are used."""
    hooks: tuple[str, ...] = ()
    """More hooks: the name of an operation, and the module and name of the function."""

    def load_code(self, module: ModuleOp, ops: OpClasses) -> None:
        if has_target(module) or _registered or self.hooks:
            load_relayout(ops)

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        hooks: dict[str, Hook] = {}
        if has_target(module):
            # Later hooks override earlier ones: of the target, registered, of the option `hooks`.
            hooks = blocked_layouts(target_of(module), uses_winograd(ctx))
        hooks |= layout_hooks(self.target) | read_hooks(self.hooks, ctx.ir_context)
        checked = {op: _checked(hook, ctx.actions) for op, hook in hooks.items()}
        change_layouts(func, checked, hooks_ask=True, actions=ctx.actions)


def uses_winograd(ctx: PassContext) -> bool:
    """Return whether `legalize-ops` is configured to use Winograd's algorithm."""
    from ..legalize_ops import LegalizeOps

    # `legalize-ops` runs later; its options are known here if the context sets them. A convolution
    # that it computes by Winograd's algorithm must not be blocked.
    configured = ctx.config.apply(LegalizeOps(), LegalizeOps.name)
    assert isinstance(configured, LegalizeOps)
    return configured.winograd != "none"


def _checked(hook: Hook, actions: Actions) -> Hook:
    """Wrap `hook`: ask `actions` before the call, check the result, and report failures.

    `actions` is asked before the call because a hook may change the IR.
    """

    def ask(op: Operation) -> Conversion | None:
        if not actions.allowed(op):
            return None
        try:
            conversion = hook(op)
        except VerifyException as error:
            actions.error(op, f"cannot have the layouts that its hook chose: {error}")
            return None
        if conversion is None:
            return None
        numbers = len(conversion.operands), len(conversion.results)
        if numbers != (len(op.operands), len(op.results)):
            actions.error(
                op,
                f"its hook has layouts of {numbers[0]} operands and {numbers[1]} results, "
                f"but it has {len(op.operands)} and {len(op.results)}",
            )
            return None
        return conversion

    return ask


def read_hooks(entries: Iterable[str], ctx: Context) -> dict[str, Hook]:
    """Import the functions of entries `op=module:function`, by operation name; PassFailedException
    for an invalid entry."""
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
            hint = did_you_mean(name, [cls.name for cls in ctx.loaded_ops])
            raise PassFailedException(f"hook '{entry}': unknown operation '{name}'{hint}")
        try:
            hook = getattr(import_module(module), function)
        except (ImportError, AttributeError) as error:
            raise PassFailedException(f"hook '{entry}': {error}") from None
        hooks[name] = hook
    return hooks
