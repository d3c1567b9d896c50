"""LoopPartition: loops are split where the conditions in them change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, ModuleOp
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import is_speculatable
from xdsl.utils.hints import isa

from ...analysis.arith.analyzer import Analyzer, Interval
from ...analysis.arith.canonical import DIVIDING, ONE, ZERO
from ...analysis.arith.linear_form import Atom, Function, Linear
from ...analysis.arith.materialize import Builder
from ...dialects.tir.ops import ForKind, ForKindAttr, ForOp, LikelyOp, PrimFuncOp, YieldOp
from ...passmanager.context import PassContext
from ...passmanager.ir.walk import walk
from ...passmanager.remarks import Remarks
from ...passmanager.rewriting import apply_patterns
from ..rewriting.known_conditions import replace_conditions
from .base import PrimFuncPass

__all__ = ["LoopPartition", "partition_loops"]

HINT = "pragma_loop_partition_hint"
IGNORED = "ignore_loop_partition"

BLOCK = "blockIdx"
"""The start of the tags of loops over blocks of threads; all others are over threads."""


def partition_loops(
    func: PrimFuncOp, options: LoopPartition, remarks: Remarks | None = None
) -> int:
    """Split the loops of a function where conditions that are `tir.likely` change, or any
    comparison in a loop that has a hint, and strip both; returns how many loops were split.

    In the middle part all the conditions that can hold do, or else all that can fail do. What is
    known in a part is not asked there.
    """
    ops = list(walk(func))
    partition = _Partition(options, (options.max_growth - 1) * len(ops), remarks or None)
    if any(isinstance(op, LikelyOp) or _has_hint(op) for op in ops):
        partition.visit_block(func.body.block)
        ops = list(walk(func))
    for op in ops:
        op.attributes.pop(IGNORED, None)
        if isinstance(op, ForOp):
            op.attributes.pop(HINT, None)
        elif isinstance(op, LikelyOp):
            Rewriter.replace_op(op, [], [op.condition])
    if partition.changed:
        apply_patterns(func, (), remove_dead=True)
    return partition.partitioned


@dataclass(eq=False)
class _Condition:
    """A comparison in a loop, and intervals of the loop's variable in which it is known."""

    op: arith.CmpiOp
    holds: Sequence[Interval]
    fails: Sequence[Interval]

    def where(self, truth: bool) -> Sequence[Interval]:
        """The intervals in each of which it holds, or in each of which it does not."""
        return self.holds if truth else self.fails


@dataclass
class _Part:
    """The values of a loop's variable from `begin` up to `end`, which itself is none.

    All that there are, if any, are at least each of `lows` and at most each of `highs`.
    """

    begin: Linear
    end: Linear
    lows: Sequence[Linear]
    highs: Sequence[Linear]
    in_middle: bool = False
    known: dict[arith.CmpiOp, bool] = field(default_factory=dict[arith.CmpiOp, bool])
    """The comparisons that are the same for all these values."""


@dataclass
class _Middle:
    """An interval in which conditions are known: all of them hold, or none."""

    interval: Interval
    known: dict[arith.CmpiOp, bool]


