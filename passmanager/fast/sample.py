"""Work on a sample of IR, whose results tell our implementations from those of xDSL.

`python -m passline.passmanager.fast.sample` does it with the parts that `PASSLINE_ACCELERATION`
names, and prints the results as JSON. `comparison.py` compares the results of two such processes.
"""

from __future__ import annotations

import gc
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from io import StringIO
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from xdsl.context import Context
from xdsl.dialects.builtin import UNKNOWN_LOC, ModuleOp, UnregisteredOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import (
    Attribute,
    BlockArgument,
    Data,
    Operation,
    ParametrizedAttribute,
    SSAValue,
    SSAValues,
)
from xdsl.transforms.canonicalize import CanonicalizationRewritePattern

from .comparison import attempt, description, read, texts, values_of
from .known_releases import checksum_of_files
from .parts import NOTE, PLAIN_READING, SETTING

if TYPE_CHECKING:
    from ..ir.text.printer import PrintStyle


FOLDER = Path(__file__).with_name("sample")
"""The sample: each chunk of a file is read twice in one text, so that what was learned is used."""


def chunks() -> Iterator[tuple[str, str]]:
    """Yield the parts of the files of the sample between lines `// -----`, each with its place."""
    for path in sorted(FOLDER.glob("*.mlir")):
        line = 1
        for chunk in path.read_text(encoding="utf-8").split("// -----\n"):
            aliases = "".join(_alias_lines(chunk))
            module = f"builtin.module {{\n{chunk.removeprefix(aliases)}}}\n"
            yield f"{path.name}:{line}", f"{aliases}builtin.module {{\n{module}{module}}}\n"
            line += chunk.count("\n") + 1


_alias_lines = re.compile(r"^[#!].*\n", re.MULTILINE).findall


class SampleResult(NamedTuple):
    """The result of one thing that is done by a part."""

    part: str
    place: str
    text: str


def results() -> Iterator[SampleResult]:
    """Yield the results of all that is done on the sample."""
    from ..ir.text.parser import parse_module, plain_reader
    from ..registry import make_ir_context

    read_plainly = plain_reader()
    context = make_ir_context(allow_unregistered=True)
    for place, text in chunks():
        plain, module = read(read_plainly, context, text, place, 0, True, 1 << 20)
        # xDSL's messages and ours are not compared, but those of our two readers.
        yield SampleResult("locating", place, "refused" if module is None else plain)
        if "reading" in os.environ[SETTING].split(","):
            yield SampleResult(PLAIN_READING, place, plain)
            yield SampleResult("reading", place, read(parse_module, context, text, place)[0])
        if module is not None:
            for argument in _arguments_in(module):  # of these, xDSL's parser has no locations
                argument.location = UNKNOWN_LOC
            yield from _results_on(module, place, context)


def _arguments_in(module: ModuleOp) -> Iterator[BlockArgument]:
    for op in module.walk():
        yield from (value for value in values_of(op) if isinstance(value, BlockArgument))


def _results_on(module: ModuleOp, place: str, context: Context) -> Iterator[SampleResult]:
    """Yield what the other parts do with a module."""
    from ..ir.text.printer import PrintStyle
    from .clone import clone
    from .edit import read_fields, read_operands, read_step

    def result(part: str, what: str, work: Callable[..., str], *arguments: object) -> SampleResult:
        return SampleResult(part, f"{place} {what}", attempt(work, *arguments))

    yield result("printing", "", _printed, module, PrintStyle())
    yield result("printing", "generic", _printed, module, PrintStyle(generic=True))
    yield result("printing", "debuginfo", _printed, module, PrintStyle(debuginfo=True))
    yield result("verifying", "", _verified, module)
    yield result("fields", "", _described, module, read_fields)
    yield result("fields", "of a step", _described, module, read_step)
    yield result("fields", "operands", _described, module, read_operands)
    yield result("fields", "types", _described, module, _types)
    yield result("copying", "", lambda: description(clone(module)))
    yield result("copying", "of blocks", _copied, module.clone())
    yield result("editing", "", _edited, module.clone())
    yield result("creating", "", _created, module.clone())
    yield result("rewriting", "", _rewritten, module.clone(), context)


