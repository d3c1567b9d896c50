# pyright: reportPrivateUsage=false
"""The creation of attributes and operations that are known to be valid, without xDSL's checks.

xDSL's constructors verify each parameter of an attribute, which takes 4 to 6 us, and build the
operands of an operation through general views. The private fields of operations and uses are
written here, the same ones as in `Operation.__init__`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr
from xdsl.ir import (
    Attribute,
    Data,
    Operation,
    OpResult,
    ParametrizedAttribute,
    SSAValue,
    SSAValues,
    Use,
)
from xdsl.irdl import AttributeDef, IRDLOperation, OptionalDef, PropertyDef

from .acceleration import is_accelerated

__all__ = ["init_op", "make_attribute", "make_op", "set_results"]

AttributeT = TypeVar("AttributeT", bound=Data[Any] | ParametrizedAttribute)
OpT = TypeVar("OpT", bound=IRDLOperation)

_FAST = is_accelerated("creating")
_new, _set = object.__new__, object.__setattr__


def make_attribute(cls: type[AttributeT], **fields: object) -> AttributeT:
    """Return an attribute of class `cls` with these valid parameters, or `data`."""
    if not _FAST:
        values = [*fields.values()]
        # pyright knows neither the type of a `data` nor of parameters by name.
        params = cast(Any, values[0] if issubclass(cls, Data) else values)
        return cls.new(params)
    attribute = _new(cls)
    for name, value in fields.items():
        _set(attribute, name, value)  # attributes are frozen
    return attribute


def make_op(
    cls: type[OpT],
    operands: Sequence[SSAValue],
    result_types: Iterable[Attribute],
    properties: dict[str, Attribute],
    location: LocationAttr = UNKNOWN_LOC,
) -> OpT:
    """Return an operation of class `cls` without regions, successors and attributes, which has no
    `__init__` run; absent properties get their defaults. It takes `properties` over."""
    op = _new(cls)
    init_op(op, operands, properties, location)
    set_results(op, result_types)
    return op


def init_op(
    op: IRDLOperation,
    operands: Sequence[SSAValue],
    properties: dict[str, Attribute],
    location: LocationAttr = UNKNOWN_LOC,
) -> None:
    """Set the fields of a new operation but its results; the other fields keep their defaults."""
    defaults, attributes = _defaults(type(op))
    for name, default in defaults:
        if name not in properties:
            properties[name] = default
    if not _FAST:
        return Operation.__init__(
            op,
            operands=operands,
            properties=properties,
            attributes=dict(attributes),
            location=location,
        )
    op.properties = properties
    op.attributes = dict(attributes)
    op.location = location
    op.results = _NO_RESULTS
    op._operands = SSAValues(operands)
    uses: list[Use] = []
    for index, value in enumerate(operands):
        use = Use(op, index, None, first := value.first_use)
        if first is not None:
            first._prev_use = use
        value.first_use = use
        uses.append(use)
    op._operand_uses = tuple(uses)
    return None


def set_results(op: Operation, types: Iterable[Attribute]) -> None:
    """Give a new operation results of these types."""
    op.results = SSAValues([OpResult(type, op, index) for index, type in enumerate(types)])


_NO_RESULTS = SSAValues[OpResult]()


Defaults: TypeAlias = Sequence[tuple[str, Attribute]]


@cache
def _defaults(cls: type[IRDLOperation]) -> tuple[Defaults, Defaults]:
    """Return the properties and the attributes of `cls` with a default value, as xDSL fills them
    in."""
    definition = cls.get_irdl_definition()
    return _values(definition.properties), _values(definition.attributes)


def _values(definitions: Mapping[str, PropertyDef | AttributeDef]) -> Defaults:
    return [
        (name, definition.default_value)
        for name, definition in definitions.items()
        if definition.default_value is not None and not isinstance(definition, OptionalDef)
    ]
