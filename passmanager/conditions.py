"""Conditions: named facts about IR that passes require and ensure, and that can be checked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, ShapedType, UnrankedTensorType
from xdsl.ir import Attribute, Operation

from .errors import ConditionError, ConfigError
from .ir.walk import brief, name_of, walk
from .names import did_you_mean, name_key

__all__ = [
    "Condition",
    "Violation",
    "condition",
    "no_op_of",
    "only_dialects",
    "parse_condition",
    "static_shapes",
]


class Violation(NamedTuple):
    """An operation that breaks a condition, and how, as the end of a sentence about it."""

    op: Operation
    how: str = ""


Check = Callable[[Operation], Iterable[Operation | tuple[Operation, str]]]
"""A function that returns or yields the operations in an op, or the op itself, that break a
condition; each alone or with a text that says how, as `(op, "is not legalized")`."""


@dataclass(frozen=True)
class Condition:
    """A fact about IR with a name, a statement of it, and a function that finds what breaks it.

    It is checked on one top-level op after the other, as on functions, or with `whole_module` on
    the module; it is kept like an analysis: until the op changes. Two conditions are equal if their
    names and arguments are: their text, as `no-op-of(relax.nn.dropout)`.

    Source: the preconditions and postconditions of onnx-ir's passes; `MachineFunctionProperties` of
    LLVM.
    """

    name: str
    statement: str = field(compare=False)
    check: Check = field(compare=False, repr=False)
    arguments: tuple[str, ...] = ()
    whole_module: bool = field(default=False, compare=False)
    named_ops: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """Names of operations that were given as text; there is a warning about unknown ones."""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", self.name):
            raise ValueError(f"the name of a condition is kebab-case, not {self.name!r}")

    @cached_property
    def __name__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.arguments)})" if self.arguments else self.name

    def __call__(self, op: Operation) -> tuple[Violation, ...]:
        """Return what breaks the condition in `op`: an op directly in a module, or the module.

        Errors: ConditionError for a function that raises, or yields anything but operations.
        """
        try:
            return tuple([self._violation(each) for each in cast(Iterable[object], self.check(op))])
        except ConditionError:
            raise
        except Exception as error:
            raise ConditionError(
                f"condition '{self}' cannot be checked: {type(error).__name__}: {error}"
            ) from error

    def _violation(self, found: object) -> Violation:
        match found:
            case Operation():
                return Violation(found)
            case (Operation() as op, str(how)):
                return Violation(op, how)
            case _:
                raise ConditionError(
                    f"condition '{self}' yields {brief(found)}: expected an operation, "
                    "or an operation and a text"
                )

    def violations(self, module: ModuleOp) -> Iterator[Violation]:
        """Yield what breaks the condition in a module."""
        for op in (module,) if self.whole_module else module.ops:
            yield from self(op)

    def holds(self, module: ModuleOp) -> bool:
        """Return whether nothing in a module breaks the condition."""
        return next(self.violations(module), None) is None

    def follows_from(self, other: Condition) -> bool:
        """Return whether the condition holds wherever `other` does."""
        ours, theirs = set(self.arguments), set(other.arguments)
        match self.name:
            case "no-op-of":
                implied = ours <= theirs
            case "only-dialects":
                implied = ours >= theirs
            case _:
                implied = ours == theirs
        return self.name == other.name and implied


def condition(
    name: str, statement: str, *, whole_module: bool = False
) -> Callable[[Check], Condition]:
    """Make a condition of a function that returns or yields the operations that break it.

        @condition("a-normal-form", "no operation is in a dataflow graph")
        def a_normal_form(op):
            return (inner for inner in op.walk() if isinstance(inner, GraphOp))

    The function is called with each op directly in a module, or with `whole_module` once with the
    module. It is a plain function of the op: it depends on nothing else.
    """
    return lambda check: Condition(name, statement, check, whole_module=whole_module)


# The conditions of a pass, and when they are checked


def check_mode(mode: object) -> None:
    """Raise ConfigError unless `mode` is one of `check_conditions` of a context."""
    if mode not in (modes := ("never", "changed", "always")):
        hint = did_you_mean(str(mode), modes)
        raise ConfigError(f"check_conditions is never, changed or always, not {mode!r}{hint}")


def conditions_of(owner: object, attribute: str) -> tuple[Condition, ...]:
    """Return the conditions in `requires` or `ensures` of a pass or its class, empty for a pass of
    another project. Errors: TypeError that says what belongs there."""
    given: object = getattr(owner, attribute, ())
    name = f"{(owner if isinstance(owner, type) else type(owner)).__name__}.{attribute}"
    if isinstance(given, Condition):
        raise TypeError(f"{name} is a list of conditions: write ({given},)")
    for each in (conditions := _items(given)):
        if isinstance(each, str):
            raise TypeError(
                f"{name} is a list of conditions, and '{each}' is text: passes are named in "
                f"`required`, as required = ('{each}',)"
            )
        if not isinstance(each, Condition):
            raise TypeError(f"{name} is a list of conditions, but holds {brief(each)}")
    return cast("tuple[Condition, ...]", conditions)


def default_conditions(cls: type, attribute: str) -> tuple[Condition, ...]:
    """Return the conditions in `requires` or `ensures` of a class of passes, for the default
    options if they depend on options; none for one whose options have no defaults."""
    owner: object = cls
    if isinstance(getattr(cls, attribute, ()), property | cached_property):
        try:
            owner = cls()
        except TypeError:
            return ()
    return conditions_of(owner, attribute)


def _items(given: object) -> tuple[object, ...]:
    """Return what a list holds; anything else as the one item of a list."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        return (given,)
    return tuple(cast(Iterable[object], given))


