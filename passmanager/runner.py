"""The runner of passes: what happens around a pass.

`run_pass` asks the instruments, runs the body, renders the diagnostics, verifies what the pass
changed, and drops the valid passes and analyses that it did not preserve. What a pass requires is
run by `requirements.py`.
"""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, ClassVar, Literal, Self, cast

from typing_extensions import TypeIs
from xdsl import passes as xdsl_passes
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation

from .analysis_manager import AnalysisManager
from .context import PassContext
from .errors import PassContractError
from .fast.clone import clone
from .instrument import PassInstrumentor
from .ir.changes import Changes, Snapshot
from .ir.per_class import OpClasses, PerClass, has_any
from .ir.walk import brief
from .names import Rounding, find_name, name_key, unknown_pass
from .options import pass_text
from .registry import PassInfo, installed
from .run import PassFrame, Run

if TYPE_CHECKING:
    from .conditions import Condition


class AbstractPass(xdsl_passes.ModulePass):
    """The part of a Passline pass that the runner uses; derive from ModulePass or FunctionPass."""

    opt_level: ClassVar[int] = 0
    required: ClassVar[Sequence[str]] = ()
    after: ClassVar[Sequence[str]] = ()
    before: ClassVar[Sequence[str]] = ()
    stage: ClassVar[str] = ""
    """Where the pass belongs in a pipeline that does not name it (`placement.py`)."""
    if TYPE_CHECKING:
        preserves: ClassVar[Sequence[str | type | Condition]]
        requires: ClassVar[Sequence[Condition]]
        """The conditions on the IR that hold before the pass."""
        ensures: ClassVar[Sequence[Condition]]
        """The conditions on the IR that hold after the pass."""
    else:  # the reflection on options evaluates annotations: it would import conditions
        preserves = requires = ensures = ()
    nestable: ClassVar[bool] = False
    rounds: ClassVar[bool | Rounding] = False
    changes_interface: ClassVar[bool] = False
    traceable: ClassVar[bool] = False
    acts_on: ClassVar[Sequence[type]] = ()
    """The classes and interfaces of ops without which the pass changes and reports nothing: its
    body does not run on a module that has none of them. Empty if there is no such limit."""

    statistics: ClassVar[Mapping[str, str]] = {}
    """The counters of the pass, with descriptions: reports show them in any case."""
    remark_categories: ClassVar[Sequence[str]] = ()
    """The categories of its remarks, besides its name."""
    parallel: ClassVar[bool] = True
    """Whether a worker may run a pass on functions in a copy of this process: it looks at no other
    function, and keeps nothing outside of the IR, as a list of what it saw or a file."""

    @cached_property
    @abstractmethod
    def info(self) -> PassInfo:
        """Name, level, requirements, and the pass with its options as text."""

    @property
    def children(self) -> tuple[xdsl_passes.ModulePass, ...]:
        """The passes that a composite runs; empty for others."""
        return ()

    @property
    def is_open(self) -> bool:
        """Whether the children depend on the context, as passes of other projects take part."""
        return False

    def under(self, ctx: PassContext) -> Self:
        """Return a composite with the passes that take part in it under `ctx`."""
        return self

    def with_children(self, children: Sequence[Sequence[xdsl_passes.ModulePass]]) -> Self:
        """Return a copy of a composite that runs other passes in the place of each child."""
        return self

    def load_code(self, module: ModuleOp, ops: OpClasses) -> None:
        """Import what `transform` would import on first use, on `module` with ops of the classes
        `ops`.

        It is called before the clock of the pass starts, so that the time is not taken for that of
        the pass.
        """

    def can_run_on(self, op: Operation) -> bool:
        """Return whether the pass can run on `op`, a module or an op of an anchor. If not, the run
        fails there, but `any(...)` leaves such ops out. Source: MLIR's `Pass::canScheduleOn`."""
        return True

    def visited(self, module: ModuleOp) -> Iterable[Operation]:
        """Return the ops that the pass may change, on each of which its conditions are checked."""
        return module.ops

    @abstractmethod
    def transform(self, module: ModuleOp, ctx: PassContext) -> None:
        """Transform `module` in place: the body of the pass, without instruments and checks."""

    def units(self, module: ModuleOp) -> Sequence[Operation] | None:
        """Return the ops directly in the module that the pass transforms, each by itself; None if
        it is a pass on the module as a whole."""

    def visit(
        self, op: Operation, module: ModuleOp, ctx: PassContext, frame: PassFrame
    ) -> Operation:
        """Transform one op of `units`; return it, or the one that has taken its place."""
        raise NotImplementedError


