"""Random modules of `arith`, `scf`, `cf`, `memref` and `func`; all functions terminate, all memory
is written before it is read, and nothing has undefined behaviour."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from .scalar_programs import TYPES, ModuleWriter, Values

__all__ = ["random_memory_module"]


def random_memory_module(seed: int) -> str:
    """Return a module as text: `@main`, which returns a value of each type, and private and public
    functions with memory of their own, in several blocks."""
    return MemoryWriter(Random(seed), acyclic=False).text()


class MemoryWriter(ModuleWriter):
    """A module under construction, whose functions allocate, load and store."""

    def __init__(self, random: Random, acyclic: bool) -> None:
        super().__init__(random, acyclic)
        self.buffers: list[tuple[str, str, int]] = []
        """The buffers of the function: name, element type, and size; a size of 0 is a scalar."""

    def function(self, name: str, parameters: Values, types: Sequence[str], depth: int) -> None:
        """Write a function of one block or several that returns values of `types`."""
        if name.startswith("private") and self.random.random() < 0.3:
            name = name.removeprefix("private ")
        declared = ", ".join(f"{value} : {type}" for value, type in parameters)
        outputs = ", ".join(types)
        self.lines.append(f"func.func {name}({declared}) -> ({outputs}) {{")
        values, label = [*parameters], f"^{name[-2:].strip('@')}"
        self.buffers = []
        for _ in range(self.random.randrange(4)):
            self.allocate(values)
        self.body(values, depth, self.random.randint(2, 8))
        for number in range(self.random.randrange(3)):
            diamond = self.random.random() < 0.6
            write = self.diamond if diamond else self.loop_of_blocks
            write(values, depth, f"{label}x{number}")
            self.body(values, depth, self.random.randint(1, 5))
        results = [self.pick(values, type) for type in types]
        self.lines += (f"  func.return {', '.join(results)} : {outputs}", "}")

    def allocate(self, values: Values) -> None:
        """Write an allocation and a store to each of its elements."""
        type, size = self.random.choice(TYPES), self.random.choice((0, 0, 1, 2, 3))
        name, shape = self.name(), f"memref<{f'{size}x' * bool(size)}{type}>"
        self.lines.append(f"  {name} = memref.alloca() : {shape}")
        for element in range(size) if size else (None,):
            value = self.pick(values, type)
            index = "" if element is None else self.constant(values, "index", str(element))
            self.lines.append(f"  memref.store {value}, {name}[{index}] : {shape}")
        self.buffers.append((name, type, size))

    def operation(self, values: Values, depth: int) -> None:
        if self.buffers and self.random.random() < 0.3:
            self.access(values)
        else:
            super().operation(values, depth)

    def access(self, values: Values) -> None:
        """Write a load or a store, mostly at a constant index."""
        name, type, size = self.random.choice(self.buffers)
        shape = f"memref<{f'{size}x' * bool(size)}{type}>"
        index = ""
        if size:
            index = self.constant(values, "index", str(self.random.randrange(size)))
            if self.random.random() < 0.1:
                low = self.pick(values, "index")
                high = self.constant(values, "index", str(size))
                index = self.make(values, "index", f"arith.remui {low}, {high} : index")
        if self.random.random() < 0.5:
            self.make(values, type, f"memref.load {name}[{index}] : {shape}")
        else:
            value = self.pick(values, type)
            self.lines.append(f"  memref.store {value}, {name}[{index}] : {shape}")

    # Blocks

    def diamond(self, values: Values, depth: int, label: str) -> None:
        """Write a branch to two blocks and back to one, which gets an argument or none."""
        types = self.random.choices(TYPES, k=self.random.randrange(3))
        self.lines.append(f"  cf.cond_br {self.pick(values, 'i1')}, {label}a, {label}b")
        for side in "ab":
            inner = [*values]
            self.lines.append(f"{label}{side}:")
            self.body(inner, depth, self.random.randrange(4))
            self.jump(f"{label}c", [(self.pick(inner, type), type) for type in types])
        self.start(f"{label}c", values, types)

    def loop_of_blocks(self, values: Values, depth: int, label: str) -> None:
        """Write a loop of blocks that counts down from a small number."""
        types = [*self.random.choices(TYPES, k=self.random.randrange(3)), "i32"]
        zero, one = (self.constant(values, "i32", n) for n in "01")
        starts = [(self.pick(values, type), type) for type in types[:-1]]
        self.jump(f"{label}a", [*starts, (self.constant(values, "i32", "2"), "i32")])
        inner = self.start(f"{label}a", values, types)
        count = inner[-1][0]
        del values[-1]  # so that nothing else is the counter
        more = self.make(values, "i1", f"arith.cmpi sgt, {count}, {zero} : i32")
        self.lines.append(f"  cf.cond_br {more}, {label}b, {label}c")
        self.lines.append(f"{label}b:")
        body = [*values]
        self.body(body, depth, self.random.randrange(4))
        carried = [(self.pick(body, type), type) for type in types[:-1]]
        left = self.make(body, "i32", f"arith.subi {count}, {one} : i32")
        self.jump(f"{label}a", [*carried, (left, "i32")])
        self.lines.append(f"{label}c:")

    def jump(self, label: str, values: Values) -> None:
        names, types = (", ".join(part) for part in zip(*values)) if values else ("", "")
        self.lines.append(f"  cf.br {label}({names} : {types})" if values else f"  cf.br {label}")

    def start(self, label: str, values: Values, types: Sequence[str]) -> Values:
        """Begin a block with arguments, which become visible; return them."""
        arguments = [(self.name(), type) for type in types]
        declared = ", ".join(f"{name} : {type}" for name, type in arguments)
        self.lines.append(f"{label}({declared}):" if types else f"{label}:")
        values += arguments
        return arguments
