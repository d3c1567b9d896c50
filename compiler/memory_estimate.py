"""The memory that the functions of a module need, before it is compiled.

for name, estimate in estimate_memory("model.onnx").items():
    print(name, estimate)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import memref
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from ..dialects.tir.functions import PrimFuncOp
from ..passes.relax.plan_memory.plan_memory import functions_on_tensors, plan_memory
from ..passmanager.actions import Actions, Argument, Remark, RemarkKind
from ..passmanager.diagnostics import Where
from ..passmanager.ir.walk import symbol_of, walk
from ..passmanager.pipeline import parse_pipeline
from .analysis.memory.buffers import byte_size
from .interpreters.signature import input_types, is_buffer
from .source import Source, load

__all__ = ["MemoryEstimate", "estimate_memory"]

BEFORE_PLANNING = "to-a-normal-form,preallocate-collections,legalize-ops"
"""What turns a module on tensors into one that `plan-memory` takes."""


@dataclass(frozen=True)
class MemoryEstimate:
    """The bytes that one call of a function needs. Buffers of unknown size are left out."""

    parameters: int
    results: int
    constants: int
    """All constants of the module."""
    buffers: int
    """The number of intermediate results."""
    before: int
    """The intermediate results, if each had memory of its own."""
    planned: int
    """The allocation in which `plan-memory` places the intermediate results."""
    kernels: int
    """The most that one kernel allocates while it runs."""

    @property
    def total(self) -> int:
        """The bytes of all of them."""
        parts = (self.parameters, self.results, self.constants, self.planned, self.kernels)
        return sum(parts)

    def __str__(self) -> str:
        return (
            f"{self.total} bytes: parameters {self.parameters}, results {self.results}, constants "
            f"{self.constants}, kernels {self.kernels}, {self.buffers} intermediate results "
            f"{self.planned} (before planning {self.before})"
        )


def estimate_memory(source: Source) -> dict[str, MemoryEstimate]:
    """Return what each function on tensors in a module needs, by name; the module does not change.

    Kernels are made and memory is planned, as when the module is compiled. Errors: as of
    `plan-memory`, for a function that cannot be planned. Source:
    `tvm.relax.analysis.estimate_memory_usage`.
    """
    module = parse_pipeline(BEFORE_PLANNING)(load(source))
    names = {symbol_of(op) for op in functions_on_tensors(module)}
    actions = _Planned()
    plan_memory(module, actions)
    functions = {symbol_of(op): op for op in module.ops if isinstance(op, PrimFuncOp | FuncOp)}
    kernels = [
        _bytes(each.memref.type for each in walk(op) if isinstance(each, memref.AllocOp))
        for name, op in functions.items()
        if name not in names
    ]
    constants = _bytes(op.type for op in module.ops if isinstance(op, memref.GlobalOp))
    found: dict[str, MemoryEstimate] = {}
    for name in names:
        func = functions[name]
        inputs = input_types(func)
        outputs = func.function_type.inputs.data[len(inputs) :] or func.function_type.outputs.data
        sizes = _bytes(inputs), _bytes(outputs), constants
        use = actions.found.get(name, (0, 0, 0))
        found[name] = MemoryEstimate(*sizes, *use, max(kernels, default=0))
    return found


def _bytes(types: Iterable[Attribute]) -> int:
    return sum(byte_size(type) or 0 for type in types if is_buffer(type))


class _Planned(Actions):
    """Actions that keep what `plan-memory` reports: buffers and their bytes before and after."""

    def __init__(self) -> None:
        self.found: dict[str, tuple[int, int, int]] = {}

    def remark(
        self,
        kind: RemarkKind,
        where: Where,
        name: str,
        message: str,
        arguments: Mapping[str, Argument],
        scope: Operation | None = None,
        category: str = "",
        related: Remark | None = None,
        /,
    ) -> None:
        if name == "Planned" and isinstance(where, Operation):
            buffers, before, after = (
                cast(int, arguments[key]) for key in ("Buffers", "BytesBefore", "BytesAfter")
            )
            self.found[symbol_of(where)] = buffers, before, after