def check_conditions(cls: type) -> None:
    """Raise TypeError if `requires` or `ensures` of a pass class holds anything but conditions, or
    `required` a condition. One that is computed for each pass, as a property, is checked later."""
    for attribute in ("requires", "ensures"):
        value: object = getattr(cls, attribute)
        if not hasattr(type(value), "__get__"):
            conditions_of(cls, attribute)
    for each in _items(getattr(cls, "required", ())):
        if isinstance(each, Condition):
            raise TypeError(
                f"{cls.__name__}.required is a list of names of passes: "
                f"the condition '{each}' belongs in `requires`"
            )


# Conditions on any dialect


def no_op_of(*ops: str | type) -> Condition:
    """Return the condition that no operation has one of these names, or is an instance of one of
    these classes or interfaces, which are named like their operation or class."""
    if not ops:
        raise ValueError("no_op_of takes names or classes of operations")
    names = tuple(op if isinstance(op, str) else _name_of_class(op) for op in ops)
    classes = tuple(op for op in ops if not isinstance(op, str))
    texts = dict.fromkeys(op for op in ops if isinstance(op, str))

    def check(root: Operation) -> Iterator[Operation]:
        return (op for op in walk(root) if isinstance(op, classes) or name_of(op) in texts)

    statement = f"there is no {_listed(names, 'or')}"
    return Condition("no-op-of", statement, check, names, named_ops=(*texts,))


def _name_of_class(cls: type) -> str:
    """Return the name of an operation for its class, `CamelCase` for an interface."""
    name: object = getattr(cls, "name", None) if issubclass(cls, Operation) else None
    return name if isinstance(name, str) else cls.__name__


def only_dialects(*names: str) -> Condition:
    """Return the condition that all operations are of these dialects; the module itself may be."""
    if not names:
        raise ValueError("only_dialects takes names of dialects")
    allowed = frozenset(names)

    def check(root: Operation) -> Iterator[Operation]:
        return (op for op in walk(root) if name_of(op).partition(".")[0] not in allowed)

    return Condition(
        "only-dialects", f"all operations are of {_listed(names, 'and')}", check, names
    )


def _listed(names: Sequence[str], word: str) -> str:
    """Return `a, b and c` with `word` before the last name."""
    return f" {word} ".join(filter(None, (", ".join(names[:-1]), names[-1])))


@condition("static-shapes", "the sizes of all tensors, buffers and vectors are known")
def static_shapes(root: Operation) -> Iterator[tuple[Operation, str]]:
    """Yield the operations with a result or an argument of an unknown rank or size."""
    for op in walk(root):
        values = [*op.results, *(a for r in op.regions for b in r.blocks for a in b.args)]
        if found := next((value.type for value in values if _is_dynamic(value.type)), None):
            yield op, f"has a value of type {found}"


def _is_dynamic(type: Attribute) -> bool:
    if isinstance(type, ShapedType):
        return DYNAMIC_INDEX in type.get_shape()
    return isinstance(type, UnrankedTensorType) or type.name == "unranked_memref"


# Text


GENERIC: Sequence[Condition] = (static_shapes,)
"""The conditions on any dialect that take no arguments."""
MAKERS: Mapping[str, Callable[..., Condition]] = {
    "no-op-of": no_op_of,
    "only-dialects": only_dialects,
}
"""The functions that make conditions with arguments, by name."""


def parse_condition(text: str, known: Iterable[Condition] = ()) -> Condition:
    """Return the condition that `text` names, as `no-op-of(relax.nn.dropout)`: one on any dialect,
    or one of `known`, in any spelling as that of a pass.

    Errors: ConditionError for an unknown name, which suggests the nearest, and for arguments that
    are missing or too many.
    """
    match = re.fullmatch(r"\s*([\w.-]+)\s*(?:\(([^()]*)\))?\s*", text)
    if match is None:
        raise ConditionError(f"'{text}' is no condition: expected a name, or name(a, b)")
    name, inside = match[1], match[2]
    arguments = [part.strip() for part in inside.split(",")] if inside else []
    if "" in arguments:
        raise ConditionError(f"condition '{text}' has an empty argument")
    makers = {name_key(maker): make for maker, make in MAKERS.items()}
    if (make := makers.get(name_key(name))) is not None:
        if not arguments:
            raise ConditionError(f"condition '{name}' takes arguments: write {name}(a, b)")
        return make(*arguments)
    plain = {name_key(each.name): each for each in (*GENERIC, *known) if not each.arguments}
    if (found := plain.get(name_key(name))) is None:
        names = [*MAKERS, *(each.name for each in plain.values())]
        raise ConditionError(f"there is no condition '{name}'{did_you_mean(name, names)}")
    if inside is not None:
        raise ConditionError(f"condition '{found.name}' takes no arguments")
    return found