def _types(op: Operation) -> list[Attribute]:
    from .edit import read_type

    return [*map(read_type, op.results)]


def _described(module: ModuleOp, read: Callable[[Operation], object]) -> str:
    return "\n".join(texts(read(op)) for op in module.walk())


def _printed(module: ModuleOp, style: PrintStyle) -> str:
    from ..ir.text.printer import ExactPrinter

    ExactPrinter(stream := StringIO(), style).print_op(module)
    return stream.getvalue()


def _verified(module: ModuleOp) -> str:
    """Verify a module, and each op in it: one that is invalid hides what comes after it."""
    inner = (op for outer in module.ops for region in outer.regions for op in region.ops)
    return "\n".join(map(_said, [module, *inner]))


def _said(op: Operation) -> str:
    """Return `valid`, or what the verifier says about an op."""
    from ..ir.verifier import verify

    return attempt(lambda: "valid" if verify(op) is None else "")


def _copied(module: ModuleOp) -> str:
    """Append copies of the ops of each block to it, with its first value of a type for others."""
    from .clone import clone_all

    # Of valid functions, as values have to be defined before their uses.
    functions = [op for op in module.walk() if isinstance(op, FuncOp) and _said(op) == "valid"]
    for block in [block for op in functions for block in op.body.blocks]:
        values: dict[SSAValue, SSAValue] = {
            arg: block.args[0] for arg in block.args if arg.type == block.args[0].type
        }
        block.add_ops(clone_all([*block.ops], dict(values), ()))
    return description(module)


def _edited(module: ModuleOp) -> str:
    """Replace values by the next ones of their types, and turn the operands of ops around."""
    from .edit import replace_all_uses, replace_operands

    seen: dict[Attribute, SSAValue] = {}
    for op in [*module.walk()]:
        for value in values_of(op):
            if (other := seen.get(value.type)) is not None:
                replace_all_uses(other, value)
            seen[value.type] = value
        # Uses that stay keep their place where we replace them, and do not where xDSL does.
        if len({*op.operands}) == len(op.operands) and len(op.operands) % 2 == 0:
            replace_operands(op, SSAValues([*op.operands][::-1]))
    return description(module)


def _created(module: ModuleOp) -> str:
    """Create each op without regions once more, and each attribute."""
    from .creation import create_before, make_attribute

    lines: list[str] = []
    for op in [*module.walk()]:
        is_plain = not (op.regions or op.successors or isinstance(op, UnregisteredOp))
        if is_plain and op.parent is not None:
            create_before(op, type(op), op.operands, op.result_types, dict(op.properties))
        for attribute in chain(op.properties.values(), op.attributes.values(), op.result_types):
            if isinstance(attribute, ParametrizedAttribute | Data):
                known = cast(ParametrizedAttribute, attribute)
                made = make_attribute(type(known), **_fields_of(known))
                lines.append(f"{made} {made == known and hash(made) == hash(known)}")
    return "\n".join([*lines, description(module)])


def _fields_of(attribute: Attribute) -> dict[str, object]:
    return {name: value for name, value in vars(attribute).items() if not name.startswith("_")}


def _rewritten(module: ModuleOp, context: Context) -> str:
    """Apply the patterns that ops declare, fold, and erase dead ops."""
    from ..rewriting import apply_patterns

    patterns = [CanonicalizationRewritePattern()]
    fired = apply_patterns(module, patterns, ctx=context, fold=True, remove_dead=True)
    return f"{sorted(fired.items())}\n{description(module)}"


def main() -> None:
    """Print the results, or the part that cannot be made."""
    gc.disable()  # the process ends soon
    before = checksum_of_files()
    try:
        outcome = {"checksum": before, "results": [*results()]}
    except Exception as error:
        notes = [n.removeprefix(NOTE) for n in getattr(error, "__notes__", ()) if NOTE in n]
        failure = f"{type(error).__name__}: {error}"
        outcome = {"failure": failure, "failed_part": notes[0] if notes else ""}
    json.dump(outcome, sys.stdout)


if __name__ == "__main__":
    main()
