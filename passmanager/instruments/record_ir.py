"""The IR in a record: the text of each top-level op, printed when it changes."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from io import StringIO
from itertools import accumulate, count
from typing import Any, Generic, TypeAlias, TypeVar
from weakref import ref

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp, TensorType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.traits import IsolatedFromAbove

from ..ir.location import file_location, place_text
from ..ir.text.printer import ExactPrinter, PrintStyle, blob_name, is_dense, is_splat
from ..ir.walk import ancestors, name_of, symbol_of, walk
from ..run import Run
from .diff import renamed, values_in
from .printing import ir_text, top_level

T = TypeVar("T")

LARGE = 16
"""The number of elements above which the text of a constant is the hash of its elements."""

LONGEST = 400
"""The number of characters to which the text of an attribute in `RecordedOp.ops` is cut."""

Edit: TypeAlias = "tuple[int, int, list[RecordedOp]]"
"""A change of a list of top-level ops, as `ops[start:end] = new`."""

Names: TypeAlias = dict[SSAValue, str]


class _Memo(Generic[T]):
    """The results of a function of attributes, by identity: to compare them takes longer."""

    def __init__(self, function: Callable[[Attribute], T]) -> None:
        self._function = function
        self._results: dict[int, tuple[ref[Attribute], T]] = {}

    def __call__(self, attribute: Attribute) -> T:
        known = self._results.get(id(attribute))
        if (
            known is not None and known[0]() is attribute
        ):  # else the id of an attribute that is gone
            return known[1]
        result = self._function(attribute)
        self._results[id(attribute)] = (ref(attribute), result)
        return result


class _Memos:
    """Caches of the texts that are computed from the attributes of a module."""

    def __init__(self) -> None:
        self.constants = _Memo(_name_of_constant)
        self.places = _Memo(_place)
        self.types = _Memo(_type_text)
        self.attributes = _Memo(self._attribute_text)

    def _attribute_text(self, attribute: Attribute) -> str:
        printer = _RecordingPrinter(stream := StringIO(), {}, self)
        printer.print_attribute(attribute)
        text = stream.getvalue()
        return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _name_of_constant(dense: Attribute) -> str | None:
    """Return the name of a large constant, None if all elements are equal."""
    assert is_dense(dense)
    return None if is_splat(dense) else blob_name(dense)


def _place(location: Attribute) -> str:
    found = file_location(location)
    return place_text(found) if found is not None else ""


def _is_tensor(attribute: Attribute) -> bool:
    return isinstance(attribute, TensorType)


def _type_text(type: Attribute) -> str:
    ExactPrinter(stream := StringIO(), _STYLE).print_attribute(type)
    return stream.getvalue()


_STYLE = PrintStyle(resource_elements=LARGE)


@dataclass(frozen=True)
class RecordedOp:
    """The text of a top-level op, and the positions of the ops in it.

    `ops` has an entry for each op, in the order of the text: name, line, the index of the op around
    it (-1 for the first), operands, source location, the types of its results, and its properties
    and attributes as text by name. An operand is the index of the op that defines it, -1-N for
    argument N of the first block, or None for another block argument. `numbers` has the numbers of
    these ops in the run, as ranges.
    """

    hash: str
    name: str
    symbol: str
    text: str
    ops: list[list[Any]]
    numbers: str

    def as_event(self) -> dict[str, Any]:
        """Return the op as the event that has its text."""
        return {
            "event": "ir",
            "hash": self.hash,
            "op": self.name,
            "symbol": self.symbol,
            "text": self.text,
            "ops": self.ops,
        }


@dataclass(frozen=True)
class Update:
    """The difference between two recorded states of a module.

    `printed` has the ops whose text may be new, `created` and `erased` the others with their number
    in the run, `moved` the numbers of the ops that are in another op, by the text of their place.
    """

    printed: list[RecordedOp]
    edits: list[Edit]
    created: dict[Operation, int]
    erased: dict[Operation, int]
    moved: dict[str, list[int]]


class RecordedModule:
    """The last recorded state of the module of a run: its top-level ops as text.

    A value keeps its name as long as it exists, as in `PrintDiff`. Erased ops stay alive until the
    next update, so that their `id` is not reused.
    """

    def __init__(self) -> None:
        self.version = -1
        self.ops: list[RecordedOp] = []
        """The module itself, if it has attributes, and its top-level ops."""
        self.counts: Counter[str] = Counter()
        """The number of ops in the module by name."""
        self._last: dict[Operation, RecordedOp] = {}
        self._nested: dict[Operation, list[Operation]] = {}
        """Each top-level op and all ops nested in it."""
        self._numbers: dict[Operation, int] = {}
        """The number of each op that exists, in the order in which they were first seen."""
        self._parents: dict[Operation, Operation | None] = {}
        """The op around each op that exists."""
        self._number_count = 0
        self._scopes: dict[str, Names] = {}
        self._shared: Names = {}
        """The names of values that more than one top-level op can use."""
        self._memos = _Memos()

    def update(self, run: Run, failed: bool = False) -> Update:
        """Print the top-level ops that changed; return the difference to the state before.

        If the pass failed, its changes are unknown: all ops are printed.
        """
        ops = top_level(run.module)
        changed = [op for op in ops if failed or self._is_changed(op, run)]
        created, erased = self._count(ops, changed)
        moved = self._note_parents(changed, erased)
        if self._shared or any(op.results or not _is_isolated(op) for op in changed):
            changed = self._name_shared(ops, changed)
        printed = {op: self._record(op, failed) for op in changed}
        self._last = {op: printed.get(op) or self._last[op] for op in ops}
        if len(self._scopes) > len(ops):  # names of erased ops keep these alive
            symbols = {op.symbol for op in self._last.values()}
            self._scopes = {name: found for name, found in self._scopes.items() if name in symbols}
        self.version = run.version
        header = [*_header(run.module)]
        old, self.ops = self.ops, [*header, *self._last.values()]
        return Update(
            [*header, *printed.values()], edits_between(old, self.ops), created, erased, moved
        )

    def number(self, op: Operation) -> int | None:
        """Return the number of an op of the module."""
        return self._numbers.get(op)

    def _is_changed(self, op: Operation, run: Run) -> bool:
        return op not in self._last or run.changed_in.get(op, -1) > self.version

    def _count(
        self, ops: Sequence[Operation], changed: Sequence[Operation]
    ) -> tuple[dict[Operation, int], dict[Operation, int]]:
        """Update `counts` and the numbers of ops; return the created and the erased ops with their
        numbers.
        """
        gone = self._nested.keys() - set(ops)
        before = {id(op): op for top in [*gone, *changed] for op in self._nested.pop(top, ())}
        self._nested |= {op: [*walk(op)] for op in changed}
        after = {id(op): op for top in changed for op in self._nested[top]}
        new = [op for key, op in after.items() if key not in before]
        old = [op for key, op in before.items() if key not in after]
        created = dict(zip(new, count(self._number_count)))
        self._number_count += len(created)
        self._numbers |= created
        self.counts = self.counts + Counter(map(name_of, new)) - Counter(map(name_of, old))
        return created, {op: self._numbers.pop(op) for op in old}

    def _note_parents(
        self, changed: Iterable[Operation], erased: Iterable[Operation]
    ) -> dict[str, list[int]]:
        """Note the op around each op in `changed`; return the numbers of the ops that were moved
        into another one, by their place.

        An op that a function of the same name has taken over is not moved.
        """
        moved: dict[str, list[int]] = {}
        known = self._parents
        for op in erased:
            known.pop(op, None)
        for op in (op for top in changed for op in self._nested[top]):
            parent = op.parent_op()
            old, known[op] = known.get(op, parent), parent
            if old is not parent and parent is not None and not _is_renewed(old, parent):
                moved.setdefault(place_in(op), []).append(self._numbers[op])
        return moved

    def _name_shared(
        self, ops: Sequence[Operation], changed: Sequence[Operation]
    ) -> list[Operation]:
        """Name the values that top-level ops share; return the ops to print: the names of all that
        are not isolated may change.
        """
        loose = [op for op in ops if not _is_isolated(op)]
        values = [result for op in ops for result in op.results]
        values += [value for op in loose for value in values_in(op)]
        self._shared = renamed(self._shared, values)
        selected = {*changed, *loose}
        return [op for op in ops if op in selected]

    def _record(self, op: Operation, failed: bool) -> RecordedOp:
        scope = symbol_of(op)
        names: Names = {}
        if _is_isolated(op):
            names = self._scopes[scope] = renamed(self._scopes.get(scope, {}), [*values_in(op)])
        try:
            printer = _RecordingPrinter(stream := StringIO(), self._shared | names, self._memos)
            printer.print_op(op)
            text, ops = stream.getvalue(), printer.positions()
            numbers = ranges(map(self._numbers.__getitem__, printer.starts))
        except Exception:  # of an invalid op, or of one that cannot print itself
            text, ops = ir_text(op, PrintStyle(elide_elements=LARGE), trusted=not failed), []
            numbers = ""
        return RecordedOp(_hash(text), name_of(op), scope, text, ops, numbers)


def _hash(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


def _is_isolated(op: Operation) -> bool:
    return op.has_trait(IsolatedFromAbove, value_if_unregistered=False)


def _is_renewed(old: Operation | None, new: Operation) -> bool:
    """Return whether `new` is in the place of the function `old`."""
    return old is not None and symbol_of(old) == symbol_of(new) != ""


def place_in(op: Operation) -> str:
    """Return a text that says in which op a nested op is: `@f`, or `'scf.for' in @f`."""
    parents = [*ancestors(op.parent_op())]
    names = [f"@{symbol}" if (symbol := symbol_of(p)) else f"'{name_of(p)}'" for p in parents]
    named = next((i for i, name in enumerate(names) if name.startswith("@")), len(names) - 1)
    return names[0] if named <= 0 else f"{names[0]} in {names[named]}"


def _header(module: ModuleOp) -> Iterator[RecordedOp]:
    """Yield the module without its ops, if it has attributes or a name."""
    if module.attributes or module.properties:
        text = ir_text(module, PrintStyle(skip_regions=True))
        yield RecordedOp(_hash(text), module.name, "", text, [], "")


def edits_between(old: Sequence[RecordedOp], new: Sequence[RecordedOp]) -> list[Edit]:
    """Return the changes from `old` to `new`, to be made in order."""
    before = [(op.hash, op.numbers) for op in old]
    after = [(op.hash, op.numbers) for op in new]
    if len(old) == len(new):
        return [(i, i + 1, [new[i]]) for i, (a, b) in enumerate(zip(before, after)) if a != b]
    shorter = min(len(old), len(new))
    start = next((i for i in range(shorter) if before[i] != after[i]), shorter)
    rest = shorter - start
    same = next((i for i in range(rest) if before[-1 - i] != after[-1 - i]), rest)
    return [(start, len(old) - same, [*new[start : len(new) - same]])]


def ranges(numbers: Iterable[int]) -> str:
    """Return numbers as text, in order: 3, 4, 5, 9 as `3-5,9`."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in found)


