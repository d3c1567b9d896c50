"""Symbol tables: the operations that references mean, and the references in operations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, SymbolRefAttr, UnregisteredOp
from xdsl.ir import Attribute, Operation, ParametrizedAttribute
from xdsl.traits import SymbolTable

from .per_class import PerClass
from .walk import ancestors, symbol_of, walk

__all__ = ["References", "SymbolTables", "is_symbol_table", "symbol_table_of"]


def _is_symbol_table(cls: type[Operation]) -> bool:
    return cls.has_trait(SymbolTable, value_if_unregistered=False)


is_symbol_table: Final = PerClass[Operation, bool](_is_symbol_table)
"""Whether operations of a class define a scope of symbols (xDSL's trait `SymbolTable`)."""


def symbol_table_of(op: Operation) -> Operation | None:
    """Return the innermost operation around `op` that defines a scope of symbols.

    None if there is none, or an unregistered operation, which may define one, is nearer.
    """
    for around in ancestors(op.parent_op()):
        if is_symbol_table[type(around)]:
            return around
        if isinstance(around, UnregisteredOp):
            return None
    return None


class SymbolTables:
    """The symbols of each scope, found when it is first asked for (MLIR's
    `SymbolTableCollection`); the answers hold while no symbol is added, renamed or erased.
    """

    def __init__(self) -> None:
        self._symbols: dict[Operation, dict[str, Operation]] = {}

    def symbols(self, table: Operation) -> dict[str, Operation]:
        """Return the symbols that are defined directly in `table`, by name."""
        if (found := self._symbols.get(table)) is None:
            blocks = (block for region in table.regions for block in region.blocks)
            ops = (op for block in blocks for op in block.ops)
            found = self._symbols[table] = {name: op for op in ops if (name := symbol_of(op))}
        return found

    def lookup(self, op: Operation, reference: SymbolRefAttr) -> Operation | None:
        """Return the operation that `reference`, an attribute of `op`, means; None if there is
        none (MLIR's `lookupNearestSymbolFrom`)."""
        if (table := symbol_table_of(op)) is None:
            return None
        found = self.symbols(table).get(reference.root_reference.data)
        for name in reference.nested_references:
            if found is None or not is_symbol_table[type(found)]:
                return None
            found = self.symbols(found).get(name.data)
        return found


class References:
    """The symbol references in attributes; each attribute object is searched once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[SymbolRefAttr, ...]] = {}
        self._names: dict[int, tuple[str, ...]] = {}
        self._kept: list[Attribute] = []  # so that no `id` is reused

    def references(self, op: Operation) -> list[SymbolRefAttr]:
        """Return the references in the attributes of `op`, without nested operations."""
        found: list[SymbolRefAttr] = []
        for attribute in (*op.properties.values(), *op.attributes.values()):
            if references := self._in(attribute):
                found += references
        return found

    def of(self, op: Operation) -> list[str]:
        """Return the names that `op` itself refers to, without nested operations.

        Of `@module::@func` only the root is a symbol of the scope that `op` is in.
        """
        found: list[str] = []
        for attributes in (op.properties, op.attributes):
            for attribute in attributes.values():
                if names := self._roots(attribute):
                    found += names
        return found

    def below(self, root: Operation) -> dict[str, None]:
        """Return the names that `root` and the ops nested in it refer to, in their order."""
        found: dict[str, None] = {}
        known = self._names
        for op in walk(root):
            for attribute in (*op.properties.values(), *op.attributes.values()):
                if (names := known.get(id(attribute))) is None:
                    names = self._roots(attribute)
                if names:
                    found |= dict.fromkeys(names)
        return found

    def _roots(self, attribute: Attribute) -> tuple[str, ...]:
        if (names := self._names.get(id(attribute))) is None:
            names = tuple(ref.root_reference.data for ref in self._in(attribute))
            self._names[id(attribute)] = names
        return names

    def _in(self, attribute: Attribute) -> tuple[SymbolRefAttr, ...]:
        if (references := self._known.get(id(attribute))) is None:
            references = self._known[id(attribute)] = tuple(self._search(attribute))
            self._kept.append(attribute)
        return references

    def _search(self, attribute: Attribute) -> Iterator[SymbolRefAttr]:
        parts: Iterable[Attribute] = ()
        match attribute:
            case SymbolRefAttr():
                yield attribute
            case ArrayAttr():
                parts = attribute.data
            case DictionaryAttr():
                parts = attribute.data.values()
            case ParametrizedAttribute():
                parts = attribute.parameters
            case _:
                pass
        for part in parts:
            yield from self._in(part)
