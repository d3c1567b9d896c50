"""The interface of the accelerated parts: Protocols with two implementations of the same results.

One is ours, the other leaves the work to xDSL; `choose` of `acceleration.py` returns one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import UnionType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import LocationAttr, ModuleOp
from xdsl.ir import Attribute, Data, Operation, ParametrizedAttribute, SSAValue, SSAValues
from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import OpTrait

if TYPE_CHECKING:
    from .naming_printer import NamingPrinter


OpT = TypeVar("OpT", bound=Operation)
AttributeT = TypeVar("AttributeT", bound=Data[Any] | ParametrizedAttribute)


class Creator(Protocol):
    """The part `creating`: attributes and operations that are known to be valid."""

    def make_attribute(self, cls: type[AttributeT], /, **fields: object) -> AttributeT:
        """Return an attribute of class `cls` with these valid parameters, or `data`."""
        ...

    def set_fields(
        self,
        op: Operation,
        operands: Sequence[SSAValue],
        properties: dict[str, Attribute],
        attributes: dict[str, Attribute],
        location: LocationAttr,
    ) -> None:
        """Set the fields of a new operation but its results."""

    def set_results(self, op: Operation, types: Iterable[Attribute]) -> None:
        """Give an operation that has none yet results of these types."""

    def create_before(
        self,
        place: Operation,
        op_class: type[Operation],
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        properties: dict[str, Attribute],
    ) -> Operation:
        """Insert a new op before another, with its location; it has no regions and successors."""
        ...


class Cloner(Protocol):
    """The part `copying`."""

    def clone(self, op: OpT) -> OpT:
        """Return a detached copy of `op` and all ops nested in it, which shares their attributes,
        and the values and blocks from outside of `op`. Unlike xDSL's method, it keeps the name
        hints of blocks and the lack of a default property."""
        ...

    def clone_all(
        self,
        ops: Sequence[Operation],
        values: dict[SSAValue, SSAValue],
        wanted: Iterable[SSAValue] = (),
    ) -> list[Operation]:
        """Return detached copies of the ops of a block, with the keys of `values` replaced by its
        values; the copies of the results `wanted` are added to `values`. Each value has to be
        defined before its uses, as it is in structured control flow."""
        ...


class Editor(Protocol):
    """The part `editing`: uses of values."""

    def replace_operands(self, op: Operation, operands: SSAValues) -> None:
        """Give an op as many other operands; the uses of those that stay are not touched."""

    def replace_all_uses(self, old: SSAValue, new: SSAValue) -> None:
        """Replace a value in all its uses, in the order that xDSL's method leaves; the other gets
        the name of the value if it has none."""


Reader: TypeAlias = Callable[[Context, str, str, int, bool, int], ModuleOp]
"""The part `reading`: returns the module in a text, with a name, the number of lines before it,
whether the module may be implicit, and the most elements of a constant (see `parse_module`)."""

Printer: TypeAlias = "type[NamingPrinter]"
"""The part `printing`: a class of printers."""

Check: TypeAlias = Callable[[Operation], object]


class OpChecks(NamedTuple):
    """The checks that verify the ops of one class."""

    by_signature: bool
    """Whether one valid op stands for the others of its signature, but for the other checks."""
    all: tuple[Check, ...]
    """The checks of the first op of a signature: the same as its verifier."""
    others: tuple[Check, ...]
    """The checks of each op: traits that look around, and the author's verifier."""


Verifier: TypeAlias = Callable[[Check, type[OpTrait] | None], OpChecks]
"""The part `verifying`: returns the checks in the `verify_` of a class, but those of a trait."""

OpClass: TypeAlias = type[Operation] | UnionType
PatternReader: TypeAlias = Callable[[RewritePattern], OpClass]
"""The part `rewriting`: returns the class (or union) of ops that `@op_type_rewrite_pattern` checks
for, or that of all ops."""
