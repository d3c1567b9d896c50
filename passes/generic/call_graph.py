"""The references between the top-level symbols of a module."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, SymbolRefAttr
from xdsl.ir import Attribute, Operation, ParametrizedAttribute

from ...passmanager.ir.walk import is_skipped, symbol_of, walk

__all__ = ["CallGraph", "References", "is_opaque", "symbols_of"]


# The references between the top-level symbols of a module: calls and all other symbol uses.


class CallGraph:
    """The references between the ops directly in a module, by calls or other symbol uses.

    An op refers to each symbol that an attribute of it, or of an op nested in it, contains.
    """

    def __init__(self, module: ModuleOp) -> None:
        self.symbols = symbols_of(module)
        # Dicts as ordered sets: the order of the answers does not depend on addresses.
        self._callees: dict[Operation, dict[Operation, None]] = {}
        self._callers: dict[Operation, dict[Operation, None]] = {}
        self._unresolved: dict[Operation, list[str]] = {}
        references = References()
        for op in module.body.block.ops:
            self._add(op, references.below(op))

    def _add(self, caller: Operation, names: Iterable[str]) -> None:
        callees = self._callees.setdefault(caller, {})
        for name in names:
            if (callee := self.symbols.get(name)) is None:
                self._unresolved.setdefault(caller, []).append(name)
            else:
                callees[callee] = None
                self._callers.setdefault(callee, {})[caller] = None

    def callees(self, op: Operation) -> tuple[Operation, ...]:
        """Return the ops that the top-level `op` refers to, in the order of first references."""
        return tuple(self._callees.get(op, ()))

    def callers(self, op: Operation) -> tuple[Operation, ...]:
        """Return the top-level ops that refer to `op`, in the order of the module."""
        return tuple(self._callers.get(op, ()))

    def unresolved(self, op: Operation) -> tuple[str, ...]:
        """Return the names that the top-level `op` refers to and the module does not define."""
        return tuple(self._unresolved.get(op, ()))

    def reachable(self, roots: Iterable[Operation]) -> set[Operation]:
        """Return `roots` and all ops that they refer to, directly or through others."""
        found = set(roots)
        pending = list(found)
        while pending:
            new = self._callees.get(pending.pop(), {}).keys() - found
            found |= new
            pending += new
        return found

    def callees_first(self) -> Iterator[Operation]:
        """Yield the top-level ops, each after the ops that it refers to, except in a cycle."""
        seen: set[Operation] = set()
        for root in self._callees:
            # Depth first; the iterators over the callees left to visit replace recursion.
            path = [(root, iter(self._callees[root]))] if root not in seen else []
            seen.add(root)
            while path:
                _, rest = path[-1]
                if (callee := next((c for c in rest if c not in seen), None)) is None:
                    yield path.pop()[0]
                else:
                    seen.add(callee)
                    path.append((callee, iter(self._callees[callee])))


def symbols_of(module: ModuleOp) -> dict[str, Operation]:
    """Return the symbols that `module` defines, by name."""
    symbols = ((symbol_of(op), op) for op in module.body.block.ops)
    return {name: op for name, op in symbols if name}


class References:
    """The symbols that attributes contain; each attribute object is searched once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[str, ...]] = {}
        self._kept: list[Attribute] = []  # so that no `id` is reused

    def of(self, op: Operation) -> Sequence[str]:
        """Return the names that `op` itself refers to, without nested ops."""
        found: list[str] = []
        for attributes in (op.properties, op.attributes):
            for attribute in attributes.values():
                if names := self._names(attribute):
                    found += names
        return found

    def below(self, root: Operation) -> dict[str, None]:
        """Return the names that `root` and the ops nested in it refer to, in their order."""
        found: dict[str, None] = {}
        known = self._known
        for op in walk(root):
            for attribute in (*op.properties.values(), *op.attributes.values()):
                if (names := known.get(id(attribute))) is None:
                    names = self._names(attribute)
                if names:
                    found |= dict.fromkeys(names)
        return found

    def _names(self, attribute: Attribute) -> tuple[str, ...]:
        if (names := self._known.get(id(attribute))) is None:
            names = self._known[id(attribute)] = tuple(self._search(attribute))
            self._kept.append(attribute)
        return names

    def _search(self, attribute: Attribute) -> Iterator[str]:
        parts: Iterable[Attribute] = ()
        match attribute:
            case SymbolRefAttr():
                # Of `@module::@func` only the root is a symbol of this module.
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


# Functions whose bodies passes leave as they are.


_MARKS = ("relax.primitive", "relax.composite", "relax.codegen")


def is_opaque(func: Operation) -> bool:
    """Return whether `func` is a unit that no pass may look into.

    These are kernels (`relax.primitive`), functions for another compiler (`relax.composite`,
    `relax.codegen`), and functions excluded by the user (`passline.skip_optimization`).
    """
    # TVM marks these functions `Primitive`, `Composite` and `Codegen`.
    return any(name in func.attributes for name in _MARKS) or is_skipped(func)
