"""The checks of each op class: those that hold for all ops of one signature, and the others; and
that of types that xDSL accepts, and prints as text that MLIR cannot read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from operator import attrgetter
from types import FunctionType
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, ShapedType
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import OpDef
from xdsl.irdl.operations import get_accessors_from_op_def
from xdsl.traits import (
    NoTerminator,
    OpTrait,
    ReturnLike,
    SameOperandsAndResultType,
    SingleBlockImplicitTerminator,
)
from xdsl.utils.exceptions import VerifyException

from ..ir.per_class import PerClass
from .acceleration import choose
from .definition_checks import check_of_definition
from .edit import read_type
from .interface import Check, OpChecks, Verifier
from .signatures import is_of_signature, reads_its_op_alone

__all__ = ["Check", "OpChecks", "check_types", "checks_of", "checks_of_definition"]

_TRAITS: tuple[type[OpTrait], ...] = (
    NoTerminator,
    ReturnLike,
    SameOperandsAndResultType,
    SingleBlockImplicitTerminator,
)
"""xDSL's traits that look at the class, the types and the shape of the regions of an op alone."""

VERIFIES_SIGNATURE = {
    "xdsl.dialects.arith": {
        "AddUIExtendedOp.verify_",
        "BitcastOp.verify_",
        "ExtSIOp.verify_",
        "ExtUIOp.verify_",
        "IndexCastOp.verify_",
        "TruncIOp.verify_",
    },
    "xdsl.dialects.memref": {
        "AllocOp.verify_",
        "AllocaOp.verify_",
        "LoadOp.verify_",
        "StoreOp.verify_",
        "SubviewOp.verify_",
    },
    "xdsl.dialects.scf": {"ForOp.verify_"},
    "xdsl.dialects.vector": {
        "BroadcastOp.verify_",
        "ExtractOp.verify_",
        "InsertOp.verify_",
        "LoadOp.verify_",
        "MaskedLoadOp.verify_",
        "MaskedStoreOp.verify_",
        "ShuffleOp.verify_",
        "StoreOp.verify_",
    },
}
"""xDSL's own methods that check what is in the signature of the op alone, by module.

Of regions they look at the arguments and the last op of a single block.
"""


@cache
def checks_of(
    op_class: type[Operation], *, without: type[OpTrait] | None = None
) -> OpChecks | None:
    """Return how the ops of a class are verified, without the checks of a trait, or None if they
    have no verifier.
    """
    verifier = op_class.verify_
    if op_class.verify is not Operation.verify:  # its own checks are unknown
        return OpChecks(False, (verifier, _verify_by_class), ())
    if verifier is Operation.verify_:
        return None
    return _checks_in(verifier, without)


def _checks_by_signature(verifier: Check, without: type[OpTrait] | None) -> OpChecks:
    # A verifier written by hand without a definition may look anywhere: it runs for each op.
    if (others := _others(verifier, without)) is None:
        return _checks_of_xdsl(verifier, without)
    return OpChecks(True, (*_all(verifier, without),), (*others,))


def _checks_of_xdsl(verifier: Check, without: type[OpTrait] | None) -> OpChecks:
    return OpChecks(False, (verifier,), ())


_checks_in: Verifier = choose("verifying", lambda: _checks_by_signature, lambda: _checks_of_xdsl)


def _verify_by_class(op: Operation) -> None:
    """Call the method that the class of `op` has in place of xDSL's, which calls `verify_`."""
    op.verify(verify_nested_ops=False)


def _all(verifier: Check, without: type[OpTrait] | None) -> list[Check]:
    """Return the checks in a verifier, in their order."""
    if verifier is Operation.verify_:
        return []
    if (parts := parts_of_verifier(verifier)) is None:
        return [verifier]
    definition, author = parts
    return [check_of_definition(definition, without=without), *_all(author, without)]


def _others(verifier: Check, without: type[OpTrait] | None) -> list[Check] | None:
    """Return the checks in a verifier that look at more than the signature; None if it is not one
    that xDSL made of a definition.
    """
    if verifier is Operation.verify_ or _checks_signature(verifier):
        return []
    if (parts := parts_of_verifier(verifier)) is None:
        return None
    definition, author = parts
    # The author's `verify_` may be that of a base class with a definition of its own.
    inherited = _others(author, without)
    return [
        *checks_of_definition(definition, without=without),
        *([author] if inherited is None else inherited),
    ]


