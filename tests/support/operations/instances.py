"""Instances of all operations that have kernels, for each element type that they allow.

They are made from the examples in the FileCheck tests of the dialect, with other element types and
known shapes. A new operation takes part as soon as these tests have an example of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from pathlib import Path
from typing import cast

from support.operations.evaluation import constant
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    TensorType,
    UnrankedTensorType,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.dialects.test import TestOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue, SSAValues
from xdsl.utils.exceptions import VerifyException

from passline.compiler.kernels.legalizations import RELAX
from passline.dialects.relax.base import TensorOp
from passline.dialects.relax.types import Element, is_number, static_shape
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.ir.walk import walk
from passline.passmanager.registry import make_ir_context

__all__ = ["ELEMENTS", "examples", "instances"]

ELEMENTS: list[Element] = [bf16, f16, f32, f64, i1, i8, i16, i32, i64]
FILES = Path(__file__).parents[2] / "filecheck/dialects/relax"
SIZES = (32, 8, 4, 3, 2, 1)
"""The sizes tried for unknown dimensions and for the last dimension of unknown shapes."""
LEADING = ((4,), (), (1, 3), (1, 3, 8), (1, 3, 4, 8))
"""The sizes tried for the other dimensions of unknown shapes."""
BOUNDS = (1, 7, 2)
"""The values of scalar operands in order, constants so that the length of a range is known."""


@cache
def examples() -> Mapping[type[Operation], list[TensorOp]]:
    """Return the operations in the FileCheck tests, by class."""
    found: dict[type[Operation], list[TensorOp]] = {cls: [] for cls in RELAX}
    for file in sorted(FILES.glob("*.mlir")):
        for text in [] if file.name.startswith("invalid") else file.read_text().split("// -----"):
            for op in walk(parse_module(make_ir_context(), text, file.name)):
                if type(op) in found:
                    assert isinstance(op, TensorOp)
                    found[type(op)].append(op)
    return found


def instances(element: Element) -> Iterator[TensorOp]:
    """Yield instances of all operations with `element` as the type of an operand.

    Instances of one class differ in the element types of their operands or results.
    """
    for ops in examples().values():
        seen: set[object] = set()
        for op in ops:
            for instance in instances_of(op, element):
                types = (*instance.operand_types, *instance.result_types)
                key = tuple(map(element_of, types))
                if key not in seen:
                    seen.add(key)
                    yield instance


def instances_of(op: TensorOp, element: Element) -> Iterator[TensorOp]:
    """Yield instances of `op` with `element` in place of one of the element types of its operands.

    Element types that are properties become `element` as well, or for an operation with one operand
    each element type in turn.
    """
    olds = dict.fromkeys(element_of(type) for type in op.operand_types)
    names = [name for name, value in op.properties.items() if is_number(value)]
    unranked = any(isinstance(type, UnrankedTensorType) for type in op.operand_types)
    unknown = any(static_shape(type) is None for type in op.operand_types)
    shapes = [*product(SIZES if unknown else (1,), LEADING if unranked else ((),))]
    choices_each = ELEMENTS if len(op.operands) == 1 else [element]
    choices: list[tuple[Element, ...]] = [*product(choices_each, repeat=len(names))]
    for old, others in product(olds or [None], choices):
        properties = op.properties | dict(zip(names, others, strict=True))
        for size, leading in shapes:
            types = [known_type(t, old, element, (*leading, size)) for t in op.operand_types]
            if (instance := instance_of(type(op), types, properties)) is not None:
                yield instance
                break


def element_of(type: Attribute) -> Attribute:
    assert isinstance(type, TensorType | UnrankedTensorType)
    return cast("TensorType[Attribute]", type).element_type


def known_type(
    type: Attribute, old: Attribute | None, new: Element, shape: tuple[int, ...]
) -> TensorType[Attribute]:
    """Return `type` with a known shape, and the element type `new` if it was `old`.

    An unknown dimension becomes the last number of `shape`, an unknown shape becomes `shape`.
    """
    element = new if element_of(type) == old else element_of(type)
    if isinstance(type, TensorType):
        known = cast("TensorType[Attribute]", type).get_shape()
        shape = tuple(shape[-1] if n == DYNAMIC_INDEX else n for n in known)
    return TensorType(element, shape)


def instance_of(
    cls: type[TensorOp], types: list[TensorType[Attribute]], properties: Mapping[str, Attribute]
) -> TensorOp | None:
    """Return a valid operation, whose results are not empty and of known shape, or None."""
    operands = [operand(i, type) for i, type in enumerate(types)]
    op = cls.create(operands=operands, properties={**properties})
    try:
        op.results = SSAValues(OpResult(t, op, i) for i, t in enumerate(op.infer_types()))
        op.verify()
    except VerifyException:
        return None
    shapes = [static_shape(type) for type in (*op.operand_types, *op.result_types)]
    return op if all(shape is not None and 0 not in shape for shape in shapes) else None


def operand(index: int, type: TensorType[Attribute]) -> SSAValue:
    if not type.get_shape() and (element := type.element_type) in ELEMENTS:
        return constant(BOUNDS[index % len(BOUNDS)], cast("Element", element)).results[0]
    return TestOp(result_types=[type]).results[0]
