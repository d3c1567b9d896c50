"""The definition of an operation as text: its operands, results, attributes, regions and traits."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast

from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation


class Field(NamedTuple):
    """An operand, result, attribute, region or successor: its name, and what it may be."""

    name: str
    says: str
    """Its number, as `optional` or `any number`, and its constraint."""

    def __str__(self) -> str:
        return f"{self.name}: {self.says}" if self.says else self.name


class OpDefinition:
    """The definition of a class of operations; empty for one that is not IRDL's."""

    def __init__(self, op_class: type[Operation]) -> None:
        self.name = op_class.name
        self.documentation = inspect.cleandoc(op_class.__dict__.get("__doc__") or "")
        format: object = getattr(op_class, "assembly_format", None)
        self.format = " ".join(format.split()) if isinstance(format, str) else ""
        self.operands: list[Field] = []
        self.results: list[Field] = []
        self.attributes: list[Field] = []
        self.regions: list[Field] = []
        self.successors: list[Field] = []
        self.traits: Sequence[str] = ()
        if issubclass(op_class, IRDLOperation):
            definition = op_class.get_irdl_definition()
            self.operands = [*_fields(definition.operands)]
            self.results = [*_fields(definition.results)]
            named = {**definition.properties, **definition.attributes}
            self.attributes = [*_fields(named.items())]
            self.regions = [*_fields(definition.regions)]
            self.successors = [*_fields(definition.successors)]
            traits = getattr(definition.traits, "traits", ())
            names = {type(trait).__name__ for trait in cast("Sequence[object]", traits)}
            self.traits = sorted(name for name in names if not name.startswith("_"))

    @property
    def signature(self) -> str:
        """The operation with its operands and results, in one line."""
        operands = ", ".join(field.name for field in self.operands)
        results = ", ".join(field.name for field in self.results)
        return f"{results} = {self.name} {operands}".removeprefix(" = ").rstrip()

    def markdown(self) -> str:
        """Return the definition as Markdown."""
        lines = [f"```mlir\n{self.name} {self.format}".rstrip() + "\n```"]
        if self.documentation:
            lines.append(self.documentation)
        kinds = {
            "Operands": self.operands,
            "Results": self.results,
            "Attributes": self.attributes,
            "Regions": self.regions,
            "Successors": self.successors,
        }
        for title, fields in kinds.items():
            if fields:
                rows = [f"- `{f.name}`{f': {f.says}' if f.says else ''}" for f in fields]
                lines.append(f"**{title}**\n" + "\n".join(rows))
        if self.traits:
            lines.append("**Traits** " + ", ".join(f"`{trait}`" for trait in self.traits))
        return "\n\n".join(lines)


def _fields(definitions: object) -> Iterator[Field]:
    for name, definition in cast("Sequence[tuple[str, object]]", definitions):
        kind = type(definition).__name__
        number = "optional" if kind.startswith("Opt") else ""
        number = "any number" if kind.startswith("Var") else number
        constraint = constraint_text(getattr(definition, "constr", None))
        yield Field(name, " of ".join(filter(None, (number, constraint))))


def constraint_text(constraint: object, depth: int = 0) -> str:
    """Return what a constraint of IRDL allows; empty for anything, and for a kind that is not
    known."""
    if constraint is None or depth > 6:
        return ""
    kind = type(constraint).__name__

    def inner(*names: str) -> str:
        for name in names:
            if (value := getattr(constraint, name, None)) is not None:
                return constraint_text(value, depth + 1)
        return ""

    match kind:
        case "BaseAttr":
            attr: object = getattr(constraint, "attr", None)
            return str(getattr(attr, "name", "") or getattr(attr, "__name__", ""))
        case "EqAttrConstraint":
            return str(getattr(constraint, "attr", ""))
        case "ParamAttrConstraint":
            attr = getattr(constraint, "base_attr", None)
            return str(getattr(attr, "name", "") or getattr(attr, "__name__", ""))
        case "AnyOf" | "AllOf":
            parts = cast("Sequence[object]", getattr(constraint, "attr_constrs", ()))
            texts = dict.fromkeys(filter(None, (constraint_text(p, depth + 1) for p in parts)))
            return (" or " if kind == "AnyOf" else " and ").join(texts)
        case _:
            return inner("constraint", "constr", "base_constr", "elem_constr")
