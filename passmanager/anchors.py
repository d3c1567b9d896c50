"""Passes nested under an anchor, as in `func.func(canonicalize)`, `**func.func(canonicalize)` or
`func.func{name="f.*"}(canonicalize)`: each op of the anchor alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from typing_extensions import TypeIs
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.traits import IsolatedFromAbove

from .alone import transform, visit_alone
from .base import FunctionPass, Pass
from .context import PassContext
from .errors import PasslineError
from .ir.per_class import OpClasses
from .ir.walk import is_skipped, name_of, symbol_of, walk
from .names import did_you_mean
from .options import options_text
from .registry import PassInfo
from .run import PassFrame, Run
from .runner import check_can_run_on, info_of, is_own, nested_passes
from .sequential import Fixpoint, Repeat, Sequential

if TYPE_CHECKING:
    from .conditions import Condition

ANY = "any"
"""MLIR's name for an anchor that may be any op that is isolated from above."""

_NEED_MODULE = frozenset(
    (
        "apply-eqsat-pdl",
        "apply-eqsat-pdl-interp",
        "apply-pdl",
        "apply-pdl-interp",
        "convert-pdl-to-pdl-interp",
        "transform-interpreter",
    )
)
"""The passes of xDSL that would do nothing on a function alone: their patterns are other ops of the
module. What others do to the module is checked after they ran.
"""


def anchor_of(cls: type[ModulePass]) -> str:
    """Return the name of the ops that the passes of a class visit."""
    return cls.anchor.name if issubclass(cls, FunctionPass) else ModuleOp.name


@dataclass(frozen=True)
class AnchorOptions:
    """The options of an anchor in a pipeline."""

    name: str = ""
    """A regular expression, which the whole symbol name of an op has to match."""


class OpAnchor(NamedTuple):
    """A selection of the ops that nested passes visit: those called `op` directly in the op around
    them, or if `recursive`, at any depth; with `name` those whose symbol name it matches.

    Errors: ValueError for a `name` that is no regular expression.
    """

    op: str
    recursive: bool = False
    name: re.Pattern[str] | None = None

    @staticmethod
    def of(op: str, recursive: bool = False, name: str = "") -> OpAnchor:
        try:
            return OpAnchor(op, recursive, re.compile(name) if name else None)
        except re.error as error:
            raise ValueError(f"'{name}' is not a regular expression: {error}") from None

    @property
    def is_plain(self) -> bool:
        """Whether these are all ops of the name directly in the op around them."""
        return not self.recursive and self.name is None

    def __str__(self) -> str:
        name = self.name.pattern if self.name is not None else ""
        return f"{'**' * self.recursive}{self.op}{options_text(AnchorOptions(name))}"

    def names(self, op: Operation) -> bool:
        """Return whether an op has this name, or with `any` is isolated from above."""
        if self.name is not None and not self.name.fullmatch(symbol_of(op)):
            return False
        if self.op == ANY:
            return op.has_trait(IsolatedFromAbove, value_if_unregistered=False)
        return name_of(op) == self.op

    def ops_in(self, op: Operation) -> Iterator[Operation]:
        """Yield the ops that may be of this name, the outer ones first."""
        if self.recursive:
            yield from (inner for inner in walk(op) if inner is not op)
            return
        for region in op.regions:
            for block in region.blocks:
                yield from block.ops


def nest(pass_: ModulePass, anchor: str | OpAnchor) -> ModulePass:
    """Return the pass that runs `pass_` on each op called `anchor` alone.

    A function pass that visits these ops does so already. Errors: ValueError for a pass that needs
    the module, or visits other ops.
    """
    anchor = OpAnchor(anchor) if isinstance(anchor, str) else anchor
    if anchor.is_plain and all(_visits(leaf, anchor.op) for leaf in _leaves(pass_)):
        return pass_
    match pass_:
        case Anchored():
            return Anchored(pass_.pass_, (anchor, *pass_.anchors))
        case Sequential() if type(pass_) is Sequential:
            own = pass_.options
            children = [nest(child, anchor) for child in pass_.passes]
            return Sequential(children, own.opt_level, own.name, own.required)
        case Fixpoint():
            return Fixpoint(nest(pass_.pass_, anchor), pass_.options.max_iterations)
        case Repeat():
            return Repeat(nest(pass_.pass_, anchor), pass_.options.n)
        case _ if _visits(pass_, anchor.op):
            return Anchored(pass_, (anchor,))
        case _ if anchor.op != ModuleOp.name and not _is_nestable(pass_):
            raise ValueError(_not_nestable(pass_, anchor.op))
        case _:
            return Anchored(pass_, (anchor,))


