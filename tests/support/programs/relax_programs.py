"""Random `relax` programs with branches, loops, lambdas, graphs and tuples; all of them
terminate."""

from __future__ import annotations

from random import Random
from typing import TypeAlias

__all__ = ["random_program"]

Value: TypeAlias = tuple[str, str]
"""A name and a type."""
Values: TypeAlias = list[Value]

ANY = "tensor<*xf32>"
TYPES = (ANY, "tensor<?xf32>")
PARAMETERS: Values = [("%x", "tensor<1xf32>"), ("%y", "tensor<4xf32>"), ("%z", "tensor<?xf32>")]


def random_program(seed: int) -> str:
    """Return a function `@main` with tensors of 1, 4 and any number of elements and an i1 as
    parameters."""
    builder = ProgramBuilder(Random(seed))
    groups, values = builder.body(PARAMETERS, depth=3)
    lines, result = builder.value_of(ANY, values)
    parameters = ", ".join(f"{name} : {type}" for name, type in [*PARAMETERS, ("%c", "i1")])
    return "\n".join(
        [
            f"func.func @main({parameters}) -> {ANY} {{",
            "%lo = arith.constant 0 : index",
            "%hi = arith.constant 2 : index",
            "%one = arith.constant 1 : index",
            "%true = arith.constant true",
            "%false = arith.constant false",
            *(line for group in groups for line in group),
            *lines,
            f"return {result} : {ANY}",
            "}",
        ]
    )


class ProgramBuilder:
    """Writer of operations on visible values; the methods return lines of text and a new value."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.names = 0

    def name(self) -> str:
        self.names += 1
        return f"%v{self.names}"

    def body(self, values: Values, depth: int) -> tuple[list[list[str]], Values]:
        """Write some operations; return the lines of each, and the values visible after them."""
        simple = [self.unary, self.binary, self.tuple]
        nested = [self.branch, self.loop, self.condition, self.function, self.graph]
        groups: list[list[str]] = []
        values = [*values]
        for _ in range(self.random.randint(2, 5)):
            write = self.random.choice(simple + nested if depth else simple)
            lines, value = write(values, depth - 1)
            groups += lines
            values.append(value)
        return groups, values

    def block(self, values: Values, depth: int, end: str, type: str) -> list[str]:
        """Write a block: operations, and a terminator `end` that returns a value of the type."""
        groups, values = self.body(values, depth) if depth >= 0 else ([], values)
        lines, result = self.value_of(type, values)
        return [line for group in [*groups, lines] for line in group] + [f"{end} {result} : {type}"]

    def value_of(self, type: str, values: Values) -> tuple[list[str], str]:
        """Return a value of the type, and the lines that compute it: none for one of the visible
        values."""
        found = [name for name, other in values if other == type]
        if found and self.random.random() < 0.9:
            return [], self.random.choice(found[-4:])
        (value, other), new = self.random.choice(values), self.name()
        return [f"{new} = relax.negative {value} : ({other}) -> {type}"], new

    def unary(self, values: Values, depth: int) -> tuple[list[list[str]], Value]:
        (value, type), new, to = self.random.choice(values), self.name(), self.random.choice(TYPES)
        op = self.random.choice(["tanh", "abs", "sigmoid"])
        return [[f"{new} = relax.{op} {value} : ({type}) -> {to}"]], (new, to)

    def binary(self, values: Values, depth: int) -> tuple[list[list[str]], Value]:
        (a, a_type), (b, b_type) = self.random.choices(values, k=2)
        new, to = self.name(), self.random.choice(TYPES)
        op = self.random.choice(["add", "maximum", "subtract"])
        return [[f"{new} = relax.{op} {a}, {b} : ({a_type}, {b_type}) -> {to}"]], (new, to)

    def tuple(self, values: Values, depth: int) -> tuple[list[list[str]], Value]:
        pair = self.random.choices(values, k=2)
        types = ", ".join(type for _, type in pair)
        names = ", ".join(name for name, _ in pair)
        made, new, index = self.name(), self.name(), self.random.randint(0, 1)
        to = pair[index][1]
        return [
            [f"{made} = relax.tuple {names} : ({types}) -> tuple<{types}>"],
            [f"{new} = relax.tuple_get_item {made} {{index = {index}}} : (tuple<{types}>) -> {to}"],
        ], (new, to)

    def branch(self, values: Values, depth: int) -> tuple[list[list[str]], Value]:
        new, to = self.name(), self.random.choice(TYPES)
        taken, other = (self.block(values, depth, "scf.yield", to) for _ in range(2))
        condition = self.random.choice(["%c", "%true"])
        head = f"{new} = scf.if {condition} -> ({to}) {{"
        return [[head, *taken, "} else {", *other, "}"]], (new, to)

    def loop(self, values: Values, depth: int) -> tuple[list[list[str]], Value]:
        new, index, carried, to = self.name(), self.name(), self.name(), self.random.choice(TYPES)
        lines, start = self.value_of(to, values)
        body = self.block([*values, (carried, to), (carried, to)], depth, "scf.yield", to)
        head = f"{new} = scf.for {index} = %lo to %hi step %one iter_args({carried} = {start})"
        return [[*lines, f"{head} -> ({to}) {{", *body, "}"]], (new, to)

    def condition(self, values: Values, depth: int) -> tuple[list[list[str]], Value]:
        new, checked, passed = self.name(), self.name(), self.name()
        type, to = self.random.choices(TYPES, k=2)
        lines, start = self.value_of(type, values)
        before = self.block([*values, (checked, type)], -1, "scf.condition(%false)", to)
        after = self.block([*values, (passed, to)], depth, "scf.yield", type)
        head = f"{new} = scf.while ({checked} = {start}) : ({type}) -> {to} {{"
        argument = f"^{new[1:]}({passed} : {to}):"
        return [[*lines, head, *before, "} do {", argument, *after, "}"]], (new, to)

    def function(self, values: Values, depth: int) -> tuple[list[list[str]], Value]:
        new, made, parameter = self.name(), self.name(), self.name()
        type, to = self.random.choices(TYPES, k=2)
        body = self.block([*values, (parameter, type)], depth, "relax.yield", to)
        lines, argument = self.value_of(type, values)
        return [
            [f"{made} = relax.lambda({parameter} : {type}) -> {to} {{", *body, "}"],
            [*lines, f"{new} = relax.invoke {made}({argument}) : ({type}) -> {to}"],
        ], (new, to)

    def graph(self, values: Values, depth: int) -> tuple[list[list[str]], Value]:
        new, to = self.name(), self.random.choice(TYPES)
        groups, inner = self.body(values, max(depth, 0))
        lines, result = self.value_of(to, inner)
        groups.append(lines)
        self.random.shuffle(groups)
        body = [line for group in groups for line in group]
        head = f"{new} = relax.graph -> {to} {{"
        return [[head, *body, f"relax.output {result} : {to}", "}"]], (new, to)
