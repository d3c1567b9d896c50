"""The references between the top-level symbols of a module."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ...passmanager.ir.symbols import References
from ...passmanager.ir.walk import is_skipped, symbol_of

__all__ = ["CallGraph", "is_opaque", "symbols_of"]


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


# Functions whose bodies passes leave as they are.


_MARKS = ("relax.primitive", "relax.composite", "relax.codegen")


def is_opaque(func: Operation) -> bool:
    """Return whether `func` is a unit that no pass may look into.

    These are kernels (`relax.primitive`), functions for another compiler (`relax.composite`,
    `relax.codegen`), and functions excluded by the user (`passline.skip_optimization`).
    """
    # TVM marks these functions `Primitive`, `Composite` and `Codegen`.
    return any(name in func.attributes for name in _MARKS) or is_skipped(func)
