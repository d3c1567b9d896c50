"""ConvertLayout: operations are converted to the layouts that are desired for them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import PassFailedException, VerifyException

from ...dialects.relax.interfaces import Conversion, ConvertsLayout
from ...dialects.relax.layout import Layout
from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import FunctionPass
from ...passmanager.context import PassContext
from ...passmanager.ir.per_class import OpClasses
from ...passmanager.names import Rounding, did_you_mean
from ..evaluation_code import load_relayout
from ..layouts import change_layouts


def convert_layouts(
    func: Operation,
    desired: Mapping[str, Sequence[str]],
    *,
    skip_layers: Collection[int] = (),
    actions: Actions = SILENT,
) -> None:
    """Convert the operations in `func` that have an entry in `desired`, by name, to these layouts
    of their operands, and let other operations follow.

    The layout "default" follows from the layouts before it. `skip_layers` are the numbers of
    operations, counted from 0 among those with an entry, that keep their layouts.
    Errors: an operation that cannot have the layouts, whatever its shapes; once for each message.
    """
    visited = 0
    reported: set[str] = set()

    def hook(op: Operation) -> Conversion | None:
        nonlocal visited
        # Counted also if it is skipped, so that the numbers are those of the program.
        visited += 1
        if visited - 1 in skip_layers or not isinstance(op, ConvertsLayout):
            return None
        try:
            return op.to_layouts(*desired[op.name])
        except VerifyException as error:
            message = f"cannot have the desired layouts: {error}"
            if message not in reported:  # a wrong option is wrong for every such operation
                reported.add(message)
                actions.error(op, message)
            return None

    change_layouts(func, dict.fromkeys(desired, hook), actions=actions)


@dataclass(frozen=True)
class ConvertLayout(FunctionPass):
    """Convert operations to desired layouts, and let others follow; source: `relay` and
    `relax.ConvertLayout`.

    An entry names an operation and the layouts of its operands: "relax.nn.conv2d:NHWC:HWIO"; a
    layout that is left out, or "default", follows from those before it. Operations without an entry
    take the layouts of their operands if they can; a convolution keeps its own.

    Before:

        func.func @f(%x: tensor<1x3x5x4xf32>, %w: tensor<2x3x1x1xf32>) -> tensor<1x2x5x4xf32> {
          %0 = relax.nn.conv2d %x, %w
            : (tensor<1x3x5x4xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x5x4xf32>
          %1 = relax.nn.relu %0 : (tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
          func.return %1 : tensor<1x2x5x4xf32>
        }

    After {desired=relax.nn.conv2d:NHWC}:

        func.func @f(%x: tensor<1x3x5x4xf32>, %w: tensor<2x3x1x1xf32>) -> tensor<1x2x5x4xf32> {
          %0 = relax.layout_transform %x {src_layout = "NCHW", dst_layout = "NHWC"}
            : (tensor<1x3x5x4xf32>) -> tensor<1x5x4x3xf32>
          %1 = relax.layout_transform %w {src_layout = "OIHW", dst_layout = "HWIO"}
            : (tensor<2x3x1x1xf32>) -> tensor<1x1x3x2xf32>
          %2 = relax.nn.conv2d %0, %1 {data_layout = "NHWC", kernel_layout = "HWIO"}
            : (tensor<1x5x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x5x4x2xf32>
          %3 = relax.nn.relu %2 : (tensor<1x5x4x2xf32>) -> tensor<1x5x4x2xf32>
          %4 = relax.layout_transform %3 {src_layout = "NHWC", dst_layout = "NCHW"}
            : (tensor<1x5x4x2xf32>) -> tensor<1x2x5x4xf32>
          func.return %4 : tensor<1x2x5x4xf32>
        }
    """

    name = "convert-layout"
    opt_level = 3
    before = ("alter-op-layout",)
    rounds = Rounding(changes=())
    required = ("infer-type",)
    preserves = ("infer-type",)

    desired: tuple[str, ...] = ()
    """For each operation to convert, its name and the layouts of its operands."""
    skip_layers: tuple[int, ...] = field(default=(), metadata={"minimum": 0})
    """Operations that keep their layouts: their numbers among those with an entry, from 0."""

    @classmethod
    def of(
        cls, desired: Mapping[str, Sequence[str]], skip_layers: Sequence[int] = ()
    ) -> ConvertLayout:
        """Build the pass from layouts by operation name: `{"relax.nn.conv2d": ["NHWC"]}`."""
        entries = (":".join((name, *layouts)) for name, layouts in desired.items())
        return cls(tuple(entries), tuple(skip_layers))

    def load_code(self, module: ModuleOp, ops: OpClasses) -> None:
        load_relayout(ops)

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        desired = read_desired(self.desired, ctx.ir_context)
        convert_layouts(func, desired, skip_layers=self.skip_layers, actions=ctx.actions)


def read_desired(entries: Iterable[str], ctx: Context) -> dict[str, list[str]]:
    """Parse entries `name:layout:...` into layouts by name; PassFailedException for an invalid
    one."""
    desired: dict[str, list[str]] = {}
    for entry in entries:
        name, *layouts = entry.split(":")
        if (op := ctx.get_optional_op(name)) is None or not issubclass(op, ConvertsLayout):
            known = [cls.name for cls in ctx.loaded_ops if issubclass(cls, ConvertsLayout)]
            problem = "unknown operation" if op is None else "no layouts can be chosen for"
            hint = did_you_mean(name, known)
            raise PassFailedException(f"desired '{entry}': {problem} '{name}'{hint}")
        if not layouts:
            raise PassFailedException(f"desired '{entry}': expected layouts, as '{name}:NHWC'")
        if name in desired:
            raise PassFailedException(f"desired '{entry}': '{name}' has an entry already")
        desired[name] = [_checked(layout, entry) for layout in layouts]
    return desired


def _checked(layout: str, entry: str) -> str:
    if layout != "default":
        try:
            Layout.parse(layout)
        except VerifyException as error:
            raise PassFailedException(f"desired '{entry}': {error}") from None
    return layout
