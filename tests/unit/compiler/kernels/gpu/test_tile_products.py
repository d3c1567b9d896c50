"""Tile programs of matrix products compute what the operations do, for all types and edges."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from support.gpu.tile_runs import check_tiles
from xdsl.dialects.builtin import bf16, f16, f32, f64

from passline.compiler.interpreters.arrays import dtype_of
from passline.dialects.relax.types import Element

Array = NDArray[Any]
SIZES = (1, 7, 63, 65, 130)
TOLERANCE = {"f16": 2e-3, "bf16": 2e-2, "f32": 1e-5, "f64": 1e-13}


def numbers(type: str) -> Array:
    """Return random numbers of a tensor type such as 2x3xf32."""
    *sizes, element = type.split("x")
    rng, shape = np.random.default_rng(len(type)), [int(n) for n in sizes]
    if element in ("i8", "ui8", "i32"):
        low, high = (0, 256) if element == "ui8" else (-128, 128)
        return rng.integers(low, high, shape).astype(element.replace("i", "int"))
    known: dict[str, Element] = {"f16": f16, "bf16": bf16, "f32": f32, "f64": f64}
    return rng.standard_normal(shape).astype(dtype_of(known[element]))


def check(body: str, *types: str, result: str, known: bool = True, target: str = "sm_90") -> Any:
    """Check a function on tensors of `types`, %0 and so on, that returns %r."""
    shown = types
    if not known:
        shown = tuple("x".join(["?"] * t.count("x") + [t.rpartition("x")[2]]) for t in types)
    parameters = ", ".join(f"%{'abcde'[i]}: tensor<{t}>" for i, t in enumerate(shown))
    if not known:
        result = "x".join(["?"] * result.count("x") + [result.rpartition("x")[2]])
    names = ["%" + "abcde"[i] for i in range(len(types))]
    for name, t in zip(names, shown, strict=True):
        body = body.replace(f"{name}:t", f"tensor<{t}>")
    body = body.replace("RESULT", f"tensor<{result}>")
    text = f"func.func @main({parameters}) -> tensor<{result}> {{ {body} func.return %r : tensor<{result}> }}"
    tolerance = TOLERANCE.get(result.rpartition("x")[2], 0)
    arrays = [numbers(t) for t in types]
    return check_tiles(text, arrays, rtol=tolerance, atol=tolerance * 10, target=target)


MATMUL = "%r = relax.matmul %a, %b : (%a:t, %b:t) -> RESULT"
