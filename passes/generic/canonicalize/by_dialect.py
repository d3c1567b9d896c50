"""The folds and patterns of the dialects, by the name of the operation.

The module of a dialect is imported when an operation of it is met. It has `FOLDS` and `NAMED`,
folds and patterns by the names of operations, and `PATTERNS`, which match by their own; any of them
may be missing. A pattern that makes operations that only a context knows is given as its class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Final, NamedTuple, TypeAlias

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, UnregisteredOp, i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from ....passmanager.fast.pattern_driver import DeclaredPatterns
from .constants import Constant
from .scalar_folds import is_foldable_scalar
from .scalar_patterns import CONSTANTS, FoldScalar, HoistConstant

__all__ = ["DialectFolds", "DialectPatterns", "Entry", "Fold", "Folded", "known_op"]

Folded: TypeAlias = SSAValue | Constant
"""A value that exists, or the value of a constant."""
Fold: TypeAlias = Callable[[Operation], Folded | Sequence[Folded] | None]
"""A function that returns what the result of an operation is equal to, or each of its results; None
if that is not known. It may also change operands of the operation, and return its result."""
Entry: TypeAlias = RewritePattern | Callable[[Context], RewritePattern]
"""A pattern, or what makes it for a context."""

_MODULES: Final[Mapping[str, str]] = {
    "acc": "acc_patterns",
    "affine": "affine_patterns",
    "arith": "extended_arithmetic",
    "bufferization": "bufferization_patterns",
    "builtin.unrealized_conversion_cast": "conversion_cast_folds",
    "complex": "complex_folds",
    "func.call_indirect": "function_patterns",
    "index": "index_patterns",
    "linalg": "linalg_patterns",
    "llvm": "llvm_patterns",
    "math": "math_folds",
    "memref": "memref_patterns",
    "scf.forall": "forall_patterns",
    "shard": "shard_patterns",
    "tensor": "tensor_patterns",
    "tensor.pad": "pad_patterns",
    "tosa": "tosa_patterns",
    "ub.poison": "poison",
    "vector": "vector_patterns",
    "vector.constant_mask": "vector_mask_patterns",
    "vector.create_mask": "vector_mask_patterns",
    "vector.extract_strided_slice": "vector_part_patterns",
    "vector.from_elements": "vector_element_patterns",
    "vector.insert_strided_slice": "vector_part_patterns",
    "vector.shape_cast": "vector_shape_patterns",
    "vector.shuffle": "vector_shuffle_patterns",
    "vector.step": "vector_step_patterns",
    "vector.to_elements": "vector_element_patterns",
    "vector.transpose": "vector_shape_patterns",
}
"""The modules of dialects, and of operations whose dialect has all else in place."""


class _Dialect(NamedTuple):
    """The folds and patterns in the module of a dialect or of a rare operation."""

    folds: Mapping[str, Fold] = {}
    patterns: Sequence[Entry] = ()
    named: Mapping[str, Sequence[Entry]] = {}


@cache
def _module(key: str) -> _Dialect:
    """Return the folds and patterns of a dialect or a rare operation."""
    if (name := _MODULES.get(key)) is None:
        return _Dialect()
    module = import_module(f".{name}", __package__)
    return _Dialect(
        getattr(module, "FOLDS", {}), getattr(module, "PATTERNS", ()), getattr(module, "NAMED", {})
    )


def _of(op_class: type[Operation]) -> _Dialect:
    name = op_class.name
    return _module(name if name in _MODULES else name.partition(".")[0])


def known_op(ctx: Context, name: str) -> type[Operation] | None:
    """Return the class of an operation, or None if a context does not know it."""
    found = ctx.get_optional_op(name)
    return None if found is None or issubclass(found, UnregisteredOp) else found


class DialectFolds(DeclaredPatterns):
    """The folds of an operation by its name; constants are moved to the start of the function."""

    def __init__(self, ctx: Context) -> None:
        super().__init__({})
        self._ctx = ctx
        self._hoist = HoistConstant()

    def patterns_of(self, op_class: type[Operation]) -> Iterator[RewritePattern]:
        """Yield the patterns for a class of operation, in order."""
        if op_class.name in CONSTANTS:
            # Equal constants are one value for the other patterns, as in MLIR's driver.
            yield self._hoist
        elif is_foldable_scalar(op_class):
            yield FoldScalar()
        elif (fold := _of(op_class).folds.get(op_class.name)) is not None:
            yield FoldOperation(fold, _own_constants(op_class, self._ctx))


class DialectPatterns(DeclaredPatterns):
    """The patterns of the dialect of an operation, but those of `arith`, `scf` and `cf` that are
    tried in any case."""

    def __init__(self, ctx: Context) -> None:
        super().__init__({})
        self._ctx = ctx

    def patterns_of(self, op_class: type[Operation]) -> Iterator[RewritePattern]:
        """Yield the patterns for a class of operation, in order."""
        dialect = _of(op_class)
        for entry in (*dialect.patterns, *dialect.named.get(op_class.name, ())):
            yield entry if isinstance(entry, RewritePattern) else entry(self._ctx)


class FoldOperation(RewritePattern):
    """Replace an operation by the constants or values that its fold returns."""

    def __init__(self, fold: Fold, constants: Mapping[Attribute | None, type[Operation]]) -> None:
        self.fold = fold
        self.constants = constants
        """The classes of constants by type; for any other type, that of None, or that of `arith`.
        """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Fold `op`."""
        if (folded := self.fold(op)) is None:
            return
        if op.results and folded is op.results[0]:
            rewriter.handle_operation_modification(op)
            return
        values: list[SSAValue] = []
        for item in folded if isinstance(folded, Sequence) else (folded,):
            is_value = isinstance(item, SSAValue)
            values.append(item if is_value else rewriter.insert(self._constant(item)).results[0])
        rewriter.replace(op, (), values)

    def _constant(self, value: Constant) -> Operation:
        if (cls := self.constants.get(value.type, self.constants.get(None))) is None:
            return arith.ConstantOp(value)
        name = "values" if cls.name == "tosa.const" else "value"
        return cls.create(result_types=[value.type], properties={name: value})


def _own_constants(
    op_class: type[Operation], ctx: Context
) -> Mapping[Attribute | None, type[Operation]]:
    """Return the classes of the constants of the dialect of an operation, by their type; that of
    None is for all others."""
    names: Mapping[Attribute | None, str] = {}
    match op_class.name.partition(".")[0]:
        case "index":
            names = {IndexType(): "index.constant", i1: "index.bool.constant"}
        case "llvm":
            names = {None: "llvm.mlir.constant"}
        case "tosa":
            names = {None: "tosa.const"}
        case _:
            pass
    classes = {type: known_op(ctx, name) for type, name in names.items()}
    return {type: cls for type, cls in classes.items() if cls is not None}
