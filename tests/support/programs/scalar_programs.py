"""Random modules of `arith`, `scf` and `func` on scalars; all functions terminate, and none has
undefined behaviour."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

__all__ = ["PARAMETERS", "random_scalar_module"]

PARAMETERS = {"%x": "i32", "%y": "i32", "%n": "index", "%p": "i1", "%q": "i1", "%s": "f32"}
"""The parameters of `@main` and their types; `%n` is a trip count."""

BINARY = {
    "i32": ("addi", "subi", "muli", "andi", "ori", "xori", "minsi", "maxsi", "minui", "maxui"),
    "index": ("addi", "subi", "muli", "minsi", "maxsi", "andi"),
    "i1": ("andi", "ori", "xori"),
    "f32": ("addf", "subf", "mulf", "divf", "maximumf", "minimumf", "maxnumf", "minnumf"),
}
BY_CONSTANT = ("divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui")
"""Integer operations whose right operand is a constant that is not zero."""
SHIFTS = ("shli", "shrsi", "shrui")
PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
FLOAT_PREDICATES = ("oeq", "ogt", "ole", "une", "uno", "ord", "false", "true", "ult")
CASTS = (
    ("i32", "extsi", "i64", "trunci"),
    ("i32", "extui", "i64", "trunci"),
    ("i32", "trunci", "i8", "extsi"),
    ("i32", "trunci", "i8", "extui"),
    ("i32", "index_cast", "index", "index_cast"),
    ("i1", "extui", "i32", "trunci"),
    ("i1", "extsi", "i32", "trunci"),
    ("f32", "extf", "f64", "truncf"),
    ("i32", "bitcast", "f32", "bitcast"),
)
"""A type, a cast to another one, and a cast back."""
CONSTANTS = {
    "i32": ("-1", "0", "0", "1", "1", "2", "7", "100"),
    "index": ("0", "1", "1", "2", "3"),
    "i1": ("true", "false"),
    "f32": ("0.0", "-0.0", "1.0", "-1.0", "2.0", "0.5"),
}
TYPES = tuple(BINARY)

Values = list[tuple[str, str]]
"""The names and types of visible values."""


def random_scalar_module(seed: int, *, acyclic: bool = False) -> str:
    """Return a module as text: `@main`, which returns a value of each type, and private functions,
    some of which nobody calls. With `acyclic` there are no loops and no calls."""
    return ModuleWriter(Random(seed), acyclic).text()


class ModuleWriter:
    """A module under construction; the methods append lines for operations on visible values."""

    def __init__(self, random: Random, acyclic: bool) -> None:
        self.random = random
        self.acyclic = acyclic
        self.lines: list[str] = []
        self.names = 0
        self.callees: list[tuple[str, str]] = []
        """The functions that may be called, each with the type of its parameters and results."""

    def text(self) -> str:
        for number in range(self.random.randrange(3)):
            type = self.random.choice(TYPES)
            self.function(f"private @f{number}", [("%a", type), ("%b", type)], [type], 1)
            self.callees.append((f"@f{number}", type))
        self.function("@main", [*PARAMETERS.items()], TYPES, 2)
        return "\n".join(self.lines) + "\n"

    def function(self, name: str, parameters: Values, types: Sequence[str], depth: int) -> None:
        """Write a function that returns values of `types`."""
        declared = ", ".join(f"{value} : {type}" for value, type in parameters)
        outputs = ", ".join(types)
        self.lines.append(f"func.func {name}({declared}) -> ({outputs}) {{")
        values = [*parameters]
        self.body(values, depth, self.random.randint(4, 14))
        results = [self.pick(values, type) for type in types]
        self.lines += (f"  func.return {', '.join(results)} : {outputs}", "}")

    def make(self, values: Values, type: str, text: str) -> str:
        """Write an operation with one result, which becomes visible."""
        name = self.name()
        self.lines.append(f"  {name} = {text}")
        values.append((name, type))
        return name

    def name(self) -> str:
        self.names += 1
        return f"%v{self.names}"

    def constant(self, values: Values, type: str, value: str | None = None) -> str:
        value = self.random.choice(CONSTANTS[type]) if value is None else value
        return self.make(values, type, f"arith.constant {value}" + f" : {type}" * (type != "i1"))

    def pick(self, values: Values, type: str) -> str:
        """Return a visible value of a type, a recent one rather than an old one, or a constant."""
        found = [name for name, other in values if other == type]
        if not found or self.random.random() < 0.2:
            return self.constant(values, type)
        return self.random.choice(found[-3:] if self.random.random() < 0.6 else found)

    def body(self, values: Values, depth: int, length: int) -> None:
        for _ in range(length):
            visible, state = [*values], self.random.getstate()
            self.operation(values, depth)
            if self.random.random() < 0.15:  # the same once more
                after, at = self.random.getstate(), len(visible)
                self.random.setstate(state)
                self.operation(visible, depth)
                self.random.setstate(after)
                values += visible[at:]

    # Operations

    def operation(self, values: Values, depth: int) -> None:
        if depth and self.random.random() < 0.25:
            loops = () if self.acyclic else (self.loop, self.condition)
            self.random.choice((self.branch, *loops))(values, depth - 1)
        else:
            simple = (self.by_constant, self.compare, self.select, self.cast, self.call)
            self.random.choice((*[self.binary] * 4, *simple))(values)

    def binary(self, values: Values) -> None:
        type = self.random.choice(TYPES)
        a, b = self.pick(values, type), self.pick(values, type)
        self.make(values, type, f"arith.{self.random.choice(BINARY[type])} {a}, {b} : {type}")

    def by_constant(self, values: Values) -> None:
        a = self.pick(values, "i32")
        if self.random.random() < 0.3:
            op, by = self.random.choice(SHIFTS), self.random.choice(("0", "1", "3", "31"))
        else:
            op, by = self.random.choice(BY_CONSTANT), self.random.choice(("1", "2", "3", "8", "10"))
        self.make(values, "i32", f"arith.{op} {a}, {self.constant(values, 'i32', by)} : i32")

    def compare(self, values: Values) -> None:
        type = self.random.choice(TYPES)
        a, b = self.pick(values, type), self.pick(values, type)
        op, names = ("cmpf", FLOAT_PREDICATES) if type == "f32" else ("cmpi", PREDICATES)
        self.make(values, "i1", f"arith.{op} {self.random.choice(names)}, {a}, {b} : {type}")

    def select(self, values: Values) -> None:
        type = self.random.choice(TYPES)
        c, a, b = self.pick(values, "i1"), self.pick(values, type), self.pick(values, type)
        self.make(values, type, f"arith.select {c}, {a}, {b} : {type}")

    def cast(self, values: Values) -> None:
        type, to, other, back = self.random.choice(CASTS)
        a = self.pick(values, type)
        b = self.make(values, other, f"arith.{to} {a} : {type} to {other}")
        if self.random.random() < 0.6:
            self.make(values, type, f"arith.{back} {b} : {other} to {type}")

    def call(self, values: Values) -> None:
        if not self.callees or self.acyclic:
            return
        name, type = self.random.choice(self.callees)
        a, b = self.pick(values, type), self.pick(values, type)
        self.make(values, type, f"func.call {name}({a}, {b}) : ({type}, {type}) -> {type}")

    # Control flow

    def block(self, values: Values, depth: int, types: Sequence[str]) -> None:
        """Write a block that yields values of `types`."""
        inner = [*values]
        self.body(inner, depth, self.random.randrange(4))
        yielded = [self.pick(inner, type) for type in types]
        self.lines.append(f"  scf.yield {', '.join(yielded)} : {', '.join(types)}")

    def results(self, values: Values, types: Sequence[str]) -> str:
        """Make the results of an operation visible, and return the text left of it."""
        name = self.name()
        many = len(types) > 1
        values += [(f"{name}#{i}" if many else name, type) for i, type in enumerate(types)]
        return f"  {name}:{len(types)} = " if many else f"  {name} = "

    def branch(self, values: Values, depth: int) -> None:
        types = self.random.choices(TYPES, k=self.random.randint(1, 3))
        condition, at = self.pick(values, "i1"), len(self.lines)
        for last in ("  } else {", "  }"):
            self.block(values, depth, types)
            self.lines.append(last)
        head = self.results(values, types)
        self.lines.insert(at, f"{head}scf.if {condition} -> ({', '.join(types)}) {{")

    def loop(self, values: Values, depth: int) -> None:
        types = self.random.choices(TYPES, k=self.random.randint(1, 3))
        low, high, step = (
            "%n"
            if ("%n", "index") in values and self.random.random() < chance
            else self.constant(values, "index", self.random.choice(choices))
            for choices, chance in (("002", 0.1), ("0123", 0.4), ("112", 0))
        )
        starts = [self.pick(values, type) for type in types]
        index, carried, at = self.name(), [self.name() for _ in types], len(self.lines)
        self.block([*values, (index, "index"), *zip(carried, types, strict=True)], depth, types)
        self.lines.append("  }")
        inits = ", ".join(f"{c} = {s}" for c, s in zip(carried, starts, strict=True))
        head = self.results(values, types)
        self.lines.insert(
            at,
            f"{head}scf.for {index} = {low} to {high} step {step} iter_args({inits}) -> "
            f"({', '.join(types)}) {{",
        )

    def condition(self, values: Values, depth: int) -> None:
        """Write a loop `scf.while` that counts down from a small number."""
        type = self.random.choice(TYPES)
        start, count = self.pick(values, type), self.constant(values, "i32", "2")
        zero, one = (self.constant(values, "i32", n) for n in "01")
        a, n, b, m = (self.name() for _ in range(4))
        types, head = f"{type}, i32", self.results(values, [type, "i32"])
        self.lines.append(
            f"{head}scf.while ({a} = {start}, {n} = {count}) : ({types}) -> ({types}) {{"
        )
        inner = [*values[:-2], (a, type)]
        more = self.make(inner, "i1", f"arith.cmpi sgt, {n}, {zero} : i32")
        self.lines += (f"  scf.condition({more}) {a}, {n} : {types}", "  } do {")
        self.lines.append(f"  ^bb0({b} : {type}, {m} : i32):")
        inner = [*values[:-2], (b, type)]
        left = self.make(inner, "i32", f"arith.subi {m}, {one} : i32")
        self.body(inner, depth, self.random.randrange(3))
        self.lines += (f"  scf.yield {self.pick(inner, type)}, {left} : {types}", "  }")
