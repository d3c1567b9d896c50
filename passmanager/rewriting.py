"""The greedy pattern driver: runs xDSL's rewrite patterns until none has anything left to do."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence

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
from .ir.location import place_of
from .ir.walk import walk
from .pattern_index import PatternIndex
from .worklist import TrackingRewriter, Worklist

__all__ = ["NonConvergenceError", "PatternPass", "apply_patterns"]


class NonConvergenceError(PasslineError):
    """Rewriting without an end; `patterns` are the names of those that kept firing on `op`."""

    def __init__(self, patterns: Iterable[str], op: Operation, limit: int) -> None:
        self.patterns = tuple(patterns)
        self.op = op
        super().__init__(
            f"'{op.name}'{place_of(op)} and what it came from were rewritten "
            f"more than {limit} times, lately by {', '.join(self.patterns)}"
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
) -> Counter[str]:
    """Rewrite the ops nested in `root` until nothing applies: how often each pattern fired.

    Ops are visited in the order written, and again when a rewrite touched them or a neighbour: what
    defines their operands, uses their results, or holds them. Nothing further off is watched.
    A visit removes the op if it is dead (`remove_dead`), else folds it (`fold`, which takes `ctx`),
    else asks the patterns in order until one has done something. An inserted op without a location
    gets that of the op it replaces, else of the op matched. What a pattern raises gains a note.
    After `max_num_rewrites` the IR is left as it is then; a negative number is no limit. Each
    rewrite is a passed remark.
    Before a pattern is asked about an op, `actions` is asked whether a `rewrite` is allowed, and
    one by this class of pattern; if not, the pattern does not see the op on this visit.
    NonConvergenceError: an op and what it came from were rewritten more than `max_rewrites_per_op`
    times, by default 1000 plus the number of ops.
    """
    if max_num_rewrites == 0:
        return Counter()
    applier = GreedyRewritePatternApplier(
        list(patterns), ctx, folding_enabled=fold, dce_enabled=remove_dead
    )
    index = PatternIndex(applier)
    _, *ops = walk(root)
    lineage = _Lineage(1000 + len(ops) if max_rewrites_per_op is None else max_rewrites_per_op)
    worklist = Worklist(root, index, ops)
    del ops  # would keep alive what is erased
    rewriter = TrackingRewriter(worklist, actions)
    asked = _GatedIndex(index, actions) if actions.decides else index
    if listener is not None:
        rewriter.extend_from_listener(listener)
    fired: Counter[str] = Counter()
    for op in worklist.drain():
        parent = op.parent_op() if actions.wants_remarks else None  # a rewrite may erase the op
        if (pattern := rewriter.visit(op, asked[type(op)])) is not None:
            name = type(pattern).__name__
            fired[name] += 1
            actions.passed(op, name, "rewritten", scope=parent)
            lineage.record(op, name, rewriter)
            rewriter.finish_rewrite(op)
            max_num_rewrites -= 1
            if max_num_rewrites == 0:
                break
    return fired


class _GatedIndex:
    """A PatternIndex that yields a pattern only if its rewrite is allowed, asked at its turn."""

    def __init__(self, index: PatternIndex, actions: Actions) -> None:
        self._index = index
        self._actions = actions

    def __getitem__(self, op_class: type[Operation]) -> Iterator[RewritePattern]:
        for pattern in self._index[op_class]:
            name = type(pattern).__name__
            # Both are asked, so that each counts every step.
            if all([self._actions.allowed(None, "rewrite"), self._actions.allowed(None, name)]):
                yield pattern


class _Lineage:
    """How often each op, with what it came from, has been rewritten.

    In a run without an end that grows without bound for some op, since a rewrite leaves finitely
    many. So a limit on it ends every such run, and none that does much to each of many ops.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._total = 0
        self._rewrites: dict[Operation, int] = {}
        self._recent: deque[str] = deque(maxlen=32)

    def record(self, op: Operation, pattern: str, rewriter: TrackingRewriter) -> None:
        """Count a rewrite of `op`; NonConvergenceError if it is one too many."""
        self._total += 1
        if self._total <= self._limit:  # not too many even if all were of one op
            return
        self._recent.append(pattern)
        count = self._rewrites.get(op, 0) + 1
        if count > self._limit:
            raise NonConvergenceError(dict.fromkeys(self._recent), op, self._limit)
        self._rewrites.update(dict.fromkeys([op, *rewriter.inserted], count))
        for gone in rewriter.erased:
            self._rewrites.pop(gone, None)


class PatternPass(FunctionPass[AnchorT]):
    """A function pass that is nothing but its rewrite patterns; counts how often each fired."""

    fold = False
    remove_dead = False

    @abstractmethod
    def patterns(self) -> Sequence[RewritePattern]:
        """The patterns, in the order in which they are asked about an op."""

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
