"""The choice of sizes for the unknown dimensions of parameters.

A dimension is a size, the name of an unknown size, or None. Dimensions of one name have one size.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..passmanager.errors import PasslineError
from ..passmanager.info import did_you_mean

__all__ = [
    "Bindings",
    "BoundShapes",
    "Dimension",
    "ShapeBindingError",
    "bind_shapes",
    "dimensions_text",
    "read_bindings",
]

Dimension: TypeAlias = int | str | None
Dimensions: TypeAlias = Sequence[Dimension]


class ShapeBindingError(PasslineError):
    """The error for sizes that no parameter has, or that contradict each other."""


@dataclass(frozen=True)
class Bindings:
    """Sizes that a user chooses.

    `shapes` are shapes of parameters by name, with None for a dimension that stays unknown; `dims`
    are sizes of named dimensions.
    """

    shapes: Mapping[str, Sequence[int | None]]
    dims: Mapping[str, int]

    def __bool__(self) -> bool:
        return bool(self.shapes or self.dims)


@dataclass(frozen=True)
class BoundShapes:
    """The dimensions of parameters by name, None for an unknown rank, and the sizes of names."""

    dimensions: Mapping[str, tuple[Dimension, ...] | None]
    sizes: Mapping[str, int]


def bind_shapes(declared: Mapping[str, Dimensions | None], bindings: Bindings) -> BoundShapes:
    """Return the dimensions of parameters after a choice of sizes.

    `declared` has the dimensions of all parameters, None for an unknown rank. A size that is chosen
    in a shape holds for all dimensions of that name.

    Errors: ShapeBindingError for a name that does not exist, another rank, another size than a
    known one, two sizes for one name, and a negative size.
    """
    shapes, sizes = bindings.shapes, bindings.dims
    for name in shapes:
        if name not in declared:
            raise ShapeBindingError(
                f"there is no parameter '{name}'{did_you_mean(name, declared) or _list(declared)}"
            )
    names = [d for dimensions in declared.values() for d in dimensions or () if isinstance(d, str)]
    for name, size in sizes.items():
        if name not in names:
            raise ShapeBindingError(
                f"no parameter has a dimension '{name}'{did_you_mean(name, names) or _list(names)}"
            )
        if size < 0:
            raise ShapeBindingError(f"dimension '{name}' has size {size}")
    known = dict(sizes)
    chosen: dict[str, tuple[Dimension, ...] | None] = {}
    for name, dimensions in declared.items():
        chosen[name] = None if dimensions is None else (*dimensions,)
        if (shape := shapes.get(name)) is not None:
            chosen[name] = tuple(_chosen(name, dimensions, shape, known))
    sized = {
        name: None if dimensions is None else tuple(_sized(d, known) for d in dimensions)
        for name, dimensions in chosen.items()
    }
    return BoundShapes(sized, known)


def _chosen(
    name: str, dimensions: Dimensions | None, shape: Sequence[int | None], known: dict[str, int]
) -> Iterator[Dimension]:
    """Yield the dimensions of one parameter with the sizes in `shape`; add those of names to
    `known`."""
    if dimensions is None:
        dimensions = (None,) * len(shape)
    if len(dimensions) != len(shape):
        raise ShapeBindingError(
            f"parameter '{name}' has {len(dimensions)} dimensions, {dimensions_text(dimensions)}, "
            f"not the {len(shape)} of {dimensions_text(shape)}"
        )
    for i, (dimension, size) in enumerate(zip(dimensions, shape, strict=True)):
        if size is not None and size < 0:
            raise ShapeBindingError(f"dimension {i} of parameter '{name}' has size {size}")
        if isinstance(dimension, str) and size is not None:
            if known.setdefault(dimension, size) != size:
                raise ShapeBindingError(
                    f"dimension {i} of parameter '{name}' is '{dimension}', which is "
                    f"{known[dimension]}, not {size}"
                )
        elif isinstance(dimension, int) and size not in (None, dimension):
            raise ShapeBindingError(
                f"dimension {i} of parameter '{name}' is {dimension}, not {size}"
            )
        yield dimension if isinstance(dimension, str) or size is None else size


def _sized(dimension: Dimension, known: Mapping[str, int]) -> Dimension:
    return known.get(dimension, dimension) if isinstance(dimension, str) else dimension


def dimensions_text(dimensions: Dimensions) -> str:
    """Return dimensions as in `batchx3x?`, `scalar` for none; for messages."""
    return "x".join("?" if d is None else str(d) for d in dimensions) or "scalar"


def _list(names: Mapping[str, object] | Sequence[str]) -> str:
    unique = dict.fromkeys(names)
    return f": there {'are' if len(unique) > 1 else 'is'} {', '.join(unique)}" if unique else ""


def read_bindings(shapes: Iterable[str], dims: Iterable[str]) -> Bindings:
    """Read bindings such as `x=1x3x?x192` (`x=` is a scalar) and `batch=4`.

    Errors: ShapeBindingError for text of another form, or a name that is given twice.
    """
    found_shapes: dict[str, tuple[int | None, ...]] = {}
    for text in shapes:
        name, sizes = _split(text, "x=1x3x?x192", found_shapes)
        if not re.fullmatch(r"((\d{1,18}|\?)(x(\d{1,18}|\?))*)?", sizes):
            raise ShapeBindingError(f"'{text}': expected sizes, such as x=1x3x?x192, got '{sizes}'")
        parts = sizes.split("x") if sizes else []
        found_shapes[name] = tuple(None if part == "?" else int(part) for part in parts)
    found_dims: dict[str, int] = {}
    for text in dims:
        name, size = _split(text, "batch=4", found_dims)
        if not re.fullmatch(r"\d{1,18}", size):
            raise ShapeBindingError(f"'{text}': expected a size, such as batch=4, got '{size}'")
        found_dims[name] = int(size)
    return Bindings(found_shapes, found_dims)


def _split(text: str, example: str, found: Mapping[str, object]) -> tuple[str, str]:
    """Return the parts before and after the last `=`; names of ONNX may have others."""
    name, equals, value = text.rpartition("=")
    if not equals or not name:
        raise ShapeBindingError(f"'{text}': expected a name and what it is, such as {example}")
    if name in found:
        raise ShapeBindingError(f"'{text}': '{name}' is given twice")
    return name, value