# How a pass is run. No Enum: the look-up of a member takes a tenth of the cost of a no-op pass.
_FOREIGN = 0
"""Through `apply`, by xDSL's protocol."""
_PLAIN = 1
"""Through `transform`."""
_PREPARED = 2
"""Through `transform`, if the module has ops that the pass acts on, after `load_code`."""


def _kind(cls: type[xdsl_passes.ModulePass]) -> int:
    if not issubclass(cls, AbstractPass):
        return _FOREIGN
    is_plain = not cls.acts_on and cls.load_code is AbstractPass.load_code
    is_plain &= cls.can_run_on is AbstractPass.can_run_on
    return _PLAIN if is_plain else _PREPARED


# `issubclass` of an abstract class takes far longer than a look-up.
_kinds = PerClass[xdsl_passes.ModulePass, int](_kind)


def is_own(pass_: xdsl_passes.ModulePass) -> TypeIs[AbstractPass]:
    """Return whether a pass derives from Passline's classes, and not from xDSL's alone."""
    return _kinds[type(pass_)] is not _FOREIGN


def info_of(pass_: xdsl_passes.ModulePass) -> PassInfo:
    """Return the PassInfo of any pass; a pass of xDSL or another project has level 0 and requires
    nothing.
    """
    if is_own(pass_):
        return pass_.info
    rounds: object = getattr(pass_, "rounds", False)
    changes_interface: object = getattr(pass_, "changes_interface", False)
    return PassInfo(
        pass_.name,
        text=pass_text(pass_),
        rounds=rounds if isinstance(rounds, Rounding) else rounds is True,
        changes_interface=changes_interface is True,
    )


def nested_passes(
    pass_: xdsl_passes.ModulePass, ctx: PassContext | None = None, *, enabled: bool = True
) -> Iterator[xdsl_passes.ModulePass]:
    """Yield `pass_` and the passes nested in it, at any depth, in order; with `ctx` those that run
    under it, only the `enabled` ones or all.
    """
    yield pass_
    if not is_own(pass_):
        return
    for child in (pass_ if ctx is None else pass_.under(ctx)).children:
        if ctx is None or not enabled or ctx.pass_enabled(info_of(child)):
            yield from nested_passes(child, ctx, enabled=enabled)


def run_pass(
    pass_: xdsl_passes.ModulePass, info: PassInfo, run: Run, ctx: PassContext, place: str = ""
) -> bool:
    """Run one pass, whose PassInfo is `info`, on the module of `run` under `ctx`, the current
    context; return False if an instrument blocked it.

    The order is: should_run, load_code, run_before_pass, the body, diagnostics, verification,
    run_after_pass. There is no body if the module has none of the ops that the pass acts on.
    `place` is the position of the pass in its pipeline, as ` (3 of 7)`. An exception keeps its type
    and gains one note a level.
    """
    if not ctx.config.empty:
        pass_ = ctx.config.apply(pass_, pass_.name)
        info = info_of(pass_)
    module = run.module
    if run.watching and run.frames and not (outer := run.frames[-1]).info.composite:
        _process_changes(outer, run)
    # The pass may override the instruments: its failure is reported to those told of its start.
    instrumentor = ctx.instrumentor
    if instrumentor.askers and not ctx.is_required(info):
        if (blockers := instrumentor.find_blockers(module, info)) is not None:
            instrumentor.pass_skipped(module, info, f"should_run of {blockers}")
            return False
    frame = PassFrame(info, place, pass_)
    kind = _kinds[type(pass_)]
    idle = kind is _PREPARED and not _prepare(pass_, frame, run)  # pyright: ignore[reportArgumentType]
    run.frames.append(frame)
    if not ctx.names_checked and len(run.frames) == 1:
        _warn_about_names(ctx, pass_, run)
    parent = module.parent
    try:
        if instrumentor.instruments:
            instrumentor.before_pass(module, info)
        try:
            if not idle:
                if kind is _PREPARED:
                    check_can_run_on(pass_, module)  # pyright: ignore[reportArgumentType]
                if ctx.verify_each or ctx.verify_preserves or ctx.rollback or ctx.checks_conditions:
                    _guard(frame, run, ctx)
                # Not `is_own`: the call is a tenth of the cost of a pass that does nothing. Not
                # `apply`: it calls `run_pass`.
                if kind is not _FOREIGN:
                    pass_.transform(module, ctx)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
                else:
                    pass_.apply(run.ir_context, module)
                if module.parent is not parent:
                    _take_back(module, parent, frame)
                if frame.reported is not None:
                    frame.flush(ctx.renderer)
            if run.watching:
                if not (idle or info.composite):
                    _process_changes(frame, run)
                if frame.checks_conditions:
                    _check_conditions("ensures", frame, run, ctx)
                run.mark_valid(info)
        except BaseException as error:
            _restore(frame, run, error)
            if run.is_inside_leaf:  # which may catch the error, and go on
                run.forget(error)
            frame.fail(error, ctx.renderer)
            instrumentor.pass_failed(module, info, error)
            raise
        if (instrumentor := ctx.instrumentor).instruments:
            try:
                instrumentor.after_pass(module, info)
            except BaseException as error:
                _restore(frame, run, error)
                raise
    finally:
        run.frames.pop()
    return True


