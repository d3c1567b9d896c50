"""Which symbols of a module refer to which."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, SymbolRefAttr
from xdsl.ir import Attribute, Operation, ParametrizedAttribute

from ..passmanager.ir.symbols import symbol_of
from ..passmanager.ir.walk import walk

__all__ = ["CallGraph", "References"]


class CallGraph:
    """Who refers to whom among the symbol ops directly in a module, by calls or otherwise.

    A reference is any symbol attribute in an op, at any depth, or inside another attribute.
    """

    def __init__(self, module: ModuleOp) -> None:
        symbols = ((symbol_of(op), op) for op in module.body.block.ops)
        self.symbols: dict[str, Operation] = {name: op for name, op in symbols if name}
        self._callees: dict[Operation, dict[Operation, None]] = {}
        self._callers: dict[Operation, dict[Operation, None]] = {}
        self._unresolved: dict[Operation, list[str]] = {}
        references = References()
        for op in module.body.block.ops:
            self._add(op, dict.fromkeys(name for n in walk(op) for name in references.of(n)))

    def _add(self, caller: Operation, names: Iterable[str]) -> None:
        callees = self._callees.setdefault(caller, {})
        for name in names:
            if (callee := self.symbols.get(name)) is None:
                self._unresolved.setdefault(caller, []).append(name)
            else:
                callees[callee] = None
                self._callers.setdefault(callee, {})[caller] = None

    def callees(self, op: Operation) -> tuple[Operation, ...]:
        """What the top-level op refers to, in the order of the first references."""
        return tuple(self._callees.get(op, ()))

    def callers(self, op: Operation) -> tuple[Operation, ...]:
        """The top-level ops that refer to `op`, in order."""
        return tuple(self._callers.get(op, ()))

    def unresolved(self, op: Operation) -> tuple[str, ...]:
        """The names that the top-level op refers to, but that are no symbol of the module."""
        return tuple(self._unresolved.get(op, ()))

    def reachable(self, roots: Iterable[Operation]) -> set[Operation]:
        """`roots` and all that they refer to, directly or through others."""
        found = set(roots)
        pending = list(found)
        while pending:
            new = self._callees.get(pending.pop(), {}).keys() - found
            found |= new
            pending += new
        return found

    def callees_first(self) -> Iterator[Operation]:
        """The top-level ops, each after what it refers to, except in a cycle."""
        seen: set[Operation] = set()
        for root in self._callees:
            # Depth first, with the iterators of what is left to visit in place of recursion.
            path = [(root, iter(self._callees[root]))] if root not in seen else []
            seen.add(root)
            while path:
                _, rest = path[-1]
                if (callee := next((c for c in rest if c not in seen), None)) is None:
                    yield path.pop()[0]
                else:
                    seen.add(callee)
                    path.append((callee, iter(self._callees[callee])))


class References:
    """The symbols that attributes refer to; each attribute object is looked into once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[str, ...]] = {}
        self._kept: list[Attribute] = []  # so that no identity is used again

    def of(self, op: Operation) -> Iterator[str]:
        """The names that the op itself refers to."""
        for attributes in (op.properties, op.attributes):
            for attribute in attributes.values():
                yield from self._names(attribute)

    def _names(self, attribute: Attribute) -> tuple[str, ...]:
        if (names := self._known.get(id(attribute))) is None:
            names = self._known[id(attribute)] = tuple(self._look_into(attribute))
            self._kept.append(attribute)
        return names

    def _look_into(self, attribute: Attribute) -> Iterator[str]:
        parts: Iterable[Attribute] = ()
        match attribute:
            case SymbolRefAttr():
                yield attribute.root_reference.data
            case ArrayAttr():
                parts = attribute.data
            case DictionaryAttr():
                parts = attribute.data.values()
            case ParametrizedAttribute():
                parts = attribute.parameters
            case _:
                pass
        for part in parts:
            yield from self._names(part)
