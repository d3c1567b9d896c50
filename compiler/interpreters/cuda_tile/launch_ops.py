"""The semantics of operations that need to know about the launch: assumptions, prints, globals."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Operation
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import InterpretationError

from ....dialects.cuda_tile import module_ops
from ....dialects.cuda_tile.attributes import BoundedAttr, DivByAttr, SameElementsAttr
from .device_memory import DeviceMemory
from .tile_arithmetic import unsigned_bits
from .tile_values import Array, Compute, Unary, constant_array

__all__ = ["OF_LAUNCH", "Launch"]


@dataclass
class Launch:
    """What operations need to know about the run."""

    memory: DeviceMemory
    output: IO[str] | None


def assume(op: module_ops.AssumeOp, launch: Launch) -> Unary:
    """Return the assumption, which is checked with the accesses."""
    predicate = op.predicate

    def check(value: Array) -> Array:
        if not holds(predicate, np.asarray(value)):
            raise InterpretationError(f"the assumption {predicate} does not hold")
        return value

    return (lambda value: value) if launch.memory.checker is None else check


def holds(predicate: object, array: Array) -> bool:
    """Return whether the elements of a tile are as a predicate says."""
    match predicate:
        case BoundedAttr():
            low, high = getattr(predicate.lb, "data", None), getattr(predicate.ub, "data", None)
            below = low is not None and bool((array < low).any())
            return not below and not (high is not None and bool((array > high).any()))
        case DivByAttr():
            divisor = predicate.divisor.data
            every = getattr(predicate.every, "data", None)
            if every is None:
                return not np.any(unsigned_bits(array) % divisor)
            rows = np.moveaxis(array, getattr(predicate.along, "data", 0), -1)
            size = min(int(every), array.shape[getattr(predicate.along, "data", 0)])
            groups = rows.reshape(-1, size)
            follow = np.all(np.equal(groups - groups[:, :1], np.arange(size)))
            return bool(follow) and not np.any(unsigned_bits(groups[:, 0].copy()) % divisor)
        case SameElementsAttr():
            sizes = predicate.values.get_values()
            groups = array.reshape([n for pair in split(array.shape, sizes) for n in pair])
            firsts = groups[tuple(i for _ in sizes for i in (slice(None), slice(0, 1)))]
            return bool((groups == firsts).all())
        case _:
            return True


def split(shape: Sequence[int], sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the number of groups in each dimension, and their size."""
    for n, size in zip(shape, sizes, strict=True):
        yield n // min(n, size), min(n, size)


def require(op: module_ops.AssertOp, launch: Launch) -> Compute:
    """Return the assertion."""
    message = op.message.data

    def check(condition: Array) -> None:
        if not np.all(condition):
            raise InterpretationError(f"assertion failed: {message}")

    return check


DIRECTIVE = re.compile(r"%([-+ #0-9.]*)(?:hh|h|ll|l|j|z|t|L)?([a-zA-Z%])")


def print_tiles(op: module_ops.PrintTkoOp, launch: Launch) -> Compute:
    """Return the print of tiles in the format of C: of a tile, of each element."""
    format = op.str.data

    def text(match: re.Match[str], values: Iterator[Array]) -> str:
        flags, kind = match.groups()
        if kind == "%":
            return "%"
        one, array = f"%{flags}{'d' if kind in 'iu' else kind}", np.asarray(next(values))
        return np.array2string(array, formatter={"all": lambda value: one % value}, separator=", ")

    def compute(values: Sequence[Array], token: int | None) -> int:
        rest = iter(values)
        if launch.output is not None:
            launch.output.write(DIRECTIVE.sub(lambda match: text(match, rest), format))
        return token or 0

    return compute


def global_pointer(op: module_ops.GetGlobalOp, launch: Launch) -> Compute:
    """Return the pointer to a variable, which is a buffer of the launch."""
    variable = SymbolTable.lookup_symbol(op, op.global_name)
    if not isinstance(variable, module_ops.GlobalOp):
        raise InterpretationError(f"{op.global_name} is not a global of the module")
    value: DenseIntOrFPElementsAttr = variable.value
    name, element = f"@{variable.sym_name.data}", value.get_element_type()
    data = np.array(np.broadcast_to(constant_array(value), value.get_shape())).reshape(-1)

    def compute() -> np.int64:
        for buffer in launch.memory.buffers:
            if buffer.name == name:
                return np.int64(buffer.base)
        return launch.memory.add(name, element, data)

    return compute


OF_LAUNCH: Mapping[type[Operation], Callable[[Any, Launch], Compute]] = {
    module_ops.AssertOp: require,
    module_ops.AssumeOp: assume,
    module_ops.GetGlobalOp: global_pointer,
    module_ops.PrintTkoOp: print_tiles,
}
"""The semantics by class."""
