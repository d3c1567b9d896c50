"""FuseOpsByPattern: operations that match a pattern become one function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.ir import Operation
from xdsl.traits import ConstantLike, is_side_effect_free
from xdsl.utils.exceptions import PassFailedException

from ...analysis.dataflow_pattern import Match, Pattern, parse_pattern
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.ir.dominance import is_graph_region
from ...passmanager.ir.walk import walk
from ...passmanager.remarks import Remarks
from ..rewriting.outliner import Outliner, fusible_functions

__all__ = ["FuseOpsByPattern", "fuse_by_pattern"]


def fuse_by_pattern(
    func: Operation,
    name: str,
    pattern: Pattern,
    outliner: Outliner,
    *,
    gate: Callable[[], bool] | None = None,
    remarks: Remarks | None = None,
) -> int:
    """Move what matches `pattern` in `func` into primitive functions with `relax.composite = name`;
    returns how many matches there are.

    Where matches overlap, the one that ends last is taken, and of those that end alike the first
    that can be moved: its operations are pure and in one block, and nothing outside uses what any
    but the last computes. `gate`, if given, is asked before each, and may keep it from being moved.
    """
    marks = {"relax.primitive": UnitAttr(), "relax.composite": StringAttr(name)}
    last_ops = pattern.last_ops()
    number = {op: i for i, op in enumerate(walk(func))}
    taken: set[Operation] = set()
    groups: list[list[Operation]] = []
    for op in reversed(number):
        if op.name not in last_ops or op in taken or all(r.first_use is None for r in op.results):
            continue
        matches = pattern.matches(op.results[0], Match())
        found = [set(match.ops) for match in matches]
        ops = next((ops for ops in found if taken.isdisjoint(ops) and can_move(op, ops)), None)
        if ops is not None:
            taken |= ops
            groups.append(sorted(ops, key=number.__getitem__))
        elif found and remarks:
            remarks.missed(op, "UsedOutside", "matches, but cannot be moved", Pattern=name)
    fused = 0
    for ops in reversed(groups):
        if gate is None or gate():
            call = outliner.outline(ops, marks)
            fused += 1
            if remarks:
                remarks.passed(call, "Fused", "in one function", Pattern=name, Ops=len(ops))
    return fused


def can_move(last: Operation, ops: set[Operation]) -> bool:
    """Whether operations can be computed where the last of them is."""
    region = last.parent_region()
    return (
        region is not None
        and not is_graph_region(region)
        and all(
            op.parent is last.parent and not op.regions and is_side_effect_free(op) for op in ops
        )
        and all(
            use.operation in ops
            for op in ops
            if op is not last
            for result in op.results
            for use in result.uses
        )
    )


def is_constant(op: Operation) -> bool:
    """Whether it is a constant."""
    return op.has_trait(ConstantLike)


@dataclass(frozen=True)
class FuseOpsByPattern(ModulePass):
    """Make functions of what matches patterns; source: `relax.FuseOpsByPattern`.

    The functions are private, and marked `relax.primitive` and `relax.composite`.
    """

    name = "fuse-ops-by-pattern"
    required = ("infer-type",)
    preserves = ("infer-type",)

    patterns: tuple[str, ...] = ()
    """What to look for, in this order: `name=pattern`, such as
    `conv_relu=relax.nn.relu(relax.nn.conv2d(*, const))`; `str` of a `Pattern` is its text."""
    bind_constants: bool = True
    """Whether constants are in the functions; else they are passed in."""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        patterns = named_patterns(self.patterns)
        outliner = Outliner(module, is_constant if self.bind_constants else _never)
        for func in fusible_functions(module):
            for name, pattern in patterns:
                gate = ctx.gate(self.name)
                fused = fuse_by_pattern(
                    func, name, pattern, outliner, gate=gate, remarks=ctx.remarks
                )
                ctx.count("fused", fused)
        outliner.finish()


def _never(_: Operation) -> bool:
    return False


def named_patterns(texts: Sequence[str]) -> list[tuple[str, Pattern]]:
    """The names and patterns in `name=pattern`; PassFailedException for what is none."""
    found: list[tuple[str, Pattern]] = []
    for text in texts:
        name, _, rest = text.partition("=")
        try:
            pattern = parse_pattern(rest)
        except ValueError as error:
            raise PassFailedException(f"'{name.strip()}': {error}") from None
        if not pattern.last_ops():
            raise PassFailedException(f"'{name.strip()}': a pattern ends with an operation")
        found.append((name.strip(), pattern))
    return found
