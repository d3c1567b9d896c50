"""The purity of functions, and the operations that make buffers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

from xdsl.dialects import memref
from xdsl.dialects.builtin import IntegerAttr, MemRefType, ModuleOp, SymbolRefAttr, UnitAttr
from xdsl.dialects.builtin import UnrankedMemRefType as UnrankedMemRef
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import IRDLOperation, PropertyDef
from xdsl.traits import (
    CallableOpInterface,
    NoMemoryEffect,
    SymbolOpInterface,
    SymbolUserOpInterface,
)

from ...passmanager.dataflow.analysis import Anchor, DataflowAnalysis
from ...passmanager.ir.effects import (
    FREES,
    NESTED,
    READS,
    UNKNOWN,
    WRITES,
    class_effects,
    is_kept,
    own_effects,
)
from ...passmanager.ir.per_class import PerClass
from ...passmanager.ir.walk import symbol_of, walk
from ...passmanager.releases.memref import AssumeAlignmentOp
from .call_graph import symbols_of

__all__ = ["PURE", "Allocation", "Purity", "View", "is_call"]


# The operations that make buffers: allocations, and views of other buffers.


Allocation: TypeAlias = memref.AllocOp | memref.AllocaOp
"""An operation that allocates a buffer."""

View: TypeAlias = (
    AssumeAlignmentOp
    | memref.CastOp
    | memref.CollapseShapeOp
    | memref.ExpandShapeOp
    | memref.MemorySpaceCastOp
    | memref.ReinterpretCastOp
    | memref.SubviewOp
    | memref.ViewOp
)
"""An operation whose result aliases its first operand, or a part of it."""


# The purity of functions: the memory effects of calls, inferred from the bodies of the callees.


PURE = "relax.pure"
"""The attribute of a function that declares whether its calls are pure: a unit or a boolean."""


def _is_call(cls: type[Operation]) -> bool:
    if not issubclass(cls, IRDLOperation):
        return False
    callee = cls.get_irdl_definition().properties.get("callee")
    if type(callee) is not PropertyDef or cls.has_trait(
        NoMemoryEffect, value_if_unregistered=False
    ):
        return False
    return cls.has_trait(SymbolUserOpInterface, value_if_unregistered=False)


is_call = PerClass[Operation, bool](_is_call)
"""Whether operations of a class call a function that may have effects: the symbol in their property
`callee`, as in `func.call`. `relax.call_tir` is pure by its definition."""


class Purity:
    """The memory effects of the calls in a module, computed when the first call is asked about.

    A function has the effects of the operations in its body, and of the functions that it calls. It
    may allocate, read and write memory of its own. Termination is no effect, as in MLIR, which
    erases an unused `scf.while`, and in TVM: a function is not impure because it loops or calls
    itself. Declarations, symbols that are not defined at the top level of the module, and function
    values have unknown effects. `relax.pure` declares the effects of a function: true (or a unit)
    is none, false is unknown.

    The answers hold while passes erase, merge and fold operations without effects.
    """

    def __init__(self, module: ModuleOp) -> None:
        self.module = module
        self.symbols = symbols_of(module)
        self.shadowed: set[str] = set()
        """The names of symbols that are not directly in the module: a call next to such a symbol
        does not mean ours."""

    def effects(self, op: Operation) -> int:
        """Return the effects of `op`: of a call those of the callee, else its own."""
        return self.of_call(op) if is_call[type(op)] else own_effects(op)

    def of_call(self, call: Operation) -> int:
        """Return the effects of a call."""
        callee = call.properties.get("callee")
        assert isinstance(callee, SymbolRefAttr)
        return self.functions.get(callee.string_value(), UNKNOWN)

    def callee(self, call: Operation) -> Operation | None:
        """Return the function that a call, also a `relax.call_tir`, means; None if that is not
        known."""
        callee = call.properties.get("callee")
        assert isinstance(callee, SymbolRefAttr)
        name = callee.string_value()
        return None if name not in self.functions or name in self.shadowed else self.symbols[name]

    def is_pure(self, call: Operation) -> bool:
        """Return whether a call neither has effects nor depends on memory."""
        return not self.of_call(call)

    @cached_property
    def functions(self) -> dict[str, int]:
        """The effects of the functions that are directly in the module, by name."""
        effects: dict[str, int] = {}
        callers: dict[str, list[str]] = {}
        for name, func in self.symbols.items():
            body = _Body(func)
            self.shadowed |= body.symbols
            # A declaration is believed: it may say of a function that writes a cache that nobody
            # observes it.
            if (declared := _declared(func)) is not None:
                effects[name] = declared
                continue
            effects[name] = body.effects
            for callee in body.callees:
                callers.setdefault(callee, []).append(name)
        for op in self.module.body.block.ops:
            if not symbol_of(op):
                self.shadowed |= _Body(op).symbols
        # Functions that call each other have no effects but those found in them.
        unknown = {callee for callee in callers if callee not in effects}
        unknown |= self.shadowed & effects.keys()
        effects |= dict.fromkeys(unknown, UNKNOWN)
        known = _EffectsOfCalls(self.module, self.symbols, effects, callers)
        return effects | {name: known.states[func] for name, func in self.symbols.items()}


class _EffectsOfCalls(DataflowAnalysis[int]):
    """The effects of functions with those of their callees: bits that are only added."""

    def __init__(
        self,
        module: ModuleOp,
        symbols: Mapping[str, Operation],
        effects: Mapping[str, int],
        callers: Mapping[str, Sequence[str]],
    ) -> None:
        self._symbols, self._effects = symbols, effects
        self._callers = {
            name: [symbols[caller] for caller in found] for name, found in callers.items()
        }
        super().__init__(module)

    def join(self, a: int, b: int) -> int:
        return a | b

    def start(self) -> None:
        for name, effects in self._effects.items():
            if (func := self._symbols.get(name)) is not None:
                self.update(func, effects)
            else:
                for caller in self._callers.get(name, ()):
                    self.update(caller, effects)

    def changed(self, anchor: Anchor) -> None:
        assert isinstance(anchor, Operation)
        self._visited.add(anchor)
        self.enqueue(anchor)

    def visit(self, op: Operation) -> None:
        for caller in self._callers.get(symbol_of(op), ()):
            self.update(caller, self.states[op])


def _declared(func: Operation) -> int | None:
    """Return the effects that a function declares or that follow from its kind; None if they are
    those of its body."""
    match func.attributes.get(PURE):
        case UnitAttr():
            return 0
        case IntegerAttr() as value:
            return 0 if value.value.data else UNKNOWN
        case _:
            return None if _has_known_body(func) else UNKNOWN


def _has_known_body(func: Operation) -> bool:
    """Return whether calls of a function run its body: it is callable, and has one."""
    callable_ = func.get_trait(CallableOpInterface)
    return callable_ is not None and bool(callable_.get_callable_region(func).blocks)


class _Body:
    """The effects, calls and symbols of the operations nested in a top-level operation."""

    def __init__(self, top: Operation) -> None:
        self.effects = 0
        self.callees: dict[str, None] = {}
        self.symbols: set[str] = set()
        self.local: dict[SSAValue, bool] = {}
        """Whether a buffer is part of an allocation in the body."""
        self.returns_buffers = isinstance(top, FuncOp) and any(
            isinstance(type, MemRefType | UnrankedMemRef) for type in top.function_type.outputs
        )
        for op in walk(top):
            if op is not top:
                self.visit(op)

    def visit(self, op: Operation) -> None:
        """Add an operation, without those nested in it."""
        cls = type(op)
        if _is_symbol[cls] and (name := symbol_of(op)):
            self.symbols.add(name)
        if is_call[cls] and isinstance(callee := op.properties.get("callee"), SymbolRefAttr):
            self.callees[callee.string_value()] = None
        # The operations in regions are walked themselves, so their effects are counted once.
        elif effects := class_effects[cls] & ~NESTED:
            if not is_kept[cls] and not self.is_local(op, effects):
                self.effects |= own_effects(op) & ~NESTED

    def is_local(self, op: Operation, effects: int) -> bool:
        """Return whether the effects of `op` are only on memory that the function allocates, and
        does not return."""
        # If any buffer is returned, which one may not be known: none counts as local then.
        if effects & ~(READS | WRITES | FREES) or self.returns_buffers:
            return False
        if isinstance(op, Allocation):
            return True
        buffers = [v for v in op.operands if isinstance(v.type, MemRefType | UnrankedMemRef)]
        return bool(buffers) and all(map(self.is_allocated, buffers))

    def is_allocated(self, buffer: SSAValue) -> bool:
        """Return whether `buffer` is an allocation in the function, or a view of one."""
        path = [buffer]
        while path[-1] not in self.local and isinstance(view := path[-1].owner, View):
            path.append(view.operands[0])
        end = path[-1]
        # Each view is walked once, as its whole chain gets the answer.
        found = self.local[end] if end in self.local else isinstance(end.owner, Allocation)
        self.local.update(dict.fromkeys(path, found))
        return found


def _symbol(cls: type[Operation]) -> bool:
    return cls.has_trait(SymbolOpInterface, value_if_unregistered=True)


_is_symbol = PerClass[Operation, bool](_symbol)
