"""The reading of Tile IR bytecode."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from typing import Any, NamedTuple, TypeVar

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, FunctionType, UnitAttr, UnknownLoc, i32
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import VarResultDef

from ....passmanager.fast.assembly import create, set_regions
from ....passmanager.ir.garbage_collection import paused_collector
from ....passmanager.limits import deep_recursion
from ..attributes import OptimizationHintsAttr
from ..module_ops import EntryOp, GlobalOp, ModuleOp
from ..types import TokenType
from .fields import STRING, TAGGED, TYPE, FieldDecoder, InputFile, errors_at
from .op_formats import FIELDS, VISIBILITY, OpFormat, formats_of
from .streams import MAGIC, NEWEST, OLDEST, InputTable, TileInput
from .tile_writer import ALWAYS_HINTS, EXTENDED_GLOBALS, HAS_HINTS, IS_KERNEL, TileSection
from .type_formats import read_location, read_type

Item = TypeVar("Item")

ALIGNMENTS = {
    TileSection.STRING: 4,
    TileSection.TYPE: 4,
    TileSection.CONSTANT: 8,
    TileSection.DEBUG: 8,
    TileSection.FUNCTION: 8,
}


def read_tile_bytecode(data: bytes, name: str = "-") -> ModuleOp:
    """Return the module in Tile IR bytecode, the content of the file `name`. It is not verified.

    The module is called `kernels`, as the file has no name of it. Errors: BytecodeError with the
    place in bytes.
    """
    with paused_collector(), deep_recursion():
        reader = _FileReader(TileInput(data, name))
        with errors_at(reader.source):
            return reader.read()


class _Locations(NamedTuple):
    """The locations of all operations, and where those of each entry begin."""

    starts: Sequence[int]
    indices: Sequence[int]


class _FileReader:
    def __init__(self, source: TileInput) -> None:
        self.source = source
        self.sections: dict[TileSection, TileInput] = {}
        if source.bytes(min(len(MAGIC), source.left)) != MAGIC:
            source.fail("it does not begin as Tile IR bytecode", 0)
        version = (source.fixed(1), source.fixed(1))
        if not OLDEST <= version <= NEWEST:
            known = f"{OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]}"
            source.fail(f"version {version[0]}.{version[1]}: {known} are known", len(MAGIC))
        source.fixed(2)
        self._read_sections()
        tables = {
            "string": self._table(TileSection.STRING, "string"),
            "type": self._table(TileSection.TYPE, "type"),
            "constant": self._table(TileSection.CONSTANT, "constant"),
        }
        self.locations = _Locations((), ())
        if (debug := self.sections.get(TileSection.DEBUG)) is not None:
            self.locations = _read_locations(debug)
        tables["debug info"] = InputTable(debug, "debug info", 4)
        self.file = InputFile(version, tables, read_type)

    def _read_sections(self) -> None:
        source = self.source
        while True:
            at, first = source.position, source.fixed(1)
            if not first:
                break
            kind = first & 0x7F
            if kind not in TileSection._value2member_map_ or kind in self.sections:
                source.fail(f"a section of the unknown kind {kind}, or a second one", at)
            size = source.varint()
            if first >> 7:
                alignment = source.varint()
                if not 1 <= alignment <= 4096 or alignment & (alignment - 1):
                    source.fail(f"{alignment} is not an alignment", at)
                source.align(alignment)
            self.sections[TileSection(kind)] = source.part(size)
        if source.left:
            source.fail(f"{source.left} bytes behind the end")
        for kind in (TileSection.STRING, TileSection.FUNCTION):
            if kind not in self.sections:
                source.fail(f"there is no section {kind.name}", at)

    def _table(self, kind: TileSection, what: str) -> InputTable:
        return InputTable(self.sections.get(kind), what, ALIGNMENTS[kind])

    def read(self) -> ModuleOp:
        """Return the module."""
        module = ModuleOp("kernels")
        block = module.body.block
        if (part := self.sections.get(TileSection.PRODUCER)) is not None:
            module.producer = STRING.get(FieldDecoder(self.file, part))
        if (part := self.sections.get(TileSection.GLOBAL)) is not None:
            source = FieldDecoder(self.file, part)
            for _ in range(source.count(4)):
                block.add_op(self._global(source))
        source = FieldDecoder(self.file, self.sections[TileSection.FUNCTION])
        for _ in range(source.count(4)):
            block.add_op(self._entry(source))
        return module

    def _global(self, source: FieldDecoder) -> GlobalOp:
        name = STRING.get(source)
        source.type = TYPE.get(source)
        properties: dict[str, Attribute] = {
            "sym_name": name,
            "value": FIELDS["value"].get(source),
            "alignment": FIELDS["alignment"].get(source),
        }
        if self.file.version >= EXTENDED_GLOBALS:
            properties["symbol_visibility"] = VISIBILITY.get(source)
            if source.varint():
                properties["constant"] = UnitAttr()
        return GlobalOp.build(properties=properties)

    def _entry(self, source: FieldDecoder) -> EntryOp:
        name, type = STRING.get(source), TYPE.get(source)
        if not isinstance(type, FunctionType):
            source.fail(f"entry @{name.data} has type {type}: expected that of a function")
        is_new = self.file.version >= ALWAYS_HINTS
        if not (flags := source.fixed(1)) & IS_KERNEL:
            source.fail(f"function @{name.data} is no entry", source.position - 1)
        locations = self._locations_at(source.varint(), source)
        hints = TAGGED.get(source) if is_new or flags & HAS_HINTS else None
        if is_new and TAGGED.get(source) != ArrayAttr[Attribute](()):
            source.fail("attributes of parameters are not known")
        if not isinstance(hints, OptimizationHintsAttr | None):
            source.fail(f"{hints}: expected the hints of an entry")
        if is_new and hints is not None and not hints.value.data:
            hints = None
        body = FieldDecoder(self.file, source.part(source.varint()))
        location = next(locations)
        with errors_at(body):
            region = _BodyReader(body, locations).entry(type.inputs.data)
            entry = EntryOp(name.data, type.inputs.data, region, hints)
            entry.function_type = type
        entry.location = location
        return entry

    def _locations_at(self, index: int, source: TileInput) -> Iterator[Any]:
        """Yield the location of an entry, then those of its operations."""
        starts, indices = self.locations
        if not index:
            yield from repeat(UnknownLoc())
        if index > len(starts):
            source.fail(f"there are no locations {index}, of {len(starts)}")
        for place in indices[starts[index - 1] :]:
            yield read_location(self.file, place, source)
        source.fail("there are fewer locations than operations")


def _read_locations(source: TileInput) -> _Locations:
    count = source.count(4)
    source.align(4)
    starts = [source.fixed(4) for _ in range(count)]
    count = source.count(8)
    source.align(8)
    return _Locations(starts, [source.fixed(8) for _ in range(count)])


class _BodyReader:
    """The reader of the operations of an entry, with the values that are in scope."""

    def __init__(self, source: FieldDecoder, locations: Iterator[Any]) -> None:
        self.source, self.version, self.locations = source, source.file.version, locations
        self.values: list[SSAValue] = []

    def entry(self, inputs: Sequence[Attribute]) -> Region:
        """Return the body of an entry with these parameters."""
        block = Block(arg_types=inputs)
        self.values += block.args
        while self.source.left:
            self._op(block)
        return Region(block)

    def _op(self, block: Block) -> None:
        source, at = self.source, self.source.position
        opcode = source.varint()
        form = formats_of().get(opcode)
        if form is None or form.since > self.version:
            source.fail(f"there is no operation {opcode} in this version", at)
        location = next(self.locations)
        definition = form.op_class.get_irdl_definition()
        count = source.count() if form.counts_results else len(definition.results)
        types = [TYPE.get(source) for _ in range(count)]
        source.type = types[0] if types else None
        properties, present = self._properties(form)
        operands, sizes = self._operands(form, present)
        if form.is_segmented:
            properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, sizes)
        regions = self._list(self._region) if definition.regions else []
        known = [TokenType()] if form.name == "print_tko" and not types else types
        is_variadic = any(isinstance(found, VarResultDef) for _, found in definition.results)
        if not (is_variadic or len(known) == len(definition.results)) or len(regions) != len(
            definition.regions
        ):
            name = form.op_class.name
            source.fail(f"'{name}' with another number of results or regions", at)
        op = create(block, form.op_class, operands, known, properties, {}, location)
        if regions:
            set_regions(op, regions)
        self.values += op.results[: len(types)]

    def _properties(self, form: OpFormat) -> tuple[dict[str, Attribute], set[str]]:
        """Return the properties, and the names of the optional fields that are there."""
        found, present = dict[str, Attribute](), set[str]()
        if flags := form.flags_in(self.version):
            if (bits := self.source.varint()) >> len(flags):
                self.source.fail(f"flags {bits:#x}: {len(flags)} bits are known")
            present = {name for i, name in enumerate(flags) if bits >> i & 1}
        for name, codec, is_optional, needed, default in form.properties:
            if needed > self.version:
                if default is not None:
                    found[name] = default
            elif not is_optional or name in present:
                found[name] = codec.get(self.source)
        inbounds = found.get("inbounds")
        if isinstance(inbounds, DenseArrayBase) and not any(inbounds.get_values()):
            del found["inbounds"]  # it promises nothing
        return found, present

    def _operands(self, form: OpFormat, present: set[str]) -> tuple[list[SSAValue], list[int]]:
        """Return the operands, and how many each definition has; nothing of the second if the last
        definition has what the others leave."""
        if form.is_counted:
            at, fixed = self.source.position, len(form.operands) - 1
            values = self._list(self._value)
            is_optional = form.operands[-1].kind == "optional"
            if len(values) < fixed or (is_optional and len(values) > fixed + 1):
                self.source.fail(f"'{form.op_class.name}' with {len(values)} operands", at)
            return values, []
        values, sizes = list[SSAValue](), list[int]()
        for name, kind in form.operands:
            size = self.source.count() if kind == "variadic" else kind == "one" or name in present
            values += [self._value() for _ in range(size)]
            sizes.append(int(size))
        return values, sizes

    def _list(self, read: Callable[[], Item], size: int = 1) -> list[Item]:
        return [read() for _ in range(self.source.count(size))]

    def _value(self) -> SSAValue:
        at = self.source.position
        if (index := self.source.varint()) >= len(self.values):
            self.source.fail(f"there is no value {index}, of {len(self.values)}", at)
        return self.values[index]

    def _region(self) -> Region:
        return Region(self._list(self._block, 2))

    def _block(self) -> Block:
        before = len(self.values)
        block = Block(arg_types=self._list(lambda: TYPE.get(self.source)))
        self.values += block.args
        for _ in range(self.source.count()):
            self._op(block)
        del self.values[before:]
        return block
