"""SymbolDCE: remove the symbols that nothing can reach, in all symbol tables."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr, UnregisteredOp
from xdsl.ir import Operation
from xdsl.traits import SymbolOpInterface, SymbolTable

from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import erase
from ...passmanager.ir.per_class import PerClass
from ...passmanager.ir.symbols import References, SymbolTables, is_symbol_table
from ...passmanager.ir.walk import first_ops, symbol_of


def _defines_symbol(cls: type[Operation]) -> bool:
    return cls.has_trait(SymbolOpInterface, value_if_unregistered=False)


_is_symbol_class = PerClass[Operation, bool](_defines_symbol)


def is_symbol(op: Operation) -> bool:
    """Return whether `op` defines a symbol; a module without a name does not."""
    return _is_symbol_class[type(op)] and bool(symbol_of(op))


def visibility(symbol: Operation) -> str:
    """Return `public`, `nested` or `private`."""
    found = symbol.get_attr_or_prop("sym_visibility")
    return found.data if isinstance(found, StringAttr) else "public"


def remove_dead_symbols(root: Operation, actions: Actions = SILENT) -> None:
    """Erase the symbols in `root`, a symbol table, and in those nested in it, that are not live.

    A symbol is live if it can be seen from outside of the IR, or if a live operation refers to it:
    a public one, one in a table that a public symbol makes visible, and one that an operation which
    is no symbol, or a live symbol, refers to. Nothing is erased if there is an unregistered
    operation with a region, which may be a symbol table.
    """
    live = _LiveSymbols(root)
    if (unknown := live.unknown_table) is not None:
        actions.missed(unknown, "NotRemoved", f"may implement {SymbolTable.__name__}")
        return
    for table in live.tables:
        for op in _units(table):
            if is_symbol(op) and op not in live.ops and actions.allowed(op):
                actions.passed(op, "RemovedSymbol", "no live operation refers to it")
                actions.count("num-dce'd")
                erase(op)


class _LiveSymbols:
    """The live operations directly in symbol tables, found from those that are live themselves."""

    def __init__(self, root: Operation) -> None:
        self.ops: set[Operation] = set()
        self.tables: dict[Operation, bool] = {}
        """The symbol tables in live operations, and whether operations outside cannot name what is
        in them."""
        self.unknown_table: Operation | None = None
        self._symbols = SymbolTables()
        self._references = References()
        self._pending: list[Operation] = []
        hidden = root.parent is None or not is_symbol(root) or visibility(root) == "private"
        self._open(root, hidden)
        while self._pending:
            self._visit(self._pending.pop())

    def _mark(self, op: Operation) -> None:
        if op not in self.ops:
            self.ops.add(op)
            self._pending.append(op)

    def _open(self, table: Operation, hidden: bool) -> None:
        """Mark the operations in a symbol table that are live whatever refers to them."""
        self.tables[table] = hidden
        for op in _units(table):
            if not is_symbol(op):
                self._mark(op)
                continue
            seen = visibility(op)
            if seen == "public" or (seen == "nested" and not hidden):
                self._mark(op)

    def _visit(self, unit: Operation) -> None:
        """Mark what a live operation, directly in a symbol table, refers to."""
        table = unit.parent_op()
        assert table is not None
        hidden = self.tables[table]
        for op in _scope(unit):
            if isinstance(op, UnregisteredOp) and op.regions:
                self.unknown_table = self.unknown_table or op
            for reference in self._references.references(op):
                self._mark_all(table, reference)
            if is_symbol_table[type(op)]:
                named = is_symbol(op)
                self._open(op, hidden or not named or visibility(op) == "private")

    def _mark_all(self, table: Operation, reference: SymbolRefAttr) -> None:
        """Mark each symbol on the path of a reference."""
        scope: Operation | None = table
        for name in (reference.root_reference, *reference.nested_references):
            found = self._symbols.symbols(scope).get(name.data)
            if found is None:
                return
            self._mark(found)
            if not is_symbol_table[type(found)]:
                return
            # Its symbols are looked at once it is visited itself.
            self.tables.setdefault(found, True)
            scope = found


def _units(table: Operation) -> list[Operation]:
    """Return the operations directly in a symbol table."""
    return [op for region in table.regions for block in region.blocks for op in block.ops]


def _scope(unit: Operation) -> Iterator[Operation]:
    """Yield `unit` and the operations nested in it, up to nested symbol tables."""
    yield unit
    if is_symbol_table[type(unit)]:
        return
    pending = first_ops(unit)
    while pending:
        op: Operation | None = pending.pop()
        while op is not None:
            yield op
            following = op.next_op
            if op.regions and not is_symbol_table[type(op)]:
                if following is not None:
                    pending.append(following)
                pending += first_ops(op)
                break
            op = following


class SymbolDCE(ModulePass):
    """Remove the symbols that nothing can reach, such as private functions without a call.

    Symbols in nested modules are removed, too. Source: MLIR's pass of this name.

    Before:

        func.func private @unused()
        func.func private @used()
        func.func @main() {
          func.call @used() : () -> ()
          func.return
        }

    After:

        func.func private @used()
        func.func @main() {
          func.call @used() : () -> ()
          func.return
        }
    """

    name = "symbol-dce"

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        remove_dead_symbols(module, ctx.actions)
