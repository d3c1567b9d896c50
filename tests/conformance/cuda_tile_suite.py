"""NVIDIA's own tests of CUDA Tile IR: valid pieces are read, printed as in their CHECK lines, read
again as the same, and run; invalid ones are refused.

    CUDA_TILE_TESTS=cuda-tile/test make test-cuda-tile [WORDS="..."]

prints the counts of each file, and the pieces that failed. `WORDS` select files by their names.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cuda_tile_runs import as_entries, run_made_up
from fuzz.broken_input import TooLong, limited
from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp, SymbolNameConstraint
from xdsl.ir import Attribute, Region
from xdsl.irdl import irdl_op_definition, prop_def, region_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, SymbolOpInterface
from xdsl.utils.exceptions import ParseError, VerifyException

from passline.dialects.cuda_tile.control_ops import ReturnOp
from passline.dialects.cuda_tile.module_ops import EntryOp
from passline.dialects.cuda_tile.syntax import (
    end_block,
    parse_parameters,
    parse_types,
    print_parameters,
    print_types,
)
from passline.dialects.cuda_tile.tile_op import CudaTileOp
from passline.passmanager.errors import PasslineError
from passline.passmanager.ir.text.default_dialect import DefaultDialect
from passline.passmanager.ir.text.parser import parse_module, split_chunks
from passline.passmanager.ir.text.printer import PrintStyle, module_text
from passline.passmanager.ir.walk import walk
from passline.passmanager.registry import make_ir_context

TESTS = os.environ.get("CUDA_TILE_TESTS", "")
"""The folder `test` of NVIDIA/cuda-tile."""

SECONDS = 8
"""The time that a function may run: one has an endless loop."""

OTHER_SUBJECTS = ("canonicalize", "debuginfo", "entry_opt_hints_error", "entry_opt_hints_warn")
"""Files of passes and options of NVIDIA's tool, and of locations, which xDSL keeps as text."""


@irdl_op_definition
class TestFuncOp(CudaTileOp):
    """A function with results, which NVIDIA's tests have beside entries."""

    name = "cuda_tile.testing$func"

    sym_name = prop_def(SymbolNameConstraint())
    function_type = prop_def(FunctionType)
    body = region_def("single_block")

    traits = traits_def(SymbolOpInterface(), IsolatedFromAbove(), DefaultDialect())

    @classmethod
    def parse(cls, parser: Parser) -> TestFuncOp:
        name, parameters = parser.parse_symbol_name(), parse_parameters(parser)
        results: list[Attribute] = []
        if parser.parse_optional_punctuation("->"):
            if parser.parse_optional_punctuation("("):
                results = parse_types(parser)
                parser.parse_punctuation(")")
            else:
                results = parse_types(parser)
        body: Region = end_block(parser.parse_region(parameters), ReturnOp)
        type = FunctionType.from_lists([p.type for p in parameters], results)
        return cls(regions=[body], sym_name=name, function_type=type)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        print_parameters(printer, self.body.block)
        if results := self.function_type.outputs.data:
            printer.print_string(" -> ")
            if len(results) > 1:
                printer.print_string("(")
            print_types(printer, results)
            if len(results) > 1:
                printer.print_string(")")
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)


@dataclass
class Outcome:
    """The counts of a file, or of several."""

    valid: int = 0
    accepted: int = 0
    invalid: int = 0
    refused: int = 0
    checks: int = 0
    equal: int = 0
    functions: int = 0
    run: int = 0
    failures: list[str] = field(default_factory=list[str])

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(*(getattr(self, name) + getattr(other, name) for name in vars(self)))

    def __str__(self) -> str:
        return (
            f"valid accepted {self.accepted} of {self.valid}, CHECK lines equal {self.equal} of "
            f"{self.checks}, invalid refused {self.refused} of {self.invalid}, functions run "
            f"{self.run} of {self.functions}"
        )


def make_context() -> Context:
    """Return a context with the dialects of Passline, and the operation of the tests."""
    ctx = make_ir_context(allow_unregistered=True)
    ctx.get_optional_op("cuda_tile.module")  # loads the dialect
    ctx.load_op(TestFuncOp)
    return ctx


def files(words: list[str]) -> Iterator[Path]:
    """Yield the files of the tests that are about text and verification."""
    for path in sorted(Path(TESTS, "Dialect", "CudaTile").glob("*.mlir")):
        if not path.stem.startswith(OTHER_SUBJECTS) and all(word in path.stem for word in words):
            yield path


