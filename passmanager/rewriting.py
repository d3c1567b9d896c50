"""The greedy pattern driver: applies xDSL's rewrite patterns until none of them matches."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriterListener,
    RewritePattern,
)

from .actions import SILENT, Actions
from .base import AnchorT, FunctionPass
from .context import PassContext
from .errors import PasslineError
from .fast.pattern_driver import Attempt, PatternIndex, TrackingRewriter, Worklist
from .ir.location import place_of
from .ir.walk import walk


class NonConvergenceError(PasslineError):
    """The error for rewriting without end; `patterns` are the names of the last patterns that
    rewrote `op` and its origins.
    """

    def __init__(self, patterns: Iterable[str], op: Operation, limit: int) -> None:
        self.patterns = tuple(patterns)
        self.op = op
        super().__init__(
            f"'{op.name}'{place_of(op)} and its origins were rewritten "
            f"more than {limit} times, most recently by {', '.join(self.patterns)}"
        )


def apply_patterns(
    root: Operation,
    patterns: Iterable[RewritePattern],
    *,
    ctx: Context | None = None,
    fold: bool = False,
    remove_dead: bool = False,
    listener: PatternRewriterListener | None = None,
    max_num_rewrites: int = -1,
    max_rewrites_per_op: int | None = None,
    actions: Actions = SILENT,
    top_down: bool = True,
) -> Counter[str]:
    """Rewrite the ops nested in `root` until no pattern applies; return the number of rewrites by
    pattern.

    Ops are visited in the order of the text, or backwards without `top_down`. After a rewrite, the
    ops that it touched are visited again, and their neighbours: the ops that define their operands,
    use their results, or hold them. A pattern that depends on ops further away may miss a rewrite.
    A visit removes the op if it is dead (`remove_dead`), or else folds it (`fold`, which needs
    `ctx`), or else tries the patterns in order until one rewrites. An inserted op without a
    location gets the location of the op that it replaces, or else of the matched op. Each rewrite
    is a passed remark.

    `listener` is told of each insertion, removal and modification. After `max_num_rewrites` the
    driver stops where it is; a negative number means no limit. Before a pattern is tried on an op,
    `actions` is asked whether a step `rewrite` is allowed, and one with the name of the pattern's
    class; if not, the pattern is not tried on this visit.

    Errors: an exception of a pattern gains a note. NonConvergenceError if an op and its origins
    were rewritten more than `max_rewrites_per_op` times, by default 1000 plus the number of ops.
    ValueError for `fold` without `ctx`.
    """
    if max_num_rewrites == 0:
        return Counter()
    applier = GreedyRewritePatternApplier(
        list(patterns), ctx, folding_enabled=fold, dce_enabled=remove_dead
    )
    index = PatternIndex(applier)
    _, *ops = walk(root)
    if not top_down:
        ops.reverse()
    lineage = _Lineage(1000 + len(ops) if max_rewrites_per_op is None else max_rewrites_per_op)
    worklist = Worklist(root, index, ops)
    del ops  # the list would keep erased ops alive
    rewriter = TrackingRewriter(worklist, actions)
    decides = actions.decides
    if listener is not None:
        rewriter.extend_from_listener(listener)
    fired: Counter[str] = Counter()
    for op in worklist.drain():
        parent = op.parent_op() if actions.wants_remarks else None  # a rewrite may erase the op
        attempts = index[type(op)]
        if decides:
            attempts = _allowed(attempts, op, actions)
        if (pattern := rewriter.visit(op, attempts)) is not None:
            name = type(pattern).__name__
            fired[name] += 1
            actions.passed(op, name, "rewritten", scope=parent)
            if actions.wants_rewrites:
                actions.rewrote(name, rewriter.inserted, rewriter.erased)
            lineage.record(op, name, rewriter)
            rewriter.finish_rewrite(op)
            max_num_rewrites -= 1
            if max_num_rewrites == 0:
                break
    return fired


def _allowed(attempts: Iterable[Attempt], op: Operation, actions: Actions) -> Iterator[Attempt]:
    """Yield the patterns whose rewrite of `op` is allowed; each is asked about just before it is
    tried.
    """
    for attempt in attempts:
        name = type(attempt.pattern).__name__
        # Both are asked, so that each counts every step.
        if all([actions.allowed(op, "rewrite"), actions.allowed(op, name)]):
            yield attempt


class _Lineage:
    """The number of rewrites of each op, including those of the ops that it originates from.

    An endless run makes this number grow without bound for some op, since each rewrite inserts
    finitely many ops (König's lemma). A limit on it therefore stops every endless run, and no run
    that merely rewrites many ops.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._total = 0
        self._rewrites: dict[Operation, int] = {}
        self._recent: deque[str] = deque(maxlen=32)

    def record(self, op: Operation, pattern: str, rewriter: TrackingRewriter) -> None:
        """Count a rewrite of `op`; raise NonConvergenceError if the limit is exceeded."""
        self._total += 1
        if self._total <= self._limit:  # within the limit even if all were rewrites of one op
            return
        self._recent.append(pattern)
        count = self._rewrites.get(op, 0) + 1
        if count > self._limit:
            raise NonConvergenceError(dict.fromkeys(self._recent), op, self._limit)
        self._rewrites.update(dict.fromkeys([op, *rewriter.inserted], count))
        for gone in rewriter.erased:
            self._rewrites.pop(gone, None)


class PatternPass(FunctionPass[AnchorT]):
    """A function pass that applies its rewrite patterns and counts the rewrites of each.

    With `fold = True` in the class, the driver also folds the ops that it visits, by xDSL's
    `HasFolder` and constant materialization; with `remove_dead = True` it also removes ops without
    side effects whose results have no uses. See `apply_patterns`.
    """

    fold: ClassVar[bool] = False
    """Whether ops are folded before the patterns are tried on them."""
    remove_dead: ClassVar[bool] = False
    """Whether dead ops are removed on the way; not in a module without ops in `acts_on`."""

    @abstractmethod
    def patterns(self) -> Sequence[RewritePattern]:
        """Return the patterns in the order in which they are tried on an op."""

    def transform_function(self, func: AnchorT, module: ModuleOp, ctx: PassContext) -> None:
        actions = ctx.actions
        fired = apply_patterns(
            func,
            self.patterns(),
            ctx=ctx.ir_context if self.fold else None,
            fold=self.fold,
            remove_dead=self.remove_dead,
            actions=actions,
        )
        for name, times in fired.items():
            actions.count(name, times)
