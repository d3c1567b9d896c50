# pyright: reportPrivateUsage=false
"""Creation of attributes and operations that are known to be valid, without xDSL's constructors.

These verify each parameter of an attribute, which takes 4 to 6 us, and build the operands of an
operation through general views. The private fields of operations and uses are written here, the
same ones as in `Operation.__init__`; fields with their default value are left to the class.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import Any, TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr, UnregisteredOp
from xdsl.ir import (
    Attribute,
    Block,
    Data,
    Operation,
    OpResult,
    ParametrizedAttribute,
    SSAValue,
    SSAValues,
    Use,
)
from xdsl.irdl import AttributeDef, IRDLOperation, OptionalDef, PropertyDef

from ..ir.per_class import PerClass
from .acceleration import choose
from .interface import Creator

AttributeT = TypeVar("AttributeT", bound=Data[Any] | ParametrizedAttribute)
OpT = TypeVar("OpT", bound=IRDLOperation)

_new, _set = object.__new__, object.__setattr__


class _OurCreator:
    def make_attribute(self, cls: type[AttributeT], /, **fields: object) -> AttributeT:
        attribute = _new(cls)
        for name, value in fields.items():
            _set(attribute, name, value)  # attributes are frozen
        return attribute

    def set_fields(
        self,
        op: Operation,
        operands: Sequence[SSAValue],
        properties: dict[str, Attribute],
        attributes: dict[str, Attribute],
        location: LocationAttr,
    ) -> None:
        op.properties = properties
        op.attributes = attributes
        op.location = location
        op.results = _NO_RESULTS
        set_operands(op, operands)

    def set_results(self, op: Operation, types: Iterable[Attribute]) -> None:
        results: list[OpResult] = []
        for index, type in enumerate(types):
            result = _new(OpResult)
            result._type = type
            result.op = op
            result.index = index
            results.append(result)
        op.results = SSAValues(results)

    def create_before(
        self,
        place: Operation,
        op_class: type[Operation],
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        properties: dict[str, Attribute],
    ) -> Operation:
        if not is_plain[op_class]:
            return _CreatorOfXDSL().create_before(
                place, op_class, operands, result_types, properties
            )
        op = _new(op_class)
        op.properties = properties
        op.attributes = {}
        op.location = place.location
        if result_types:
            self.set_results(op, result_types)
        if operands:
            set_operands(op, operands)
        op.parent = block = place.parent
        op._next_op = place
        # A block whose first op is `place` gets a new first op; the last one stays.
        op._prev_op = before = place._prev_op
        place._prev_op = op
        if before is None:
            assert block is not None
            block._first_op = op
        else:
            before._next_op = op
        return op


class _CreatorOfXDSL:
    def make_attribute(self, cls: type[AttributeT], /, **fields: object) -> AttributeT:
        values = [*fields.values()]
        # pyright knows neither the type of a `data` nor of parameters by name.
        return cls.new(cast(Any, values[0] if issubclass(cls, Data) else values))

    def set_fields(
        self,
        op: Operation,
        operands: Sequence[SSAValue],
        properties: dict[str, Attribute],
        attributes: dict[str, Attribute],
        location: LocationAttr,
    ) -> None:
        Operation.__init__(
            op, operands=operands, properties=properties, attributes=attributes, location=location
        )

    def set_results(self, op: Operation, types: Iterable[Attribute]) -> None:
        op.results = SSAValues([OpResult(type, op, index) for index, type in enumerate(types)])

    def create_before(
        self,
        place: Operation,
        op_class: type[Operation],
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        properties: dict[str, Attribute],
    ) -> Operation:
        op = op_class.create(
            operands=operands,
            result_types=result_types,
            properties=properties,
            location=place.location,
        )
        assert place.parent is not None
        place.parent.insert_ops_before((op,), place)
        return op


_NO_RESULTS = SSAValues[OpResult]()
_creator: Creator = choose("creating", _OurCreator, _CreatorOfXDSL)
make_attribute = _creator.make_attribute
set_results = _creator.set_results
create_before = _creator.create_before


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
    _creator.set_fields(op, operands, properties, dict(attributes), location)


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


# Parts of operations


def set_operands(op: Operation, operands: Sequence[SSAValue]) -> None:
    """Set the operands of an op that has none yet."""
    uses: list[Use] = []
    for index, operand in enumerate(operands):
        use = _new(Use)
        use._operation = op
        use._index = index
        # Before the other uses, as xDSL's `add_use` has it.
        if (first := operand.first_use) is not None:
            use._next_use = first
            first._prev_use = use
        operand.first_use = use
        uses.append(use)
    op._operands = SSAValues(operands)
    op._operand_uses = tuple(uses)


def append_op(block: Block, op: Operation) -> None:
    """Append a detached op to a block."""
    op.parent = block
    if (last := block._last_op) is None:
        block._first_op = op
    else:
        last._next_op = op
        op._prev_op = last
    block._last_op = op


_METHODS = ("create", "clone", "clone_without_regions", "__new__", "__post_init__", "__setattr__")


def _is_plain(op_class: type[Operation]) -> bool:
    names = {*_METHODS, *(field.name for field in fields(Operation))}
    # Such classes are made for each name, with a `create` of their own.
    if issubclass(op_class, UnregisteredOp) and op_class.__module__ == UnregisteredOp.__module__:
        names.remove("create")  # it sets an attribute only, the name of the op
    homes = {_home(op_class, name) for name in names}
    return homes <= {Operation, IRDLOperation, object, None}


def _home(cls: type, name: str) -> type | None:
    """Return the class from which `cls` has an attribute."""
    return next((base for base in cls.__mro__ if name in vars(base)), None)


is_plain = PerClass[Operation, bool](_is_plain)
"""Whether the state of the ops of a class is that of xDSL's Operation, and its methods that set
this state are xDSL's own."""
