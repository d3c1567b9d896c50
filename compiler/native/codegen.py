"""LLVM's optimizer and code generator.

This file imports llvmlite alone, and only when it is used: it is also the script of the processes
that compile the parts of a module at the same time, which start in a tenth of a second.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Collection, Iterable, Sequence
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX

if TYPE_CHECKING:
    import llvmlite.binding as llvm


CANNOT_PARSE = 65
"""The status of a process that got IR that LLVM cannot parse."""

VECTOR_SUM = "fadd contract <"
"""The addition of vectors, in LLVM IR."""
TILE = 4
"""The minimum number of additions of vectors in a function whose sums are in registers."""


class Processor(NamedTuple):
    """A processor, as LLVM describes it."""

    triple: str
    cpu: str
    features: str = ""
    opt: int = 3


def initialize() -> None:
    """Initialize LLVM for all targets."""
    import llvmlite.binding as binding

    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()


def target_machine(processor: Processor) -> llvm.TargetMachine:
    """Return a target machine for which LLVM calls only functions of C99."""
    import llvmlite.binding as binding

    triple = processor.triple
    arch = triple.partition("-")[0]
    if arch in ("x86_64", "aarch64") and "linux" in triple:
        # For a known C library, LLVM also calls its extensions (`sincosf`, `bcmp`).
        triple = f"{arch}-unknown-none-elf"
    return binding.Target.from_triple(triple).create_target_machine(
        cpu=processor.cpu,
        features=processor.features,
        opt=processor.opt,
        reloc="pic",  # constants may be more than 2 GB away from the code
        codemodel="small",
    )


def optimized(
    ir: str, exported: Collection[str], inlined: str, machine: llvm.TargetMachine, level: int = 3
) -> llvm.ModuleRef:
    """Parse LLVM IR and return the module, optimized for `machine`. All its functions except those
    `exported` become internal; those whose names start with `inlined` are inlined. RuntimeError if
    it cannot be parsed."""
    import llvmlite.binding as binding

    module = binding.parse_assembly(ir)
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    for function in module.functions:
        if function.is_declaration:
            # C99 has rint but not roundeven; they agree in the default rounding mode.
            function.name = function.name.replace("llvm.roundeven.", "llvm.rint.")
            continue
        if str(function).count(VECTOR_SUM) >= TILE:
            # The sums of a tile fill the registers: LLVM would unroll the loop around them, and
            # need more. Attributes of loops do not survive; this one stops the unrolling.
            function.add_function_attribute("optsize")
        if function.name in exported:
            continue
        function.linkage = "internal"
        if function.name.startswith(inlined):
            function.add_function_attribute("alwaysinline")
        elif sum(1 for _ in function.blocks) > 1:
            # Inlining a kernel would lose the noalias of its buffers, and make @main huge.
            function.add_function_attribute("noinline")
    options = binding.create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization = options.slp_vectorization = level > 1
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return module


def main() -> None:
    """Read a request from stdin, and write the object file to stdout.

    The status is `CANNOT_PARSE` if LLVM cannot parse the IR, with the reason on stderr.
    """
    initialize()  # before the request is there: it takes time
    ir, exported, inlined, processor = pickle.load(sys.stdin.buffer)
    machine = target_machine(Processor(*processor))
    try:
        module = optimized(ir, exported, inlined, machine)
    except RuntimeError as error:
        print(error, file=sys.stderr)
        sys.exit(CANNOT_PARSE)
    sys.stdout.buffer.write(machine.emit_object(module))


if __name__ == "__main__":
    main()


# LLVM IR as text: the bodies of functions, constants, and names.


class Data:
    """The constants of a module: strings and arrays, each a private global, `prefix` and a
    number."""

    def __init__(self, prefix: str = "library.data") -> None:
        self.lines: list[str] = []
        self._prefix = prefix
        self._strings: dict[str, str] = {}

    def string(self, text: str) -> str:
        """Return the symbol of a string; equal ones have one symbol."""
        if text not in self._strings:
            data = text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode() + b"\0"
            self._strings[text] = self._add(f'[{len(data)} x i8] c"{escaped(data)}"')
        return self._strings[text]

    def table(self, type: str, rows: Iterable[str]) -> str:
        """Return the symbol of an array of `type`, or null for an empty one."""
        values = [f"{type} {row}" for row in rows]
        return self._add(f"[{len(values)} x {type}] [{', '.join(values)}]") if values else "null"

    def _add(self, value: str) -> str:
        symbol = f"@{self._prefix}.{len(self.lines)}"
        self.lines.append(f"{symbol} = private unnamed_addr constant {value}")
        return symbol


class Body:
    """The instructions of a function."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._names = 0

    def new(self) -> str:
        """Return a new name for a value or a block, without `%`."""
        self._names += 1
        return f"v{self._names}"

    def add(self, line: str) -> None:
        """Add an instruction without a result."""
        self.lines.append(f"  {line}")

    def value(self, line: str) -> str:
        """Add an instruction, and return its result."""
        self.add(f"%{(name := self.new())} = {line}")
        return f"%{name}"

    def word(self, pointer: str, index: int) -> str:
        """Return the address of word `index`, of 64 bits, after `pointer`."""
        return self.value(f"getelementptr i64, ptr {pointer}, i64 {index}")

    def load(self, type: str, pointer: str, index: int) -> str:
        """Return the value of `type` in word `index` after `pointer`."""
        return self.value(f"load {type}, ptr {self.word(pointer, index)}")

    def store(self, type: str, value: str | int, pointer: str, index: int) -> None:
        """Write a value of `type` to word `index` after `pointer`."""
        self.add(f"store {type} {value}, ptr {self.word(pointer, index)}")

    def call(
        self, callee: str, arguments: Sequence[str], unknown: Sequence[int]
    ) -> list[list[str]]:
        """Call a function of a prepared module; return the pointer and the unknown sizes of each
        buffer that it returns.

        Each argument is after its type (`ptr %x`); `unknown` has the number of unknown sizes of
        each result.
        """
        type = returned_type(unknown)
        call = f"call {type} {quoted(callee)}({', '.join(arguments)})"
        if type == "void":
            self.add(call)
            return []
        value, fields = self.value(call), count()
        if type == "ptr":
            return [[value]]
        return [
            [self.value(f"extractvalue {type} {value}, {next(fields)}") for _ in range(1 + sizes)]
            for sizes in unknown
        ]

    def unless(self, condition: str) -> tuple[str, str]:
        """Branch on `condition`; return the names of the blocks for false and for true, which the
        caller starts."""
        failed, held = self.new(), self.new()
        self.add(f"br i1 {condition}, label %{held}, label %{failed}")
        return failed, held

    def block(self, name: str) -> None:
        """Start a block."""
        self.lines.append(f"{name}:")


