"""The base of the operations of CUDA Tile IR: how Python constructs them."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from importlib import import_module
from typing import ClassVar, TypeAlias

from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation, traits_def
from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import HasCanonicalizationPatternsTrait, Pure
from xdsl.utils.str_enum import StrEnum

from .attributes import attribute_of
from .syntax import DIRECTIVES

Operand: TypeAlias = SSAValue | Sequence[SSAValue] | None
"""That of one definition: a sequence if it is variadic, None if it is optional and absent."""


class HasPatterns(HasCanonicalizationPatternsTrait):
    """The trait of operations that have patterns in `canonicalization`."""

    def get_patterns(self, op: type[Operation]) -> tuple[RewritePattern, ...]:
        # The patterns make operations: they are imported after these.
        return import_module(".canonicalization", __package__).PATTERNS[op]

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        return ()  # they differ from operation to operation


class CudaTileOp(IRDLOperation, ABC):
    """An operation of CUDA Tile IR."""

    custom_directives = DIRECTIVES

    RESULTS: ClassVar[Sequence[Attribute]] = ()
    """The types of the results, where they are always the same."""
    RESULT_OF: ClassVar[int] = 0
    """The operand whose type is that of the result, in other operations."""

    def __init__(
        self,
        *operands: Operand | Operation,
        types: Sequence[Attribute | Sequence[Attribute]] | None = None,
        regions: Sequence[Region | Sequence[Region]] = (),
        **properties: Attribute | StrEnum | bool | None,
    ):
        """Without `types`, those of the results follow from the operands, where they can. Members
        of enumerations and flags are properties as they are."""
        values = [SSAValue.get(o) if isinstance(o, Operation) else o for o in operands]
        super().__init__(
            operands=values,
            result_types=self.infer_types(*values) if types is None else types,
            properties={name: attribute_of(value) for name, value in properties.items()},
            regions=regions,
        )

    @classmethod
    def infer_types(cls, *operands: Operand) -> Sequence[Attribute]:
        """Return the types of the results for operands."""
        if cls.RESULTS or not cls.get_irdl_definition().results:
            return cls.RESULTS
        like = operands[cls.RESULT_OF] if operands else None
        if not isinstance(like, SSAValue):
            raise ValueError(f"{cls.name}: the types of its results must be given")
        return (like.type,)


class PureOp(CudaTileOp, ABC):
    """An operation that only computes its results."""

    traits = traits_def(Pure())