class _Partition:
    """The state of one run."""

    def __init__(self, options: LoopPartition, room: int, remarks: Remarks | None) -> None:
        self.options = options
        self.room = room
        """By how many operations the function may still grow."""
        self.remarks = remarks
        self.analyzer = Analyzer()
        self.partitioned = 0
        self.changed = False
        self.settled: set[ForOp] = set()
        """Loops that are not to be split any more."""
        self.built: set[Operation] = set()
        """What computes the bounds of parts: used again where it is seen."""

    # Visiting

    def visit_block(self, block: Block) -> None:
        """Split the loops in a block, then the parts and the loops in them."""
        before: Operation | None = None
        while (op := block.first_op if before is None else before.next_op) is not None:
            if isinstance(op, ForOp) and self.visit_loop(op):
                continue  # with what is in its place
            before = op
            if op in self.built or _is_constant(op):
                self.analyzer.hold(op.results[0])
            for inner in [block for region in op.regions for block in region.blocks]:
                scope = self.analyzer.inside(op) if isinstance(op, ForOp) else self.analyzer.scope()
                with scope:
                    self.visit_block(inner)

    def visit_loop(self, loop: ForOp) -> bool:
        """Do one step for a loop; whether there may be another one for what is in its place."""
        if loop in self.settled or not self.is_candidate(loop):
            return False
        comparisons = _comparisons(loop)
        if not comparisons:
            return False
        with self.analyzer.scope():
            for bound in (loop.min, loop.extent):
                self.analyzer.hold(bound)
            return self.partition(loop, comparisons)

    def is_candidate(self, loop: ForOp) -> bool:
        """Whether a loop may be split: it has a hint, or is not constant, or constant ones may."""
        if loop.for_kind is ForKind.THREAD_BINDING and not _is_of_blocks(loop):
            return False
        if _has_hint(loop) or self.options.partition_const_loop:
            return True
        return any(self.analyzer.linear(bound).terms for bound in (loop.min, loop.extent))

    def partition(self, loop: ForOp, comparisons: Sequence[arith.CmpiOp]) -> bool:
        """Replace what is known in all of a loop, or else split it."""
        analyzer = self.analyzer
        first = analyzer.linear(loop.min)
        end = analyzer.add(first, analyzer.linear(loop.extent))
        whole = _Part(first, end, [first], [end.shifted(-1)])
        if analyzer.can_prove("sge", first, end) and loop.for_kind is not ForKind.THREAD_BINDING:
            self.changed = True
            Rewriter.erase_op(loop)
            return True
        conditions = self.conditions(loop, comparisons)
        if known := self.known_in(whole, conditions) | self.proved(comparisons):
            self.changed = True
            _replace(known)
            return True
        middle = self.middle(conditions, whole, _has_hint(loop))
        parts = [] if middle is None else self.parts(whole, middle.interval)
        if middle is None or not any(part.in_middle for part in parts):
            self.unroll(loop, conditions)
            return False
        if reason := self.reason_to_stay(loop, parts):
            if self.remarks is not None:
                self.remarks.missed(loop, "NotPartitioned", reason)
            return False
        for part in parts:
            part.known = self.known_in(part, conditions) | (middle.known if part.in_middle else {})
        if self.remarks is not None:
            message = "split where its conditions change"
            self.remarks.passed(loop, "Partitioned", message, Parts=len(parts))
        self.partitioned += 1
        self.changed = True
        if loop.for_kind is ForKind.THREAD_BINDING:
            self.guard(loop, next(part for part in parts if part.in_middle), whole)
            return False
        self.replace_by_parts(loop, parts, comparisons)
        return True

    def reason_to_stay(self, loop: ForOp, parts: Sequence[_Part]) -> str:
        """Why a loop is not split into these parts; empty if it is."""
        if self.room <= 0:
            return "the function has grown too much"
        whole = [self.analyzer.linear(bound) for bound in (loop.min, loop.extent)]
        if loop.for_kind in (ForKind.VECTORIZED, ForKind.UNROLLED) and _are_constant(whole):
            if not _are_constant(bound for part in parts for bound in (part.begin, part.end)):
                return f"a {loop.for_kind} loop has a constant extent, its parts would not"
        return ""

    def unroll(self, loop: ForOp, conditions: Sequence[_Condition]) -> None:
        """Have a loop with a hint unrolled in whose iterations conditions differ."""
        extent = self.analyzer.constant_of(loop.extent)
        if not conditions:
            return
        if (
            self.options.unroll_loop_with_partition_hint_no_interval
            and _has_hint(loop)
            and loop.for_kind is ForKind.SERIAL
            and extent is not None
            and extent > 1
        ):
            loop.kind = ForKindAttr(ForKind.UNROLLED)
        elif self.remarks is not None:
            reason = "there is no interval in which its conditions are known"
            self.remarks.missed(loop, "NotPartitioned", reason)

    # Deducing

    def conditions(self, loop: ForOp, comparisons: Sequence[arith.CmpiOp]) -> list[_Condition]:
        """The comparisons of which intervals are known."""
        variable = self.analyzer.linear(loop.variable).atom
        if variable is None or variable.value is not loop.variable:
            return []  # the only value that it has
        found = (self.condition(op, variable, loop) for op in comparisons)
        return [condition for condition in found if condition is not None]

    def condition(self, op: arith.CmpiOp, variable: Atom, loop: ForOp) -> _Condition | None:
        """The intervals of a comparison."""
        comparison = self.analyzer.comparison(op)
        if comparison is None or not _mentions(comparison[1], variable):
            return None
        predicate, form = comparison
        negative = form.scaled(-1)

        def at_least(one: Linear, least: int) -> list[Interval]:
            interval = self.where_positive(one.shifted(-least), variable, loop)
            return [] if interval is None else [interval]

        match predicate:
            case "sge":
                holds, fails = at_least(form, 0), at_least(negative, 1)
            case "sgt":
                holds, fails = at_least(form, 1), at_least(negative, 0)
            case "sle":
                holds, fails = at_least(negative, 0), at_least(form, 1)
            case "slt":
                holds, fails = at_least(negative, 1), at_least(form, 0)
            case _:
                both = [*at_least(form, 0), *at_least(negative, 0)]
                holds = [self.meet(*both)] if len(both) == 2 else []
                fails = [*at_least(form, 1), *at_least(negative, 1)]
                if predicate == "ne":
                    holds, fails = fails, holds
        return _Condition(op, holds, fails) if holds or fails else None

    def where_positive(self, form: Linear, variable: Atom, loop: ForOp) -> Interval | None:
        """Values of a loop's variable for which a form is 0 or greater, whatever the variables of
        the loops in it, and of threads, are; None if no interval is known.

        Source: `arith::DeduceBound`, where these are the variables to relax.
        """
        least = self.least(form, variable, loop)
        if least is None:
            return None
        quotients = [term for term in least.terms if _mentions(Linear.of(term[0]), variable)]
        if len(quotients) != 1:
            return None
        ((atom, count),) = quotients
        if atom is variable:
            return self.analyzer.solve("sge", least, atom)
        # count * (dividend floordiv divisor) + rest >= 0
        dividend, divisor = atom.operands
        rest = least.without(atom)
        if count > 0:
            quotient = self.analyzer.floordiv(rest.scaled(-1).shifted(count - 1), count)
            inner = dividend.plus(quotient, -divisor.constant)
        else:
            quotient = self.analyzer.floordiv(rest, -count)
            inner = quotient.scaled(divisor.constant).shifted(divisor.constant - 1).minus(dividend)
        return self.where_positive(inner, variable, loop)

    def least(self, form: Linear, variable: Atom, loop: ForOp) -> Linear | None:
        """A form that is nowhere greater and, but for the variable, known before the loop; None if
        there is none."""
        pending = True
        while pending:
            pending = False
            for atom, count in form.terms:
                if atom is variable or self.is_known_before(atom, loop):
                    continue
                if _is_quotient(atom) and _mentions(Linear.of(atom), variable):
                    if not form.coefficient(variable):
                        continue
                bound = self.bound_of(atom, upper=count < 0)
                if bound is None:
                    return None
                form = form.plus(Linear.of(atom), -count).plus(bound, count)
                pending = True
                break
        return form

    def bound_of(self, atom: Atom, upper: bool) -> Linear | None:
        """What an atom is at least, or at most."""
        if atom.function is Function.LOOP:
            return atom.operands[1 if upper else 0]
        within = self.analyzer.bounds(Linear.of(atom))
        bound = within.high if upper else within.low
        return None if bound is None else Linear((), bound)

    def is_known_before(self, atom: Atom, loop: ForOp) -> bool:
        """Whether an atom can be computed before a loop, once for all threads."""
        if atom.function in (Function.LOOP, Function.VALUE):
            value = atom.value
            assert value is not None
            block = value.owner
            of = block.parent_op() if isinstance(block, Block) else None
            if isinstance(of, ForOp) and of.thread_tag is not None and not _is_of_blocks(of):
                return False
            return not _is_in(value, loop)
        if atom.function in DIVIDING:
            divisor = self.analyzer.bounds(atom.operands[1])
            if not ((divisor.low or 0) > 0 or (divisor.high or 0) < 0):
                return False
        elif atom.function is Function.OP:
            op = None if atom.value is None else atom.value.owner
            if not isinstance(op, Operation):
                return False
            if not is_speculatable(op) and not isinstance(op, memref.DimOp):
                return False
        inner = (atom for operand in atom.operands for atom, _ in operand.terms)
        return all(self.is_known_before(atom, loop) for atom in inner)

    def meet(self, one: Interval, other: Interval) -> Interval:
        """The values in both intervals."""
        lows = [low for low in (one.low, other.low) if low is not None]
        highs = [high for high in (one.high, other.high) if high is not None]
        return Interval(
            reduce(self.analyzer.maximum, lows) if lows else None,
            reduce(self.analyzer.minimum, highs) if highs else None,
        )

    # What is known of parts

    def known_in(self, part: _Part, conditions: Sequence[_Condition]) -> dict[arith.CmpiOp, bool]:
        """The conditions that are known in all of a part."""
        return {
            condition.op: truth
            for condition in conditions
            for truth in (True, False)
            if any(self.covers(interval, part) for interval in condition.where(truth))
        }

    def covers(self, interval: Interval, part: _Part) -> bool:
        """Whether an interval is shown to hold all of a part."""
        prove = self.analyzer.can_prove
        low, high = interval
        return (low is None or any(prove("sle", low, least) for least in part.lows)) and (
            high is None or any(prove("sge", high, most) for most in part.highs)
        )

    def is_outside(self, interval: Interval, part: _Part) -> bool:
        """Whether an interval is shown to have nothing in common with a part."""
        prove = self.analyzer.can_prove
        low, high = interval
        return (
            (low is not None and any(prove("sgt", low, most) for most in part.highs))
            or (high is not None and any(prove("slt", high, least) for least in part.lows))
            or (low is not None and high is not None and prove("sgt", low, high))
        )

    def proved(self, comparisons: Iterable[arith.CmpiOp]) -> dict[arith.CmpiOp, bool]:
        """The comparisons that the analyzer can decide."""
        answers = ((op, self.analyzer.prove(op.result)) for op in comparisons)
        return {op: truth for op, truth in answers if truth is not None}

    def middle(
        self, conditions: Sequence[_Condition], whole: _Part, hinted: bool
    ) -> _Middle | None:
        """Where all conditions hold that do so anywhere, else where none holds; with a hint, where
        as many of the first ones hold as can."""
        for truth in (True, False):
            chosen: list[_Condition] = []
            interval = Interval()
            for condition in conditions:
                if len(where := condition.where(truth)) != 1 or self.is_outside(where[0], whole):
                    continue
                both = self.meet(interval, where[0])
                if self.is_outside(both, whole):
                    if not (hinted and truth):
                        chosen = []
                    break
                interval = both
                chosen.append(condition)
            if chosen:
                return _Middle(interval, {condition.op: truth for condition in chosen})
        return None

    def parts(self, whole: _Part, interval: Interval) -> list[_Part]:
        """What of a loop is before an interval, in it (`in_middle`) and after it, but for what is
        shown to be empty.

        Ends are clamped unless they are shown to be in order, also for a loop without iterations.
        """
        analyzer = self.analyzer
        begin, end = whole.begin, whole.end
        low, high = interval
        before, after = [*whole.highs], [*whole.lows]
        lows, highs = [*whole.lows], [*whole.highs]
        if low is not None and not analyzer.can_prove("sle", low, begin):
            begin = analyzer.maximum(begin, analyzer.minimum(low, end))
            before.append(low.shifted(-1))
            lows += [low, begin]
        finish = end
        if high is not None and not analyzer.can_prove("sge", high.shifted(1), end):
            finish = analyzer.maximum(begin, analyzer.minimum(high.shifted(1), end))
            after.append(high.shifted(1))
            highs += [high, finish.shifted(-1)]
        parts = [
            _Part(whole.begin, begin, whole.lows, [*before, begin.shifted(-1)]),
            _Part(begin, finish, lows, highs, in_middle=True),
            _Part(finish, end, [*after, finish], whole.highs),
        ]
        return [part for part in parts if not analyzer.can_prove("sge", part.begin, part.end)]

    # Making parts

    def replace_by_parts(
        self, loop: ForOp, parts: Sequence[_Part], comparisons: Sequence[arith.CmpiOp]
    ) -> None:
        """Put copies of a loop in its place, each without what is known in it."""
        before = loop.prev_op
        constant = _are_constant(bound for part in parts for bound in (part.begin, part.end))
        for part in parts:
            copy = self.put_copy(loop, part, comparisons)
            if copy is not None and not constant and not part.in_middle:
                self.settled.add(copy)
        self.room += _size(loop) - sum(map(_size, _between(before, loop)))
        Rewriter.erase_op(loop)

    def put_copy(
        self, loop: ForOp, part: _Part, comparisons: Sequence[arith.CmpiOp]
    ) -> ForOp | None:
        """Put a copy of a loop over a part, counted from 0, before the loop; None if it is one
        iteration, whose statements are put there themselves.
        """
        copies: dict[SSAValue, SSAValue] = {}
        begin = self.value(part.begin, loop)
        extent = self.analyzer.add(part.end, part.begin, -1)
        annotations = {key for key in loop.attributes if key != HINT}
        keep_unit = annotations or self.options.no_unroll_loop_with_extent_one
        if extent == ONE and not keep_unit:
            body = Block()
            copies[loop.variable] = begin
            body.add_ops([op.clone(copies) for op in _statements(loop)])
            others = _copied(dict.fromkeys(comparisons, True), copies)
            _replace(_copied(part.known, copies) | self.proved(others))
            Rewriter.inline_block(body, InsertPoint.before(loop))
            return None
        body = Block(arg_types=[IndexType()])
        variable: SSAValue = body.args[0]
        variable.name_hint = loop.variable.name_hint
        if part.begin != ZERO:
            shifted = arith.AddiOp(variable, begin)
            body.add_op(shifted)
            variable = shifted.result
        copies[loop.variable] = variable
        body.add_ops([op.clone(copies) for op in _statements(loop)])
        _replace(_copied(part.known, copies))
        body.add_op(YieldOp())
        copy = ForOp(
            self.value(ZERO, loop),
            self.value(extent, loop),
            Region(body),
            loop.for_kind,
            attributes=loop.attributes,
        )
        copy.location = loop.location
        Rewriter.insert_op(copy, InsertPoint.before(loop))
        return copy

    def value(self, form: Linear, loop: ForOp) -> SSAValue:
        """Compute a form before a loop, of what has been computed already as far as it has."""
        before = loop.prev_op
        value = Builder(self.analyzer, InsertPoint.before(loop)).build(form)
        for op in _between(before, loop):
            self.built.add(op)
            self.analyzer.hold(op.results[0])
        return value

    def guard(self, loop: ForOp, middle: _Part, whole: _Part) -> None:
        """Have the innermost threads in a loop over blocks choose between a copy without what is
        known in the middle and what they have."""
        self.settled.add(loop)
        bounds: list[tuple[str, SSAValue]] = []
        if middle.begin != whole.begin:
            bounds.append(("sge", self.value(middle.begin, loop)))
        if middle.end != whole.end:
            bounds.append(("slt", self.value(middle.end, loop)))
        if not bounds:  # it is all of the loop
            _replace(middle.known)
            return
        for inner in _innermost_threads(loop):
            known = {op: truth for op, truth in middle.known.items() if _is_in(op.result, inner)}
            if not known:
                continue
            statements = _statements(inner)
            copies: dict[SSAValue, SSAValue] = {}
            then = Block([op.clone(copies) for op in statements])
            _replace(_copied(known, copies))
            self.room -= sum(map(_size, then.ops))
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


