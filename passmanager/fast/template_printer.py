"""A printer that prints most ops from templates, and collects its output in large pieces."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cache
from typing import IO, NamedTuple, cast

from xdsl.dialects.builtin import FunctionType, MemRefType, TensorType
from xdsl.dialects.func import CallOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import IsTerminator

from ..ir.per_class import PerClass
from ..ir.text.custom_forms import has_implicit_terminator
from ..ir.text.default_dialect import has_short_names, short_name
from .edit import Fields, read_fields, read_type
from .end_clauses import EndClause, end_clause
from .naming_printer import NamingPrinter, name_blocks
from .op_templates import (
    LONGEST,
    OpTemplate,
    RegionFlags,
    RegionTemplate,
    TemplateParts,
    has_region_template,
    has_template,
    make_template,
    plain_symbol,
    repetition,
    shape_text,
)
from .reading.line_shapes import ends_with_type
from .signatures import Signature, Signatures

_PIECES = 1 << 14
"""The output is written when there are more pieces."""
_ENTRIES = 1 << 15
"""The tables start anew when they have more entries: IR that repeats has far fewer."""


_HOLE = "\0"
"""The place of a name in a template: a character that no text of IR has."""
_SHAPED = (TensorType, MemRefType)


class _Pieces(list[str]):
    """Output in pieces for the stream `sink`, for those who write to the stream of the printer."""

    def __init__(self, sink: IO[str]) -> None:
        super().__init__()
        self.sink = sink
        self.kept = 0
        """The number of callers that need the pieces kept."""

    write = list[str].append

    def flush(self) -> None: ...


class _KnownTexts:
    """The texts that printers of one kind have printed: each table starts anew when it has more
    than `_ENTRIES`."""

    def __init__(self) -> None:
        self.templates: dict[Signature, OpTemplate] = {}
        self.region_templates: dict[Signature, RegionTemplate] = {}
        self.texts: dict[int, str] = {}  # of attributes, by number


class _Forms(NamedTuple):
    """What is known of the text of ops by their class."""

    has_template: PerClass[Operation, bool]
    ends_with_type: PerClass[Operation, bool]
    end_clause: PerClass[Operation, EndClause | None]
    has_region_template: PerClass[Operation, bool]


@cache
def _forms(generic: bool) -> _Forms:
    """Return what is known of the generic or the custom form."""
    return _Forms(
        PerClass[Operation, bool](lambda op_class: has_template(op_class, generic)),
        PerClass[Operation, bool](lambda op_class: generic or ends_with_type[op_class]),
        PerClass[Operation, EndClause | None](
            lambda op_class: None if generic else end_clause[op_class]
        ),
        PerClass[Operation, bool](lambda op_class: has_region_template(op_class, generic)),
    )


_signatures = Signatures()


@cache
def _shared_texts(_kind: Hashable) -> _KnownTexts:
    """Return the texts that printers of a kind share."""
    return _KnownTexts()


class TemplatePrinter(NamingPrinter):
    """xDSL's printer, with the same text.

    The text of an op without successors, around its regions if it has any, depends on its signature
    and on the names of values, if its class promises that (see `has_template`). So it is printed
    once by xDSL, which leaves a template for all other ops of this signature. The text of an
    attribute is kept, too. Printers of the same `kind`, whose texts depend on nothing else of them,
    share both: a module that is printed after each pass has mostly ops that were printed before.
    """

    # Class attributes are the values of those that few printers set: an object with more than 30
    # attributes of its own makes each access slower in CPython, and xDSL's printer has 21.

    _pieces: _Pieces | None = None
    """The output that is collected; None while nothing is printed."""
    _notes = 0
    """The number of resources that were noted, to be printed below."""
    _record: list[tuple[int, SSAValue]] | None = None
    """Where names are in the pieces, while an op is printed first."""
    _parts: TemplateParts | None = None
    """The parts of the op with regions that is printed first."""

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
            generic=generic,
            properties_as_attributes=properties_as_attributes,
            debuginfo=debuginfo,
        )
        self._known = _KnownTexts() if kind is None else _shared_texts(kind)
        self._forms = _forms(generic)

    def note_resource(self) -> None:
        self._notes += 1

    def print_resource_handle(self, dialect: str, handle: str) -> None:
        self._notes += 1
        super().print_resource_handle(dialect, handle)

    # Output

    @property
    def pieces(self) -> Sequence[str] | None:
        return self._pieces

    def _collect(self) -> bool:
        """Start to collect the output; False if it is collected already, or must not be.

        xDSL writes messages about ops below them, for which it counts columns.
        """
        if self._pieces is not None or self.diagnostic.op_messages or self._next_line_callback:
            return False
        self._pieces = _Pieces(self.stream)
        self._pieces.kept = int(self.keeps_pieces)
        self.stream = cast(IO[str], self._pieces)
        return True

    def _finish(self) -> None:
        assert self._pieces is not None
        self.write_pieces()
        self.stream, self._pieces = self._pieces.sink, None

    def write_pieces(self) -> None:
        if self._pieces:
            text = "".join(self._pieces)
            self._pieces.clear()
            print(text, end="", file=self._pieces.sink)
            self._current_line += text.count("\n")
            last_line = text[text.rfind("\n") + 1 :]
            before = self._current_column if last_line == text else 0
            self._current_column = before + len(last_line)

    def print_string(self, text: str, *, indent: int | None = None) -> None:
        if self._pieces is None:
            return super().print_string(text, indent=indent)
        indent = self._indent if indent is None else indent
        if indent and "\n" in text:
            text = text.replace("\n", "\n" + " " * (indent * self.indent_num_spaces))
        self._pieces.append(text)

    def _print_new_line(self, indent: int | None = None, print_message: bool = True) -> None:
        if self._pieces is None:
            return super()._print_new_line(indent, print_message)
        indent = self._indent if indent is None else indent
        self._pieces.append("\n" + " " * (indent * self.indent_num_spaces))

    def _last_piece(self) -> str:
        return self._pieces[-1] if self._pieces else super()._last_piece()

    # Names

    def print_ssa_value(self, value: SSAValue) -> str:
        if (name := self._names.get(id(value))) is None:
            name = self._new_name(value)
        if self._record is not None and self._pieces is not None:
            self._record.append((len(self._pieces), value))
        self.print_string(f"%{name}")
        return name

    def _new_name(self, value: SSAValue) -> str:
        if hint := value.name_hint:
            names = self._ssa_names[-1]
            count = names.get(hint, 0)
            name = f"{hint}_{count}" if count else hint
            names[hint] = count + 1
        else:
            name = self._get_new_valid_name_id()
        return self._keep_name(value, name)

    # Attributes

    def print_attribute(self, attribute: Attribute) -> None:
        pieces = self._pieces
        if pieces is None or self.printing_location:
            return self.print_attribute_itself(attribute)
        number = _signatures.number(attribute)
        if (known := self._known.texts.get(number)) is not None:
            return pieces.append(known)
        start, names, notes = len(pieces), len(self._record or ()), self._notes
        pieces.kept += 1
        try:
            self.print_attribute_itself(attribute)
        finally:
            pieces.kept -= 1
        # An attribute whose text has names of values differs from op to op, and one that refers to
        # a resource is printed anew by each printer, which then prints the resource.
        if len(pieces) - start > LONGEST or len(self._record or ()) > names or self._notes > notes:
            return
        text = "".join(pieces[start:])
        if len(text) <= LONGEST and "\n" not in text:
            pieces[start:] = [text]
            if len(self._known.texts) > _ENTRIES:
                self._known.texts.clear()
            self._known.texts[number] = text

    def print_attribute_itself(self, attribute: Attribute) -> None:
        # `match` alone would take longer: both classes are abstract.
        if attribute.__class__ not in _SHAPED or (text := shape_text(attribute)) is None:
            return super().print_attribute_itself(attribute)
        self.print_string(text)
        self.print_attribute(cast(TensorType, attribute).element_type)
        self.print_string(">")

    # Ops

    def print_op(self, op: Operation) -> None:
        collects = self._collect()
        try:
            if self._pieces is None or not self._print_known(op, self._pieces):
                self.print_itself(op)
        finally:
            if collects:
                self._finish()

    def _print_known(self, op: Operation, pieces: list[str]) -> bool:
        """Print an op from the template of its signature, or keep one; False if there is none."""
        fields = read_fields(op)
        operands, results, _, _, successors, regions, _ = fields
        # A template has the whole name.
        short = None if self.print_generic_format else short_name(op)
        if regions:
            return short is None and self._print_known_around_regions(op, fields)
        if successors or not self._forms.has_template[type(op)]:
            return False
        values = results + operands
        if short is not None:
            return self._print_short(op, fields, values, pieces)
        if self._forms.ends_with_type[type(op)] and (types := self._types_text(fields)) is not None:
            return self._print_before_types(op, fields, types)
        template = self._known.templates.get(key := _signatures.of(op, fields))
        if template is None:
            key = _signatures.complete(op, fields, key)
            # `addi %a, %a` is printed right from a template of `addi %a, %b`, not the other way
            # round.
            if (repeated := repetition(values)) is not None and key not in self._known.templates:
                key = (*key, repeated)
            template = self._known.templates.get(key)
            if template is None:
                if (clause := self._forms.end_clause[type(op)]) is None:
                    return self._print_first(op, key, values)
                return self._print_with_clause(op, fields, key, clause)
        self.templated += 1
        pieces.append(self._filled(template, values))
        if self.print_debuginfo:
            self.print_location(op)
        return True

    def _print_short(
        self, op: Operation, fields: Fields, values: tuple[SSAValue, ...], pieces: list[str]
    ) -> bool:
        """Print an op without the name of its dialect from a template, or keep one."""
        key = _signatures.complete(op, fields, _signatures.of(op, fields))
        key = ("short", *key, repetition(values))
        if (template := self._known.templates.get(key)) is None:
            return self._print_first(op, key, values)
        self.templated += 1
        pieces.append(self._filled(template, values))
        if self.print_debuginfo:
            self.print_location(op)
        return True

    def _filled(self, template: OpTemplate, values: tuple[SSAValue, ...]) -> str:
        """Return the text of a template with the names of values."""
        known = self._names
        names: list[str] = []
        for slot in template.slots:
            value = values[slot]
            names.append(known.get(id(value)) or self._new_name(value))
        return template.format % (*names,)

    def _print_first(
        self,
        op: Operation,
        key: Signature,
        values: tuple[SSAValue, ...],
        shorten: Callable[[OpTemplate], OpTemplate | None] = lambda template: template,
    ) -> bool:
        """Print the first op of a signature, and keep what `shorten` makes of its template."""
        pieces = self._pieces
        if pieces is None or self._record is not None:
            return False
        start, notes = len(pieces), self._notes
        record = self._record = []
        # The location comes last and is not part of the template.
        debuginfo, self.print_debuginfo = self.print_debuginfo, False
        pieces.kept += 1
        try:
            self.print_itself(op)
        finally:
            pieces.kept -= 1
            self.print_debuginfo, self._record = debuginfo, None
        named = [(at - start, value) for at, value in record]
        template = make_template(values, pieces[start:], named) if self._notes == notes else None
        if template is not None and (template := shorten(template)) is not None:
            self._keep(key, template)
        if debuginfo:
            self.print_location(op)
        return True

    def _keep(self, key: Signature, template: OpTemplate) -> None:
        if len(self._known.templates) > _ENTRIES:
            self._known.templates.clear()
        self._known.templates[key] = template

    def _print_with_clause(
        self, op: Operation, fields: Fields, key: Signature, clause: EndClause
    ) -> bool:
        """Print the first op of a signature from the template of ops with other types, or another
        number, at their end; if there is none, keep one for these, too."""
        operands, results, *_ = fields
        values = results + operands
        texts = [self._text_of(attribute) for attribute in clause.written(op)]
        if None in texts or not texts:
            return self._print_first(op, key, values)
        end = clause.text(cast(list[str], texts)).replace("%", "%%")
        before = (
            ...,
            *_signatures.without_types(op, fields, clause.property),
            repetition(values),
        )
        if (known := self._known.templates.get(before)) is not None:
            self._keep(key, template := OpTemplate(known.format + end, known.slots))
            self.templated += 1
            self.print_string(self._filled(template, values))
            if self.print_debuginfo:
                self.print_location(op)
            return True
        printed = self._print_first(op, key, values)
        template = self._known.templates.get(key)
        if template is not None and template.format.endswith(end):
            self._keep(before, OpTemplate(template.format.removesuffix(end), template.slots))
        return printed

    # Ops whose text ends with their types: one template for ops of other types, too

    def _types_text(self, fields: Fields) -> str | None:
        """Return the text of the types of operands and results; None if it is not kept."""
        operands, results, *_ = fields
        texts: list[str] = []
        for type in map(read_type, operands + results):
            if (text := self._text_of(type)) is None:
                return None
            texts.append(text)
        # A function as the only result is in parentheses of its own.
        if len(results) == 1 and isinstance(results[0].type, FunctionType):
            return None
        inputs, outputs = texts[: len(operands)], texts[len(operands) :]
        end = outputs[0] if len(outputs) == 1 else f"({', '.join(outputs)})"
        return f"({', '.join(inputs)}) -> {end}"

    def _text_of(self, attribute: Attribute) -> str | None:
        """Return the text of an attribute; None if it is not kept."""
        number = _signatures.number(attribute)
        if (text := self._known.texts.get(number)) is not None:
            return text
        pieces = self._pieces
        if pieces is None or self._record is not None:
            return None
        start = len(pieces)
        pieces.kept += 1
        try:
            self.print_attribute(attribute)
        finally:
            pieces.kept -= 1
            del pieces[start:]
        return self._known.texts.get(number)

    def _print_before_types(self, op: Operation, fields: Fields, types: str) -> bool:
        """Print an op from the template of the text before its types, or keep one."""
        operands, results, properties, *_ = fields
        values, pieces = results + operands, self._pieces
        assert pieces is not None
        # Calls differ in the name of the function, too.
        is_call = type(op) is CallOp and not self.print_generic_format
        name = plain_symbol(properties.get("callee")) if is_call else ""
        key = (..., *_signatures.without_types(op, fields, "callee" if name else ""))
        template = self._known.templates.get(key)
        if template is None:
            if (repeated := repetition(values)) is not None:
                key = (*key, repeated)
            template = self._known.templates.get(key)
        if template is None:
            end = types.replace("%", "%%")

            def before_types(template: OpTemplate) -> OpTemplate | None:
                if not (text := template.format).endswith(end):
                    return None
                text = text.removesuffix(end)
                if name:
                    text = text.replace(f"func.call @{name}(", f"func.call @{_HOLE}(", 1)
                    if _HOLE not in text:
                        return None
                return OpTemplate(text, template.slots)

            return self._print_first(op, key, values, before_types)
        self.templated += 1
        text = self._filled(template, values)
        pieces.append((text.replace(_HOLE, name, 1) if name else text) + types)
        if self.print_debuginfo:
            self.print_location(op)
        return True

    # Ops with regions

    def _print_known_around_regions(self, op: Operation, fields: Fields) -> bool:
        """Print an op with regions, as `_print_known` does."""
        operands, results, _, _, successors, regions, _ = fields
        if successors or self.print_debuginfo or not self._forms.has_region_template[type(op)]:
            return False
        values: tuple[SSAValue, ...] = results + operands
        shape: Signature = ()
        for region in regions:
            if (entry := region.first_block) is not None:
                values += entry.args
            shape += self._shape(entry)
        key = _signatures.of(op, fields)
        templates = self._known.region_templates
        template = templates.get(key + shape)
        if template is None:
            key = _signatures.complete(op, fields, key) + shape
            if (
                repeated := repetition(values)
            ) is not None and key not in self._known.region_templates:
                key = (*key, repeated)
            template = self._known.region_templates.get(key)
            if template is None:
                return self._print_first_around_regions(op, key, values)
        self.templated += 1
        self.print_string(self._filled(template.head, values))
        for index, flags, text in template.regions:
            self.print_region(regions[index], *flags)
            self.print_string(self._filled(text, values))
        return True

    def _shape(self, entry: Block | None) -> Signature:
        """Return what the text around a region may depend on (see `is_of_signature`)."""
        if entry is None:
            return (...,)
        last = entry.last_op
        return (
            ...,
            entry.next_block is None,
            None if last is None else (type(last), not last.attributes, last is entry.first_op),
            *(_signatures.number(arg.type) for arg in entry.args),
        )

    def _print_first_around_regions(
        self, op: Operation, key: Signature, values: tuple[SSAValue, ...]
    ) -> bool:
        """Print the first op of a signature, and keep the text around its regions."""
        pieces = self._pieces
        if pieces is None or self._record is not None:
            return False
        parts, notes = TemplateParts(op, values, len(pieces)), self._notes
        self._parts, self._record = parts, []
        pieces.kept += 1
        try:
            self.print_itself(op)
            parts.cut(pieces, self._record)
        finally:
            pieces.kept -= 1
            self._record = self._parts = None
        if self._notes == notes and (template := parts.template()) is not None:
            if len(self._known.region_templates) > _ENTRIES:
                self._known.region_templates.clear()
            self._known.region_templates[key] = template
        return True

    def _print_region_apart(self, parts: TemplateParts, region: Region, flags: RegionFlags) -> None:
        """Print a region of the op whose parts are recorded; the region is none of these."""
        pieces, record, notes = self._pieces, self._record, self._notes
        assert pieces is not None and record is not None
        parts.cut(pieces, record)
        parts.regions.append((region, flags))
        self._record = self._parts = None
        pieces.kept -= 1
        try:
            self.print_region(region, *flags)
        finally:
            pieces.kept += 1
            self._record, self._parts = [], parts
            self._notes = notes  # those of the region are none of the text around it
            parts.start = len(pieces)

    # Regions

    def print_region(
        self,
        region: Region,
        print_entry_block_args: bool = True,
        print_empty_block: bool = True,
        print_block_terminators: bool = True,
    ) -> None:
        if self._parts is not None and self._pieces is not None:
            flags = (print_entry_block_args, print_empty_block, print_block_terminators)
            return self._print_region_apart(self._parts, region, flags)
        entry = region.first_block
        if self._pieces is None or entry is None:
            return super().print_region(
                region, print_entry_block_args, print_empty_block, print_block_terminators
            )
        # Not before: the flags of a template are those of all regions of a signature.
        print_block_terminators = print_block_terminators or not has_implicit_terminator(region)
        name_blocks(self, region)
        self.print_string("{")
        print_args = bool(entry.args) and print_entry_block_args
        print_args = print_args or (entry.is_empty and print_empty_block)
        self.print_block(entry, print_args, print_block_terminators)
        block = entry.next_block
        while block is not None:
            self.print_block(block, print_block_terminator=print_block_terminators)
            block = block.next_block
        self._print_new_line()
        self.print_string("}")

    def print_block(
        self, block: Block, print_block_args: bool = True, print_block_terminator: bool = True
    ) -> None:
        pieces = self._pieces
        if pieces is None:
            return super().print_block(block, print_block_args, print_block_terminator)
        if print_block_args:
            self._print_label(block)
        self._indent += 1
        shortens = has_short_names(block.parent_op()) and not self.print_generic_format
        try:
            new_line = "\n" + " " * (self._indent * self.indent_num_spaces)
            for op in block.ops:
                if print_block_terminator or not _is_terminator[type(op)]:
                    pieces.append(new_line)
                    if self.adds_to_ops or shortens:
                        self.print_op(op)
                    elif not self._print_known(op, pieces):
                        self.print_itself(op)
                    if len(pieces) > _PIECES and not pieces.kept:
                        self.write_pieces()
        finally:
            self._indent -= 1

    def _print_label(self, block: Block) -> None:
        """Print the name of a block and its arguments."""
        self._print_new_line()
        self.print_block_name(block)
        if block.args:
            self.print_string("(")
            self.print_list(block.args, self.print_block_argument)
            self.print_string(")")
        self.print_string(":")


_is_terminator = PerClass[Operation, bool](
    lambda op_class: op_class.has_trait(IsTerminator, value_if_unregistered=False)
)
