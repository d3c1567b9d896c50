"""Functions of NVIDIA's tests of CUDA Tile IR, run on the interpreter with made-up arguments.

Parameters that are no scalars become operations: tiles of ones, views of the first element of a
buffer, tokens. The results are dropped: what is tested is that each operation has semantics.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, i8
from xdsl.ir import Attribute

from passline.compiler.interpreters.cuda_tile.grid import run_entry
from passline.compiler.interpreters.cuda_tile.tile_values import tile_dtype
from passline.dialects.cuda_tile.module_ops import EntryOp
from passline.dialects.cuda_tile.types import (
    GatherScatterViewType,
    PartitionViewType,
    PointerType,
    Shape,
    StridedViewType,
    TensorViewType,
    TileType,
)

__all__ = ["as_entries", "run_made_up"]

HEADER = re.compile(r"^ *(?:testing\$func|entry) (@\S+?)\((.*) \{$", re.M)
MAKERS = {
    PartitionViewType: "make_partition_view",
    StridedViewType: "make_strided_view",
    GatherScatterViewType: "make_gather_scatter_view",
}
ELEMENTS = 1 << 26
"""The elements of each buffer."""


def as_entries(text: str, types: Sequence[Sequence[Attribute]]) -> str:
    """Return the text of a module whose functions, with parameters of `types`, are entries."""
    rest = iter(types)

    def entry(match: re.Match[str]) -> str:
        names = re.findall(r"%(\w+): ", match[2])
        pairs = [*zip(names, next(rest), strict=True)]
        parameters = ", ".join(p for name, type in pairs for p in parameter_of(name, type))
        made = "\n".join(line for name, type in pairs for line in operations_of(name, type))
        return f"entry {match[1]}({parameters}) {{\n{made}"

    return re.sub(r"^( *)return .*$", r"\1return", HEADER.sub(entry, text), flags=re.M)


def shown(type: Attribute) -> str:
    return str(type).replace("!cuda_tile.", "")


def parameter_of(name: str, type: Attribute) -> Iterator[str]:
    """Yield the scalar parameter from which a value of a type is made, if there is one."""
    if (view := tensor_of(type)) is not None:
        yield f"%{name}_p: tile<ptr<{view.element_type}>>"
    elif isinstance(type, TileType) and not type.get_shape():
        yield f"%{name}: {shown(type)}"
    elif isinstance(type, TileType) and isinstance(type.element_type, PointerType):
        yield f"%{name}_p: tile<{shown(type.element_type)}>"


def tensor_of(type: Attribute) -> TensorViewType | None:
    view = getattr(type, "tensor_view", type)
    return view if isinstance(view, TensorViewType) else None


def operations_of(name: str, type: Attribute) -> Iterator[str]:
    """Yield the operations that make a value of a type."""
    view = tensor_of(type)
    if view is not None:
        shape, strides = (sizes_text(name, each) for each in (view.shape, view.strides))
        unknown = "%" in shape + strides
        tensor = name if view is type else f"{name}_t"
        yield f"%{name}_n = constant <i32: 16> : tile<i32>"
        yield (
            f"%{tensor} = make_tensor_view %{name}_p, shape = {shape}, strides = {strides} : "
            f"{'tile<i32> -> ' * unknown}{shown(view)}"
        )
        if view is not type:
            (maker,) = (made for cls, made in MAKERS.items() if isinstance(type, cls))
            yield f"%{name} = {maker} %{tensor} : {shown(type)}"
    elif not isinstance(type, TileType):
        yield f"%{name} = make_token : token"
    elif type.get_shape() and isinstance(type.element_type, PointerType):
        one = shown(type.with_shape((1,) * len(type.get_shape())))
        yield f"%{name}_o = reshape %{name}_p : {shown(type.with_shape(()))} -> {one}"
        yield f"%{name} = broadcast %{name}_o : {one} -> {shown(type)}"
    elif type.get_shape():
        yield from ones(name, type)


def ones(name: str, type: TileType) -> Iterator[str]:
    """Yield the operations that make a tile of ones. There are no constants of i4."""
    element = str(type.element_type)
    if element == "i4":
        wide = type.with_element(i8)
        yield f"%{name}_w = constant <i8: 1> : {shown(wide)}"
        yield f"%{name} = trunci %{name}_w : {shown(wide)} -> {shown(type)}"
        return
    one = "true" if element == "i1" else "1.0" if "f" in element else "1"
    yield f"%{name} = constant <{element}: {one}> : {shown(type)}"


def sizes_text(name: str, sizes: Shape) -> str:
    """Return a list of sizes or strides; those that are not known are 16."""
    known = (str(n.data) if n.data != DYNAMIC_INDEX else f"%{name}_n" for n in sizes)
    return f"[{', '.join(known)}]"


def run_made_up(entry: EntryOp) -> None:
    """Run one tile block of an entry on ones, and buffers of zeros."""
    arguments: list[object] = []
    for type in entry.function_type.inputs.data:
        assert isinstance(type, TileType)
        element = type.element_type
        if isinstance(element, PointerType):
            arguments.append(np.zeros(ELEMENTS, tile_dtype(element.pointee_type)))
        else:
            arguments.append(1)
    run_entry(entry, (1, 1, 1), arguments)