def _statements(loop: ForOp) -> list[Operation]:
    """What is done in each iteration."""
    return list(loop.body.block.ops)[:-1]


def _comparisons(loop: ForOp) -> list[arith.CmpiOp]:
    """The comparisons in a loop by which it may be split."""
    ops = list(walk(loop))
    ignored = _made_of((op for op in ops if IGNORED in op.attributes), loop)
    wanted = (
        ops if _has_hint(loop) else _made_of((op for op in ops if isinstance(op, LikelyOp)), loop)
    )
    return [op for op in wanted if isinstance(op, arith.CmpiOp) and op not in ignored]


def _made_of(ops: Iterable[Operation], loop: ForOp) -> dict[Operation, None]:
    """Conditions in a loop, and the conditions that they are made of."""
    found: dict[Operation, None] = {}
    pending = list(ops)[::-1]
    while pending:
        op = pending.pop()
        if op in found:
            continue
        found[op] = None
        if isinstance(op, LikelyOp | arith.AndIOp | arith.OrIOp | arith.XOrIOp):
            for operand in reversed(op.operands):
                if isinstance(operand, OpResult) and _is_in(operand, loop):
                    pending.append(operand.op)
    return found


def _innermost_threads(loop: ForOp) -> list[ForOp]:
    """The thread-bound loops in a loop, or it itself, that have no other in them."""
    bound = [op for op in walk(loop) if isinstance(op, ForOp) and op.thread_tag is not None]
    outer: set[Operation] = set()
    for op in bound:
        parent = op.parent_op()
        while op is not loop and parent is not None and parent not in outer:
            outer.add(parent)
            parent = None if parent is loop else parent.parent_op()
    return [op for op in bound if op not in outer]


