"""ConvertLayout: operations go over to the layouts that are desired for them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import PassFailedException, VerifyException

from ...dialects.relax.interfaces import Conversion, ConvertsLayout
from ...dialects.relax.layout import Layout
from ...passmanager.base import FunctionPass
from ...passmanager.context import PassContext
from ...passmanager.remarks import Remarks
from ..rewriting.layout_propagation import LayoutCounts, change_layouts

__all__ = ["ConvertLayout", "convert_layouts"]


def convert_layouts(
    func: Operation,
    desired: Mapping[str, Sequence[str]],
    error: Callable[[Operation, str], object],
    skip_layers: Collection[int] = (),
    gate: Callable[[], bool] | None = None,
    remarks: Remarks | None = None,
) -> LayoutCounts:
    """Give the operations in `func` of each name the layouts of their operands that are desired,
    "default" for one that goes with those before it, and let others follow.

    `skip_layers` are the numbers of those that keep theirs, in order from 0. `error` is told of an
    operation that cannot have such layouts, whatever its shapes.
    """
    asked = 0
    told: set[str] = set()

    def hook(op: Operation) -> Conversion | None:
        nonlocal asked
        asked += 1
        if asked - 1 in skip_layers or not isinstance(op, ConvertsLayout):
            return None
        try:
            return op.to_layouts(*desired[op.name])
        except VerifyException as wrong:
            message = f"cannot have the layouts that are desired: {wrong}"
            if message not in told:  # of the first operation: a wrong option is wrong for all
                told.add(message)
                error(op, message)
            return None

    return change_layouts(func, dict.fromkeys(desired, hook), gate, remarks)


@dataclass(frozen=True)
class ConvertLayout(FunctionPass):
    """Convert operations to desired layouts, and others with them; source: `relay` and
    `relax.ConvertLayout`.

    Which operations, and the layouts of their operands: "relax.nn.conv2d:NHWC:HWIO", where those
    that are left out, or are "default", go with the ones before. Operations without an entry go on
    in the layouts of their operands if they can; a convolution keeps its own.
    """

    name = "convert-layout"
    opt_level = 3
    required = ("infer-type",)
    preserves = ("infer-type",)

    desired: tuple[str, ...] = ()
    """An operation and the layouts of its operands, for each that is to be converted."""
    skip_layers: tuple[int, ...] = ()
    """Which of the operations with an entry keep their layout, by their number in the function."""

    @classmethod
    def of(
        cls, desired: Mapping[str, Sequence[str]], skip_layers: Sequence[int] = ()
    ) -> ConvertLayout:
        """The pass for layouts by the name of the operation: `{"relax.nn.conv2d": ["NHWC"]}`."""
        entries = (":".join((name, *layouts)) for name, layouts in desired.items())
        return cls(tuple(entries), tuple(skip_layers))

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        desired = read_desired(self.desired, ctx.ir_context)
        counts = convert_layouts(
            func,
            desired,
            ctx.diagnostics.error,
            self.skip_layers,
            ctx.gate(self.name),
            ctx.remarks,
        )
        for name, count in counts._asdict().items():
            ctx.count(name, count)


def read_desired(entries: Iterable[str], ctx: Context) -> dict[str, list[str]]:
    """The layouts by the name of the operation; PassFailedException for an entry that is wrong."""
    desired: dict[str, list[str]] = {}
    for entry in entries:
        name, *layouts = entry.split(":")
        if (op := ctx.get_optional_op(name)) is None or not issubclass(op, ConvertsLayout):
            known = [cls.name for cls in ctx.loaded_ops if issubclass(cls, ConvertsLayout)]
            near = get_close_matches(name, known, 1)
            hint = f", did you mean '{near[0]}'?" if near else ""
            what = "there is no operation" if op is None else "no layouts can be chosen for"
            raise PassFailedException(f"desired '{entry}': {what} '{name}'{hint}")
        if not layouts:
            raise PassFailedException(f"desired '{entry}': expected layouts, as '{name}:NHWC'")
        if name in desired:
            raise PassFailedException(f"desired '{entry}': '{name}' has an entry already")
        desired[name] = [layout for layout in layouts if _is_layout(layout, entry)]
    return desired


def _is_layout(text: str, entry: str) -> bool:
    try:
        return text == "default" or bool(Layout.parse(text))
    except VerifyException as error:
        raise PassFailedException(f"desired '{entry}': {error}") from None
