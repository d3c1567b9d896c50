"""Parts of a prepared module that are compiled independently of each other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.dialects.memref import GlobalOp
from xdsl.ir import Operation

from .preparation import mlir_text

__all__ = ["Part", "parts_of"]

PART_BYTES = 150_000
"""The least text for which a process of its own pays: it starts in about 0.1 s."""

SYMBOL = re.compile(r'@("(?:[^"\\]|\\.)*"|[\w$.-]+)')


@dataclass(frozen=True)
class Part:
    """A module, as text of MLIR, with some of the functions of a larger one."""

    text: str
    exported: tuple[str, ...]
    """The functions in it that others call."""


def parts_of(module: ModuleOp, entry: str, count: int, inlined: str) -> list[Part]:
    """Return a module as up to `count` parts of about the same size, one if it is small.

    A function is in one part, and declared in those that call it; one whose name starts with
    `inlined`, and constants, are in each part that needs them. A module with other operations, or
    with variables, is one part.
    """
    ops = [*module.ops]
    texts = [mlir_text(op) for op in ops]
    whole = Part(_module_text(module, texts), (entry,))
    count = min(count, len(whole.text) // PART_BYTES)
    if count < 2 or not all(map(_is_divisible, ops)):
        return [whole]
    return Division(module, ops, texts, inlined).parts(entry, count)


def _is_divisible(op: Operation) -> bool:
    """Return whether a module with `op` may be divided: it is a function, a constant, or declares
    one."""
    return isinstance(op, FuncOp) or (
        isinstance(op, GlobalOp)
        and (op.constant is not None or "initial_value" not in op.properties)
    )


class Division:
    """The division of a module into parts, by the symbols in the text of its operations."""

    def __init__(
        self, module: ModuleOp, ops: Sequence[Operation], texts: Sequence[str], inlined: str
    ) -> None:
        self.module = module
        names = [op.sym_name.data for op in ops if isinstance(op, FuncOp | GlobalOp)]
        self.ops = dict(zip(names, ops, strict=True))
        self.texts = dict(zip(names, texts, strict=True))
        self.uses = {
            name: {used.strip('"') for used in SYMBOL.findall(text)} & self.ops.keys() - {name}
            for name, text in self.texts.items()
        }
        self.divided = [
            name
            for name, op in self.ops.items()
            if isinstance(op, FuncOp) and not op.is_declaration and not name.startswith(inlined)
        ]
        """The functions that are in one part each."""

    def parts(self, entry: str, count: int) -> list[Part]:
        """Return `count` parts at most; the largest functions are distributed first."""
        groups: list[list[str]] = [[] for _ in range(min(count, len(self.divided)))]
        sizes = [0] * len(groups)
        for name in sorted(self.divided, key=lambda name: -len(self.texts[name])):
            least = sizes.index(min(sizes))
            groups[least].append(name)
            sizes[least] += len(self.texts[name])
        called = {
            name
            for group in groups
            for user in self.needed(group)
            for name in self.uses[user]
            if name in self.divided and name not in group
        }
        return [self.part(group, {*called, entry}) for group in groups]

    def needed(self, group: Sequence[str]) -> list[str]:
        """Return `group` with all symbols that it needs."""
        found = dict.fromkeys(group)
        pending = [*group]
        while pending:
            for name in sorted(self.uses[pending.pop()]):
                if name not in found:
                    found[name] = None
                    if name not in self.divided:
                        pending.append(name)
        return [*found]

    def part(self, group: Sequence[str], exported: set[str]) -> Part:
        """Return the part with the functions `group`."""
        others = {*self.divided}.difference(group)
        texts = [
            self.declaration(name) if name in others else self.texts[name]
            for name in self.needed(group)
        ]
        return Part(_module_text(self.module, texts), tuple(exported.intersection(group)))

    def declaration(self, name: str) -> str:
        """Return the text of the declaration of a function."""
        op = self.ops[name]
        assert isinstance(op, FuncOp)
        types = op.function_type
        return mlir_text(FuncOp.external(name, [*types.inputs], [*types.outputs]))


def _module_text(module: ModuleOp, texts: Sequence[str]) -> str:
    """Return the text of a module with the attributes of `module`, and operations with `texts`."""
    empty = ModuleOp([], module.attributes.copy())
    start, block, end = mlir_text(empty).partition("({\n^bb0:\n")
    return "".join([start, block, *(f"{text}\n" for text in texts), end])
