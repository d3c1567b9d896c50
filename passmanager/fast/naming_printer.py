"""xDSL's printer, which remembers the names that it gave to values."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from io import StringIO
from typing import IO

from xdsl.dialects.builtin import Float16Type, Float32Type, Float64Type, IndexType, IntegerType
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove

from ..ir.text.custom_forms import has_implicit_terminator
from ..ir.text.default_dialect import short_name

# Names of blocks, which xDSL gives in the order of a region since 0.70.


# pyright: reportPrivateUsage=false


NAMES_REGIONS = hasattr(Printer, "_populate_block_name")
"""Whether xDSL names the blocks of a region before it prints them: before 0.70 it names each where
it is printed first, as a successor too, with numbers that regions in it share."""


def name_blocks(printer: Printer, region: Region) -> None:
    """Name the blocks of a region that is about to be printed."""
    names, block, index = printer._blocks, region.first_block, 0
    while block is not None:
        if block not in names:
            if hint := block.name_hint:
                count = printer.block_names.get(hint, 0)
                printer.block_names[hint] = count + 1
                names[block] = f"{hint}_{count}" if count else hint
            else:
                names[block] = f"bb{index}"
        block, index = block.next_block, index + 1


# pyright: reportPrivateUsage=false


SCALARS = frozenset({IndexType, IntegerType, Float16Type, Float32Type, Float64Type})


class RememberingStream:
    """A stream that knows what was written to it last."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self.last = ""

    def write(self, text: str) -> None:
        """Write a text."""
        if text:
            self.last = text
        self._stream.write(text)


class NamingPrinter(Printer):
    """xDSL's printer, with the same text.

    Printers of the same `kind` print an op with the same text, but for the names of values.
    """

    adds_to_ops = False
    """Whether a subclass prints more of an op than `print_itself`."""
    templated = 0
    """The number of ops that were printed from a template."""
    keeps_pieces = False
    """Whether collected text is written at the end alone."""

    def __init__(
        self,
        stream: IO[str] | None = None,
        *,
        generic: bool = False,
        properties_as_attributes: bool = False,
        debuginfo: bool = False,
        kind: Hashable | None = None,
    ) -> None:
        super().__init__(
            stream,
            print_generic_format=generic,
            print_properties_as_attributes=properties_as_attributes,
            print_debuginfo=debuginfo,
        )
        # Names by identity: a value's own hash is slow. The values stay alive.
        self._names: dict[int, str] = {}
        self._named: list[SSAValue] = []
        self._scalars: dict[int, tuple[Attribute, str]] = {}

    @property
    def pieces(self) -> Sequence[str] | None:
        """The text that is collected before it is written; None if it is written at once."""
        return None

    def write_pieces(self) -> None:
        """Write the text that is collected."""

    def unindented(self) -> AbstractContextManager[None]:
        """Print new lines without indentation in a `with` statement."""
        return self.indented(-self._indent)

    def ends_with(self, text: str) -> bool:
        """Return whether the string that was printed last ends with a text."""
        return self._last_piece().endswith(text)

    def _last_piece(self) -> str:
        return self.stream.last if isinstance(self.stream, RememberingStream) else ""

    def note_resource(self) -> None:
        """Note that the text of a resource is to be printed below."""

    @property
    def resources(self) -> Mapping[str, Collection[str]]:
        """The resources to which the printed text refers, by dialect."""
        return self._dialect_resources

    # Names

    def share_names(self, printer: NamingPrinter) -> None:
        """Name values as another printer does, and for it."""
        self._names, self._named = printer._names, printer._named

    def given_names(self) -> set[str]:
        """Return the names that values have been given."""
        return {*self._names.values()}

    def new_number(self) -> str:
        """Return the next number that is not the name of a value."""
        return self._get_new_valid_name_id()

    def keep_numbers(self) -> None:
        """Let the outer scope go on with the names of this one, which is about to end."""
        self._next_valid_name_id[-2] = self._next_valid_name_id[-1]
        self._ssa_names[-2] = self._ssa_names[-1]

    def name_values(self, names: Iterable[tuple[SSAValue, str]]) -> None:
        """Set the names of values."""
        for value, name in names:
            self._keep_name(value, name)

    def name_of(self, value: SSAValue) -> str | None:
        """Return the name that a value has been given."""
        return self._names.get(id(value))

    def print_ssa_value(self, value: SSAValue) -> str:
        if (name := self._names.get(id(value))) is None:
            if type(self)._new_name is NamingPrinter._new_name:
                return self._keep_name(value, super().print_ssa_value(value))
            name = self._new_name(value)
        self.print_string(f"%{name}")
        return name

    def _new_name(self, value: SSAValue) -> str:
        """Give a value the name with which xDSL prints it."""
        stream, self.stream = self.stream, StringIO()
        try:
            return self._keep_name(value, super().print_ssa_value(value))
        finally:
            self.stream = stream

    def _keep_name(self, value: SSAValue, name: str) -> str:
        self._names[id(value)] = name
        self._named.append(value)
        return name

    # Attributes

    def print_attribute(self, attribute: Attribute) -> None:
        self.print_attribute_itself(attribute)

    def print_attribute_itself(self, attribute: Attribute) -> None:
        """Print an attribute as xDSL does."""
        if attribute.__class__ in SCALARS:
            return self.print_string(self._scalar_text(attribute))
        return super().print_attribute(attribute)

    def _scalar_text(self, type: Attribute) -> str:
        """Return the text of a type of scalars, which xDSL is asked for once."""
        # By identity: the hash of an attribute is slow.
        if (known := self._scalars.get(id(type))) is None:
            known = self._scalars[id(type)] = type, str(type)
        return known[1]

    # Operations and regions

    def print_results(self, op: Operation) -> None:
        """Print the names of the results of an op, and the equals sign."""
        self._print_results(op)

    def print_op(self, op: Operation) -> None:
        self.print_itself(op)

    def print_itself(self, op: Operation) -> None:
        """Print an op as xDSL does, which has no names without the dialect."""
        name = None if self.print_generic_format else short_name(op)
        if name is None or self.diagnostic.op_messages:
            return super().print_op(op)
        self.print_results(op)
        if is_scope := op.has_trait(IsolatedFromAbove, value_if_unregistered=False):
            self.enter_scope()
        self.print_string(name)
        op.print(self)
        if self.print_debuginfo:
            self.print_location(op)
        if is_scope:
            self.exit_scope()

    def print_location(self, op: Operation) -> None:
        """Print the location of an op, after a space."""
        self.print_string(" ")
        self.print_attribute_itself(op.location)

    def print_region(
        self,
        region: Region,
        print_entry_block_args: bool = True,
        print_empty_block: bool = True,
        print_block_terminators: bool = True,
    ) -> None:
        # xDSL leaves out any terminator, also one that is not the implicit one of the op.
        print_block_terminators = print_block_terminators or not has_implicit_terminator(region)
        if not NAMES_REGIONS:
            name_blocks(self, region)
        super().print_region(
            region, print_entry_block_args, print_empty_block, print_block_terminators
        )