def _has_hint(op: Operation) -> bool:
    """Whether a loop has the hint; one that is 0 is none."""
    if HINT not in op.attributes or not isinstance(op, ForOp):
        return False
    hint = op.attributes[HINT]
    return not (isa(hint, IntegerAttr[IntegerType | IndexType]) and hint.value.data == 0)


def _is_of_blocks(loop: ForOp) -> bool:
    """Whether a loop is bound to blocks of threads."""
    return loop.thread_tag is not None and loop.thread_tag.data.startswith(BLOCK)


def _is_in(value: SSAValue, loop: ForOp) -> bool:
    """Whether a value is defined in a loop."""
    op = value.owner.parent_op()
    while op is not None and op is not loop:
        op = op.parent_op()
    return op is loop


def _is_quotient(atom: Atom) -> bool:
    """Whether it is a quotient by a positive constant."""
    if atom.function is not Function.FLOORDIV:
        return False
    divisor = atom.operands[1]
    return not divisor.terms and divisor.constant > 0


def _mentions(form: Linear, atom: Atom) -> bool:
    """Whether a form is made of an atom."""
    return any(
        one is atom or any(_mentions(operand, atom) for operand in one.operands)
        for one, _ in form.terms
    )


def _is_constant(op: Operation) -> bool:
    """Whether it is a constant index."""
    return isinstance(op, arith.ConstantOp) and op.result.type == IndexType()


