"""Entries of CUDA Tile IR from text, and the values of single operations."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from support.parsing import parsed

from passline.compiler.interpreters.cuda_tile.grid import run_entry
from passline.compiler.interpreters.cuda_tile.tile_values import tile_dtype
from passline.dialects.cuda_tile.module_ops import EntryOp
from passline.dialects.cuda_tile.types import TileType

__all__ = ["computed_tile", "entry_of"]

Array = NDArray[Any]


def entry_of(text: str, before: str = "") -> EntryOp:
    """Return the entry @k of the text of its parameters and operations; `before` are globals."""
    module = parsed(f"cuda_tile.module @m {{ {before} entry @k{text} }}")
    module.verify()
    return next(op for op in module.walk() if isinstance(op, EntryOp))


def computed_tile(text: str, result: str, **operands: tuple[Array, str]) -> Array:
    """Return the tile %r that operations compute of tiles, given as arrays with their types as
    `8xf32`; a batch of blocks computes the same."""
    types = {name: type for name, (_, type) in operands.items()} | {"r": result}
    parameters = ", ".join(f"%a_{n}: tile<ptr<{element(t)}>>" for n, t in types.items())
    own = "".join(pointer_of_block(name, type) for name, type in types.items())
    loads = "\n".join(load(name, type) for name, type in types.items() if name != "r")
    end = f"{view('r', result)}\n{zeros('r')}\n" + (
        f"%t_r = store_view_tko weak %r, %v_r[{indices(result, 'r')}] : tile<{result}>, "
        f"{view_type(result)}, tile<i32> -> token\nreturn"
    )
    entry = entry_of(f"({parameters}) {{ {BLOCK} {own} {loads}\n{text}\n{end} }}")
    parameter = cast(TileType, entry.function_type.inputs.data[-1])
    pointee = cast(Any, parameter.element_type).pointee_type
    found = np.zeros(shape(result), tile_dtype(pointee))
    arrays = [np.ascontiguousarray(array) for array, _ in operands.values()]
    run_entry(entry, (1, 1, 1), [*arrays, found], check=True)
    of_all = np.zeros((3, *found.shape), found.dtype)
    run_entry(entry, (3, 1, 1), [*(np.stack([array] * 3) for array in arrays), of_all])
    np.testing.assert_array_equal(of_all, np.stack([found] * 3))
    return found


BLOCK = "%block, %block_y, %block_z = get_tile_block_id : tile<i32>"


def pointer_of_block(name: str, type: str) -> str:
    """Return the text that makes the pointer %p_name of a block, of which each has a tile."""
    pointer = f"tile<ptr<{element(type)}>>"
    return f"""
      %size_{name} = constant <i32: {int(np.prod(shape(type)))}> : tile<i32>
      %first_{name} = muli %block, %size_{name} : tile<i32>
      %p_{name} = offset %a_{name}, %first_{name} : {pointer}, tile<i32> -> {pointer}
    """


def load(name: str, type: str) -> str:
    """Return the text that loads a tile %name of the pointer %p_name."""
    return f"{view(name, type)}\n{zeros(name)}\n" + (
        f"%{name}, %t_{name} = load_view_tko weak %v_{name}[{indices(type, name)}] : "
        f"{view_type(type)}, tile<i32> -> tile<{type}>, token"
    )


def view(name: str, type: str) -> str:
    """Return the text that makes a view %v_name of the pointer %p_name."""
    sizes, strides = ", ".join(map(str, shape(type))), ", ".join(map(str, strides_of(type)))
    return (
        f"%w_{name} = make_tensor_view %p_{name}, shape = [{sizes}], strides = [{strides}] : "
        f"{tensor_type(type)}\n%v_{name} = make_partition_view %w_{name} : {view_type(type)}"
    )


def zeros(name: str) -> str:
    """Return the text of an index 0."""
    return f"%z_{name} = constant <i32: 0> : tile<i32>"


def indices(type: str, name: str) -> str:
    """Return the index of the first tile."""
    return ", ".join(f"%z_{name}" for _ in shape(type))


def shape(type: str) -> tuple[int, ...]:
    """Return the shape of a type."""
    return tuple(map(int, type.split("x")[:-1]))


def element(type: str) -> str:
    """Return the element type of a type."""
    return type.split("x")[-1]


def strides_of(type: str) -> list[int]:
    """Return the strides of a tile in row-major order."""
    sizes = shape(type)
    return [int(np.prod(sizes[i + 1 :])) for i in range(len(sizes))]


def tensor_type(type: str) -> str:
    """Return the type of a tensor view of the shape of a tile."""
    return f"tensor_view<{type}, strides=[{','.join(map(str, strides_of(type)))}]>"


def view_type(type: str) -> str:
    """Return the type of the view whose only tile is the tensor."""
    return f"partition_view<tile=({'x'.join(map(str, shape(type)))}), {tensor_type(type)}>"
