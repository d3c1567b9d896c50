"""FuseOpsByPattern, MergeCompositeFunctions: operations that match a pattern become a function."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias, cast

from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.dialects.func import CallOp
from xdsl.ir import Block, Operation
from xdsl.traits import ConstantLike
from xdsl.utils.exceptions import PassFailedException

from ...compiler.analysis.dataflow_pattern import Either, Match, OpPattern, Pattern, parse_pattern
from ...compiler.analysis.fusion import MergeGroups, dependences
from ...compiler.interpreters.codegens import CODEGEN, codegen_named
from ...compiler.interpreters.codegens.codegen import Codegen
from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.ir.dominance import is_graph_region
from ...passmanager.ir.effects import NESTED, is_kept, own_effects
from ...passmanager.ir.walk import walk
from ..generic.purity import Purity
from ..named_functions import check_name, read_functions
from .outliner import Outliner, fusible_functions

# Regions for other back ends: calls of composite functions become calls of one function.


def composite_codegen(func: Operation | None) -> str:
    """Return the back end of a composite function, the part of its `relax.composite` before the
    first dot; empty for other functions."""
    name = None if func is None else func.attributes.get("relax.composite")
    if not isinstance(name, StringAttr) or "." not in name.data:
        return ""
    return name.data.partition(".")[0]


def merge_composites(
    func: Operation,
    outliner: Outliner,
    purity: Purity,
    *,
    merge: bool = True,
    actions: Actions = SILENT,
) -> None:
    """Outline the calls of composite functions in `func` into functions with `relax.codegen`.

    Calls of one back end that use each other's results become one function, in each block, unless
    one depends on another through an operation that stays outside. Without `merge` each call gets a
    function of its own.
    """
    merger = CompositeMerger(outliner, purity, actions)
    for block in _blocks(func):
        # Each block alone: a region of another back end is one call, which cannot span a branch.
        groups = MergeGroups(merger.codegen_of, merger.is_ordered)
        groups.add(block)
        found = groups.found()
        if not merge:
            found = [[call] for calls in found for call in calls]
        for ops in found:
            if actions.allowed(ops[-1]):
                merger.outline(ops)


class CompositeMerger:
    """Outlines groups of calls of composite functions."""

    def __init__(self, outliner: Outliner, purity: Purity, actions: Actions) -> None:
        self.outliner = outliner
        self.purity = purity
        self.actions = actions
        self.regions: set[Operation] = set()
        """The calls that took the place of groups: they are pure, but `purity` does not know their
        functions."""

    def codegen_of(self, op: Operation) -> str | None:
        """Return the back end of the composite function that `op` calls; None for other operations,
        and for calls with effects or without a used result."""
        if not isinstance(op, CallOp) or not any(result.first_use for result in op.results):
            return None
        codegen = composite_codegen(self.purity.callee(op))
        # A call with effects would have to keep its place among the others with effects.
        return codegen if codegen and self.purity.is_pure(op) else None

    def is_ordered(self, op: Operation) -> bool:
        """Return whether `op` must stay in the order of the operations with effects."""
        # Nested operations count: a branch that writes is ordered as a whole.
        return is_kept[type(op)] or any(
            inner not in self.regions
            and not is_kept[type(inner)]
            and self.purity.effects(inner) & ~NESTED
            for inner in walk(op)
        )

    def outline(self, ops: Sequence[Operation]) -> None:
        """Outline calls of composite functions of one back end, in the order of their block."""
        codegen = self.codegen_of(ops[-1])
        assert codegen is not None
        inside = {*ops}
        # The call takes the place of the last of `ops`, which all users have to follow.
        self.delay_users(ops, inside)
        results = [result for op in ops for result in op.results]
        call = self.outliner.outline(
            ops,
            {CODEGEN: StringAttr(codegen)},
            [r for r in results if any(use.operation not in inside for use in r.uses)],
            name=f"{codegen}_region",
        )
        self.regions.add(call)
        self.actions.count("regions")
        self.actions.passed(call, "Merged", "in one function", Codegen=codegen, Calls=len(ops))

    def delay_users(self, ops: Sequence[Operation], inside: Collection[Operation]) -> None:
        """Move the operations between `ops` that depend on one of them behind the last one."""
        block, last = ops[0].parent, ops[-1]
        assert block is not None
        span: list[Operation] = []
        op = ops[0]
        while op is not last:
            span.append(op)
            op = op.next_op
            assert op is not None
        if len(span) < len(ops):
            return  # there are no others
        users: dict[Operation, None] = {}
        #   a = f(x); u = user(a); b = g(x)     ->     a = f(x); b = g(x); u = user(a)
        # `u` cannot be needed by `b`, as the group would be a cycle then (`MergeGroups`).
        for op, needed in dependences(span, self.is_ordered):
            if op not in inside and any(p in inside or p in users for p in needed):
                users[op] = None
        # Each right behind `last`, so the last one is put there first.
        for op in reversed(users):
            op.detach()
            block.insert_op_after(op, last)


def _blocks(func: Operation) -> Iterator[Block]:
    """Yield the blocks nested in `func` whose operations stand in an order."""
    for op in [*walk(func)]:
        for region in op.regions:
            if not is_graph_region(region):
                yield from region.blocks


# FuseOpsByPattern: operations that match a pattern become one function.


Predicate: TypeAlias = Callable[[Match], bool]
"""Whether a match is to be fused, by its operations and the values of its named wildcards."""


def fuse_by_pattern(
    func: Operation,
    name: str,
    pattern: Pattern,
    outliner: Outliner,
    *,
    accepts: Predicate = lambda _: True,
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
    accepts: Predicate,
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
        found = [set(match.ops) for match in matches if accepts(match)]
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
        and all(op.parent is last.parent and not op.regions and not own_effects(op) for op in ops)
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
    before = ("fuse-ops",)
    preserves = ("infer-type",)

    patterns: tuple[str, ...] = ()
    """The patterns, earlier ones first: `name=pattern`, such as
    `conv_relu=relax.nn.relu(relax.nn.conv2d(*, const))`; `str` of a `Pattern` is its text. One
    without a name is called after its operations, the last one last: `conv2d_relu`."""
    bind_constants: bool = True
    """Copy constants into the functions; otherwise they become parameters."""
    codegens: tuple[str, ...] = ()
    """The back ends whose patterns are applied after `patterns`."""
    predicates: tuple[str, ...] = ()
    """Functions of a `Match` that say whether it is fused: the name of a pattern of `patterns`, and
    the module and name of the function, `conv_relu=package.module:function`."""
    entry_functions: tuple[str, ...] = ()
    """The functions in which operations are fused; by default, all."""
    annotate_codegen: bool = False
    """Give each call of a composite function a function of its own for `run-codegen`, instead of
    merging neighbours with `merge-composite-functions`."""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        named = named_patterns(self.patterns)
        names = [name for name, _ in named]
        found = read_functions(
            self.predicates,
            "predicate",
            "a pattern, as conv_relu",
            lambda name: check_name(name, names, "predicate", "pattern"),
        )
        predicates = cast("Mapping[str, Predicate]", found)
        patterns = [(name, pattern, predicates.get(name, _always)) for name, pattern in named]
        for codegen in map(codegen_named, self.codegens):
            accepts = partial(_accepted, codegen)
            patterns += [
                (name, pattern, accepts) for name, pattern in named_patterns(codegen.PATTERNS)
            ]
        binds = is_constant if self.bind_constants else _never
        outliner = Outliner(module, binds, actions=ctx.actions)
        functions = fusible_functions(module)
        if self.entry_functions:
            known = {func.sym_name.data: func for func in functions}
            for name in self.entry_functions:
                check_name(name, known, "entry function", "function")
            functions = [known[name] for name in dict.fromkeys(self.entry_functions)]
        for func in functions:
            for name, pattern, accepts in patterns:
                fuse_by_pattern(func, name, pattern, outliner, accepts=accepts, actions=ctx.actions)
        if self.annotate_codegen:
            purity = Purity(module)
            for func in functions:
                merge_composites(func, outliner, purity, merge=False, actions=ctx.actions)
        outliner.finish()


def _always(_: Match) -> bool:
    return True


def _accepted(codegen: Codegen, match: Match) -> bool:
    return codegen.accepts(match.ops)


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


# MergeCompositeFunctions: neighbouring composite functions of one back end become one function.


@dataclass(frozen=True)
class MergeCompositeFunctions(ModulePass):
    """Merge neighbouring composite functions of one back end into functions for `run-codegen`.

    Source: `relax.transform.MergeCompositeFunctions`. A composite function is one with an attribute
    `relax.composite = "backend.pattern"`, as `fuse-ops-by-pattern` makes them.

    Before:

        func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = func.call @exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
          %1 = func.call @exp(%0) : (tensor<4xf32>) -> tensor<4xf32>
          func.return %1 : tensor<4xf32>
        }
        func.func private @exp(%x: tensor<4xf32>) -> tensor<4xf32>
            attributes {relax.primitive, relax.composite = "vendor.exp"} {
          %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
          func.return %0 : tensor<4xf32>
        }

    After:

        func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = func.call @vendor_region(%x) : (tensor<4xf32>) -> tensor<4xf32>
          func.return %0 : tensor<4xf32>
        }
        func.func private @exp(%x: tensor<4xf32>) -> tensor<4xf32>
            attributes {relax.primitive, relax.composite = "vendor.exp"} {
          %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
          func.return %0 : tensor<4xf32>
        }
        func.func private @vendor_region(%x: tensor<4xf32>) -> tensor<4xf32>
            attributes {relax.codegen = "vendor"} {
          %0 = func.call @exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
          %1 = func.call @exp(%0) : (tensor<4xf32>) -> tensor<4xf32>
          func.return %1 : tensor<4xf32>
        }
    """

    name = "merge-composite-functions"
    after = ("fuse-ops-by-pattern",)
    before = ("fuse-ops",)
    preserves = ("infer-type",)

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        purity = ctx.analyses.get(Purity, module)
        outliner = Outliner(module, lambda _: False, actions=ctx.actions)
        for func in fusible_functions(module):
            merge_composites(func, outliner, purity, actions=ctx.actions)
        outliner.finish()
