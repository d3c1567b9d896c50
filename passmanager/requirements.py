"""Requirements of passes: looked up and checked before anything runs, and run before the pass that
needs them.

When a required pass runs again is decided here: `run_requirements` runs it if it is not valid, and
`Run.invalidate` ends its validity after a change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from xdsl import passes as xdsl_passes

from .context import PassContext
from .errors import PassDependencyError
from .names import name_key, unknown_pass
from .registry import PassInfo, find_pass, installed
from .run import Run
from .runner import info_of, nested_passes, run_pass


class Step(NamedTuple):
    """One pass of a pipeline and its action.

    `action` is `run`; `ensure`, which runs a requirement because it is not valid; or `skip`.
    `reason` is why it is skipped or ensured, `place` its position in its pipeline as text, `depth`
    the number of pipelines around its own, `stage` its stage there.
    """

    pass_: xdsl_passes.ModulePass
    info: PassInfo
    action: Literal["run", "ensure", "skip"]
    reason: str = ""
    place: str = ""
    depth: int = 0
    stage: str = ""

    def __str__(self) -> str:
        action, name, _, reason = self.columns
        return f"{action:4} {name}" + (f"  # {reason}" if reason else "")

    @property
    def columns(self) -> tuple[str, str, str, str]:
        """The action, the pass below its pipelines, its level and the reason, as text."""
        name = self.info.name if self.info.composite else self.info.text
        action = "skip" if self.action == "skip" else "run"
        return action, "  " * self.depth + name, str(self.info.opt_level), self.reason


class RequirementScope:
    """The passes in which requirements are looked up: first the pipeline, then the registry."""

    def __init__(self, known: dict[str, xdsl_passes.ModulePass]) -> None:
        self._known = known

    def enter(self, pipeline: xdsl_passes.ModulePass, ctx: PassContext) -> set[str]:
        """Add the passes of `pipeline`, check the requirements of those that `ctx` enables, and
        return all required names.

        Errors: PassDependencyError for an unknown name, a cycle, or a pass that cannot be built.
        """
        for pass_ in nested_passes(pipeline, ctx, enabled=False):
            self._known.setdefault(info_of(pass_).key, pass_)
        required: set[str] = set()
        for pass_ in nested_passes(pipeline, ctx):
            self._check(info_of(pass_), [], required)
        return required

    def _check(self, info: PassInfo, chain: list[PassInfo], done: set[str]) -> None:
        """Look up all requirements of `info`, depth first; `chain` has the dependents, `done` the
        names that are checked.
        """
        chain = [*chain, info]
        for name in info.required:
            if any(name_key(name) == above.key for above in chain):
                raise PassDependencyError(f"requirements form a cycle: {_arrows(chain, name)}")
            if name_key(name) not in done:
                self._check(info_of(self._find(name, chain)), chain, done)
                done.add(name_key(name))

    def _find(self, name: str, chain: list[PassInfo]) -> xdsl_passes.ModulePass:
        """Return the pass called `name` in the pipeline, or else a new one of the registered
        class.
        """
        if (known := self._known.get(name_key(name))) is not None:
            return known
        if name_key(name) not in installed().names:  # a requirement has the name that is registered
            hint = unknown_pass(
                name, [*(info_of(p).name for p in self._known.values()), *installed().passes]
            )
            raise PassDependencyError(
                f"pass '{chain[-1].name}' requires '{name}', which is not a pass{hint} "
                f"({_arrows(chain, name)})"
            )
        try:
            found = self._known[name_key(name)] = find_pass(name)()
        except TypeError as error:
            raise PassDependencyError(
                f"pass '{chain[-1].name}' requires '{name}', which cannot be built without "
                f"arguments ({_arrows(chain, name)}): put an instance of it into the pipeline"
            ) from error
        return found

    def ensure(self, info: PassInfo, is_valid: Callable[[str], bool]) -> Iterator[Step]:
        """Yield the steps after which all requirements of a pass are valid.

        `is_valid` is asked between the steps, as they are run. Errors: PassDependencyError if two
        requirements invalidate each other.
        """
        # The second round repairs the requirements that later ones of the first invalidated.
        for _ in range(2):
            for name in info.required:
                yield from self._ensure(name, info, is_valid)
        broken = [name for name in info.required if not is_valid(name)]
        if broken:
            raise PassDependencyError(_conflict_message(info, broken))

    def _ensure(
        self, name: str, dependent: PassInfo, is_valid: Callable[[str], bool]
    ) -> Iterator[Step]:
        if is_valid(name):
            return
        pass_ = self._known[name_key(name)]
        info = info_of(pass_)
        for requirement in info.required:
            yield from self._ensure(requirement, info, is_valid)
        by = f"required by {dependent.name}"
        yield Step(pass_, info, "ensure", by, f" ({by})")


def enter_scope(pipeline: xdsl_passes.ModulePass, run: Run, ctx: PassContext) -> RequirementScope:
    """Return the scope of a pass in `run`, which tracks from now on whether the passes that it
    requires are valid. Errors: as `Scope.enter`.
    """
    scope = RequirementScope(run.passes)
    run.tracked.update(map(name_key, scope.enter(pipeline, ctx)))
    if run.tracked:
        run.watch()
    return scope


def run_required(pass_: xdsl_passes.ModulePass, run: Run, ctx: PassContext) -> None:
    """Run what a pass requires and is not valid, for a pass that no Sequential runs.

    Errors: as `Scope.enter`, and PassDependencyError if two requirements invalidate each other.
    """
    run_requirements(info_of(pass_), enter_scope(pass_, run, ctx), run, ctx)


def run_requirements(info: PassInfo, scope: RequirementScope, run: Run, ctx: PassContext) -> None:
    """Run the requirements of a pass that are not valid.

    A pass is valid from the end of its run until another pass changes the module and does not list
    it in `preserves`. A requirement that an instrument blocked is waived: the pass that needs it
    runs nevertheless.
    """
    waived: set[str] = set()
    for step in scope.ensure(info, lambda name: name_key(name) in waived or run.is_valid(name)):
        if run.frames:
            _warn_about_requirement(step, ctx, run)
        if not run_pass(step.pass_, step.info, run, ctx, step.place):
            waived.add(step.info.key)


def _warn_about_requirement(step: Step, ctx: PassContext, run: Run) -> None:
    """Warn, once a run, about a requirement that runs although the context would skip it."""
    if (reason := ctx.skip_reason(step.info)) is not None and step.info.key not in run.warned:
        run.warned.add(step.info.key)
        run.diagnostics.warning(
            None,
            f"pass '{step.info.name}' runs although the context skips it ({reason}): {step.reason}",
        )


def _arrows(chain: list[PassInfo], name: str) -> str:
    return " -> ".join([*(info.name for info in chain), name])


def _conflict_message(info: PassInfo, broken: list[str]) -> str:
    """Return the message about requirements that invalidate each other."""
    invalidated_by = Run.current().invalidated_by
    pairs = [
        f"'{invalidated_by[key]}' invalidates '{n}'"
        for n in broken
        if (key := name_key(n)) in invalidated_by
    ]
    others = [
        f"'{invalidated_by[k]}' invalidates '{n}'"
        for n in info.required
        if (k := name_key(n)) in invalidated_by
    ]
    facts = ", ".join(dict.fromkeys(pairs + others)) or f"'{broken[0]}' is not valid after it ran"
    return (
        f"pass '{info.name}' requires {' and '.join(repr(n) for n in info.required)}, but {facts}: "
        "if that is wrong, list one in the `preserves` of the other"
    )
