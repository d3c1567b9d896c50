"""What passes require: looked up, checked before anything runs, and scheduled before the pass that
needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from xdsl.passes import ModulePass

from .context import PassContext
from .errors import PassDependencyError, PassNotFoundError
from .info import PassInfo, did_you_mean, name_key
from .registry import find_pass, installed
from .run import Run
from .runner import info_of, nested_passes

__all__ = ["Scope", "Step"]


class Step(NamedTuple):
    """One pass that a pipeline comes to, and what is done about it.

    `action`: `run`; `ensure`, which runs it because it does not hold; `skip`. `reason` says why it
    is skipped or ensured, `place` where it stands in its pipeline, `depth` how many pipelines it is
    nested in.
    """

    pass_: ModulePass
    info: PassInfo
    action: Literal["run", "ensure", "skip"]
    reason: str = ""
    place: str = ""
    depth: int = 0

    def __str__(self) -> str:
        name = self.info.name if self.info.composite else self.info.text
        reason = f"  # {self.reason}" if self.reason else ""
        return f"{'skip' if self.action == 'skip' else 'run '} {'  ' * self.depth}{name}{reason}"


class Scope:
    """Where required names are looked up: the passes of the pipeline first, then the installed
    ones.
    """

    def __init__(self, known: dict[str, ModulePass]) -> None:
        self._known = known

    def enter(self, pipeline: ModulePass, ctx: PassContext) -> set[str]:
        """Add the passes of `pipeline`, check what those that `ctx` enables require, return all
        required names.

        Errors: PassDependencyError for a name that is unknown, a cycle, or a pass that cannot be
        built.
        """
        for pass_ in nested_passes(pipeline):
            self._known.setdefault(info_of(pass_).key, pass_)
        required: set[str] = set()
        for pass_ in nested_passes(pipeline, ctx):
            self._check(info_of(pass_), [], required)
        return required

    def _check(self, info: PassInfo, chain: list[PassInfo], done: set[str]) -> None:
        """Look up everything that `info` requires, depth first; `chain` leads to it."""
        chain = [*chain, info]
        for name in info.required:
            if any(name_key(name) == above.key for above in chain):
                raise PassDependencyError(f"requirements form a cycle: {_arrows(chain, name)}")
            if name_key(name) not in done:
                self._check(info_of(self._find(name, chain)), chain, done)
                done.add(name_key(name))

    def _find(self, name: str, chain: list[PassInfo]) -> ModulePass:
        """The pass called `name`: of the pipeline, else a new one of the installed class."""
        if (known := self._known.get(name_key(name))) is not None:
            return known
        try:
            found = self._known[name_key(name)] = find_pass(name)()
        except PassNotFoundError:
            hint = did_you_mean(
                name, [*(info_of(p).name for p in self._known.values()), *installed().passes]
            )
            raise PassDependencyError(
                f"pass '{chain[-1].name}' requires '{name}', which is no pass{hint} "
                f"({_arrows(chain, name)})"
            ) from None
        except TypeError as error:
            raise PassDependencyError(
                f"pass '{chain[-1].name}' requires '{name}', which cannot be built without "
                f"arguments ({_arrows(chain, name)}): put an instance of it into the pipeline"
            ) from error
        return found

    def ensure(self, info: PassInfo, holds: Callable[[str], bool]) -> Iterator[Step]:
        """The steps after which everything that a pass requires holds; `holds` is asked as they are
        done.

        Errors: PassDependencyError if two requirements undo each other.
        """
        for _ in range(2):
            for name in info.required:
                yield from self._ensure(name, info, holds)
        broken = [name for name in info.required if not holds(name)]
        if broken:
            raise PassDependencyError(_undone(info, broken))

    def _ensure(
        self, name: str, dependent: PassInfo, holds: Callable[[str], bool]
    ) -> Iterator[Step]:
        if holds(name):
            return
        pass_ = self._known[name_key(name)]
        info = info_of(pass_)
        for requirement in info.required:
            yield from self._ensure(requirement, info, holds)
        by = f"required by {dependent.name}"
        yield Step(pass_, info, "ensure", by, f" ({by})")


def _arrows(chain: list[PassInfo], name: str) -> str:
    return " -> ".join([*(info.name for info in chain), name])


def _undone(info: PassInfo, broken: list[str]) -> str:
    """Which of the requirements of a pass undo each other."""
    invalidated_by = Run.current().invalidated_by
    pairs = [
        f"'{invalidated_by[key]}' undoes '{n}'"
        for n in broken
        if (key := name_key(n)) in invalidated_by
    ]
    others = [
        f"'{invalidated_by[k]}' undoes '{n}'"
        for n in info.required
        if (k := name_key(n)) in invalidated_by
    ]
    facts = ", ".join(dict.fromkeys(pairs + others)) or f"'{broken[0]}' does not hold after it ran"
    return (
        f"pass '{info.name}' requires {' and '.join(repr(n) for n in info.required)}, but {facts}: "
        "if that is not so, let one list the other in `preserves`"
    )
