"""The instrument that runs the beginning of a pipeline, and the places of operations."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import FileLineColLoc, ModuleOp
from xdsl.ir import IRNode, Operation, SSAValue

from ...passmanager.fast.clone import clone
from ...passmanager.fast.edit import insert_before
from ...passmanager.instruments.printing import NumberingInstrument
from ...passmanager.ir.changes import Snapshot
from ...passmanager.ir.location import location_of, place_text, source_line
from ...passmanager.ir.walk import name_of, symbol_of, top_level_op
from ...passmanager.registry import PassInfo
from ...passmanager.run import Run

# The place of an operation: its name, its function, and its line in the source.


@dataclass(frozen=True)
class OpPlace:
    """The place of an op in a module, which stays valid when the op is gone."""

    op: str
    """The name of the op."""
    function: str
    """The name of the top-level symbol that holds it, or empty."""
    location: FileLineColLoc | None

    @staticmethod
    def of(op: Operation) -> OpPlace:
        """Return the place of `op` as it is now."""
        return OpPlace(name_of(op), function_of(op), location_of(op))

    @property
    def at(self) -> str:
        """`file:line:col`, or empty."""
        return "" if self.location is None else place_text(self.location)

    @property
    def line(self) -> str:
        """The line in the source, without blanks around it; empty if it cannot be read."""
        if self.location is None or not self.location.line.data:
            return ""
        return source_line(self.location).strip()

    def __str__(self) -> str:
        return f"'{self.op}'" + (f" at {self.at}" if self.at else "")


def function_of(op: Operation) -> str:
    """Return the name of the top-level symbol op that is or holds `op`, or empty."""
    return symbol_of(top_level_op(op))


# The instrument that runs the beginning of a pipeline, up to a step or function of a pass.


@dataclass(frozen=True)
class PassStep:
    """A step of a pass: its tag, which is the name of a pattern or of the pass, and its op."""

    tag: str
    place: OpPlace | None


class Prefix(NumberingInstrument):
    """An instrument that runs the leaf passes up to number `passes`; the last of them with its
    first `steps` steps alone, or so that it changes nothing but `functions`. None is no limit.

    It is for one run.
    """

    def __init__(
        self,
        passes: int | None = None,
        steps: int | None = None,
        functions: Collection[str] | None = None,
        compares: bool = False,
    ) -> None:
        super().__init__()
        self.passes, self.steps, self.functions = passes, steps, functions
        self.compares = compares or functions is not None
        """Whether to record what the last pass changes."""
        self.ran: list[PassInfo] = []
        """The passes that ran, the one that failed included."""
        self.asked = 0
        """The number of steps that the last pass asked about."""
        self.step: PassStep | None = None
        """The last step of it that was allowed, if `steps` limits them."""
        self.changed: tuple[str, ...] = ()
        """The functions that the last pass changed, in order."""
        self.touched: tuple[OpPlace, ...] = ()
        """The ops that the last pass changed or removed."""
        self.failed = ""
        """The name of the innermost pass that failed."""
        self.failed_function = ""
        """The function on which it failed."""
        self._before: ModuleOp | None = None
        self._snapshot: Snapshot | None = None
        self._places: dict[Operation, OpPlace] = {}

    def should_run_number(self, number: int, module: ModuleOp, info: PassInfo) -> bool:
        return self.passes is None or number <= self.passes

    def should_execute(self, tag: str) -> bool:
        if self.passes is None or self.number != self.passes:
            return True
        self.asked += 1
        if self.steps is None:
            return True
        if self.asked == self.steps:
            op = Run.current().frames[-1].step
            self.step = PassStep(tag, None if op is None else OpPlace.of(op))
        return self.asked <= self.steps

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        super().run_before_pass(module, info)
        if (number := self.number) is None:
            return
        self.ran.append(info)
        if self.compares and number == self.passes:
            self._before = clone(module)
            self._snapshot = Snapshot(module)
            self._places = {op: OpPlace.of(op) for op in module.walk() if op is not module}

    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        if self._before is not None and self._snapshot is not None and self.number == self.passes:
            self.changed = tuple(changed_functions(self._before, module))
            left = {*module.walk()} - {*self._snapshot.update().ops}
            self.touched = tuple(place for op, place in self._places.items() if op not in left)
            if self.functions is not None:
                restore_functions(module, self._before, self.functions)

    def pass_failed(self, module: ModuleOp, info: PassInfo, error: BaseException) -> None:
        if not self.failed:
            self.failed = info.name
            function = Run.current().frames[-1].function
            self.failed_function = "" if function is None else symbol_of(function)


def changed_functions(before: ModuleOp, after: ModuleOp) -> Iterator[str]:
    """Yield the names of the symbols that are in both modules and differ, in order."""
    old = _symbols(before)
    for name, op in _symbols(after).items():
        blocks: dict[IRNode | SSAValue, IRNode | SSAValue] = {before.body.block: after.body.block}
        if name in old and not old[name].is_structurally_equivalent(op, blocks):
            yield name


def restore_functions(module: ModuleOp, before: ModuleOp, kept: Collection[str]) -> None:
    """Put the functions of `before` except `kept` back into `module`; new functions stay."""
    new = _symbols(module)
    for name, op in _symbols(before).items():
        if name not in new:
            module.body.block.add_op(clone(op))
        elif name not in kept:
            insert_before(new[name], clone(op))
            new[name].detach()


def _symbols(module: ModuleOp) -> dict[str, Operation]:
    return {name: op for op in module.ops if (name := symbol_of(op))}
