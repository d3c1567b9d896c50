"""The undefined symbols of object code, and the operations that refer to them."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.llvm import CallIntrinsicOp, CallOp, FuncOp
from xdsl.ir import Operation

from ...passmanager.ir.location import place_of
from ...passmanager.ir.walk import walk
from ..interpreters.codegens import CODEGEN

__all__ = [
    "COUNTS",
    "ELF64",
    "SECTION",
    "SYMBOL",
    "TABLE",
    "missing_text",
    "sections_of",
    "symbols_in",
    "undefined_symbols",
]

ELF64 = b"\x7fELF\x02\x01"
"""The first bytes of an ELF file of 64 bits, little-endian."""
SYMBOL_TABLE = 2
"""The type of the section with the symbols."""
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
TABLE, COUNTS = 0x28, 0x3C
"""Offsets in the header: the table of sections, their number and the section of names."""


def undefined_symbols(*codes: bytes) -> list[str]:
    """Return the symbols that no object file of several defines, in the order of their symbol
    tables; none for files that are not little-endian ELF of 64 bits."""
    found = [symbols_in(code, sections_of(code)) for code in codes if code.startswith(ELF64)]
    symbols = dict.fromkeys((name, is_defined) for each in found for _, name, is_defined in each)
    defined = {name for name, is_defined in symbols if is_defined}
    # The linker defines this symbol itself.
    defined.add("_GLOBAL_OFFSET_TABLE_")
    return [name for name, _ in symbols if name not in defined]


def sections_of(code: bytes | bytearray) -> list[list[int]]:
    """Return the fields in the header of each section of an ELF file."""
    (table,) = struct.unpack_from("<Q", code, TABLE)
    (count,) = struct.unpack_from("<H", code, COUNTS)
    return [[*SECTION.unpack_from(code, table + i * SECTION.size)] for i in range(count)]


def symbols_in(
    code: bytes | bytearray, sections: Sequence[Sequence[int]]
) -> Iterator[tuple[int, str, bool]]:
    """Yield the offset and name of each ELF symbol, and whether it is defined."""
    for _, kind, _, _, offset, size, link, *_ in sections:
        if kind == SYMBOL_TABLE:
            for entry in range(offset, offset + size, SYMBOL.size):
                name, _, _, section, _, _ = SYMBOL.unpack_from(code, entry)
                if name:
                    start = sections[link][4] + name
                    yield entry, code[start : code.index(b"\0", start)].decode(), bool(section)


def missing_text(module: ModuleOp, missing: Iterable[str], place: str = "this process") -> str:
    """Return an error message about symbols that neither a module in the dialect llvm nor `place`
    defines, with an operation that needs each, if there is one."""
    users: dict[str, Operation] = {}
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
    for op in walk(module):
        if isinstance(op, CallOp) and op.callee is not None:
            users.setdefault(op.callee.string_value(), op)
        elif isinstance(op, CallIntrinsicOp):  # llvm.sin.f64 becomes sin, that of f32 sinf
            name = op.intrin.data.split(".")[1]
            users.setdefault(name, op)
            users.setdefault(f"{name}f", op)
    return "; ".join(
        f"function @{symbol} {_lack(functions.get(symbol), place)}"
        + (f": the call{place_of(users[symbol])} needs it" if symbol in users else "")
        for symbol in missing
    )


def _lack(callee: FuncOp | None, place: str) -> str:
    name = None if callee is None else callee.attributes.get(CODEGEN)
    if isinstance(name, StringAttr):
        return (
            f"is computed by the back end '{name.data}', which only the engine numpy calls, "
            "not machine code"
        )
    return f"is called, but has no body, neither in the module nor in {place}"