def _is_nestable(pass_: ModulePass) -> bool:
    """Return whether a pass may run on one op of the module alone."""
    return pass_.nestable if is_own(pass_) else pass_.name not in _NEED_MODULE


def _leaves(pass_: ModulePass) -> Iterator[ModulePass]:
    """Yield the passes in `pass_` that are not made of passes."""
    return (leaf for leaf in nested_passes(pass_) if not info_of(leaf).composite)


def _visits(pass_: ModulePass, anchor: str) -> bool:
    """Return whether a pass is a function pass that visits the ops of an anchor."""
    return isinstance(pass_, FunctionPass) and (anchor == ANY or pass_.anchor.name == anchor)


def _visits_units(pass_: ModulePass) -> TypeIs[FunctionPass[Operation]]:
    """Return whether a pass is a function pass that has no `transform` of its own."""
    cls: Any = type(pass_)
    return isinstance(pass_, FunctionPass) and cls.transform is vars(FunctionPass)["transform"]


def _not_nestable(pass_: ModulePass, anchor: str) -> str:
    """Return the message that a pass cannot be nested under an anchor."""
    for leaf in _leaves(pass_):
        if not _visits(leaf, anchor):
            break
    else:
        leaf = pass_
    name, visited = info_of(leaf).name, anchor_of(type(leaf))
    if isinstance(leaf, FunctionPass):
        return f"'{name}' runs on '{visited}', not on '{anchor}': did you mean {visited}({name})?"
    return (
        f"'{name}' needs the whole module, and cannot run on one '{anchor}' alone: "
        f"write it outside of {anchor}(...)"
    )


