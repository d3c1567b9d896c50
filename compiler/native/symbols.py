"""The undefined symbols of object code, and the operations that refer to them."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.llvm import CallIntrinsicOp, CallOp, FuncOp
from xdsl.ir import Operation

from ...passmanager.ir.location import place_of
from ...passmanager.ir.walk import walk
from ..interpreters.codegens import CODEGEN

__all__ = [
    "ELF64",
    "SYMBOL_TABLE",
    "missing_text",
    "undefined_symbols",
]

ELF64 = b"\x7fELF\x02\x01"
"""The first bytes of an ELF file of 64 bits, little-endian."""
SYMBOL_TABLE = 2
"""The type of the section with the symbols."""


def undefined_symbols(*codes: bytes) -> list[str]:
    """Return the symbols that no object file of several defines, in the order of their symbol
    tables; none for files that are not little-endian ELF of 64 bits."""
    symbols = dict.fromkeys(symbol for code in codes for symbol in _symbols(code))
    defined = {name for name, is_defined in symbols if is_defined}
    # The linker defines this symbol itself.
    defined.add("_GLOBAL_OFFSET_TABLE_")
    return [name for name, _ in symbols if name not in defined]


def _symbols(code: bytes) -> Iterator[tuple[str, bool]]:
    """Yield the names in the symbol table of an object file, and whether they are defined."""
    if not code.startswith(ELF64):
        return
    sections = [*_sections(code)]
    for kind, offset, size, link in sections:
        if kind == SYMBOL_TABLE:
            strings = sections[link][1]
            for name, *_, section, _, _ in struct.iter_unpack(
                "<IBBHQQ", code[offset : offset + size]
            ):
                if name:
                    start = strings + name
                    yield code[start : code.index(b"\0", start)].decode(), bool(section)


def _sections(code: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Yield the type, offset, size and link of each section."""
    (start,) = struct.unpack_from("<Q", code, 0x28)
    size, count = struct.unpack_from("<HH", code, 0x3A)
    for header in range(start, start + size * count, size):
        _, kind, _, _, offset, length, link = struct.unpack_from("<IIQQQQI", code, header)
        yield kind, offset, length, link


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
        f"function @{symbol} {_lack(functions.get(symbol), place)}{_user(users.get(symbol))}"
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


def _user(op: Operation | None) -> str:
    return "" if op is None else f": the call{place_of(op)} needs it"