def declaration(callee: str, arguments: Sequence[str], unknown: Sequence[int]) -> str:
    """Return the declaration of a function that `Body.call` calls."""
    types = ", ".join(text.partition(" ")[0] for text in arguments)
    return f"declare {returned_type(unknown)} {quoted(callee)}({types})"


def all_sizes(shape: Sequence[int], unknown: Sequence[str]) -> list[int | str]:
    """Return the sizes of a buffer, with the values `unknown` for its unknown sizes."""
    given = iter(unknown)
    return [next(given) if size == DYNAMIC_INDEX else size for size in shape]


def returned_type(unknown: Sequence[int]) -> str:
    """Return the type of `Body.call`'s results: pointers and unknown sizes, several in a struct."""
    types = [type for sizes in unknown for type in ("ptr", *["i64"] * sizes)]
    match types:
        case []:
            return "void"
        case [type]:
            return type
        case _:
            return struct(*types)


def struct(*values: str) -> str:
    """Return a struct constant of constants, each after its type, or the struct type of types."""
    return f"{{ {', '.join(values)} }}"


def quoted(symbol: str) -> str:
    """Return a symbol as LLVM IR spells it: `@"main"`."""
    return f'@"{escaped(symbol.encode())}"'


def escaped(data: bytes) -> str:
    """Return bytes as LLVM IR spells them between quotes; a line feed is `\\0A`."""
    return "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:02X}" for byte in data
    )
