"""The choice of sizes for the unknown dimensions of parameters.

A dimension is a size, the name of an unknown size or an expression of such names, or None.
Dimensions of one name have one size.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ...dialects.sizes import Size, TooComplex, size_of_text
from ...passmanager.errors import PasslineError
from ...passmanager.names import did_you_mean

Dimension: TypeAlias = int | str | None
Dimensions: TypeAlias = Sequence[Dimension]


class ShapeBindingError(PasslineError):
    """The error for sizes that no parameter has, or that contradict each other."""


@dataclass(frozen=True)
class Bindings:
    """Sizes that a user chooses.

    `shapes` are shapes of parameters by name, with None for a dimension that stays unknown; `dims`
    are sizes of named dimensions, or expressions of names for them, such as `2 * k` for `m`.
    """

    shapes: Mapping[str, Sequence[int | None]]
    dims: Mapping[str, int | str]

    def __bool__(self) -> bool:
        return bool(self.shapes or self.dims)


@dataclass(frozen=True)
class BoundShapes:
    """The dimensions of parameters by name, None for an unknown rank, and the sizes of names."""

    dimensions: Mapping[str, tuple[Dimension, ...] | None]
    sizes: Mapping[str, int | Size]


def bind_shapes(
    declared: Mapping[str, Dimensions | None],
    bindings: Bindings,
    known: Mapping[str, Sequence[str | None]] | None = None,
) -> BoundShapes:
    """Return the dimensions of parameters after a choice of sizes.

    `declared` has the dimensions of all parameters, None for an unknown rank. Names are expressions
    (`dialects/sizes.py`): a size that is chosen for `h`, or follows from one that is chosen for
    `2 * h`, holds for all dimensions that contain `h`. `known` has the names of dimensions of known
    size by parameter, None for other dimensions: the size has to agree with the name.

    Errors: ShapeBindingError for a name that does not exist, another rank, another size than a
    known one, two sizes for one name, a negative size, and an expression with a new name whose size
    does not follow from that of a parameter.
    """
    shapes, dims = bindings.shapes, bindings.dims
    for name in shapes:
        if name not in declared:
            raise ShapeBindingError(
                f"there is no parameter '{name}'{did_you_mean(name, declared) or _list(declared)}"
            )
    facts = [
        (f"dimension {i} of parameter '{name}'", text, dimension)
        for name, named in (known or {}).items()
        for i, (text, dimension) in enumerate(zip(named, declared[name] or (), strict=False))
        if text is not None and isinstance(dimension, int)
    ]
    texts = [d for dimensions in declared.values() for d in dimensions or () if isinstance(d, str)]
    texts += [text for _, text, _ in facts]
    names = [
        symbol.name for text in dict.fromkeys(texts) for symbol in size_of_text(text).symbols()
    ]
    for text, value in dims.items():
        if not {symbol.name for symbol in size_of_text(text).symbols()} <= {*names}:
            raise ShapeBindingError(
                f"no parameter has a dimension '{text}'{did_you_mean(text, names) or _list(names)}"
            )
        if isinstance(value, int) and value < 0:
            raise ShapeBindingError(f"dimension '{text}' has size {value}")
    renamed = _renamed_names(dims)
    solver = _Solver(renamed)
    for place, text, value in facts:
        solver.add(place, text, value)
    for text, value in dims.items():
        if isinstance(value, int):
            solver.add(f"the size given for '{text}'", text, value)
    chosen: dict[str, tuple[Dimension, ...] | None] = {}
    for name, dimensions in declared.items():
        chosen[name] = None if dimensions is None else (*dimensions,)
        if (shape := shapes.get(name)) is not None:
            chosen[name] = tuple(_chosen(name, dimensions, shape, solver))
    solver.solve()
    sizes = solver.sizes()
    _check_new_names(renamed, names, [bound_dimension(text, sizes) for text in texts])
    sized = {
        name: None
        if dimensions is None
        else tuple(
            solver.sized(d, shapes.get(name, ())[i : i + 1], f"dimension {i} of parameter '{name}'")
            for i, d in enumerate(dimensions)
        )
        for name, dimensions in chosen.items()
    }
    return BoundShapes(sized, sizes)


def _renamed_names(dims: Mapping[str, int | str]) -> dict[str, Size]:
    """Return the expressions in `dims`, by the name that each takes the place of.

    Errors: ShapeBindingError for an expression that takes the place of another one.
    """
    renamed: dict[str, Size] = {}
    for text, value in dims.items():
        if isinstance(value, str):
            if (symbol := size_of_text(text).lone_symbol) is None:
                raise ShapeBindingError(
                    f"'{text}={value}': a name can get an expression, an expression only a size"
                )
            renamed[symbol.name] = size_of_text(value)
    return renamed


def _check_new_names(
    renamed: Mapping[str, Size], names: Iterable[str], bound: Iterable[Dimension]
) -> None:
    """Raise ShapeBindingError if the size of a name that only `renamed` brings in does not follow
    from the size of a single dimension in `bound`."""
    roots = [size_of_text(d).linear_root() for d in bound if isinstance(d, str)]
    found = {root[0].name for root in roots if root is not None}
    for old, size in renamed.items():
        for symbol in size.symbols():
            if symbol.name not in names and symbol.name not in found:
                raise ShapeBindingError(
                    f"'{old}={size}': the size of '{symbol.name}' follows from no dimension of a "
                    "parameter"
                )


def bound_dimension(dimension: Dimension, sizes: Mapping[str, int | Size]) -> Dimension:
    """Return a dimension after the choice of sizes for names: `2 * h` is 16 if `h` is 8."""
    if not isinstance(dimension, str):
        return dimension
    try:
        size = size_of_text(dimension)
        bound = size.bind(sizes)
    except TooComplex:
        return None
    if bound == size:
        return dimension
    return bound.text if bound.known is None else bound.known


@dataclass(frozen=True)
class _Choice:
    """A size that is chosen for an expression, with the text of both places for messages."""

    place: str
    text: str
    size: Size
    value: int


class _Solver:
    """Finds the sizes of names that follow from the sizes of expressions; those of `renamed` have
    expressions in their places."""

    def __init__(self, renamed: Mapping[str, Size]) -> None:
        self.renamed = renamed
        self.known: dict[str, int] = {}
        self.places: dict[str, str] = {}
        """Where the size of each name comes from."""
        self.open: list[_Choice] = []

    def add(self, place: str, text: str, value: int) -> None:
        """Add a size that is chosen for an expression; it holds at once if it determines a name."""
        choice = _Choice(place, text, size_of_text(text).bind(self.renamed), value)
        if not self.settle(choice):
            self.open.append(choice)

    def solve(self) -> None:
        """Determine names until nothing more follows."""
        before = None
        while before != len(self.open):
            before = len(self.open)
            self.open = [choice for choice in self.open if not self.settle(choice)]

    def sizes(self) -> dict[str, int | Size]:
        """Return the known sizes of names, and the expressions of those that are renamed."""
        renamed = {name: self.bind(size, f"'{name}'") for name, size in self.renamed.items()}
        return {**self.known, **renamed}

    def settle(self, choice: _Choice) -> bool:
        """Check a choice whose names are known, or determine the only unknown one; return whether
        nothing is left of it."""
        rest = self.bind(choice.size, choice.place) - Size.of(choice.value)
        if rest.known is not None:
            if rest.known:
                raise ShapeBindingError(
                    f"{choice.place} is '{choice.text}', which is {rest.known + choice.value}"
                    f"{self.reasons(choice.size)}, not {choice.value}"
                )
            return True
        if (solution := rest.linear_root()) is None:
            return False
        symbol, dividend, divisor = solution
        if dividend % divisor or dividend // divisor < 0:
            raise ShapeBindingError(
                f"{choice.place} is '{choice.text}', which is {choice.value} for no size of "
                f"'{symbol.name}'{self.reasons(choice.size)}"
            )
        self.known[symbol.name] = dividend // divisor
        self.places[symbol.name] = choice.place
        return True

    def reasons(self, size: Size) -> str:
        """Return where the sizes of the names in `size` come from."""
        places = [self.places.get(symbol.name) for symbol in size.symbols()]
        found = [*dict.fromkeys(place for place in places if place is not None)]
        return f" by {' and '.join(found)}" if found else ""

    def sized(self, dimension: Dimension, given: Sequence[int | None], place: str) -> Dimension:
        """Return a dimension with all that is known of it; `given` is its size in a shape."""
        if not isinstance(dimension, str):
            return dimension
        bound = bound_dimension(dimension, self.sizes())
        if isinstance(bound, int) and bound < 0:
            size = size_of_text(dimension)
            raise ShapeBindingError(
                f"{place} is '{dimension}', which is {bound}{self.reasons(size)}"
            )
        return bound if isinstance(bound, int) or not given or given[0] is None else given[0]

    def bind(self, size: Size, place: str) -> Size:
        try:
            return size.bind(self.known)
        except TooComplex as error:
            raise ShapeBindingError(f"{place}: {error}") from None


def _chosen(
    name: str, dimensions: Dimensions | None, shape: Sequence[int | None], solver: _Solver
) -> Iterator[Dimension]:
    """Yield the dimensions of one parameter with the sizes in `shape`, except for names, whose
    sizes are added to `solver`."""
    if dimensions is None:
        dimensions = (None,) * len(shape)
    if len(dimensions) != len(shape):
        raise ShapeBindingError(
            f"parameter '{name}' has {len(dimensions)} dimensions, {dimensions_text(dimensions)}, "
            f"not the {len(shape)} of {dimensions_text(shape)}"
        )
    for i, (dimension, size) in enumerate(zip(dimensions, shape, strict=True)):
        place = f"dimension {i} of parameter '{name}'"
        if size is not None and size < 0:
            raise ShapeBindingError(f"{place} has size {size}")
        if isinstance(dimension, str) and size is not None:
            solver.add(place, dimension, size)
        elif isinstance(dimension, int) and size not in (None, dimension):
            raise ShapeBindingError(f"{place} is {dimension}, not {size}")
        yield dimension if isinstance(dimension, str) or size is None else size


def dimensions_text(dimensions: Dimensions) -> str:
    """Return dimensions as in `batchx3x?`, `scalar` for none; for messages."""
    return "x".join("?" if d is None else _factor(str(d)) for d in dimensions) or "scalar"


def _factor(text: str) -> str:
    return f"({text})" if " " in text else text


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
    found_dims: dict[str, int | str] = {}
    for text in dims:
        name, size = _split(text, "batch=4", found_dims)
        if re.fullmatch(r"\d{1,18}", size):
            found_dims[name] = int(size)
        elif all(symbol.name.isidentifier() for symbol in size_of_text(size).symbols()):
            found_dims[name] = size
        else:
            raise ShapeBindingError(
                f"'{text}': expected a size, such as batch=4, or an expression of names, such as "
                f"batch=2 * n, got '{size}'"
            )
    return Bindings(found_shapes, found_dims)


def _split(text: str, example: str, found: Mapping[str, object]) -> tuple[str, str]:
    """Return the parts before and after the last `=`; names of ONNX may have others."""
    name, equals, value = text.rpartition("=")
    if not equals or not name:
        raise ShapeBindingError(f"'{text}': expected a name and what it is, such as {example}")
    if name in found:
        raise ShapeBindingError(f"'{text}': '{name}' is given twice")
    return name, value
