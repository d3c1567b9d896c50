"""CheckConditions: fail unless conditions hold, in the middle of a pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects.builtin import ModuleOp

from ...passmanager.base import ModulePass
from ...passmanager.condition_checks import check_conditions, registered_conditions
from ...passmanager.conditions import Condition, parse_condition
from ...passmanager.context import PassContext
from ...passmanager.errors import ConditionError
from ...passmanager.run import Run


@dataclass(frozen=True)
class CheckConditions(ModulePass):
    """Fail unless conditions hold, whatever the context checks; the module does not change.

    A condition is written as in messages: `static-shapes`, `no-op-of(relax.nn.dropout)`,
    `only-dialects(llvm, func)`, or the name of one that a registered pass requires or ensures.
    """

    name = "check-conditions"

    conditions: tuple[str, ...] = ()
    """The conditions, in the order in which they are checked."""

    @cached_property
    def requires(self) -> Sequence[Condition]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The conditions that the option names. Errors: ConditionError for an unknown name."""
        return tuple(self._read())

    def _read(self) -> Iterator[Condition]:
        for text in self.conditions:
            try:
                yield parse_condition(text)
            except ConditionError:  # not one on any dialect: those of passes take a while to import
                yield parse_condition(text, registered_conditions())

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        run = Run.current()
        check_conditions("requires", run.frames[-1], run, ctx)
