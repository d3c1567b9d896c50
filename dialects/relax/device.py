"""Devices: the attribute that names one, and the operations that place and copy values."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence

from xdsl.dialects.builtin import IntAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition, irdl_op_definition, operand_def, prop_def, result_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ...passmanager.names import did_you_mean
from ..target import DeviceType
from .attributes import bool_prop
from .base import TensorOp
from .interfaces import AlongAxes, NonComputational

__all__ = ["DEVICE_TYPES", "DeviceAttr", "DeviceCopyOp", "OnDeviceOp"]

DEVICE_TYPES = (*DeviceType.__members__,)
"""The device types, as DLPack and TVM name them."""


@irdl_attr_definition
class DeviceAttr(ParametrizedAttribute):
    """A device and one of its memories (TVM VirtualDevice): `#relax.device<cuda:1, "texture">`.

    Defaults: device number 0, any memory scope. `?` stands for any device.
    """

    name = "relax.device"

    device_type: StringAttr
    """One of DEVICE_TYPES; empty for any device."""
    index: IntAttr
    memory_scope: StringAttr
    """A name that the target defines; empty for any memory, by default the main one."""

    def __init__(
        self,
        device_type: str | StringAttr,
        index: int | IntAttr = 0,
        memory_scope: str | StringAttr = "",
    ):
        super().__init__(
            StringAttr(device_type) if isinstance(device_type, str) else device_type,
            IntAttr(index) if isinstance(index, int) else index,
            StringAttr(memory_scope) if isinstance(memory_scope, str) else memory_scope,
        )

    def verify(self) -> None:
        kind = self.device_type.data
        if kind and kind not in DEVICE_TYPES:
            hint, known = did_you_mean(kind, DEVICE_TYPES), ", ".join(DEVICE_TYPES)
            raise VerifyException(f"unknown device type '{kind}'{hint}; choose from {known}")
        if self.index.data < 0:
            raise VerifyException(f"device number {self.index.data} is negative")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        start = parser.pos
        with parser.in_angle_brackets():
            unknown = parser.parse_optional_punctuation("?") is not None
            kind = "" if unknown else parser.parse_identifier(context_msg="device such as cpu")
            numbered = parser.parse_optional_punctuation(":") is not None
            index = parser.parse_integer(allow_boolean=False) if numbered else 0
            scoped = parser.parse_optional_punctuation(",") is not None
            scope = parser.parse_str_literal() if scoped else ""
        try:
            return cls(kind, index, scope).parameters
        except VerifyException as error:
            parser.raise_error(str(error), start, parser.pos)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.device_type.data or "?")
            if self.index.data:
                printer.print_string(f":{self.index.data}")
            if self.memory_scope.data:
                printer.print_string(", ")
                printer.print_string_literal(self.memory_scope.data)


class PlacedOp(AlongAxes, NonComputational, TensorOp, ABC):
    """An operation that returns its operand and says on which device it is."""

    input = operand_def()
    result = result_def()

    def infer_types(self) -> Sequence[Attribute]:
        return (self.input.type,)


@irdl_op_definition
class OnDeviceOp(PlacedOp):
    """An annotation that places a value on a device (`relay.annotation.on_device`).

    With `constrain_body` the operand is computed on the device. With `constrain_result` the result
    is on the device; without it, `plan-devices` may copy the value here.
    """

    name = "relax.on_device"

    device = prop_def(DeviceAttr)
    constrain_result = bool_prop(False)
    constrain_body = bool_prop(True)


@irdl_op_definition
class DeviceCopyOp(PlacedOp):
    """A copy of a value from device `src` to device `dst` (`relay.device_copy`)."""

    name = "relax.device_copy"

    src = prop_def(DeviceAttr)
    dst = prop_def(DeviceAttr)
