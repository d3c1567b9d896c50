"""FuseOpsByPattern: operations that match a pattern become one function."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.ir import Operation
from xdsl.traits import ConstantLike, is_side_effect_free
from xdsl.utils.exceptions import PassFailedException

from ....compiler.analysis.fusion.dataflow_pattern import Either, Match, OpPattern, Pattern
from ....compiler.analysis.fusion.dataflow_pattern_parser import parse_pattern
from ....compiler.interpreters.codegens import codegen_named
from ....passmanager.base import ModulePass
from ....passmanager.context import PassContext
from ....passmanager.diagnostics.actions import SILENT, Actions
from ....passmanager.ir.checks.dominance import is_graph_region
from ....passmanager.ir.walk import walk
from ...generic.analysis.purity import Purity
from .composites import merge_composites
from .outliner import Outliner, fusible_functions

__all__ = ["FuseOpsByPattern", "fuse_by_pattern"]


def fuse_by_pattern(
    func: Operation,
    name: str,
    pattern: Pattern,
    outliner: Outliner,
    *,
    accepts: Callable[[Sequence[Operation]], bool] = lambda _: True,
    actions: Actions = SILENT,
) -> None:
    """Outline each match of `pattern` in `func` that `accepts` holds for into a primitive function
    with `relax.composite = name`.

    Of overlapping matches, the one whose last operation is later wins; of matches with the same
    last operation, the first that can be outlined.
    """
    marks = {"relax.primitive": UnitAttr(), "relax.composite": StringAttr(name)}
    for ops in select_matches(func, name, pattern, accepts, actions):
        if actions.allowed(ops[-1]):
            call = outliner.outline(ops, marks)
            actions.count("fused")
            actions.passed(call, "Fused", "in one function", Pattern=name, Ops=len(ops))


def select_matches(
    func: Operation,
    name: str,
    pattern: Pattern,
    accepts: Callable[[Sequence[Operation]], bool],
    actions: Actions,
) -> list[list[Operation]]:
    """Return the operations of matches that do not overlap and can be outlined, in order."""
    last_ops = pattern.last_ops()
    number = {op: i for i, op in enumerate(walk(func))}
    taken: set[Operation] = set()
    groups: list[list[Operation]] = []
    # From the last operation back, as a pattern is rooted at its result: of `relu(add(conv))` the
    # longest match is found before a part of it.
    for op in reversed(number):
        if op.name not in last_ops or op in taken or all(r.first_use is None for r in op.results):
            continue
        matches = pattern.matches(op.results[0], Match())
        found = [set(match.ops) for match in matches if accepts(match.ops)]
        fitting = (ops for ops in found if taken.isdisjoint(ops) and can_outline(op, ops))
        if (ops := next(fitting, None)) is not None:
            taken |= ops
            groups.append(sorted(ops, key=number.__getitem__))
        elif found:
            actions.missed(op, "UsedOutside", "matches, but cannot be outlined", Pattern=name)
    return groups[::-1]


def can_outline(last: Operation, ops: Collection[Operation]) -> bool:
    """Return whether `ops` can move to a function that is called in the place of `last`.

    They must be pure and in the block of `last`, and only the results of `last` may have uses
    outside of `ops`.
    """
    region = last.parent_region()
    return (
        region is not None
        and not is_graph_region(region)
        and all(
            op.parent is last.parent and not op.regions and is_side_effect_free(op) for op in ops
        )
        and all(
            # A value that is used outside would have to be a result as well: a composite has one.
            use.operation in ops
            for op in ops
            if op is not last
            for result in op.results
            for use in result.uses
        )
    )


def is_constant(op: Operation) -> bool:
    """Return whether `op` is a constant."""
    return op.has_trait(ConstantLike, value_if_unregistered=False)


@dataclass(frozen=True)
class FuseOpsByPattern(ModulePass):
    """Fuse the operations of pattern matches; source: `relax.FuseOpsByPattern`.

    Each match becomes a private function marked `relax.primitive` and `relax.composite`.

    Before:

        func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
          %0 = relax.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
          %1 = relax.nn.relu %0 : (tensor<4xf32>) -> tensor<4xf32>
          func.return %1 : tensor<4xf32>
        }

    After {patterns="add_relu=relax.nn.relu(relax.add(*, *))"}:

        func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
          %0 = func.call @fused_add_relu(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
          func.return %0 : tensor<4xf32>
        }
        func.func private @fused_add_relu(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32>
            attributes {relax.primitive, relax.composite = "add_relu"} {
          %0 = relax.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
          %1 = relax.nn.relu %0 : (tensor<4xf32>) -> tensor<4xf32>
          func.return %1 : tensor<4xf32>
        }
    """

    name = "fuse-ops-by-pattern"
    required = ("infer-type",)
    preserves = ("infer-type",)

    patterns: tuple[str, ...] = ()
    """The patterns, earlier ones first: `name=pattern`, such as
    `conv_relu=relax.nn.relu(relax.nn.conv2d(*, const))`; `str` of a `Pattern` is its text. One
    without a name is called after its operations, the last one last: `conv2d_relu`."""
    bind_constants: bool = True
    """Copy constants into the functions; otherwise they become parameters."""
    codegens: tuple[str, ...] = ()
    """The back ends whose patterns are applied after `patterns`."""
    annotate_codegen: bool = False
    """Give each call of a composite function a function of its own for `run-codegen`, instead of
    merging neighbours with `merge-composite-functions`."""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        patterns = [(name, pattern, _always) for name, pattern in named_patterns(self.patterns)]
        for codegen in map(codegen_named, self.codegens):
            named = named_patterns(codegen.PATTERNS)
            patterns += [(name, pattern, codegen.accepts) for name, pattern in named]
        binds = is_constant if self.bind_constants else _never
        outliner = Outliner(module, binds, actions=ctx.actions)
        functions = fusible_functions(module)
        for func in functions:
            for name, pattern, accepts in patterns:
                fuse_by_pattern(func, name, pattern, outliner, accepts=accepts, actions=ctx.actions)
        if self.annotate_codegen:
            purity = Purity(module)
            for func in functions:
                merge_composites(func, outliner, purity, merge=False, actions=ctx.actions)
        outliner.finish()


def _always(_: Sequence[Operation]) -> bool:
    return True


def _never(_: Operation) -> bool:
    return False


def named_patterns(texts: Sequence[str]) -> list[tuple[str, Pattern]]:
    """Parse entries `name=pattern` or `pattern`; PassFailedException for an entry that is malformed
    or does not end with an operation."""
    found: list[tuple[str, Pattern]] = []
    for text in texts:
        named = _NAMED.match(text)
        name, rest = (named[1].strip(), text[named.end() :]) if named else ("", text)
        try:
            pattern = parse_pattern(rest)
        except ValueError as error:
            raise PassFailedException(f"'{name}': {error}" if name else str(error)) from None
        if not pattern.last_ops():
            raise PassFailedException(f"'{name or text}': a pattern ends with an operation")
        found.append((name or "_".join(_operations(pattern)), pattern))
    return found


_NAMED = re.compile(r"([^=(){}|]*)=")
"""The name of a pattern: a property, as in `relax.sum{axis=[1]}`, has a brace before its `=`."""


def _operations(pattern: Pattern) -> Iterator[str]:
    """Yield the names of the operations of a pattern, without dialects, in the order in which they
    are computed; of alternatives those of the first."""
    match pattern:
        case OpPattern(name=name, operands=operands):
            for operand in operands or ():
                yield from _operations(operand)
            yield name.rpartition(".")[2]
        case Either(first=first):
            yield from _operations(first)
        case _:
            pass