def current_instrumentor() -> PassInstrumentor:
    """Return the instrumentor of the current context."""
    return PassContext.current().instrumentor


def check_can_run_on(pass_: AbstractPass, op: Operation) -> None:
    """Raise DiagnosticError, at the place of `op`, if a pass refuses it."""
    if not pass_.can_run_on(op):
        name = pass_.info.name
        Run.current().diagnostics.error(op, f"pass '{name}' cannot run on this '{op.name}'")
        Run.current().frames[-1].flush(PassContext.current().renderer)


def _prepare(pass_: AbstractPass, frame: PassFrame, run: Run) -> bool:
    """Import what `pass_` needs for the module; return False if it has nothing to do there."""
    ops = run.op_classes()
    if pass_.acts_on and not has_any(ops, *pass_.acts_on):
        return False
    with Loading() as loading:
        try:
            pass_.load_code(run.module, ops)
        except ImportError:
            pass  # the body raises it again, as a failure of the pass
        except BaseException as error:
            error.add_note(f"in load_code of pass '{frame.info.text}'{frame.place}")
            raise
    if loading.seconds:
        frame.load_time = loading.seconds
    return True


def _guard(frame: PassFrame, run: Run, ctx: PassContext) -> None:
    """Prepare what the context asks for: conditions, verification and rollback. The children of a
    composite are verified and rolled back one by one.
    """
    if ctx.checks_conditions:
        frame.checks_conditions = True
        run.watch()
        _check_conditions("requires", frame, run, ctx)
    if frame.info.composite:
        return
    if ctx.verify_each or ctx.verify_preserves:
        frame.verify_each, frame.verify_preserves = ctx.verify_each, ctx.verify_preserves
        frame.verify_dominance = ctx.verify_dominance
        run.watch()
    if ctx.rollback:
        frame.backup = clone(run.module)


def _check_conditions(
    attribute: Literal["requires", "ensures"], frame: PassFrame, run: Run, ctx: PassContext
) -> None:
    from .condition_checks import check_conditions  # only where conditions are checked

    check_conditions(attribute, frame, run, ctx)


def _restore(frame: PassFrame, run: Run, error: BaseException) -> None:
    """Restore the module after `error`, if the context of the pass asks for it."""
    if frame.backup is not None:
        replace_contents(run.module, frame.backup)
        run.restart_tracking()
        run.forget(error)


def _take_back(module: ModuleOp, parent: Block | None, frame: PassFrame) -> None:
    """Raise PassContractError for a pass that moved the module into another op."""
    into = module.parent_op()
    if parent is None:
        module.detach()
    raise PassContractError(
        f"pass '{frame.info.name}' moved its module into {brief(into)}: a pass may not move the "
        "module that it is given; move the ops in it, or nest a clone"
    )


