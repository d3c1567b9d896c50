"""AlterOpLayout: hooks choose the layouts of operations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IntegerType,
    ModuleOp,
    Signedness,
    f16,
    f32,
    i8,
    i32,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from ...dialects.relax.contraction.convolution import Conv2dOp
from ...dialects.relax.data.concatenation import ConcatenateOp
from ...dialects.relax.interfaces import Conversion, Elementwise
from ...dialects.relax.reduction.nn import PadOp
from ...dialects.relax.shapes import Shape
from ...dialects.relax.types import shape_of, static_shape, tensor_type
from ...dialects.relax.windows import PoolOp
from ...dialects.target import Target, has_target, known_target
from ...passmanager.actions import Actions
from ...passmanager.base import FunctionPass
from ...passmanager.context import PassContext
from ...passmanager.ir.per_class import OpClasses
from ...passmanager.names import Rounding
from ..evaluation_code import load_relayout
from ..layouts import Hook, change_layouts
from ..named_functions import operation_check, read_functions

# The layouts in which a processor computes convolutions fastest.


MIN_LANES = 8
"""Blocks for shorter vectors were not measured."""
NEAR = 16
"""The operations that are followed to the neighbours of a convolution."""


def blocked_layouts(target: Target, winograd: bool = False) -> dict[str, Hook]:
    """Return the layout hooks for `target`, by operation name: the channels of convolutions are in
    blocks as long as a vector, NCHW16c with AVX-512.

    Then the elements that are read for one result are next to each other, and so are the results in
    a vector; in NCHW they are an image apart. With `winograd`, convolutions that Winograd's
    algorithm may compute stay in NCHW, in which it does. Source: Liu et al., Optimizing CNN Model
    Inference on CPUs, 2019.
    """
    lanes = target.lanes(f32.bitwidth)
    if lanes < MIN_LANES:
        return {}
    multiplies_bytes = target.byte_dot_product(lanes, exact_pairs=False) is not None

    def hook(op: Operation) -> Conversion | None:
        assert isinstance(op, Conv2dOp)
        # Winograd's transforms read tiles of an image, which in NCHW are rows of it.
        if winograd and is_3x3(op) and not is_of_bytes(op):
            return None
        return in_blocks(op, lanes) if multiplies_bytes or not is_of_bytes(op) else None

    return {Conv2dOp.name: hook}


def is_3x3(op: Conv2dOp) -> bool:
    """Return whether the windows of a convolution are 3x3 adjacent elements, one beside another."""
    weight = static_shape(op.weight.type)
    steps = (*op.strides, *op.dilation)
    return weight is not None and weight[2:] == (3, 3) and {*steps} == {1}


def is_of_bytes(op: Conv2dOp) -> bool:
    """Return whether `op` sums up products of unsigned bytes and signed ones in i32."""
    elements = [tensor_type(value).element_type for value in (op.data, op.weight, op.result)]
    return elements == [IntegerType(8, Signedness.UNSIGNED), i8, i32]


def weight_of_known_channels(op: Conv2dOp) -> Shape | None:
    """Return the shape of the weight, if it and the channels of the data are known; the batch and
    the image may be unknown."""
    shape = shape_of(tensor_type(op.data))
    known = shape is not None and shape[op.layouts()[0].axes.index("C")] != DYNAMIC_INDEX
    return static_shape(op.weight.type) if known else None


def blocks_for(inputs: int, outputs: int, lanes: int) -> tuple[str, str] | None:
    """Return the layouts of data and result with blocks of `lanes` channels, as far as these fill
    blocks; None if neither does."""
    # The first convolution of a network has 3 channels: its data stay in NCHW, its result is
    # blocked.
    before, after = (
        "NCHW" if channels % lanes else f"NCHW{lanes}c" for channels in (inputs, outputs)
    )
    return None if before == after == "NCHW" else (before, after)


def in_blocks(op: Conv2dOp, lanes: int) -> Conversion | None:
    """Return the conversion of a convolution to blocks of `lanes` channels, of data and result as
    far as their channels fill blocks.

    None if neither does, if it has no neighbour that has blocks too, or if one is in groups without
    blocks: the data would have to be transformed on both sides.
    """
    layouts = blocks_of(op, lanes)
    near = [*neighbours(op)] if layouts else []
    if not layouts or any(conv.groups > 1 and not blocks_of(conv, lanes) for conv in near):
        return None
    # Alone it would need two transformations of the data, for one operation that gains.
    if not any(blocks_of(conv, lanes) for conv in near):
        return None
    before, after = layouts
    return op.to_layouts(before, "OIHW", after)


def blocks_of(op: Conv2dOp, lanes: int) -> tuple[str, str] | None:
    """Return the layouts of data and result with blocks of `lanes` channels; None if neither has
    whole blocks, and for other elements than f32, f16 and bytes, with an unknown number of
    channels, or in other layouts than NCHW and OIHW.

    Words of four bytes are then in memory as they are multiplied. The channels of a depthwise
    convolution are the lanes of vectors, so that rows of 7 or 14 elements fill these. Other groups
    of channels have to consist of whole blocks.
    """
    weight = weight_of_known_channels(op)
    is_float = tensor_type(op.data).element_type in (f16, f32)
    if weight is None or not (is_float or is_of_bytes(op)):
        return None
    if [layout.text for layout in op.layouts()] != ["NCHW", "OIHW", "NCHW"]:
        return None
    outputs, inputs, *_ = weight
    is_depthwise = inputs == 1 and outputs == op.groups
    if op.groups > 1 and not is_depthwise:
        whole = inputs % lanes == outputs // op.groups % lanes == 0
        return blocks_for(inputs, outputs, lanes) if whole else None
    return blocks_for(inputs * op.groups, outputs, lanes)


FOLLOWED = (Elementwise, PoolOp, ConcatenateOp, PadOp)
"""The operations that are computed in any layout of the channels."""


def neighbours(op: Conv2dOp) -> Iterator[Conv2dOp]:
    """Yield the convolutions between which and `op` there are only operations that are computed in
    any layout of the channels; of a long chain of these, the nearest."""
    # Breadth first: the nearest are found, also of a long chain.
    seen: set[Operation] = {op}
    pending: list[Operation] = [op]
    for current in pending:
        # Not along the weight, whose layout is another.
        data = current.operands[:1] if current is op else current.operands
        owners = [value.owner for value in data]
        users = [use.operation for result in current.results for use in result.uses]
        for near in (*owners, *users):
            if not isinstance(near, Operation) or near in seen:
                continue
            seen.add(near)
            if isinstance(near, Conv2dOp):
                yield near
            elif isinstance(near, FOLLOWED) and len(pending) < NEAR:
                pending.append(near)


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

    If the target of the module is known (`tir-bind-target`, `with Target(...)`), convolutions get
    layouts in blocks as long as its vectors. The hooks that are registered for the option `target`
    override that; an entry of the option `hooks`, such as
    "relax.nn.conv2d=package.module:function", overrides those. With the hook

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
        if has_target(module) or Target.current() or _registered or self.hooks:
            load_relayout(ops)

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        hooks: dict[str, Hook] = {}
        if (target := known_target(module)) is not None:
            # Later hooks override earlier ones: of the target, registered, of the option `hooks`.
            hooks = blocked_layouts(target, uses_winograd(ctx))
        hooks |= layout_hooks(self.target) | read_hooks(self.hooks, ctx.ir_context)
        checked = {op: _checked(hook, ctx.actions) for op, hook in hooks.items()}
        change_layouts(func, checked, hooks_ask=True, actions=ctx.actions)


def uses_winograd(ctx: PassContext) -> bool:
    """Return whether `legalize-ops` is configured to use Winograd's algorithm."""
    from .legalize_ops import LegalizeOps

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
    check = operation_check("hook", ctx)
    found = read_functions(entries, "hook", "an operation, as relax.nn.conv2d", check)
    return cast("dict[str, Hook]", found)