def parts_of_verifier(verifier: Check) -> tuple[OpDef, Check] | None:
    """Return the definition and the author's `verify_` of which `irdl_op_definition` made a
    verifier; None for any other function.

    It keeps both as variables of a closure only.
    """
    # `irdl_op_definition` makes `verify_` of each class in one function of xDSL: its code object is
    # one of the constants there, whichever class it is called for.
    if not isinstance(verifier, FunctionType):
        return None
    code, made_by = verifier.__code__, get_accessors_from_op_def
    if code.co_filename != made_by.__code__.co_filename or code not in made_by.__code__.co_consts:
        return None
    cells = [cell.cell_contents for cell in verifier.__closure__ or ()]
    definitions = [cell for cell in cells if isinstance(cell, OpDef)]
    authors = [cell for cell in cells if callable(cell)]
    if len(definitions) != 1 or len(authors) > 1:
        return None
    return definitions[0], cast(Check, authors[0]) if authors else Operation.verify_


def checks_of_definition(
    definition: OpDef, *, without: type[OpTrait] | None = None
) -> tuple[Check, ...]:
    """Return the checks of traits that look at more than the signature."""
    return (
        *(
            trait.verify
            for trait in definition.traits
            if _looks_around(trait) and (without is None or not isinstance(trait, without))
        ),
    )


def _checks_signature(verifier: Check) -> bool:
    known = VERIFIES_SIGNATURE.get(verifier.__module__, ())
    return is_of_signature(verifier) or (
        verifier.__qualname__ in known and reads_its_op_alone(verifier)
    )


def _looks_around(trait: OpTrait) -> bool:
    """Return whether a trait may look at more than the signature; one that is unknown may."""
    # By the method, not the class: a subclass of a known trait that overrides `verify` is unknown.
    verifier = type(trait).verify
    return not any(verifier is known.verify for known in (OpTrait, *_TRAITS))


def check_types(op: Operation, known: dict[int, Attribute]) -> None:
    """Raise VerifyException if a shape has a dimension that is negative or no i64 in a type of
    `op`: of a result, an argument of an entry block, or a property that is a type.

    The types that were checked are kept in `known`, by identity: most are those of other ops, too.
    """
    # Operands are results or arguments elsewhere, and checked there.
    types = [*map(read_type, op.results)]
    types += (value for value in op.properties.values() if _is_type[type(value)])
    for region in op.regions:
        if (entry := region.first_block) is not None:
            types += entry.arg_types
    for attribute in types:
        if (invalid := _invalid_shape(attribute, known)) is not None:
            shape = ", ".join(map(str, invalid))
            kind = (
                "dimension larger than an i64" if max(invalid) > MAX_SIZE else "negative dimension"
            )
            raise VerifyException(f"has a type with a {kind}: shape [{shape}]")


MAX_SIZE = (1 << 63) - 1

_is_type = PerClass[Attribute, bool](lambda cls: issubclass(cls, TypeAttribute))


def _parts_of(cls: type[Attribute]) -> Callable[[Attribute], Sequence[Attribute]] | None:
    """Return the function that returns the attributes in an attribute; None if it has no shape."""
    if issubclass(cls, ArrayAttr):
        return attrgetter("data")
    if issubclass(cls, ParametrizedAttribute):
        return attrgetter("parameters")
    return (lambda _: ()) if issubclass(cls, ShapedType) else None


_parts = PerClass(_parts_of)
_is_shaped = PerClass[Attribute, bool](lambda cls: issubclass(cls, ShapedType))


def _invalid_shape(attribute: Attribute, known: dict[int, Attribute]) -> tuple[int, ...] | None:
    """Return the first shape in an attribute that has an invalid dimension, or None."""
    if (parts := _parts[type(attribute)]) is None or id(attribute) in known:
        return None
    if _is_shaped[type(attribute)]:
        shape = cast(ShapedType, attribute).get_shape()
        for size in shape:
            if not 0 <= size <= MAX_SIZE and size != DYNAMIC_INDEX:
                return (*shape,)
    for part in parts(attribute):
        if _parts[type(part)] and (found := _invalid_shape(part, known)) is not None:
            return found
    known[id(attribute)] = attribute
    return None
