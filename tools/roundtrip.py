"""The check that printed IR parses to the same IR."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xdsl.context import Context
from xdsl.dialect_interfaces.op_asm import OpAsmDialectInterface
from xdsl.dialects.builtin import ModuleOp, UnregisteredOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import ParseError

from ..passmanager.errors import PasslineError
from ..passmanager.fast.reading.locating_parser import LocatingParser
from ..passmanager.ir.location import location_of, span_location
from ..passmanager.ir.text.printer import PrintStyle, module_text


def verify_roundtrip(module: ModuleOp, ctx: Context) -> None:
    """Raise PasslineError unless the module, printed in custom and in generic form, parses to the
    same IR, apart from locations and names of values.

    The error names the difference, and shows the line of the printed text.
    """
    for form in ("custom", "generic"):
        text = _printed(module, ctx, form)
        again = _read_back(text, ctx, form)
        for op, message in _ModuleComparison().differences(module, again):
            name = op.op_name.data if isinstance(op, UnregisteredOp) else op.name
            place = location_of(op)
            line = _at_line(place.line.data if place else 1, f"'{name}' op {message}", text)
            raise PasslineError(f"the module reads back differently from its {form} form: {line}")


def _printed(module: ModuleOp, ctx: Context, form: str) -> str:
    try:
        return module_text(module, ctx, PrintStyle(generic=form == "generic"))
    except Exception as error:
        message = f"the module cannot be printed in {form} form: {type(error).__name__}: {error}"
        raise PasslineError(message) from error


def _read_back(text: str, ctx: Context, form: str) -> ModuleOp:
    what = f"the module cannot be read back from its {form} form: "
    try:
        return _ResourceReader(ctx, text, f"<{form} form>").parse_module(
            allow_implicit_module=False
        )
    except ParseError as error:
        line = span_location(error.span).line.data
        raise PasslineError(what + _at_line(line, error.msg, text)) from error
    except Exception as error:
        raise PasslineError(f"{what}{type(error).__name__}: {error}") from error


class _ResourceReader(LocatingParser):
    """A parser that reuses resources by their keys, where xDSL's declares new ones."""

    def parse_handle(self, dialect_name: str, interface: OpAsmDialectInterface) -> str:
        return self.parse_identifier(context_msg=" for resource handle")


def _at_line(line: int, message: str, text: str) -> str:
    """Return a message with the line of the text that it is about."""
    lines = text.split("\n")
    return f"line {line}: {message}\n  {lines[line - 1].strip()}"


class _ModuleComparison:
    """A comparison of two modules op by op, which maps the values of one to those of the other."""

    def __init__(self) -> None:
        self.ops: list[tuple[Operation, Operation]] = []
        self.twins: dict[SSAValue | Block, SSAValue | Block] = {}

    def differences(self, old: Operation, new: Operation) -> Iterator[tuple[Operation, str]]:
        """Yield the ops below `new` that differ, with the difference; only the first is reliable.

        Operands are compared last, as they may be defined after their use.
        """
        yield from self._between_ops(old, new)
        for old, new in self.ops:
            if [self.twins.get(used) for used in old.operands] != [*new.operands]:
                yield new, "has other operands"
            if [self.twins.get(block) for block in old.successors] != [*new.successors]:
                yield new, "has other successors"

    def _between_ops(self, old: Operation, new: Operation) -> Iterator[tuple[Operation, str]]:
        self.ops.append((old, new))
        for message in _own_differences(old, new):
            yield new, message
        self.twins.update(zip(old.results, new.results))
        for region, new_region in zip(old.regions, new.regions):
            for block, new_block in zip(region.blocks, new_region.blocks):
                yield from self._between_blocks(block, new_block, new)
            if (was := len(region.blocks)) != (now := len(new_region.blocks)):
                yield new, f"has {now} blocks, had {was}"

    def _between_blocks(
        self, old: Block, new: Block, owner: Operation
    ) -> Iterator[tuple[Operation, str]]:
        self.twins[old] = new
        self.twins.update(zip(old.args, new.args))
        for message in _types_differ("block arguments", old.arg_types, new.arg_types):
            yield owner, message
        for op, new_op in zip(old.ops, new.ops):
            yield from self._between_ops(op, new_op)
        if (was := len(old.ops)) != (now := len(new.ops)):
            yield owner, f"holds {now} ops, held {was}"


def _own_differences(old: Operation, new: Operation) -> Iterator[str]:
    """Yield the differences of two ops, apart from operands, successors and regions."""
    if old.name != new.name:
        yield f"was '{old.name}'"
    yield from _entries_differ("attribute", old.attributes, new.attributes)
    yield from _entries_differ("property", old.properties, new.properties)
    yield from _types_differ("results", old.result_types, new.result_types)
    if (was := len(old.regions)) != (now := len(new.regions)):
        yield f"has {now} regions, had {was}"


def _entries_differ(
    what: str, old: Mapping[str, Attribute], new: Mapping[str, Attribute]
) -> Iterator[str]:
    for key in {**old, **new}:
        was, now = old.get(key), new.get(key)
        if was != now:
            yield f"{what} '{key}' {_shown('is', now, was)}, {_shown('was', was, now)}"


def _shown(verb: str, attribute: Attribute | None, other: Attribute | None) -> str:
    """Return an attribute for a message; in full if the short text equals that of the other one."""
    if attribute is None:
        return f"{verb} not there"
    text = repr(attribute) if str(attribute) == str(other) else str(attribute)
    return f"{verb} {text if len(text) <= 200 else text[:200] + '...'}"


def _types_differ(what: str, old: Sequence[Attribute], new: Sequence[Attribute]) -> Iterator[str]:
    if [*old] != [*new]:
        yield f"has {what} ({', '.join(map(str, new))}), had ({', '.join(map(str, old))})"