class Anchored(Pass):
    """A pass that runs another one on each op of an anchor alone, in a module of its own; with
    the anchor `builtin.module` directly on the modules that are in others.

    `anchors` leads to the ops: `("func.func",)` are the functions directly in the module,
    `("gpu.module", "gpu.func")` those directly in its `gpu.module` ops. Ops without a body and
    those marked `passline.skip_optimization` are not visited. In everything else it is the other
    pass: it has its name, level and requirements.

    Errors: PasslineError for an anchor that is no op or is not isolated from above;
    PassContractError, which names the pass and the symbols, if the pass adds, deletes or renames
    symbols.
    """

    name = "anchored"

    def __init__(self, pass_: ModulePass, anchors: Sequence[str | OpAnchor]) -> None:
        self.pass_ = pass_
        self.anchors = tuple(OpAnchor(a) if isinstance(a, str) else a for a in anchors)

    @property
    def preserves(self) -> Sequence[str | type | Condition]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The passes and analyses whose results the nested pass preserves."""
        return self.pass_.preserves if is_own(self.pass_) else ()

    @property
    def requires(self) -> Sequence[Condition]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The conditions that the nested pass requires, of the ops that it visits."""
        return getattr(self.pass_, "requires", ())

    @property
    def ensures(self) -> Sequence[Condition]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The conditions that the nested pass ensures."""
        return getattr(self.pass_, "ensures", ())

    @property
    def acts_on(self) -> Sequence[type]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The classes of ops without which the nested pass does nothing."""
        return self.pass_.acts_on if is_own(self.pass_) else ()

    @property
    def statistics(self) -> Mapping[str, str]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The counters that the nested pass declares."""
        return getattr(self.pass_, "statistics", {})

    @property
    def remark_categories(self) -> Sequence[str]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The categories of the remarks of the nested pass."""
        return getattr(self.pass_, "remark_categories", ())

    def load_code(self, module: ModuleOp, ops: OpClasses) -> None:
        if is_own(self.pass_):
            self.pass_.load_code(module, ops)

    @cached_property
    def info(self) -> PassInfo:
        own = info_of(self.pass_)
        text = own.text
        # An outermost `builtin.module` would be the module itself.
        outermost = (ModuleOp.name,) if self.anchors[0] == OpAnchor(ModuleOp.name) else ()
        for anchor in (*reversed(self.anchors), *outermost):
            text = f"{anchor}({text})"
        return replace(own, text=text, composite=False)

    def units(self, module: ModuleOp) -> Sequence[Operation] | None:
        inner = self.pass_
        if info_of(inner).composite or (is_own(inner) and not inner.parallel):
            return None
        is_direct = len(self.anchors) == 1 and not self.anchors[0].recursive
        return self._anchored(module) if is_direct and not self._visits_modules else None

    @property
    def _visits_modules(self) -> bool:
        return self.anchors[-1].op == ModuleOp.name

    def visit(
        self, op: Operation, module: ModuleOp, ctx: PassContext, frame: PassFrame
    ) -> Operation:
        pass_ = self._pass_on(op, ctx)
        around = op.parent_op()
        if isinstance(around, ModuleOp) and _visits_units(pass_) and pass_.visits(op):
            return pass_.visit(op, around, ctx, frame)
        return visit_alone(pass_, op, module, ctx, (self.info.name, self.anchors[-1].op))

    def transform(self, module: ModuleOp, ctx: PassContext) -> None:
        frame = Run.current().frames[-1]
        ops = self._anchored(module)
        if not ops and any(anchor.name is not None for anchor in self.anchors):
            message = f"pass '{self.info.text}' visits nothing: no name matches"
            frame.diagnostics.warning(None, message)
        with ExitStack() as contracts:
            if _visits_units(self.pass_):
                for around in dict.fromkeys(op.parent_op() for op in ops):
                    if isinstance(around, ModuleOp):
                        contracts.enter_context(self.pass_.keeping_symbols(around))
            for op in ops:
                frame.function = op
                if op.parent is None:  # a visit of the op around it has erased it
                    continue
                ctx.instrumentor.visit(op, self.info, lambda op: self._visit(op, module, ctx))
            frame.function = None

    def _visit(self, op: Operation, module: ModuleOp, ctx: PassContext) -> Operation:
        run = Run.current()
        if not (isinstance(op, ModuleOp) and self._visits_modules):
            return self.visit(op, module, ctx, run.frames[-1])
        run.part = op
        try:
            transform(self._pass_on(op, ctx), op, ctx)
        finally:
            run.part = None
        return op

    def _pass_on(self, op: Operation, ctx: PassContext) -> ModulePass:
        """Return the pass with the options of the context; DiagnosticError if it refuses `op`."""
        if is_own(self.pass_):
            check_can_run_on(self.pass_, op)
        return ctx.config.apply(self.pass_, self.pass_.name)

    def visited(self, module: ModuleOp) -> Iterable[Operation]:
        return self._anchored(module)

    def _anchored(self, module: ModuleOp) -> list[Operation]:
        """Return the ops to visit."""
        found: list[Operation] = [module]
        for anchor in self.anchors:
            # `any` in `any`, each at any depth, may lead to an op twice.
            inner = dict.fromkeys(op for around in found for op in anchor.ops_in(around))
            found = [op for op in inner if anchor.names(op)]
            if anchor.op != ANY:
                _check_anchor(anchor.op, found)
        found = [op for op in found if any(r.blocks for r in op.regions) and not is_skipped(op)]
        if self.anchors[-1].op == ANY and is_own(self.pass_):
            return [*filter(self.pass_.can_run_on, found)]
        return found


def _check_anchor(anchor: str, ops: Sequence[Operation]) -> None:
    """Raise PasslineError unless passes can run on each of `ops`, which are called `anchor`,
    alone.
    """
    context = Run.current().ir_context
    cls = context.get_optional_op(anchor)
    if not ops and cls is None:
        hint = did_you_mean(anchor, [op.name for op in context.loaded_ops])
        raise PasslineError(f"'{anchor}(...)': there is no op '{anchor}'{hint}")
    isolated = [op.has_trait(IsolatedFromAbove, value_if_unregistered=False) for op in ops]
    if not all(isolated) or not (
        ops or cls is None or cls.has_trait(IsolatedFromAbove, value_if_unregistered=False)
    ):
        raise PasslineError(
            f"'{anchor}(...)': '{anchor}' is not isolated from above, "
            "and so no pass can run on one alone"
        )