class _RecordingPrinter(ExactPrinter):
    """A printer that is given the names of values, and remembers where each op begins.

    Large constants are printed as the hash of their elements, which is computed once.
    """

    keeps_pieces = True

    def __init__(self, stream: StringIO, names: Names, memos: _Memos) -> None:
        super().__init__(stream, _STYLE)
        self.name_values(names.items())
        self._text = stream
        self._memos = memos
        self._offsets: list[int] = []  # of the pieces of the text
        self.starts: dict[Operation, int] = {}
        """The printed ops, each with the number of the piece of text that it starts with, or with
        its offset in the text if that is not collected in pieces.
        """

    def print_op(self, op: Operation) -> None:
        self.starts[op] = self._text.tell() if self.pieces is None else len(self.pieces)
        super().print_op(op)

    def write_pieces(self) -> None:
        self._offsets = [*accumulate(map(len, self.pieces or ()), initial=0)]
        super().write_pieces()

    def _resource_for(self, dense: DenseIntOrFPElementsAttr) -> str | None:
        if len(dense) <= LARGE:
            return None
        return self._memos.constants(dense)

    def print_attribute(self, attribute: Attribute) -> None:
        if _is_tensor(attribute):
            self.print_string(self._memos.types(attribute))
        else:
            super().print_attribute(attribute)

    def positions(self) -> list[list[Any]]:
        """Return the entries of `RecordedOp.ops` for the printed ops."""
        lines = [*accumulate(len(line) + 1 for line in self._text.getvalue().split("\n"))]
        numbers: dict[Operation | Block, int] = {op: i for i, op in enumerate(self.starts)}
        if (first := next(iter(self.starts)).regions) and first[0].blocks:
            numbers[first[0].blocks[0]] = -1
        found: list[list[Any]] = []
        for op, start in self.starts.items():
            parent = op.parent_op()
            found.append(
                [
                    name_of(op),
                    bisect_right(lines, self._offsets[start] if self._offsets else start),
                    numbers.get(parent, -1) if parent is not None else -1,
                    [_definition(operand, numbers) for operand in op.operands],
                    self._memos.places(op.location),
                    [self._memos.types(result.type) for result in op.results],
                    {
                        name: self._memos.attributes(value)
                        for name, value in (op.properties | op.attributes).items()
                    },
                ]
            )
        return found


def _definition(operand: SSAValue, numbers: Mapping[Operation | Block, int]) -> int | None:
    """Return the definition of an operand as `RecordedOp.ops` has it."""
    if isinstance(operand, BlockArgument):
        return -1 - operand.index if operand.block in numbers else None
    return numbers.get(operand.op) if isinstance(operand, OpResult) else None
