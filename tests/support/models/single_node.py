# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Models of one node, compared with onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from onnx import ModelProto, helper, numpy_helper
from support.models.from_text import Array, imported, run
from support.models.onnxruntime_reference import run_onnxruntime

__all__ = ["Attributes", "by_onnxruntime", "check", "ours", "single_node"]

CONTRIB = "com.microsoft"
Attributes: TypeAlias = dict[str, Any]
"""Attributes of a node, and other named arguments."""


def single_node(
    op: str,
    inputs: Sequence[Array | None],
    outputs: int | Sequence[bool] = 1,
    *,
    domain: str = CONTRIB,
    opset: int = 17,
    constants: Sequence[int] = (),
    unknown: Mapping[int, Sequence[int]] | None = None,
    version: int = 1,
    **attributes: object,
) -> ModelProto:
    """Return a model of one node.

    `outputs` is their number, or which there are; the inputs in `constants` are initializers, and
    `unknown` has the axes of inputs whose size is not in the model.
    """
    wanted = [True] * outputs if isinstance(outputs, int) else outputs
    names = ["" if array is None else f"x{i}" for i, array in enumerate(inputs)]
    results = [f"y{i}" if want else "" for i, want in enumerate(wanted)]
    node = helper.make_node(op, names, results, domain=domain)
    node.attribute.extend(helper.make_attribute(key, value) for key, value in attributes.items())
    infos, initializers = [], []
    for i, array in enumerate(inputs):
        if array is None:
            continue
        tensor = numpy_helper.from_array(np.asarray(array), f"x{i}")
        if i in constants:
            initializers.append(tensor)
            continue
        axes = (unknown or {}).get(i, ())
        shape = [None if axis in axes else size for axis, size in enumerate(array.shape)]
        infos.append(helper.make_tensor_value_info(f"x{i}", tensor.data_type, shape))
    graph = helper.make_graph(
        [node],
        "g",
        infos,
        [helper.make_empty_tensor_value_info(name) for name in results if name],
        initializers,
    )
    imports = [helper.make_opsetid("", opset)]
    if domain:
        imports.append(helper.make_opsetid(domain, version))
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


def by_onnxruntime(model: ModelProto, inputs: Sequence[Array | None]) -> list[Array]:
    """Return the outputs that onnxruntime computes, without optimizations."""
    names = {info.name for info in model.graph.input}
    feed = {f"x{i}": x for i, x in enumerate(inputs) if x is not None and f"x{i}" in names}
    return run_onnxruntime(model, feed)


def ours(model: ModelProto, inputs: Sequence[Array | None]) -> list[Array]:
    """Return the outputs that the imported model has on numpy."""
    names = [info.name for info in model.graph.input]
    arrays = {f"x{i}": x for i, x in enumerate(inputs) if x is not None}
    return run(imported(model), *(arrays[name] for name in names))


def check(
    op: str,
    *inputs: Array | None,
    outputs: int | Sequence[bool] = 1,
    unknown: Mapping[int, Sequence[int]] | None = None,
    tolerance: float = 2e-5,
    domain: str = CONTRIB,
    opset: int = 17,
    constants: Sequence[int] = (),
    version: int = 1,
    **attributes: object,
) -> None:
    """Compare a node with onnxruntime: with known shapes, and with those of `unknown`."""

    def model(unknown: Mapping[int, Sequence[int]] | None) -> ModelProto:
        return single_node(
            op,
            inputs,
            outputs,
            domain=domain,
            opset=opset,
            constants=constants,
            unknown=unknown,
            version=version,
            **attributes,
        )

    known = model(None)
    expected = by_onnxruntime(known, inputs)
    for form in [known, model(unknown)] if unknown else [known]:
        actual = ours(form, inputs)
        assert len(actual) == len(expected)
        for value, wanted in zip(actual, expected, strict=True):
            wanted = np.asarray(wanted)
            assert (value.shape, value.dtype) == (wanted.shape, wanted.dtype)
            np.testing.assert_allclose(value, wanted, rtol=tolerance, atol=tolerance)
