"""Single operations, as functions on tensors and as kernels: both compute the same."""

from __future__ import annotations

from typing import Any

import numpy as np
from evaluation import Array
from laws import run
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.test import TestOp
from xdsl.ir import Operation

from passline.dialects.relax.attributes import PropertyValue, properties_of
from passline.dialects.relax.base import TensorOp
from passline.dialects.relax.kernels import CallTIROp
from passline.dialects.relax.semantics.arrays import dtype_of, fit
from passline.dialects.relax.types import Element
from passline.passmanager.ir.verifying import verify
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import make_ir_context

__all__ = ["assert_same", "legalize", "module_of", "random"]


def random(element: Element, *shape: int, seed: int = 0) -> Array:
    """Random numbers of an element type, of both signs where it has them."""
    rng = np.random.default_rng(seed)
    if dtype_of(element).kind == "f":
        return fit(rng.standard_normal(shape), element)
    return fit(rng.integers(-9, 10, shape), element)


def module_of(
    op: type[TensorOp], *types: TensorType[Any], **properties: PropertyValue
) -> ModuleOp:
    """A module whose main function is an operation on operands of these types."""
    attributes = properties_of(op, properties)
    results = op.create(
        operands=TestOp(result_types=types).results, properties=attributes
    ).infer_types()
    func = FuncOp("main", (types, results))
    block = func.body.block
    built = op.create(operands=block.args, properties=attributes, result_types=results)
    block.add_ops([built, ReturnOp(*built.results)])
    return ModuleOp([func])


def legalize(module: ModuleOp, options: str = "") -> ModuleOp:
    """A copy of the module, all of whose operations on tensors are kernels."""
    result = module.clone()
    parse_pipeline(f"legalize-ops{options}").apply(make_ir_context(), result)
    verify(result)
    calls = [op for op in result.walk() if isinstance(op, CallTIROp)]
    left = [op.name for op in result.walk() if op.name.startswith("relax.") and op not in calls]
    assert calls and not left, f"no kernel computes {left}"
    return result


def assert_same(
    op: type[TensorOp],
    *operands: tuple[Array, Element],
    rtol: float = 0,
    options: str = "",
    **properties: PropertyValue,
) -> None:
    """AssertionError unless a kernel computes what the operation does."""
    types = [TensorType(element, array.shape) for array, element in operands]
    module = module_of(op, *types, **properties)
    arrays = tuple(array for array, _ in operands)
    expected = run(module, "main", arrays)
    actual = run(legalize(module, options), "main", arrays)
    for a, e in zip(actual, expected, strict=True):
        a, e = np.asarray(a), np.asarray(e)
        assert a.dtype == e.dtype
        np.testing.assert_allclose(a, e, rtol=rtol, atol=rtol)


def has_definition(op: type[Operation]) -> bool:
    from passline.dialects.relax.definitions import DEFINITIONS

    return op in DEFINITIONS
