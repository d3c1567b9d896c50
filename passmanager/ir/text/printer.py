"""A printer of IR that is exact, so that the same IR is read back, with styles for human
readers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from typing import IO, Any, cast

from typing_extensions import TypeIs
from xdsl.context import Context
from xdsl.dialect_interfaces.op_asm import OpAsmDialectInterface
from xdsl.dialects.builtin import (
    AnyDenseElement,
    AnyFloat,
    BFloat16Type,
    BytesAttr,
    ComplexType,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    Float80Type,
    Float128Type,
    FloatData,
    FunctionType,
    IndexType,
    IntegerType,
    ModuleOp,
    RankedStructure,
    StringAttr,
    UnregisteredAttr,
    UnregisteredOp,
    f64,
    i1,
)
from xdsl.ir import Attribute, Dialect, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.hints import isa

from ...errors import InvalidIRError, PasslineError
from ...fast.acceleration import choose
from ...fast.naming_printer import NamingPrinter, RememberingStream
from ...fast.reading.lexer import MAX_DIGITS
from ...releases.floats import PACKS_BF16, byte_size, print_float, unpack
from ..per_class import PerClass
from .custom_forms import has_exact_custom_form, is_plain, returns_function
from .float_bits import Float, bits_of, float_words

__all__ = [
    "ELIDED",
    "PLAIN",
    "ExactPrinter",
    "PrintStyle",
    "blob_name",
    "blob_of",
    "dense_of",
    "is_dense",
    "is_splat",
    "module_text",
    "wants_dense",
]


# Dense constants as resources: named blobs at the end of a file.


ELIDED = "__elided__"
"""The resource name that MLIR prints for elided elements."""


def blob_of(dense: DenseIntOrFPElementsAttr) -> tuple[str, str]:
    """Return a constant as a resource: its name, and the text of its blob.

    The blob is the alignment in four bytes followed by the elements, as in MLIR.
    """
    blob = _blob(dense)
    return _name_of(blob), f"0x{blob.hex().upper()}"


def blob_name(dense: DenseIntOrFPElementsAttr) -> str:
    """Return the name of a constant as a resource: a hash of the blob, so that it is the same in
    each dump, and equal constants share a blob.
    """
    return _name_of(_blob(dense))


def _name_of(blob: bytes) -> str:
    from hashlib import sha256  # loads OpenSSL

    return f"constant_{sha256(blob).hexdigest()[:16]}"


def _blob(dense: DenseIntOrFPElementsAttr) -> bytes:
    element, data = dense.get_element_type(), dense.data.data
    if element == i1:
        data = bytes(map(bool, data))  # true is 0xFF in xDSL, 1 in MLIR
    size = element.compile_time_size
    # The alignment is the largest power of two that divides the size of an element.
    return (size & -size).to_bytes(4, "little") + data


def dense_of(type: Attribute, text: str) -> DenseIntOrFPElementsAttr:
    """Return the constant of a type whose elements are in the text of a blob.

    Errors: ValueError with the defect of the blob.
    """
    if not isa(type, RankedStructure[AnyDenseElement]) or not type.has_static_shape():
        raise ValueError(f"cannot be the elements of {type}")
    element = type.get_element_type()
    try:
        # The alignment is not needed: the elements are copied.
        data = bytes.fromhex(text.removeprefix("0x"))[4:]
    except ValueError:
        raise ValueError("is not made of hexadecimal digits") from None
    if len(data) != (size := type.element_count() * element.compile_time_size):
        raise ValueError(f"has {len(data)} bytes, and {type} takes {size}")
    if element == i1:
        data = bytes(0xFF * bool(value) for value in data)
    return DenseIntOrFPElementsAttr(type, BytesAttr(data))


def is_splat(dense: DenseIntOrFPElementsAttr) -> bool:
    """Return whether all elements are bitwise equal."""
    data, count = dense.data.data, len(dense)
    return count > 0 and data[: len(data) // count] * count == data


def wants_dense(op: IRDLOperation | type[IRDLOperation], name: str) -> bool:
    """Return whether the property `name` of an op must be a dense constant, not a resource."""
    definition = op.get_irdl_definition().properties.get(name)
    bases = definition.constr.get_bases() if definition is not None else None
    return (
        bases is not None and DenseIntOrFPElementsAttr in bases and DenseResourceAttr not in bases
    )


@dataclass(frozen=True)
class PrintStyle:
    """The style of printed IR. Everything can be read back but elided elements and skipped
    regions.
    """

    generic: bool = False
    properties_as_attributes: bool = False
    debuginfo: bool = False
    skip_regions: bool = False
    """Print a region as `{...}`."""
    unique_ssa_ids: bool = False
    """Give all values different names, also in different functions."""
    value_users: bool = False
    """Add comments with the users of each value."""
    elide_elements: int | None = None
    """Elide the elements of constants that have more than this, unless all are equal."""
    resource_elements: int | None = None
    """Print constants with more elements than this as resources, unless all elements are equal."""
    elide_resources: int | None = None
    """Omit resources whose text is longer than this."""


PLAIN = PrintStyle()


def module_text(module: ModuleOp, ctx: Context, style: PrintStyle = PLAIN) -> str:
    """Return the text of a module with its resources."""
    printer = ExactPrinter(stream := StringIO(), style)
    printer.print_op(module)
    printer.print_metadata(ctx.loaded_dialects)
    return f"{stream.getvalue()}\n\n"


class PlainPrinter(NamingPrinter):
    """A printer in xDSL's format that keeps every bit of dense constants, and prints readable types
    of functions that return one function. The IR does not change, also if printing fails.

    xDSL 0.74 takes [0.0, -0.0] for a splat, and reads the digits that it prints for infinities and
    NaN as numbers. Such a constant is printed as one hexadecimal string, which MLIR reads too.
    """

    _blobs: Mapping[str, str] = {}
    """The resources that are printed below, by name."""
    _ids: dict[Operation, str] | None = None
    """The names of ops without results, for comments."""
    _returns_function = False
    """Whether the op that is being printed does."""

    def __init__(self, stream: IO[str] | None = None, style: PrintStyle = PLAIN) -> None:
        super().__init__(
            stream,
            generic=style.generic,
            properties_as_attributes=style.properties_as_attributes,
            debuginfo=style.debuginfo,
            # A subclass may print in another way for reasons of its own.
            kind=style if type(self) is ExactPrinter else None,
        )
        self.style = style
        self.adds_to_ops = style.value_users or type(self).print_op is not PlainPrinter.print_op

    # Attributes

    def print_attribute(self, attribute: Attribute) -> None:
        if self._returns_function and isinstance(attribute, FunctionType):
            if self.ends_with("-> "):
                with self.in_parens():
                    return super().print_attribute(attribute)
        return super().print_attribute(attribute)

    def print_attribute_itself(self, attribute: Attribute) -> None:
        try:
            if (print_exactly := _exact_printers[type(attribute)]) is not None:
                return print_exactly(self, attribute)
            return super().print_attribute_itself(attribute)
        except ValueError as error:  # of Python, for a number of too many digits
            raise PasslineError(f"'{attribute.name}' cannot be printed: {error}") from error

    def print_unregistered_attribute(self, attribute: UnregisteredAttr) -> None:
        """Print an attribute of an unregistered dialect as it was written."""
        with self.unindented():  # its lines are not lines of the IR
            super().print_attribute_itself(attribute)

    def print_float_data(self, data: FloatData) -> None:
        """Print a number without a type. xDSL does so as Python, which is read back unless it has
        an exponent or is not finite: `1e-05`, `nan`.
        """
        self.print_string(f"#{data.name}<")
        if re.fullmatch(r"-?\d+\.\d+", text := repr(data.data)):
            self.print_string(text)
        else:
            self.print_float(data.data, f64)
        self.print_string(">")

    def print_float(self, value: float, type: AnyFloat) -> None:
        """Print a number; xDSL prints none of f80 and f128."""
        if isinstance(type, BFloat16Type) and not PACKS_BF16:
            return print_float(self, value, type)
        if not isinstance(type, Float80Type | Float128Type):
            return super().print_float(value, type)
        text = repr(value)
        if not math.isfinite(value) or "." not in text:
            bits, width = bits_of(value, type)
            text = f"0x{bits:0{width // 4}X}"
        return self.print_string(text)

    def print_string_literal(self, string: str) -> None:
        """Print a string with the escapes of MLIR; xDSL before 0.65 prints those of JSON."""
        self.print_bytes_literal(string.encode())

    def print_int(self, value: int, type: IntegerType | IndexType | None = None) -> None:
        """Print an integer; in hexadecimal digits if Python would print no decimal ones."""
        if value.bit_length() <= 3 * MAX_DIGITS:
            return super().print_int(value, type)
        return self.print_string(hex(value))

    def print_dense(self, dense: DenseIntOrFPElementsAttr) -> None:
        """Print a constant with its type; also called by ops that print their constants
        themselves.
        """
        if isinstance(dense.get_element_type(), BFloat16Type) and not PACKS_BF16:
            raise PasslineError("dense constants of bf16 need xDSL 0.64 or newer")
        if (name := self._resource_for(dense)) is not None:
            self.print_string(f"dense_resource<{name}> : ")
        elif (digits := _digits_if_lossy(dense)) is not None:
            self.print_string(f'dense<"0x{digits}"> : ')
        elif dense.get_element_type() == i1 and len(dense) > 100 and not dense.is_splat():
            # xDSL reads hexadecimal digits of i1 as bytes, MLIR as bits.
            words = ["true" if value else "false" for value in dense.get_values()]
            self.print_string(f"dense<{_nested(words, dense.get_shape())}> : ")
        elif (words := _float_words(dense)) is not None:
            self.print_string(f"dense<{_nested(words, dense.get_shape())}> : ")
        else:
            return super().print_attribute_itself(dense)
        return self.print_attribute(dense.get_type())

    def _resource_for(self, dense: DenseIntOrFPElementsAttr) -> str | None:
        """Return the name of the resource that is printed for a constant, or None."""
        elided = _exceeds(len(dense), self.style.elide_elements)
        if (not elided and not _exceeds(len(dense), self.style.resource_elements)) or is_splat(
            dense
        ):
            return None
        if elided:
            return ELIDED
        name, text = blob_of(dense)
        self._blobs = {**self._blobs, name: text}
        self.note_resource()
        return name

    def print_metadata(self, dialects: Iterable[Dialect]) -> None:
        """Print the resources to which the printed IR refers, as far as the dialects have them."""
        if not self.resources and not self._blobs:
            return
        found = {"builtin": {**self._blobs}} if self._blobs else {}
        for dialect in dialects:
            keys = self.resources.get(dialect.name)
            if keys and (interface := dialect.get_interface(OpAsmDialectInterface)) is not None:
                found[dialect.name] = found.get(dialect.name, {}) | interface.build_resources(keys)
        sections: list[str] = []
        for name, resources in found.items():
            if entries := ",\n".join(self._entries(resources)):
                sections.append(f"    {name}: {{\n{entries}\n    }}")
        if sections:
            text = ",\n".join(sections)
            self.print_string(f"\n\n{{-#\n  dialect_resources: {{\n{text}\n  }}\n#-}}")

    def _entries(self, resources: Mapping[str, str]) -> Iterator[str]:
        """Yield the lines of the resources of a dialect that are not too long."""
        for key, text in sorted(resources.items()):
            if not _exceeds(len(text) + len('""'), self.style.elide_resources):
                yield f'      {key}: "{text}"'

    # Regions and names

    def print_region(
        self,
        region: Region,
        print_entry_block_args: bool = True,
        print_empty_block: bool = True,
        print_block_terminators: bool = True,
    ) -> None:
        if self.style.skip_regions:
            return self.print_string("{...}")
        return super().print_region(
            region, print_entry_block_args, print_empty_block, print_block_terminators
        )

    def exit_scope(self) -> None:
        if self.style.unique_ssa_ids:  # the outer scope continues the numbers
            self.keep_numbers()
        super().exit_scope()

    # Ops

    def print_op(self, op: Operation) -> None:
        if not self.style.value_users:
            return super().print_op(op)
        if self._ids is not None:
            self._print_argument_users(op)
        elif self.style.value_users:
            return self._print_with_users(op)
        super().print_op(op)
        if self._ids is not None and (comment := self._comment(op, self._ids)):
            self.print_string(f" // {comment}")

    def print_itself(self, op: Operation) -> None:
        if is_plain[type(op)] and not (op.attributes or self._returns_function):
            return super().print_itself(op)
        generic = self.print_generic_format
        returns_one = not generic and returns_function(op)
        if returns_one or self._returns_function:
            self._print_result_list(op, returns_one)
        elif _is_registered[type(op)] and (generic or has_exact_custom_form(op)):
            super().print_itself(op)  # as below, with fewer calls
        else:
            self._print_form(op)

    def _print_result_list(self, op: Operation, returns_one: bool) -> None:
        """Print an op that returns one function, or one in it."""
        before, stream = self._returns_function, self.stream
        self._returns_function = returns_one
        if self.pieces is None:
            self.stream = cast(IO[str], RememberingStream(stream))
        try:
            self._print_form(op)
        finally:
            self._returns_function, self.stream = before, stream

    def _print_form(self, op: Operation) -> None:
        if not _is_registered[type(op)]:
            self._print_unregistered_op(cast(UnregisteredOp, op))
        elif self.print_generic_format or has_exact_custom_form(op):
            super().print_itself(op)
        else:
            self._print_generic_form(op)

    def _print_generic_form(self, op: Operation) -> None:
        """Print an op, but not those nested in it, in generic form."""
        is_scope = op.has_trait(IsolatedFromAbove, value_if_unregistered=False)
        self.print_results(op)
        if is_scope:
            self.enter_scope()
        self.print_string(f'"{op.name}"')
        self.print_op_with_default_format(op)
        if is_scope:
            self.exit_scope()

    def print_op_with_default_format(self, op: Operation) -> None:
        if self.print_properties_as_attributes:
            for name in sorted(op.properties.keys() & op.attributes.keys()):
                message = f"has a property and an attribute '{name}': they cannot both be printed"
                raise InvalidIRError(f"'{op.name}' op {message} as attributes", op)
        super().print_op_with_default_format(op)
        if self.print_debuginfo:
            self.print_location(op)

    def print_operation_type(self, op: Operation) -> None:
        """Print the type of an op, but not its location, as xDSL does, where an op prints its type
        within its custom form.
        """
        self.print_function_type(op.operand_types, op.result_types)

    def _print_unregistered_op(self, op: UnregisteredOp) -> None:
        """Print an unregistered op and restore its attributes: xDSL removes the one with the
        name, and prints the name without escapes.
        """
        attributes = op.attributes
        op.attributes = {**attributes, "op_name__": StringAttr(_escaped(op.op_name.data))}
        try:
            super().print_itself(op)
        finally:
            op.attributes = attributes

    def _print_with_users(self, op: Operation) -> None:
        # Twice: the users of a value come after it, and have their names only once they are
        # printed.
        numbering = _Numbering(self)
        numbering.print_op(op)
        self._ids = numbering.ids
        try:
            self.print_op(op)
        finally:
            self._ids = None

    def _print_argument_users(self, op: Operation) -> None:
        """Print the users of the block arguments before the first op of a block."""
        block = op.parent
        for arg in block.args if block is not None and block.first_op is op else ():
            if (name := self.name_of(arg)) is not None:
                users = ", ".join(self._users(arg))
                self.print_string(f"// %{name} is {f'used by {users}' if users else 'unused'}\n")

    def _comment(self, op: Operation, ids: dict[Operation, str]) -> str:
        if not op.results:
            return f"id: %{ids[op]}" if op in ids else ""
        users = [self._users(result) for result in op.results]
        if len(users) == 1:
            if not users[0]:
                return "unused"
            return f"user{'s' * (len(users[0]) > 1)}: {', '.join(users[0])}"
        return "users: " + ", ".join(f"({', '.join(some) or 'unused'})" for some in users)

    def _users(self, value: SSAValue) -> list[str]:
        """Return the names of the results of the ops that use a value, or the ids of users without
        results.
        """
        ids = self._ids or {}
        found: list[str] = []
        for user in dict.fromkeys(use.operation for use in value.uses):
            found += [f"%{name}" for name in map(self.name_of, user.results) if name is not None]
            found += [f"%{ids[user]}"] if user in ids else []
        return found


_is_registered = PerClass[Operation, bool](lambda cls: not issubclass(cls, UnregisteredOp))


def _exact_printer(
    attribute_class: type[Attribute],
) -> Callable[[PlainPrinter, Any], None] | None:
    """Return how attributes of a class are printed otherwise than by xDSL; None if they are not."""
    if issubclass(attribute_class, DenseIntOrFPElementsAttr):
        return lambda printer, dense: printer.print_dense(dense)  # a subclass may hash it
    if issubclass(attribute_class, FloatData):
        return PlainPrinter.print_float_data
    if issubclass(attribute_class, UnregisteredAttr):
        return PlainPrinter.print_unregistered_attribute
    return None


_exact_printers = PerClass[Attribute, "Callable[[PlainPrinter, Any], None] | None"](_exact_printer)


def _template_printer() -> type[NamingPrinter]:
    from ...fast.template_printer import TemplatePrinter

    return TemplatePrinter


PRINTER = choose("printing", _template_printer, lambda: NamingPrinter)


class ExactPrinter(PlainPrinter, PRINTER):
    """A printer of exact text, accelerated if that part is."""

    plain = PlainPrinter
    """The class with the same text that is not accelerated."""


class _Numbering(ExactPrinter):
    """A printer without output, which determines the names of values before they are printed."""

    def __init__(self, printer: PlainPrinter) -> None:
        super().__init__(StringIO(), replace(printer.style, value_users=False, skip_regions=False))
        self.share_names(printer)
        self._given = printer.given_names()
        self.ids: dict[Operation, str] = {}  # of ops that have operands but no results

    def print_op(self, op: Operation) -> None:
        super().print_op(op)
        if op.operands and not op.results:
            while (name := self.new_number()) in self._given:
                pass
            self.ids[op] = name


def _escaped(text: str) -> str:
    """Return the content of a string literal for a text."""
    return "".join(
        chr(byte) if 0x20 <= byte < 0x7F and byte not in b'"\\' else f"\\{byte:02X}"
        for byte in text.encode()
    )


def _exceeds(size: int, limit: int | None) -> bool:
    return limit is not None and size > limit


def is_dense(attribute: Attribute) -> TypeIs[DenseIntOrFPElementsAttr]:
    """Return whether an attribute is a dense constant, of any element type."""
    return isinstance(attribute, DenseIntOrFPElementsAttr)


def _nested(words: Sequence[str], shape: Sequence[int]) -> str:
    """Return words in nested brackets, as the elements of a constant of this shape."""
    for size in reversed(shape):
        rows = range(0, len(words), size)
        words = [f"[{', '.join(words[i : i + size])}]" for i in rows]
    return words[0]


def _float_words(dense: DenseIntOrFPElementsAttr) -> list[str] | None:
    """Return the elements of a constant that xDSL prints one by one, all finite, as it does; None
    for other constants.
    """
    element, shape = dense.get_element_type(), dense.get_shape()
    if not isinstance(element, Float) or not dense.shape_is_complete:
        return None
    if not 1 < len(dense) <= 100 or dense.is_splat():
        return None
    return float_words(cast(Sequence[float], dense.get_values()), element) if shape else None


def _digits_if_lossy(dense: DenseIntOrFPElementsAttr) -> str | None:
    """Return the bytes as hexadecimal digits, of one element if all are equal; None if xDSL's text
    is exact.
    """
    element, data, count = dense.get_element_type(), dense.data.data, len(dense)
    part = element.element_type if isinstance(element, ComplexType) else element
    if count == 0 or not isinstance(part, AnyFloat):
        return None
    first, splat = data[: len(data) // count], is_splat(dense)
    if not splat and count > 100 and not dense.is_splat():
        return None  # xDSL prints digits, too
    printed = first if splat else data
    values = unpack(part, printed, len(printed) // byte_size(part))
    if all(map(math.isfinite, values)) and (splat or not dense.is_splat()):
        if not (isinstance(element, ComplexType) and isinstance(part, Float)):
            return None
        # xDSL reads no pair of which one number is in hexadecimal digits.
        if not any(word.startswith("0x") for word in float_words(values, part)):
            return None
    return (first if splat else data).hex().upper()
