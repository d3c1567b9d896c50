"""The values of all operations of two evaluations, and the first operation whose value differs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Operation

from ....passmanager.fast.clone import clone
from ....passmanager.ir.location import file_location, place_of
from ....passmanager.ir.symbols import name_of
from ....passmanager.ir.walk import walk
from ..signature import Function, Value, is_buffer
from .comparison import Comparison
from .evaluation import evaluate
from .values import is_function, is_tuple, normalized

__all__ = ["ModuleVersion", "describe_first_difference", "trace"]


class ModuleVersion:
    """A copy of a module at one time; `counterparts` has the copy of each of its operations."""

    def __init__(self, module: ModuleOp) -> None:
        self.module = clone(module)
        self.counterparts = dict(zip(walk(module), walk(self.module), strict=True))


class Trace(Interpreter.Listener):
    """A listener that keeps the values of each operation, one item for each execution.

    Operations whose results are buffers are left out: what a buffer holds changes later.
    """

    def __init__(self) -> None:
        self.values: dict[Operation, list[tuple[Value, ...]]] = {}

    def did_interpret_op(self, op: Operation, results: PythonValues) -> None:
        if op.results and not any(is_buffer(result.type) for result in op.results):
            values = tuple(normalized(r.type, v) for r, v in zip(op.results, results))
            self.values.setdefault(op, []).append(values)


def trace(
    module: ModuleOp, func: Function, arguments: Sequence[Value], ctx: Context, max_steps: int
) -> Trace:
    """Evaluate a function once more, and return the values of all operations."""
    values = Trace()
    evaluate(module, func, arguments, ctx, max_steps, (values,), poison=False)
    return values


def describe_first_difference(
    before: Trace,
    after: Trace,
    counterparts: Mapping[Operation, Operation],
    comparison: Comparison,
) -> str:
    """Describe the first operation of `after` whose value differs from its counterpart's in
    `before`.

    The counterpart of an operation is that in `counterparts` (operation after -> before); else the
    one with its location; else the one whose result has its name. Not compared are operations
    without a counterpart, and those that it does not match in the number of executions, or in the
    shapes and types of the values.
    """
    matches = _matches(before, after, counterparts)
    unmatched = 0
    for op, values in after.values.items():
        other = matches.get(op)
        old = before.values.get(other) if other is not None else None
        if other is None or old is None or not _comparable(old, values):
            unmatched += 1
            continue
        for number, (a, b) in enumerate(zip(old, values), 1):
            if (text := comparison.mismatch_in(a, b)) is not None:
                at = f" in execution {number} of {len(values)}" if len(values) > 1 else ""
                since = "" if name_of(op) == name_of(other) else f", where '{name_of(other)}' was"
                rest = f"; not compared before it: {unmatched}" if unmatched else ""
                return (
                    f"the first operation whose value differs is '{name_of(op)}'{place_of(op)}"
                    f"{since}{at}: {text}{rest}"
                )
    total = len(after.values)
    if not (found := total - unmatched):
        return "the first operation that differs is not known: none has a counterpart before"
    return (
        "the first operation that differs is not known: "
        f"{found} of {total} operations have a counterpart before, with the same value"
    )


def _comparable(before: Sequence[tuple[Value, ...]], after: Sequence[tuple[Value, ...]]) -> bool:
    """Return whether two operations ran equally often, with values of the same shapes and types."""
    return [[*map(_kind, v)] for v in before] == [[*map(_kind, v)] for v in after]


def _kind(value: Value) -> object:
    if is_tuple(value):
        return tuple(map(_kind, value))
    if is_function(value):
        return "function"
    array = np.asarray(value)
    return array.shape, array.dtype.str


def _matches(
    before: Trace, after: Trace, counterparts: Mapping[Operation, Operation]
) -> dict[Operation, Operation]:
    """Return the counterpart of each operation after, if it has one."""
    matches = {op: counterparts[op] for op in after.values if op in counterparts}
    taken = set(matches.values())
    for key in (_place, _hint):
        olds = _last_by(key, (op for op in before.values if op not in taken))
        news = _last_by(key, (op for op in after.values if op not in matches))
        for name, op in news.items():
            if name in olds:
                matches[op] = olds[name]
                taken.add(olds[name])
    return matches


def _last_by(
    key: Callable[[Operation], object], ops: Iterable[Operation]
) -> dict[object, Operation]:
    """Return the last of the operations with each key.

    The operations that an operation was decomposed into all have its location: the last one
    computes its result.
    """
    return {name: op for op in ops if (name := key(op)) is not None}


def _place(op: Operation) -> object:
    """Return the location of `op` in a file, or None."""
    return file_location(op.location)


def _hint(op: Operation) -> object:
    """Return the name of the first result in the text, or None."""
    return op.results[0].name_hint
