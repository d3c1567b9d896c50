"""LLVM IR as text: the bodies of functions, constants, and names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count

from xdsl.dialects.builtin import DYNAMIC_INDEX

__all__ = ["Body", "Data", "all_sizes", "declaration", "escaped", "quoted", "struct"]


class Data:
    """The constants of a module: strings and arrays, each a private global."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._strings: dict[str, str] = {}

    def string(self, text: str) -> str:
        """Return the symbol of a string; equal ones have one symbol."""
        if text not in self._strings:
            data = text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode() + b"\0"
            self._strings[text] = self._add(f'[{len(data)} x i8] c"{escaped(data)}"')
        return self._strings[text]

    def table(self, type: str, rows: Iterable[str]) -> str:
        """Return the symbol of an array of `type`, or null for an empty one."""
        values = [f"{type} {row}" for row in rows]
        return self._add(f"[{len(values)} x {type}] [{', '.join(values)}]") if values else "null"

    def _add(self, value: str) -> str:
        symbol = f"@library.data.{len(self.lines)}"
        self.lines.append(f"{symbol} = private unnamed_addr constant {value}")
        return symbol


class Body:
    """The instructions of a function."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._names = 0

    def new(self) -> str:
        """Return a new name for a value or a block, without `%`."""
        self._names += 1
        return f"v{self._names}"

    def add(self, line: str) -> None:
        """Add an instruction without a result."""
        self.lines.append(f"  {line}")

    def value(self, line: str) -> str:
        """Add an instruction, and return its result."""
        self.add(f"%{(name := self.new())} = {line}")
        return f"%{name}"

    def word(self, pointer: str, index: int) -> str:
        """Return the address of word `index`, of 64 bits, after `pointer`."""
        return self.value(f"getelementptr i64, ptr {pointer}, i64 {index}")

    def load(self, type: str, pointer: str, index: int) -> str:
        """Return the value of `type` in word `index` after `pointer`."""
        return self.value(f"load {type}, ptr {self.word(pointer, index)}")

    def store(self, type: str, value: str | int, pointer: str, index: int) -> None:
        """Write a value of `type` to word `index` after `pointer`."""
        self.add(f"store {type} {value}, ptr {self.word(pointer, index)}")

    def call(
        self, callee: str, arguments: Sequence[str], unknown: Sequence[int]
    ) -> list[list[str]]:
        """Call a function of a prepared module; return the pointer and the unknown sizes of each
        buffer that it returns.

        Each argument is after its type (`ptr %x`); `unknown` has the number of unknown sizes of
        each result.
        """
        type = returned_type(unknown)
        call = f"call {type} {quoted(callee)}({', '.join(arguments)})"
        if type == "void":
            self.add(call)
            return []
        value, fields = self.value(call), count()
        if type == "ptr":
            return [[value]]
        return [
            [self.value(f"extractvalue {type} {value}, {next(fields)}") for _ in range(1 + sizes)]
            for sizes in unknown
        ]

    def unless(self, condition: str) -> tuple[str, str]:
        """Branch on `condition`; return the names of the blocks for false and for true."""
        failed, held = self.new(), self.new()
        self.add(f"br i1 {condition}, label %{held}, label %{failed}")
        return failed, held

    def block(self, name: str) -> None:
        """Start a block."""
        self.lines.append(f"{name}:")


def declaration(callee: str, arguments: Sequence[str], unknown: Sequence[int]) -> str:
    """Return the declaration of a function that `Body.call` calls."""
    types = ", ".join(text.partition(" ")[0] for text in arguments)
    return f"declare {returned_type(unknown)} {quoted(callee)}({types})"


def all_sizes(shape: Sequence[int], unknown: Sequence[str]) -> list[int | str]:
    """Return the sizes of a buffer, with the values `unknown` for its unknown sizes."""
    given = iter(unknown)
    return [next(given) if size == DYNAMIC_INDEX else size for size in shape]


def returned_type(unknown: Sequence[int]) -> str:
    """Return the type of `Body.call`'s results: pointers and unknown sizes, several in a struct."""
    types = [type for sizes in unknown for type in ("ptr", *["i64"] * sizes)]
    match types:
        case []:
            return "void"
        case [type]:
            return type
        case _:
            return struct(*types)


def struct(*values: str) -> str:
    """Return a struct constant of constants, each after its type, or the struct type of types."""
    return f"{{ {', '.join(values)} }}"


def quoted(symbol: str) -> str:
    """Return a symbol as LLVM IR spells it: `@"main"`."""
    return f'@"{escaped(symbol.encode())}"'


def escaped(data: bytes) -> str:
    """Return bytes as LLVM IR spells them between quotes; a line feed is `\\0A`."""
    return "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:02X}" for byte in data
    )