def _process_changes(frame: PassFrame, run: Run) -> None:
    """Verify the changes that a leaf pass made since the last call, and its `preserves`; drop what
    it did not preserve.

    It is called at the end of the pass, and before each pass that it runs: that one has changes and
    `preserves` of its own. A composite has none: its children are processed one by one.
    """
    began = perf_counter()
    changes = run.changes(details=frame.verify_each or frame.checks_conditions)
    try:
        try:
            if changes and frame.verify_each:
                # Here: it is a quarter of the code, which a run without changes does not need.
                from .ir.verifier import verify_changes

                verify_changes(
                    run.module,
                    changes,
                    dominance=frame.verify_dominance,
                    cores=PassContext.current().workers,
                )
        finally:  # also if verification fails, so that timing instruments see it
            frame.verify_time += perf_counter() - began
        if changes and frame.verify_preserves:
            _check_preserved(frame.info, frame.preserves, changes, run)
    except BaseException:
        run.reject(changes)  # a leaf pass around this one may catch the error, and go on
        raise
    if changes:
        run.invalidate(frame, changes)
        if frame.checks_conditions:
            name, patterns = frame.info.name, run.patterns or {}
            run.last_changed |= {op: (name, patterns.get(op, "")) for op in changes.ops}


def _warn_about_names(ctx: PassContext, pass_: xdsl_passes.ModulePass, run: Run) -> None:
    """Warn, once a context, about names in `required_pass` and `disabled_pass` that are neither in
    the pipeline nor installed.
    """
    ctx.names_checked = True
    pipeline = {info_of(p).name for p in nested_passes(pass_)}
    known = {name_key(name): name for name in pipeline} | installed().names
    for setting in ("required_pass", "disabled_pass"):
        names: Sequence[str] = getattr(ctx, setting)
        for name in names:
            if find_name(name, known) is None:
                hint = unknown_pass(name, [*pipeline, *installed().passes])
                message = f"{setting} names '{name}', which is not a pass{hint}"
                run.diagnostics.warning(None, message)


# What a pass claims to preserve, for `verify_preserves`


def _check_preserved(
    info: PassInfo, preserves: Iterable[str | type | Condition], changes: Changes, run: Run
) -> None:
    """Raise PassContractError if a pass, which changed the module, did not preserve an item of
    `preserves`.

    A preserved pass that was valid is run again on a copy, and must change nothing. A cached
    analysis is computed again and must be equal; the attributes are compared if it defines no
    equality.
    """
    for claim in preserves:
        if not isinstance(claim, str):  # a condition is an analysis, too
            _check_preserved_analysis(cast("type[object]", claim), info, changes, run)
        elif run.is_valid(claim) and (pass_ := run.passes.get(name_key(claim))) is not None:
            _check_preserved_pass(pass_, info, run)


def _check_preserved_pass(pass_: xdsl_passes.ModulePass, info: PassInfo, run: Run) -> None:
    copy = clone(run.module)
    snapshot = Snapshot(copy)
    config = PassContext.current().config
    with PassContext(verify_each=False):  # without instruments: the user did not run this pass
        config.apply(pass_, pass_.name).apply(run.ir_context, copy)
    if snapshot.update():
        raise PassContractError(
            f"pass '{info.name}' claims to preserve '{pass_.name}', "
            "but running it again changes the module"
        )


def _check_preserved_analysis(
    analysis: type[object], info: PassInfo, changes: Changes, run: Run
) -> None:
    gone: set[Operation] = set(changes.removed)
    for cls, op in run.analyses:
        if cls is not analysis or op in gone:
            continue
        fresh: object = AnalysisManager().get(cls, op)
        kept: object = run.analyses.cached(cls, op)
        if not _equal(kept, fresh):
            raise PassContractError(
                f"pass '{info.name}' claims to preserve {analysis.__name__}, "
                f"but the analysis of '{op.name}' has changed"
            )


def _equal(a: object, b: object) -> bool:
    """Return whether two values are equal, by their attributes if their class defines no
    equality.
    """
    if type(a) is not type(b):
        return False
    if type(a).__eq__ is not object.__eq__ or not hasattr(a, "__dict__"):
        return a == b
    ours, theirs = vars(a), vars(b)
    return ours.keys() == theirs.keys() and all(_equal(ours[key], theirs[key]) for key in ours)


# Helpers of passes


def replace_contents(module: ModuleOp, new: ModuleOp) -> None:
    """Move the body and attributes of `new` into `module`, which keeps its identity."""
    module.detach_region(0)
    module.add_region(new.detach_region(0))
    module.attributes, module.properties = new.attributes, new.properties


class Loading:
    """A measurement of the body of a `with` statement that may import modules."""

    seconds = 0.0
    """The duration, or 0 if no module was imported."""

    def __enter__(self) -> Loading:
        self._began, self._count = perf_counter(), len(sys.modules)
        return self

    def __exit__(self, *_: object) -> None:
        if len(sys.modules) > self._count:
            self.seconds = perf_counter() - self._began
