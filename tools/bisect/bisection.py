"""The bisection: which pass, which function, which step, which passes it takes, which IR."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import ConstantLike

from ...passmanager.errors import ChangedResultError, PassContractError, PasslineError
from ...passmanager.fast.clone import clone
from ...passmanager.fast.edit import erase
from ...passmanager.instruments.printing import is_valid
from ...passmanager.ir.location import file_location
from ...passmanager.ir.walk import symbol_of, walk
from ...passmanager.names import name_key
from ...passmanager.pipeline import pipeline_text
from ...passmanager.registry import PassInfo
from ...passmanager.rewriting import NonConvergenceError
from ...passmanager.sequential import Sequential
from ..reduce.reductions import is_source, is_terminator, op_count, smaller_modules
from ..trials.prefix import OpPlace, PassStep, Prefix
from ..trials.trial import TrialOutcome, Trials
from .oracles import Finding, Oracle, fewest_passes

# The search that finds passes, functions and steps alike: bisection of a count.


class AlreadyBadError(Exception):
    """The error for a predicate that holds for 0 already."""


class NeverBadError(Exception):
    """The error for a predicate that does not hold for the whole count."""


@dataclass(frozen=True)
class Boundary:
    """A number for which a predicate holds, while it does not for the number before.

    `contradiction` is a neighbour that shows that the predicate is not monotone: one further on for
    which it does not hold, or one further back for which it does.
    """

    number: int
    contradiction: int | None = None


def find_boundary(count: int, is_bad: Callable[[int], bool]) -> Boundary:
    """Return the first number up to `count` for which `is_bad` holds, if it holds for all after the
    first; otherwise, some boundary.

    It is asked about each number at most once: O(log count) numbers, and two neighbours of the
    boundary. Errors: AlreadyBadError, NeverBadError.
    """
    if is_bad(0):
        raise AlreadyBadError
    if count == 0 or not is_bad(count):
        raise NeverBadError
    known = {0: False, count: True}
    good, bad = 0, count
    while bad - good > 1:
        middle = (good + bad) // 2
        known[middle] = is_bad(middle)
        good, bad = (good, middle) if known[middle] else (middle, bad)
    for neighbour in (bad + 1, good - 1):
        if 0 < neighbour < count and neighbour not in known:
            known[neighbour] = is_bad(neighbour)
    contradictions = (n for n, held in known.items() if held != (n >= bad))
    return Boundary(bad, next(contradictions, None))


# The neighbourhood of an operation: a function of the operations around it alone.
#
# A module that is cut down so at once takes few trials; and it still computes something, while
# `passline-reduce` replaces what it removes by values that nothing computes.


DISTANCES = (0, 1, 2, 4)


def neighbourhoods(module: ModuleOp, place: OpPlace) -> Iterator[ModuleOp]:
    """Yield copies of `module` whose function at `place` is cut down to the operation there and
    those around it: ever more of them, in steps from definition to use. If a pass has made the
    function, it is the first one with an op from the same line."""
    for distance in DISTANCES:
        copy = clone(module)
        for func in _candidates(copy, place):
            if chosen := _around(func.body.block, place, distance):
                _cut(func, chosen)
                yield copy
                break


def _candidates(module: ModuleOp, place: OpPlace) -> list[FuncOp]:
    """Return the functions that may hold the op at `place`."""
    functions = [
        op
        for op in module.ops
        if isinstance(op, FuncOp)
        and len(op.body.blocks) == 1
        and isinstance(op.body.block.last_op, ReturnOp)
    ]
    if any(symbol_of(op) == place.function for op in module.ops) or place.location is None:
        return [func for func in functions if symbol_of(func) == place.function]
    return functions


def _around(block: Block, place: OpPlace, distance: int) -> set[Operation]:
    """Return the ops of `block` that are or hold an op at `place`, their neighbours, and the
    constants that these use."""
    chosen = {op for op in block.ops if any(_is_at(inner, place) for inner in walk(op))}
    for _ in range(distance if chosen else 0):
        users = {use.operation for op in chosen for result in op.results for use in result.uses}
        holders = [block.find_ancestor_op_in_block(user) for user in users]
        chosen |= {*_owners(chosen, block), *(op for op in holders if op is not None)}
    chosen |= {op for op in _owners(chosen, block) if _is_constant(op)}
    return {op for op in chosen if not isinstance(op, ReturnOp)}


def _is_at(op: Operation, place: OpPlace) -> bool:
    """Return whether an op is from the line of `place`; without a line, whether it has the name."""
    if place.location is None:
        return op.name == place.op
    return file_location(op.location) == place.location


def _owners(ops: Iterable[Operation], block: Block) -> Iterator[Operation]:
    """Yield the ops of `block` that define an operand of `ops` or of ops nested in them."""
    for op in ops:
        for inner in walk(op):
            for operand in inner.operands:
                if isinstance(operand.owner, Operation) and operand.owner.parent is block:
                    yield operand.owner


def _is_constant(op: Operation) -> bool:
    return op.has_trait(ConstantLike, value_if_unregistered=False)


def _cut(func: FuncOp, chosen: set[Operation]) -> None:
    """Remove all ops but `chosen` from a function: the values that these use become arguments, and
    those that others use results."""
    block = func.body.block
    others = [op for op in block.ops if op not in chosen]
    results = [value for op in block.ops if op in chosen for value in _used_outside(op, chosen)]
    for op in others:
        for value in op.results:
            if any(block.find_ancestor_op_in_block(use.operation) in chosen for use in value.uses):
                argument = block.insert_arg(value.type, len(block.args))
                argument.name_hint = value.name_hint
                value.replace_all_uses_with(argument)
    block.add_op(ReturnOp(*results))
    for op in reversed(others):
        erase(op)
    for argument in [*block.args]:
        if argument.first_use is None:
            block.erase_arg(argument)
    func.function_type = FunctionType.from_lists(
        [argument.type for argument in block.args], [result.type for result in results]
    )
    func.arg_attrs = func.res_attrs = None
    func.sym_visibility = None  # it is called by nobody, and checked if it is public


def _used_outside(op: Operation, chosen: set[Operation]) -> list[SSAValue]:
    """Return the results of `op` that others than `chosen` use, or nobody; of a constant, none."""
    if _is_constant(op):
        return []
    block = op.parent
    assert block is not None
    return [
        result
        for result in op.results
        if result.first_use is None
        or any(block.find_ancestor_op_in_block(use.operation) not in chosen for use in result.uses)
    ]


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