def _between(before: Operation | None, after: Operation) -> Iterator[Operation]:
    """The operations before one, from the first that is not before another."""
    block = after.parent
    assert block is not None
    op = block.first_op if before is None else before.next_op
    while op is not None and op is not after:
        yield op
        op = op.next_op


def _are_constant(forms: Iterable[Linear]) -> bool:
    return not any(form.terms for form in forms)


def _size(op: Operation) -> int:
    """How many operations it is, with those in it."""
    return sum(1 for _ in walk(op))


def _copied(
    known: Mapping[arith.CmpiOp, bool], copies: Mapping[SSAValue, SSAValue]
) -> dict[arith.CmpiOp, bool]:
    """What is known, of the copies."""
    pairs = ((copies[op.result].owner, truth) for op, truth in known.items())
    return {op: truth for op, truth in pairs if isinstance(op, arith.CmpiOp)}


def _replace(known: Mapping[arith.CmpiOp, bool]) -> None:
    replace_conditions((op.result, truth) for op, truth in known.items())


@dataclass(frozen=True)
class LoopPartition(PrimFuncPass):
    """Split loops where conditions in them that are `tir.likely` change, so that these need not be
    asked in the greatest part; strip `tir.likely`; source: `tir.LoopPartition`.
    """

    name = "tir-loop-partition"

    partition_const_loop: bool = False
    """Whether loops with constant bounds are split too."""
    no_unroll_loop_with_extent_one: bool = False
    """Whether a part of one iteration stays a loop."""
    unroll_loop_with_partition_hint_no_interval: bool = False
    """Whether a loop with a hint that cannot be split is to be unrolled."""
    max_growth: int = 64
    """How many times as large as it was a function may get."""

    def transform_function(self, func: PrimFuncOp, module: ModuleOp, ctx: PassContext) -> None:
        ctx.count("partitioned", partition_loops(func, self, ctx.remarks))