def judge(path: Path) -> Outcome:
    """Return the outcome of a file. Each piece stands between lines `// -----`."""
    outcome, printed = Outcome(), ""
    content = path.read_text()
    for number, (piece, _) in enumerate(split_chunks(content.encode())):
        text, name = piece.decode(), f"{path.name}:{number}"
        is_invalid = "expected-error" in text or path.stem.endswith("debuginfo_attr_invalid")
        try:
            printed += (again := _print_twice(text, name))
            error = ""
            if not is_invalid:
                _run(again, name, outcome)
        except (ParseError, VerifyException, PasslineError) as found:
            error = str(found).strip() or type(found).__name__
        outcome.invalid += is_invalid
        outcome.valid += not is_invalid
        outcome.refused += is_invalid and bool(error)
        outcome.accepted += not is_invalid and not error
        if bool(error) != is_invalid:
            expected = re.search(r"expected-error.*?\{\{(.*)\}\}", text)
            reason = error or f"accepted: {expected and expected[1]}"
            outcome.failures.append(f"{name}: {reason}")
    if "expected-error" not in content:
        _compare(path.name, content, printed, outcome)
    return outcome


def _print_twice(text: str, name: str) -> str:
    """Return the text of a piece, once read, verified and printed, and once more."""
    first = _printed(text, name)
    if (second := _printed(first, name)) != first:
        raise PasslineError(f"printed anew, it differs:\n{first}\n{second}")
    generic = _printed(first, name, generic=True)
    if (third := _printed(generic, name)) != first:
        raise PasslineError(f"read from generic form, it differs:\n{first}\n{third}")
    return first


def _run(printed: str, name: str, outcome: Outcome) -> None:
    """Run each function of a piece."""
    functions = _functions(printed, name)
    entries = as_entries(printed, [op.function_type.inputs.data for op in functions])
    for entry in _functions(entries, name):
        assert isinstance(entry, EntryOp)
        outcome.functions += 1
        try:
            with limited(SECONDS):
                run_made_up(entry)
            outcome.run += 1
        except (PasslineError, TooLong) as error:
            where = f"{name}: @{entry.sym_name.data} cannot be run"
            outcome.failures.append(f"{where}: {str(error) or 'it takes too long'}")


def _functions(text: str, name: str) -> list[EntryOp | TestFuncOp]:
    module = parse_module(make_context(), text, name)
    module.verify()
    return [op for op in walk(module) if isinstance(op, EntryOp | TestFuncOp)]


def _printed(text: str, name: str, *, generic: bool = False) -> str:
    ctx = make_context()
    module: ModuleOp = parse_module(ctx, text, name)
    module.verify()
    return module_text(module, ctx, PrintStyle(generic=generic))


def _compare(name: str, content: str, printed: str, outcome: Outcome) -> None:
    """Count the CHECK lines that a printed line has, whatever its values are called."""
    lines = [" ".join(line.split()) for line in printed.splitlines()]
    for check in re.findall(r"^ *// CHECK(?:-SAME|-NEXT|-LABEL)?: *(.*)$", content, re.M):
        outcome.checks += 1
        pattern = _pattern(" ".join(check.split()))
        if any(pattern.search(line) for line in lines):
            outcome.equal += 1
        else:
            outcome.failures.append(f"{name}: not printed: {check}")


def _pattern(check: str) -> re.Pattern[str]:
    check = re.sub(r"\]\]:\d+ =", "]] =", check)  # `%a:2 =`, which xDSL prints as `%a, %b =`
    parts = re.split(r"(\{\{.*?\}\}|\[\[.*?\]\]|%[\w#]+)", check)
    text = ""
    for part in parts:
        if part.startswith("{{"):
            text += part[2:-2]
        elif part.startswith("[["):
            text += ".*?"
        else:
            text += r"%[\w#]+" if re.match(r"%\w", part) else re.escape(part)
    return re.compile(text)


def main() -> None:
    """Print the outcome of each file, then that of all."""
    outcomes = {path.name: judge(path) for path in files(sys.argv[1:])}
    for name, outcome in outcomes.items():
        print(f"{name}: {outcome}")
        print(*(f"  {failure}\n" for failure in outcome.failures), sep="", end="")
    print(f"all: {sum(outcomes.values(), Outcome())}")


if __name__ == "__main__":
    main()
