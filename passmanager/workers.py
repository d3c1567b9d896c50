"""Function passes on several cores: copies of this process take functions through a run of passes.

A worker is a fork, so that nothing is sent to it. It runs each of its functions through all passes
of a maximal run of function passes, and sends back the functions that changed (`fast/transfer.py`)
with what each pass reported. The module of this process stays as it is until all have ended well;
then the passes are replayed in their order: diagnostics, counters, validity, hooks. Whatever a
worker cannot do exactly as one core does, from a failing pass to output, ends the attempt: the
passes then run here, one after another, as if there had been no workers.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import NoReturn

from xdsl.dialects.builtin import ModuleOp

from .context import PassContext
from .fast.acceleration import is_accelerated
from .forks import available_cores, can_fork
from .ir.garbage_collection import paused_collector
from .ir.per_class import has_any
from .ir.walk import walk
from .names import name_key
from .parallel_run import (
    MIN_OPS,
    Member,
    ParallelRun,
    Result,
    is_worker,
    known_not_to_gain,
    size_of,
    warn_once,
)
from .registry import PassInfo
from .requirements import Step
from .run import Run
from .runner import AbstractPass, info_of, is_own


def reason_for_one_core(ctx: PassContext) -> str | None:
    """Return why the passes of a context run on one core, or None if workers may run them."""
    instrumentor = ctx.instrumentor
    observers = [i.name for i in ctx.instruments if vars(type(i)).get("observes_ir", True)]
    told = (*instrumentor.askers, *instrumentor.deciders, *instrumentor.visitors)
    observers += [i.name for i in told]
    if observers:
        return f"{observers[0]} observes or limits each pass"
    if ctx.rollback:
        return "rollback copies the module before each pass"
    if ctx.verify_preserves:
        return "verify_preserves checks the module after each pass"
    if ctx.checks_conditions:
        return "check_conditions checks the module before and after each pass"
    if not hasattr(os, "fork") or sys.platform != "linux":
        return f"workers are forks, which {sys.platform} does not have"
    if not can_fork():
        return "this process has other threads, whose locks a fork cannot release"
    if not is_accelerated("copying"):
        return "functions are not sent with this release of xDSL"
    return None


def workers_for(steps: Sequence[Step], run: Run, ctx: PassContext) -> Workers | None:
    """Return the workers for the passes of a pipeline, or None if all have to run here."""
    if is_worker() or run.around is not None or run.is_inside_leaf:
        return None
    count = min(ctx.workers, available_cores())
    if count < 2:
        return None
    if ctx.verify_each:
        run.watch()  # as the first pass would
    ops = _size(run)
    return None if ops < MIN_OPS else Workers(steps, run, ctx, count, ops)


def _size(run: Run) -> int:
    """Return the number of ops of a module, about; 0 if it has no two functions."""
    if run.record is not None:
        bodies = run.record.bodies.values()
        return sum(map(size_of, bodies)) if len(bodies) > 1 else 0
    several = sum(1 for op in run.module.ops if op.regions) > 1
    return sum(1 for _ in walk(run.module)) if several else 0


class Workers:
    """The workers of one pipeline, which run its passes ahead as far as that is possible."""

    def __init__(
        self, steps: Sequence[Step], run: Run, ctx: PassContext, count: int, ops: int
    ) -> None:
        self._steps = steps
        self._run = run
        self._ctx = ctx
        self._count = count
        self._ops = ops
        self._replays: dict[str, Replay] = {}
        """The passes that workers ran already, by place."""
        self._refused: set[str] = set()
        """The places of passes that run here."""

    def replay_of(self, step: Step) -> Replay | None:
        """Return the pass that replays what workers did in the place of `step`, after they did it;
        None if `step` runs here."""
        if step.place in self._refused:
            return None
        if (replay := self._replays.pop(step.place, None)) is None:
            members = self._members(step)
            self._refused.update(member.step.place for member in members)
            if members and self._run_ahead(members):
                self._refused.difference_update(member.step.place for member in members)
                replay = self._replays.pop(step.place)
        return replay

    def _members(self, first: Step) -> list[Member]:
        """Return the run of function passes that begins with `first`, whose requirements are valid,
        and stay so: passes that are skipped do not end it."""
        run, ctx = self._run, self._ctx
        valid = set(run.valid)
        members: list[Member] = []
        for step in self._steps[self._steps.index(first) :]:
            if ctx.skip_reason(step.info) is not None:
                continue
            pass_ = ctx.config.apply(step.pass_, step.pass_.name)
            info = info_of(pass_)
            is_ready = valid.issuperset(map(name_key, info.required))
            if not (is_ready and is_own(pass_) and pass_.parallel and info.key not in run.unsuited):
                break
            if (units := pass_.units(run.module)) is None:
                break
            member = Member(step, pass_, info, units)
            # Whether it runs depends on other functions: most likely it does if it would now.
            if member.acts_beyond and not has_any(run.op_classes(), *pass_.acts_on):
                break
            members.append(member)
            preserves: Iterable[str | type] = getattr(pass_, "preserves", ())
            valid &= {name_key(name) for name in preserves if isinstance(name, str)}
            if info.key in run.tracked:
                valid.add(info.key)
        return members

    def _run_ahead(self, members: Sequence[Member]) -> bool:
        """Run passes in workers and take over what they did; return False, and change nothing, if
        they have to run here."""
        run, ctx = self._run, self._ctx
        if known_not_to_gain(members, self._ops, self._count):
            return False
        if (reason := reason_for_one_core(ctx)) is not None:
            warn_once(run, f"passes run on one core although workers={ctx.workers}: {reason}")
            return False
        with paused_collector():
            attempt = ParallelRun(members, run, ctx, self._count)
            if attempt.succeeds():
                for result in attempt.results():
                    self._replays[result.member.step.place] = Replay(result)
        return bool(self._replays)


class Replay(AbstractPass):
    """A pass that reports again what workers found when they ran another one on each function."""

    parallel = False

    def __init__(self, result: Result) -> None:
        replaced = result.member.pass_
        self.name = replaced.name  # pyright: ignore[reportAttributeAccessIssue]
        self.preserves = replaced.preserves  # pyright: ignore[reportAttributeAccessIssue]
        self._result = result

    @property
    def info(self) -> PassInfo:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self._result.member.info

    def apply(self, ctx: object, op: ModuleOp) -> NoReturn:
        raise NotImplementedError("a replay runs in its pipeline alone")

    def transform(self, module: ModuleOp, ctx: PassContext) -> None:
        run = Run.current()
        frame = run.frames[-1]
        frame.verify_each = frame.verify_preserves = False  # the workers did
        frame.worker_time = self._result.seconds
        frame.verify_time = self._result.verify_seconds
        if run.watching:
            run.foreseen = self._result.changes
        for report in self._result.reports:
            for diagnostic in report.diagnostics:
                frame.diagnostics.add(diagnostic)
            for name, counts in report.counts.items():
                run.counters(name).update(counts)
