"""One attempt to take functions through a run of passes in forks of this process."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from io import StringIO
from time import perf_counter
from typing import Any, NamedTuple, NoReturn, TypeVar, cast

from xdsl.ir import Operation

from .analysis_manager import AnalysisManager
from .context import PassContext
from .diagnostics import Diagnostic, Severity
from .fast.transfer import Encoder, Known, Packet, Unsendable, decode, known_objects, restore
from .forks import Fork, Lost, Send, uninterrupted
from .ir.changes import Changes, ModuleRecord, compare, record_body
from .ir.dominance import verify_dominance
from .ir.per_class import has_any
from .ir.verifier import verify_changes
from .ir.walk import name_of, symbol_of, top_level_op
from .names import name_key
from .registry import PassInfo
from .requirements import Step
from .rewriting import PatternPass
from .run import PassFrame, Run
from .runner import AbstractPass

T = TypeVar("T")

MIN_OPS = 500
"""The number of ops of a module below which a fork takes longer than it saves."""
ITEMS = 8
"""The entries of an op in the record of a module, about."""
PASS_COST = 20e-6
"""The seconds that a pass takes for an op, where no sample of the functions is small enough."""
SEND_COST = 10e-6
"""The seconds that it takes to send and read an op of a changed function."""
FORK_COST = 10e-3
"""The seconds that it takes to fork, and to import what a worker needs."""
READ_COST = 4e-6
"""The seconds that it takes for an op to note its attributes before the fork, to copy pages of
memory that a worker changes, and to compare the functions of others at its end."""
FUNCTION_COST = 1.1e-3
"""The seconds that it takes to compare, verify and send a function, beside the time for its ops."""
SAMPLE = 0.02
"""The maximum part of a module that each of two samples may be, which show what passes cost."""
GAIN = 0.2
"""The minimum part of the time that workers have to save."""


@dataclass
class Estimate:
    """The estimated cost of a run of passes."""

    seconds: float
    """For each op."""
    sends: bool
    """Whether functions change, so that they are sent."""
    uses: int = 16
    """For how many modules it holds, before it is measured again."""

    def gains(self, ops: int, functions: int, workers: int) -> bool:
        """Return whether workers save time for a module with that many ops in functions."""
        seconds = self.seconds * ops
        cost = FORK_COST + FUNCTION_COST * functions + (READ_COST + SEND_COST * self.sends) * ops
        return seconds * (1 - 1 / workers) - cost > GAIN * seconds


_estimates: dict[tuple[type, ...], Estimate] = {}
"""The last estimates by the classes of the passes: a sample takes as long as 2 % of the passes."""


def size_of(body: Sequence[object]) -> int:
    """Return the number of ops that the record of a function has, about."""
    return 1 + len(body) // ITEMS


def known_not_to_gain(members: Sequence[Member], ops: int, workers: int) -> bool:
    """Return whether the last estimate for these passes says that workers do not save time."""
    key = tuple([type(member.pass_) for member in members])
    if (estimate := _estimates.get(key)) is None:
        return False
    estimate.uses -= 1
    if not estimate.uses:
        del _estimates[key]
    return not estimate.gains(ops, max(len(member.units) for member in members), workers)


@dataclass
class Member:
    """A pass of a run, as its context configures it, with its place in the pipeline."""

    step: Step
    pass_: AbstractPass
    info: PassInfo
    units: Sequence[Operation]
    """The functions that it visits, and others that it leaves as they are."""

    @cached_property
    def acts_beyond(self) -> bool:
        """Whether the pass changes functions without ops in `acts_on`, if others have some."""
        leaf = getattr(self.pass_, "pass_", self.pass_)  # of a nested pass the inner one
        return isinstance(leaf, PatternPass) and leaf.remove_dead and bool(self.pass_.acts_on)


_is_worker = False


def is_worker() -> bool:
    """Return whether this process, or what it does now, is that of a worker."""
    return _is_worker


def warn_once(run: Run, message: str) -> None:
    """Report a warning, once in a run."""
    if message not in run.warned:
        run.warned.add(message)
        run.diagnostics.warning(None, message)


# What workers do.


class Unsuitable(BaseException):
    """Raised for what a worker cannot do as one core does; no pass catches it. `blamed` is the pass
    to be named in a warning."""

    def __init__(self, reason: str, blamed: str = "") -> None:
        super().__init__(reason, blamed)
        self.reason = reason
        self.blamed = blamed


@dataclass
class UnitReport:
    """A report of one pass on one function."""

    changed: bool = False
    acted: bool = True
    """Whether the function had ops that the pass acts on."""
    diagnostics: Sequence[Diagnostic] = ()
    counts: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])
    seconds: float = 0.0
    verify_seconds: float = 0.0


@dataclass
class Outcome:
    """The reports of a run of passes on one function, and the function afterwards."""

    reports: list[UnitReport]
    func: Operation | None = None
    """The function, if it is in this process."""
    is_new: bool = False
    """Whether a pass returned another function."""

    @property
    def changed(self) -> bool:
        return self.is_new or any(report.changed for report in self.reports)

    @property
    def seconds(self) -> float:
        return sum(report.seconds for report in self.reports)


class Result(NamedTuple):
    """The reports and changes of one pass, collected from all workers."""

    member: Member
    reports: Sequence[UnitReport]
    """In the order of the functions."""
    changes: Changes
    seconds: float
    """The share of the pass in the time of the workers, with verification."""
    verify_seconds: float


class _OwnAnalyses(AnalysisManager):
    """The analyses of a worker, of the function in work alone: others may be outdated there."""

    def __init__(self, run: Run) -> None:
        super().__init__(lambda: None)
        self._run = run

    def get(self, analysis: type[T], op: Operation) -> T:
        frame = self._run.frames[-1]
        if top_level_op(op) is not frame.function and self._run.part is None:
            raise Unsuitable(f"it needs {analysis.__name__} of '{name_of(op)}'", frame.info.name)
        if PassContext.current().instruments:
            raise Unsuitable(f"an instrument is told of {analysis.__name__}", frame.info.name)
        return super().get(analysis, op)


class ParallelRun:
    """An attempt to run passes in workers."""

    def __init__(self, members: Sequence[Member], run: Run, ctx: PassContext, count: int) -> None:
        self.members = members
        self.run = run
        self.ctx = ctx
        self.count = count
        module = run.module
        visitors: dict[Operation, set[int]] = {}
        for number, member in enumerate(members):
            for op in member.units:
                visitors.setdefault(op, set()).add(number)
        self.visitors = visitors
        """The numbers of the passes that visit each function."""
        self.functions = [op for op in module.ops if op in visitors]
        self.places = [index for index, op in enumerate(module.ops) if op in visitors]
        self.surroundings = self._surroundings()
        self.record = run.record or ModuleRecord(module)
        bodies = self.record.bodies
        self.sizes = {op: size_of(bodies.get(op, ())) for op in self.functions}
        self.outcomes: dict[int, Outcome] = {}
        """What became of the functions, by number."""
        self.began = perf_counter()
        self.known: Known = {}
        self.starts: dict[Operation, list[object]] = {}
        """The contents and attributes of each op before the passes."""
        self.ends: dict[Operation, tuple[Operation, ModuleRecord]] = {}
        """The op that took the place of each function, and its record after the passes."""

    def succeeds(self) -> bool:
        """Run the passes in workers; return False, and change nothing, if that is impossible."""
        if sum(self.sizes.values()) < MIN_OPS or len(self.functions) < 2:
            return False
        module, bodies = self.run.module, self.record.bodies
        self.starts = {op: [bodies.get(op, []), *_fields(op)] for op in module.ops}
        undo = Encoder({})  # nothing is sent
        done: list[int] = []
        try:
            return self._is_worth_it(undo, done) and self._finish(undo, done)
        except (Unsuitable, Unsendable) as reason:
            self._restore(undo, done)
            if isinstance(reason, Unsuitable) and reason.blamed:
                self.run.unsuited.add(name_key(reason.blamed))
                warn_once(self.run, f"pass '{reason.blamed}' runs on one core: {reason.reason}")
        except BaseException:
            self._restore(undo, done)
            raise
        return False

    def _load(self) -> None:
        """Import here, and not in each worker, what the passes need."""
        classes = self.run.op_classes()
        _ = self.run.ir_context
        for member in self.members:
            if not member.pass_.acts_on or has_any(classes, *member.pass_.acts_on):
                with suppress(Exception):  # it is raised again in the place of the pass
                    member.pass_.load_code(self.run.module, classes)

    def _is_worth_it(self, undo: Encoder, done: list[int]) -> bool:
        """Return whether workers save time. Two functions that are small parts of the module are
        transformed here as a sample, and restored if they do not."""
        whole = sum(self.sizes.values())
        key = tuple(type(member.pass_) for member in self.members)
        estimate = _estimates.get(key)
        if estimate is None:
            small = [op for op in self.functions if self.sizes[op] <= SAMPLE * whole]
            samples = sorted(small, key=self.sizes.__getitem__)[-2:]
            estimate = Estimate(PASS_COST * len(self.members), True)
            # Two: the first one pays for what is imported and cached on first use.
            for sample in samples:
                outcome = self._here(self.functions.index(sample), undo, done)
                # Without verification: one core verifies all functions at once, in less time.
                verified = sum(report.verify_seconds for report in outcome.reports)
                seconds = (outcome.seconds - verified) / self.sizes[sample]
                estimate = Estimate(seconds, outcome.changed)
                if not estimate.gains(whole, len(self.functions), self.count):
                    break
            if samples:
                _estimates[key] = estimate
        if estimate.gains(whole, len(self.functions), self.count):
            return True
        self._restore(undo, done)
        return False

    def _here(self, number: int, undo: Encoder, done: list[int]) -> Outcome:
        """Transform a function in this process, so that it can be undone."""
        undo.add(self.functions[number])
        done.append(number)
        stdout, stderr = sys.stdout, sys.stderr
        sys.stdout = sys.stderr = text = StringIO()
        try:
            with _as_worker(self.run):
                self.outcomes[number] = outcome = self._transform(number)
        finally:
            sys.stdout, sys.stderr = stdout, stderr
        if text.tell():
            raise Unsuitable("it prints")
        if self._surroundings() != self.surroundings:
            raise Unsuitable(_OTHERS)
        return outcome

    def _restore(self, undo: Encoder, done: list[int]) -> None:
        """Undo what was done in this process."""
        originals = undo.copies()
        for number, original in zip(done, originals, strict=True):
            func = self.functions[number]
            outcome = self.outcomes.get(number)
            if outcome is None or outcome.changed:
                if func.parent is None:
                    _replace(self._at(number), func)
                restore(func, original)
        done.clear()
        self.outcomes.clear()
        self.ends.clear()

    def _at(self, number: int) -> Operation:
        """Return the op that is in the place of a function."""
        place = self.places[number]
        return next(op for index, op in enumerate(self.run.module.ops) if index == place)

    # In a worker

    def _surroundings(self) -> list[object]:
        """Return what passes on functions may not change: the fields of the module, its symbols."""
        module = self.run.module
        return [*_fields(module), [(type(op), symbol_of(op)) for op in module.ops]]

    def _transform(self, number: int) -> Outcome:
        """Take a function through all passes that visit it; Unsuitable if one of them fails."""
        first = func = self.functions[number]
        if self._differs(func):
            raise Unsuitable(_OTHERS)
        record = ModuleRecord(self.run.module, func)
        interface = _interface(func)
        reports: list[UnitReport] = []
        for index, member in enumerate(self.members):
            report = UnitReport(acted=False)
            reports.append(report)
            if index not in self.visitors[first]:
                continue
            if member.pass_.acts_on:
                classes = record.op_classes()
                report.acted = has_any(classes, *member.pass_.acts_on)
                if not report.acted and not member.acts_beyond:
                    continue
            began = perf_counter()
            func, record = self._pass_on(func, record, member, report)
            report.seconds = perf_counter() - began
            if report.changed and _interface(func) != interface:
                raise Unsuitable("it changes the type of a function", member.info.name)
        self.ends[first] = func, record
        return Outcome(reports, func, func is not first)

    def _pass_on(
        self, func: Operation, record: ModuleRecord, member: Member, report: UnitReport
    ) -> tuple[Operation, ModuleRecord]:
        """Run one pass on a function, and verify it."""
        run, ctx, step = self.run, self.ctx, member.step
        frame = PassFrame(member.info, step.place, member.pass_)
        frame.function = func
        run.frames.extend((frame,))
        run.counts = {}
        parent = run.module.parent
        try:
            func = member.pass_.visit(func, run.module, ctx, frame)
            run.part = None
            began = perf_counter()
            after = ModuleRecord(run.module, func)
            if not after.same_as(record):
                report.changed = True
                changes = compare(run.module, record, after, details=ctx.verify_each)
                if ctx.verify_each:
                    verify_changes(
                        run.module, replace(changes, symbols_changed=False), dominance=False
                    )
                    if ctx.verify_dominance:
                        verify_dominance(func)
                kept = {cls for cls in frame.preserves if isinstance(cls, type)}
                run.analyses.invalidate(changes, kept)
            report.verify_seconds = perf_counter() - began
        except Exception as error:
            raise Unsuitable(f"it fails: {error!r}") from error
        finally:
            run.frames.pop()
        if run.module.parent is not parent:
            raise Unsuitable("it moves the module")
        report.counts = run.counts
        report.diagnostics = [] if frame.reported is None else [*frame.reported]
        if any(d.severity is Severity.ERROR for d in report.diagnostics):
            raise Unsuitable("it fails")
        return func, after

    def _work(self, send: Send, tasks: int) -> None:
        """Transform functions in a worker, as long as there are any, and send them."""
        parent = os.getppid()
        encoder = Encoder(self.known)
        reports: list[tuple[int, list[UnitReport], bool, bool]] = []
        try:
            with _as_worker(self.run), _silent():
                while (task := os.read(tasks, _TASK)) and os.getppid() == parent:
                    number = int.from_bytes(task, "little")
                    outcome = self._transform(number)
                    reports.append((number, outcome.reports, outcome.changed, outcome.is_new))
                    if outcome.changed:
                        assert outcome.func is not None
                        encoder.add(outcome.func)
                self._check_others()
                packet = encoder.packet()
        except Unsuitable as reason:
            return send((reason.reason, reason.blamed))
        except Unsendable as reason:
            return send((str(reason), ""))
        try:
            send((reports, packet))
        except Exception as error:
            send((f"its reports cannot be pickled: {error}", ""))

    def _check_others(self) -> None:
        """Raise Unsuitable if anything in the module is not as the passes on functions left it."""
        if self._surroundings() != self.surroundings or any(map(self._differs, self.starts)):
            raise Unsuitable(_OTHERS)

    def _differs(self, op: Operation) -> bool:
        """Return whether an op of the module is not as it was at the start, or as the passes left
        it here."""
        module = self.run.module
        if (end := self.ends.get(op)) is not None:
            func, record = end
            return not ModuleRecord(module, func).same_as(record)
        body, *fields = self.starts[op]
        return op.parent_op() is not module or record_body(op) != body or _fields(op) != fields

    # Of the workers

    def _finish(self, undo: Encoder, done: list[int]) -> bool:
        """Run all functions but those `done` in workers, and take over what they did."""
        numbers = [n for n in range(len(self.functions)) if n not in done]
        # The largest first: the last ones fill the time in which others still work.
        numbers.sort(key=lambda n: -self.sizes[self.functions[n]])
        self._load()
        self.known = known_objects(self.run.module, self.record)
        reader, writer = os.pipe()
        packets: list[tuple[list[int], Packet]] = []
        try:
            os.set_blocking(writer, False)  # what does not fit is done here
            os.write(writer, b"".join(n.to_bytes(_TASK, "little") for n in numbers[:_MAX_TASKS]))
            os.close(writer)
            with suppress(Exception):
                sys.stdout.flush()
                sys.stderr.flush()
            with ExitStack() as stack:
                with uninterrupted():  # each of them is on the stack then
                    forks = [
                        stack.enter_context(Fork(lambda send: self._work(send, reader)))
                        for _ in range(min(self.count, len(numbers)))
                    ]
                for fork in forks:
                    with suppress(Lost):
                        packets.append(self._received(fork))
        finally:
            os.close(reader)
        for number in numbers:  # those of a worker that was killed
            if number not in self.outcomes:
                self._here(number, undo, done)
        self._check_idle()
        try:
            read = [(changed, decode(packet, self.known)) for changed, packet in packets]
        except Exception as error:
            raise Unsuitable(f"it cannot be read: {error!r}") from error
        for changed, functions in read:
            for number, func in zip(changed, functions, strict=True):
                self._take_over(number, func)
        return True

    def _received(self, fork: Fork) -> tuple[list[int], Packet]:
        """Return the changed functions that a worker sends; Unsuitable if it could not do it."""
        received = cast(Any, fork.receive())
        first, second = received
        if isinstance(first, str):
            raise Unsuitable(first, second)
        changed: list[int] = []
        for number, reports, is_changed, is_new in first:
            self.outcomes[number] = Outcome(reports, None, is_new)
            if is_changed:
                changed.append(number)
        return changed, second

    def _check_idle(self) -> None:
        """Raise Unsuitable if a pass changed functions that it would not have visited on one core:
        no function had an op that it acts on."""
        for index, member in enumerate(self.members):
            reports = [outcome.reports[index] for outcome in self.outcomes.values()]
            is_idle = bool(member.pass_.acts_on) and not any(report.acted for report in reports)
            if is_idle and any(r.changed or r.diagnostics or r.counts for r in reports):
                raise Unsuitable("it depends on the ops of other functions")

    def _take_over(self, number: int, sent: Operation) -> None:
        """Put what a worker sent in the place of its function."""
        outcome, func = self.outcomes[number], self.functions[number]
        if outcome.is_new:
            _replace(func, sent)
            outcome.func = sent
        else:
            restore(func, sent)
            outcome.func = func

    def results(self) -> Iterator[Result]:
        """Yield what the workers found, for each pass."""
        elapsed = perf_counter() - self.began
        outcomes = [self.outcomes[number] for number in range(len(self.functions))]
        work = sum(outcome.seconds for outcome in outcomes) or 1.0
        run = self.run
        # The next comparison starts from here: the changes of the replayed passes are foreseen.
        run.restart_tracking()
        gone = [False] * len(outcomes)
        for index, member in enumerate(self.members):
            reports = [outcome.reports[index] for outcome in outcomes]
            changed: set[Operation] = set()
            removed: list[Operation] = []
            for number, (outcome, report) in enumerate(zip(outcomes, reports)):
                if report.changed:
                    changed.add(outcome.func or self.functions[number])
                    if outcome.is_new and not gone[number]:
                        gone[number] = True
                        removed.append(self.functions[number])
            changes = Changes(top_level=frozenset(changed), removed=tuple(removed))
            share = elapsed / work
            seconds = share * sum(report.seconds for report in reports)
            verified = share * sum(report.verify_seconds for report in reports)
            yield Result(member, reports, changes, seconds, verified)


_TASK = 2
"""The bytes of the number of a function in the pipe from which workers take the next."""
_MAX_TASKS = 1 << 14
"""The number of functions that fit in that pipe; 64 KiB is what it holds without a reader."""


_OTHERS = "a pass changes other functions"


def _fields(op: Operation) -> list[object]:
    """Return the attributes and properties of an op."""
    return [dict(op.attributes), dict(op.properties)]


def _interface(func: Operation) -> list[object]:
    """Return what users of a function depend on."""
    names = ("sym_name", "function_type", "sym_visibility")
    return [type(func), *(func.get_attr_or_prop(name) for name in names)]


def _replace(old: Operation, new: Operation) -> None:
    """Put `new` in the place of `old`."""
    assert old.parent is not None
    old.parent.insert_op_before(new, old)
    old.detach()


@contextmanager
def _as_worker(run: Run) -> Generator[None]:
    """Let a run be on single functions in the body of the `with` statement."""
    global _is_worker
    kept = run.analyses, run.counts, run.frames, run.watching, _is_worker
    run.analyses, run.frames, run.watching = _OwnAnalyses(run), _Frames(run.frames), False
    _is_worker = True
    try:
        yield
    finally:
        run.part = None
        run.analyses, run.counts, run.frames, run.watching, _is_worker = kept


class _Frames(list[PassFrame]):
    """The passes that are running in a worker, where no pass runs another on the module."""

    def append(self, frame: PassFrame, /) -> NoReturn:
        raise Unsuitable(f"it runs '{frame.info.name}'", self[-1].info.name)


@contextmanager
def _silent() -> Generator[None]:
    """Raise Unsuitable at the end of a `with` statement in which anything was printed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.enable()
    sys.stdout = sys.stderr = text = StringIO()
    file = os.memfd_create("output")
    os.dup2(file, 1)
    os.dup2(file, 2)
    yield
    if text.tell() or os.fstat(file).st_size:
        raise Unsuitable("it prints")
