"""Copies of a loop over parts of its iterations, each without the conditions known in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from xdsl.dialects import arith, scf
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...compiler.analysis.arith.analyzer import Analyzer
from ...compiler.analysis.arith.expressions import INDEX
from ...compiler.analysis.arith.linear_form import ONE, ZERO, LinearForm
from ...compiler.analysis.arith.materialize import FormBuilder
from ...compiler.analysis.iteration_ranges import HINT, IterationRange
from ...dialects.tir.ops import ForOp, LikelyOp, YieldOp
from ...passmanager.fast.clone import clone_all
from ...passmanager.fast.edit import erase, insert_before
from ...passmanager.ir.effects import own_effects
from ...passmanager.ir.walk import walk
from ..loops import inline_branch

# Replacement of conditions whose value is known, and of the branches that depend on them.


def replace_conditions(known: Iterable[tuple[OpResult, bool]]) -> None:
    """Replace results of type i1 by their known values, and erase the operations that compute them.

    The values are propagated to users: an `scf.if` is replaced by the branch that is taken, an
    `arith.select` by an operand, and `%known and %x` by `%x` or false.
    """
    pending = list(known)
    replaced: list[tuple[OpResult, bool]] = []
    while pending:
        value, truth = pending.pop()
        replaced.append((value, truth))
        for use in list(value.uses):
            match user := use.operation:
                case LikelyOp():
                    pending.append((user.res, truth))
                case arith.AndIOp() | arith.OrIOp():
                    # `true or x` is true, and `false and x` false; else the other operand is the
                    # result.
                    if truth is isinstance(user, arith.OrIOp):
                        pending.append((user.result, truth))
                    # It has none if the other operand was known, too, and it was replaced.
                    elif user.parent is not None:
                        Rewriter.replace_op(user, [], [user.operands[1 - use.index]])
                case arith.SelectOp() if use.index == 0:
                    Rewriter.replace_op(user, [], [user.lhs if truth else user.rhs])
                case scf.IfOp():
                    inline_branch(user, truth)
                case _:
                    pass
    # Users are replaced after the values they use, so they are erased first.
    for value, truth in reversed(replaced):
        if value.owner.parent is not None:
            _erase(value, truth)


def _erase(value: OpResult, truth: bool) -> None:
    """Erase the operation that computes `value`, and those of its block that only it used.

    Remaining uses get the constant `truth`.
    """
    if value.first_use is not None:
        constant = arith.ConstantOp.from_int_and_width(int(truth), 1)
        insert_before(value.op, constant)
        value.replace_all_uses_with(constant.result)
    # Not beyond the block: operations around the loop may serve other parts of it.
    block, pending = value.op.parent, [value.op]
    while pending:
        op = pending.pop()
        owners = {operand.owner for operand in op.operands}
        erase(op)
        pending += [
            owner
            for owner in owners
            if isinstance(owner, Operation) and owner.parent is block and _is_dead(owner)
        ]


def _is_dead(op: Operation) -> bool:
    unused = all(result.first_use is None for result in op.results)
    return unused and not op.regions and not own_effects(op)


class LoopPartBuilder:
    """Inserts copies of loops, each over a part of the iterations.

    With `keep_unit_loops` a part of one iteration stays a loop.
    """

    def __init__(self, analyzer: Analyzer, *, keep_unit_loops: bool) -> None:
        self.analyzer = analyzer
        self.keep_unit_loops = keep_unit_loops
        self.bound_ops: set[Operation] = set()
        """The operations that compute bounds of parts; they are reused where they dominate."""

    def insert_parts(
        self, loop: ForOp, parts: Sequence[IterationRange], comparisons: Sequence[arith.CmpiOp]
    ) -> list[ForOp | None]:
        """Insert before `loop` a copy of it for each part; the loop itself stays.

        Return the copy for each part, None if it was one iteration and its statements were
        inserted without a loop. `comparisons` are the conditions by which the loop is split.
        """
        return [self._insert_part(loop, part, comparisons) for part in parts]

    def _insert_part(
        self, loop: ForOp, part: IterationRange, comparisons: Sequence[arith.CmpiOp]
    ) -> ForOp | None:
        begin = self._compute(part.begin, loop)
        extent = self.analyzer.add(part.end, part.begin, -1)
        # An annotation may be meant for the loop that a later pass looks for.
        has_annotations = any(key != HINT for key in loop.attributes)
        if extent == ONE and not has_annotations and not self.keep_unit_loops:
            self._insert_iteration(loop, begin, part.known, comparisons)
            return None
        # As in TVM, a copy counts from 0, and its body adds `begin` to the loop variable.
        body = Block(arg_types=[INDEX])
        variable: SSAValue = body.args[0]
        variable.name_hint = loop.variable.name_hint
        if part.begin != ZERO:
            shifted = arith.AddiOp(variable, begin)
            body.add_op(shifted)
            variable = shifted.result
        copies: dict[SSAValue, SSAValue] = {loop.variable: variable}
        body.add_ops(clone_all(_statements(loop), copies, _results(part.known)))
        # In the copy alone: the loop itself is copied for the next part.
        replace_known(_of_copies(part.known, copies))
        body.add_op(YieldOp())
        copy = ForOp(
            self._compute(ZERO, loop),
            self._compute(extent, loop),
            Region(body),
            loop.for_kind,
            attributes=loop.attributes,
        )
        copy.location = loop.location
        Rewriter.insert_op(copy, InsertPoint.before(loop))
        return copy

    def _insert_iteration(
        self,
        loop: ForOp,
        variable: SSAValue,
        known: Mapping[arith.CmpiOp, bool],
        comparisons: Sequence[arith.CmpiOp],
    ) -> None:
        """Insert the statements of one iteration before `loop`, without the conditions known in it.

        As the variable has a single value, the analyzer may decide further comparisons.
        """
        body = Block()
        copies: dict[SSAValue, SSAValue] = {loop.variable: variable}
        body.add_ops(clone_all(_statements(loop), copies, _results({*known, *comparisons})))
        # The truth is a placeholder; only the keys are used.
        others = _of_copies(dict.fromkeys(comparisons, True), copies)
        replace_known(_of_copies(known, copies) | proved_comparisons(self.analyzer, others))
        Rewriter.inline_block(body, InsertPoint.before(loop))

    def _compute(self, form: LinearForm, loop: ForOp) -> SSAValue:
        """Return a value of `form` before `loop`, from values that are available."""
        before = loop.prev_op
        value = FormBuilder(self.analyzer, InsertPoint.before(loop)).build(form)
        # Whatever `build` inserted: bounds of later parts reuse it.
        for op in ops_between(before, loop):
            self.bound_ops.add(op)
            self.analyzer.make_available(op.results[0])
        return value

    def insert_choices(self, loop: ForOp, middle: IterationRange, whole: IterationRange) -> int:
        """Split a loop over blocks of threads, which has to stay one loop, by branches in it.

        The body of each innermost loop over threads becomes an `scf.if`: blocks in `middle` run a
        copy of the body without the conditions known there, the others the body as it was. Return
        the number of operations copied.
        """
        bounds: list[tuple[str, SSAValue]] = []
        if middle.begin != whole.begin:
            bounds.append(("sge", self._compute(middle.begin, loop)))
        if middle.end != whole.end:
            bounds.append(("slt", self._compute(middle.end, loop)))
        # The middle is all of the loop: no branch is needed.
        if not bounds:
            replace_known(middle.known)
            return 0
        copied = 0
        # The branch stands as deep as possible, so that all loops over threads stay around it, and
        # the launch has all its dimensions.
        for inner in _innermost_threads(loop):
            known = {op: truth for op, truth in middle.known.items() if inner.is_ancestor(op)}
            if known:
                copied += self._insert_choice(loop, inner, bounds, known)
        return copied

    def _insert_choice(
        self,
        loop: ForOp,
        inner: ForOp,
        bounds: Sequence[tuple[str, SSAValue]],
        known: Mapping[arith.CmpiOp, bool],
    ) -> int:
        statements = _statements(inner)
        copies: dict[SSAValue, SSAValue] = {}
        then = Block(clone_all(statements, copies, _results(known)))
        replace_known(_of_copies(known, copies))
        copied = sum(map(count_ops, then.ops))
        then.add_op(scf.YieldOp())
        for op in statements:
            op.detach()
        tests = [arith.CmpiOp(loop.variable, bound, predicate) for predicate, bound in bounds]
        conditions: list[Operation] = [*tests]
        if len(tests) == 2:
            conditions.append(arith.AndIOp(tests[0], tests[1]))
        choice = scf.IfOp(conditions[-1], (), [then], [Block([*statements, scf.YieldOp()])])
        choice.location = loop.location
        Rewriter.insert_op([*conditions, choice], InsertPoint.at_start(inner.body.block))
        return copied


def proved_comparisons(
    analyzer: Analyzer, comparisons: Iterable[arith.CmpiOp]
) -> dict[arith.CmpiOp, bool]:
    """Return the comparisons that `analyzer` can decide, and whether they hold."""
    answers = ((op, analyzer.prove(op.result)) for op in comparisons)
    return {op: truth for op, truth in answers if truth is not None}


def replace_known(known: Mapping[arith.CmpiOp, bool]) -> None:
    """Replace comparisons by their values, and simplify the operations that depend on them."""
    replace_conditions((op.result, truth) for op, truth in known.items())


def _of_copies(
    known: Mapping[arith.CmpiOp, bool], copies: Mapping[SSAValue, SSAValue]
) -> dict[arith.CmpiOp, bool]:
    pairs = ((copies[op.result].owner, truth) for op, truth in known.items())
    return {op: truth for op, truth in pairs if isinstance(op, arith.CmpiOp)}


def _results(comparisons: Iterable[arith.CmpiOp]) -> list[SSAValue]:
    return [op.result for op in comparisons]


def _statements(loop: ForOp) -> list[Operation]:
    """Return the operations of the body without its terminator."""
    return list(loop.body.block.ops)[:-1]


def _innermost_threads(loop: ForOp) -> list[ForOp]:
    """Return the thread-bound loops in `loop`, itself included, without another one inside."""
    bound = [op for op in walk(loop) if isinstance(op, ForOp) and op.thread_tag is not None]
    outer: set[Operation] = set()
    for op in bound:
        parent = op.parent_op()
        while op is not loop and parent is not None and parent not in outer:
            outer.add(parent)
            parent = None if parent is loop else parent.parent_op()
    return [op for op in bound if op not in outer]


def ops_between(before: Operation | None, after: Operation) -> Iterator[Operation]:
    """Yield the operations after `before`, or from the start of the block, up to `after`."""
    block = after.parent
    assert block is not None
    op = block.first_op if before is None else before.next_op
    while op is not None and op is not after:
        yield op
        op = op.next_op


def count_ops(op: Operation) -> int:
    """Return the number of operations in `op`, itself included."""
    return sum(1 for _ in walk(op))
