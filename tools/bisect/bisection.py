"""The bisection: which pass, which function, which step, which passes it takes, which IR."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.traits import ConstantLike

from ...passmanager.errors import ChangedResultError, PassContractError, PasslineError
from ...passmanager.instruments.ir.ir_text import is_valid
from ...passmanager.ir.symbols import symbol_of
from ...passmanager.pipeline import pipeline_text
from ...passmanager.registration.info import PassInfo
from ...passmanager.registration.names import name_key
from ...passmanager.rewriting.rewriting import NonConvergenceError
from ...passmanager.sequential import Sequential
from ..reduce.delta import op_count, smaller_modules
from ..reduce.replacement import is_source, is_terminator
from ..trials.place import OpPlace
from ..trials.prefix import PassStep, Prefix
from ..trials.trial import TrialOutcome, Trials
from .finding import Finding
from .neighbourhood import neighbourhoods
from .oracles import Oracle
from .pipelines import fewest_passes
from .search import AlreadyBadError, Boundary, NeverBadError, find_boundary

__all__ = ["Bisection"]


class Bisection:
    """The search for the culprit that makes the outcome of `passes` on `source` bad.

    `finding` is what is known so far, `passes` the shortest bad pipeline, and `module` the smallest
    bad module, so that an interrupted search leaves what it has found.
    """

    def __init__(
        self,
        passes: Sequence[ModulePass],
        source: ModuleOp,
        oracle: Oracle,
        trials: Trials,
        say: Callable[[str], None],
    ) -> None:
        self.passes = passes
        self.module = source
        self.finding = Finding()
        self._symbols = {symbol_of(op) for op in source.ops}
        self.oracle = oracle
        self._trials = trials
        self._say = say

    def find_culprit(self) -> None:
        """Find the culprit: the pass, the function and the step. PasslineError if there is none."""
        number = self._find_pass()
        prefix = Prefix(number, compares=True)
        whole = self._trials.run(self.passes, self.module, prefix)
        self._find_function(number, whole)
        self._find_step(number, whole)

    def is_bad(self, passes: Sequence[ModulePass], module: ModuleOp) -> bool:
        """Return whether all of `passes` are bad on `module`, and all but the last are not."""
        if not self.oracle(self._trials.run(passes, module)):
            return False
        return not self.oracle(self._trials.run(passes[:-1], module))

    # The pass

    def _find_pass(self) -> int:
        """Return the number of the pass with which the outcome becomes bad."""
        whole = self._trials.run(self.passes, self.module)
        ran = whole.prefix.ran
        try:
            boundary = self._search("passes", len(ran), lambda n: Prefix(n))
        except AlreadyBadError:
            raise PasslineError(f"bad before any pass: {self.oracle.wrong}") from None
        except NeverBadError:
            self.oracle(whole)
            raise PasslineError("not bad: the outcome of the whole pipeline is good") from None
        info = ran[boundary.number - 1]
        self.finding.pass_text = info.text
        self.finding.pass_number, self.finding.pass_count = boundary.number, len(ran)
        self._note_contradiction("passes", boundary)
        self._say(f"pass {boundary.number} of {len(ran)}: {info.text}")
        return boundary.number

    # The function

    def _find_function(self, number: int, whole: TrialOutcome) -> None:
        """Find the function in which the change of the pass is bad."""
        self.oracle(whole)
        self.finding.wrong = self.oracle.wrong
        names = whole.prefix.changed
        if whole.error is not None and not names:  # nothing is left to mix
            self.finding.function = whole.function
            return
        try:
            boundary = self._search(
                "functions", len(names), lambda n: Prefix(number, functions=names[:n])
            )
        except AlreadyBadError:
            self._note("no function is to blame alone: the pass is bad in what else it changes")
        except NeverBadError:
            self._note("no function that the pass changes is to blame alone")
        else:
            self.finding.function = names[boundary.number - 1]
            self._note_contradiction("functions", boundary)
            self._say(f"function @{self.finding.function}")

    # The step

    def _find_step(self, number: int, whole: TrialOutcome) -> None:
        """Find the step of the pass with which the outcome becomes bad, and its op."""
        found = self.finding
        found.operation = whole.place
        found.step_count = whole.prefix.asked
        name = whole.prefix.ran[-1].name
        try:
            boundary, step = self._first_step(number, found.step_count)
        except AlreadyBadError:
            asks = found.step_count > 0
            self._note(
                f"the pass is bad although all {found.step_count} steps it asks about are skipped"
                if asks
                else f"'{name}' numbers no steps (ctx.actions.allowed): "
                "which of its changes is bad cannot be told"
            )
            return
        except NeverBadError:
            self._note(f"'{name}' is good again if its steps are counted: it is not deterministic")
            return
        found.step = boundary.number
        found.pattern = _pattern(step.tag, whole.prefix.ran[-1], whole)
        if step.place is not None:
            found.operation = step.place
            if not found.function or step.place.function in self._symbols:
                found.function = step.place.function
        self._note_contradiction("steps", boundary)
        self._say(
            f"step {boundary.number} of {whole.prefix.asked}: {step.tag}"
            + (f" on {found.operation}" if found.operation else "")
        )

    def _first_step(self, number: int, count: int) -> tuple[Boundary, PassStep]:
        """Return the step of the pass with this number with which the outcome becomes bad."""
        boundary = self._search("steps", count, lambda n: Prefix(number, steps=n))
        prefix = Prefix(number, steps=boundary.number)
        self._trials.run(self.passes, self.module, prefix)
        assert prefix.step is not None
        return boundary, prefix.step

    # The shortest pipeline and the smallest module

    def shorten_pipeline(self, parse: Callable[[str], Sequence[ModulePass]]) -> None:
        """Find the fewest passes that are bad: the culprit alone, or with others."""

        def is_bad(passes: Sequence[ModulePass]) -> bool:
            return self.is_bad(passes, self.module)

        alone = parse(self.finding.pass_text)
        if len(self.passes) > 1 and is_bad(alone):
            self._shorten(alone)
        else:
            for shorter in fewest_passes(self.passes, is_bad):
                self._shorten(shorter)
        self.finding.pipeline = pipeline_text(Sequential(self.passes))

    def _shorten(self, passes: Sequence[ModulePass]) -> None:
        self.passes = passes
        self.finding.pipeline = pipeline_text(Sequential(passes))
        count = "1 pass is" if len(passes) == 1 else f"{len(passes)} passes are"
        self._say(f"{count} bad: {self.finding.pipeline}")

    def reduce_module(self, verified: bool) -> None:
        """Find a small module on which these passes are bad."""

        def is_bad(module: ModuleOp) -> bool:
            return self.is_bad(self.passes, module)

        if (place := self.finding.operation) is not None:
            for candidate in neighbourhoods(self.module, place):
                if is_valid(candidate) and is_bad(candidate):
                    self.module = candidate
                    self._say(f"{op_count(candidate)} ops left, around {place}")
                    break
        for step in smaller_modules(self.module, is_bad, verified=verified):
            self.module = step.module
            self._say(f"{op_count(step.module)} ops left, without some {step.what}")

    def examine_reduced(self) -> None:
        """Look for the operation in the reduced module, if the steps of the pass do not tell it;
        find out whether a pass does not preserve what it says."""
        outcome = self._trials.run(self.passes, self.module)
        number = len(outcome.prefix.ran)
        outcome = self._trials.run(self.passes, self.module, Prefix(number, compares=True))
        self.oracle(outcome)
        self.finding.wrong = self.oracle.wrong
        if isinstance(outcome.error, ChangedResultError):
            self.finding.details = outcome.error.details
        if self.finding.operation is None:
            self._find_operation(outcome)
        elif self.finding.step:
            self._refine_operation(number, outcome.prefix.asked)
        self._find_false_claim()

    def _refine_operation(self, number: int, count: int) -> None:
        """Take the op of the step in the reduced module: there a step about several ops, such as
        the operations of a kernel, is about those alone that are needed."""
        try:
            _, step = self._first_step(number, count)
        except (AlreadyBadError, NeverBadError):
            return
        if step.place is not None and step.place.location is not None:
            self.finding.operation = step.place

    def _find_operation(self, outcome: TrialOutcome) -> None:
        """Take the one op that the last pass changed in the reduced module; name several."""
        places = outcome.prefix.touched or tuple(_computations(self.module))
        places = tuple(dict.fromkeys(places))
        functions = {place.function for place in places}
        if len(functions) == 1:
            self.finding.function = self.finding.function or functions.pop()
        if len(places) == 1:
            self.finding.operation = places[0]
        elif 1 < len(places) <= 5:
            self._note(f"one of these operations: {', '.join(map(str, places))}")

    def _find_false_claim(self) -> None:
        """Note the pass that does not preserve what it says it does."""
        context = self._trials.pass_context
        before, context.verify_preserves = context.verify_preserves, True
        try:
            error = self._trials.run(self.passes, self.module).error
        finally:
            context.verify_preserves = before
        if isinstance(error, PassContractError) and str(error) not in self.finding.wrong:
            self._note(f"--verify-preserves: {error}")

    # What all levels share

    def _search(self, what: str, count: int, prefix: Callable[[int], Prefix]) -> Boundary:
        """Find the first of `count` parts of the pipeline with which the outcome is bad."""

        def is_bad(number: int) -> bool:
            outcome = self._trials.run(self.passes, self.module, prefix(number))
            bad = self.oracle(outcome)
            self._say(f"{number} of {count} {what}: {'bad' if bad else 'good'}")
            return bad

        return find_boundary(count, is_bad)

    def _note(self, note: str) -> None:
        self.finding.notes.append(note)
        self._say(note)

    def _note_contradiction(self, what: str, boundary: Boundary) -> None:
        if (other := boundary.contradiction) is not None:
            verdict = "good again" if other > boundary.number else "bad already"
            self._note(
                f"bad with {boundary.number} {what}, {verdict} with {other}: "
                f"there is more than one culprit, or several {what} act together"
            )


def _pattern(tag: str, info: PassInfo, whole: TrialOutcome) -> str:
    """Return the pattern of a step; of rewriting without end the patterns that take part."""
    if isinstance(whole.error, NonConvergenceError):
        return ", ".join(whole.error.patterns)
    return "" if name_key(tag) == info.key else tag


def _computations(module: ModuleOp) -> list[OpPlace]:
    """Return the places of the ops that compute something, or of the constants if none does."""
    ops = [
        op
        for op in module.walk()
        if op is not module and not op.regions and not is_terminator(op) and not is_source(op)
    ]
    others = [op for op in ops if not op.has_trait(ConstantLike, value_if_unregistered=False)]
    return [OpPlace.of(op) for op in others or ops]
