"""Checks of tile programs of products and convolutions."""

from __future__ import annotations

from collections.abc import Sequence

from passline.compiler.kernels.gpu.tile_builder import TileKernel

from .tile_runs import TOLERANCES, Array, check_tiles, random_array

__all__ = ["check_product", "unknown"]


def unknown(type: str) -> str:
    """Return a tensor type without its sizes: ?x?xf32 for 2x3xf32."""
    *sizes, element = type.split("x")
    return "x".join(["?" for _ in sizes] + [element])


def numbers(type: str) -> Array:
    """Return random numbers of a tensor type; of signed integers, half of them are negative."""
    *sizes, element = type.split("x")
    array = random_array([int(n) for n in sizes], element)
    return array - array.dtype.type(50) if element.startswith("i") else array


def check_product(
    body: str,
    *types: str,
    result: str,
    shown: tuple[str, ...] | None = None,
    target: str = "sm_90",
    factor: float = 1,
    constants: Sequence[int] = (),
) -> TileKernel:
    """Check the tile program of a function on tensors %a, %b and so on, of the last operation's
    result %r. In `body`, A, B and so on are their types, and R is that of the result. `shown` are
    the types in the text, where sizes are not known; `factor` multiplies the tolerance, and
    `constants` are the numbers of the operands that are known."""
    *operands, out = shown or (*types, result)
    names = "abcde"[: len(types)]
    parameters = [f"%{name}: tensor<{type}>" for name, type in zip(names, operands, strict=True)]
    for letter, type in zip((*names.upper(), "R"), (*operands, out), strict=True):
        body = body.replace(f"<{letter}>", f"tensor<{type}>")
    text = f"""
        func.func @main({", ".join(parameters)}) -> tensor<{out}> {{
          {body}
          func.return %r : tensor<{out}>
        }}"""
    tolerance = factor * TOLERANCES.get(result.rpartition("x")[2], 0)
    arrays = [numbers(t) for t in types]
    return check_tiles(text, arrays, tolerance, 10 * tolerance, target, constants)
