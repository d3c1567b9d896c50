"""The code of a library, which is that of a prepared function and that of its C interface: LLVM's
module with both, as an object file, assembly or LLVM IR; or the object files of a shared library,
which are compiled at the same time."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from typing_extensions import Buffer

from ...dialects.target import Target
from ...passmanager.errors import PasslineError
from ..native.codegen import quoted
from ..native.jit import PREFIXES, load_llvm, machine_of, optimize
from ..native.llvm_printer import llvm_ir
from ..native.objects import (
    COUNTS,
    ELF64,
    SECTION,
    SYMBOL,
    TABLE,
    missing_text,
    object_code,
    sections_of,
    symbols_in,
    undefined_symbols,
)
from ..native.preparation.preparation import Prepared
from .interface import LOADER_SYMBOL, Interface, interface_ir, library_symbol

if TYPE_CHECKING:
    import llvmlite.binding as llvm

    from ..interpreters.arrays import Array


# Object files in ELF: the addition of large constants, whose bytes LLVM never gets.


ALIGNMENT = 64
"""The alignment of constants, in bytes."""
MACHINES = {"x86_64": 62, "aarch64": 183}
"""The number of each architecture in the header of a file."""
LARGE_BYTES = 1 << 30
"""More bytes than this go into a section that code may be more than 2 GB away from."""

PROGBITS = 1
WRITE, ALLOC, X86_64_LARGE = 1, 2, 0x10000000
GLOBAL_OBJECT, HIDDEN = 0x11, 2
MACHINE = 0x12
"""The offset of the architecture in the header of a file."""


def with_data(code: bytes, constants: Mapping[str, Array]) -> list[Buffer]:
    """Return an object file, in parts, that defines the symbols in `constants`, which are undefined
    in `code`: one section with the bytes of all arrays is added to it.

    The symbols are visible to other object files of a library, and not outside of it. PasslineError
    if `code` is no little-endian ELF file of 64 bits.
    """
    if not constants:
        return [code]
    if not code.startswith(ELF64):
        raise PasslineError("constants can only be added to object files in ELF of 64 bits")
    image = bytearray(code)
    _, named = struct.unpack_from("<HH", image, COUNTS)
    sections, data = sections_of(image), Tail(len(image))
    starts = {n: data.add(a.data.cast("B"), ALIGNMENT) for n, a in constants.items()}
    first = min(starts.values())
    places = {name: (starts[name] - first, array.nbytes) for name, array in constants.items()}
    define(image, sections, places)

    size = max(start + length for start, length in places.values())
    name, flags = section_kind(image, constants, size)
    strings = bytes(image[sections[named][4] : sections[named][4] + sections[named][5]])
    sections[named][4:6] = data.add(strings + name + b"\0", 1), len(strings) + len(name) + 1
    sections.append([len(strings), PROGBITS, flags, 0, first, size, 0, 0, ALIGNMENT, 0])
    table = data.add(b"".join(SECTION.pack(*section) for section in sections), 8)
    struct.pack_into("<Q", image, TABLE, table)
    struct.pack_into("<H", image, COUNTS, len(sections))
    return [bytes(image), *data.parts]


class Tail:
    """The data to append to a file of `size` bytes."""

    def __init__(self, size: int) -> None:
        self.parts: list[Buffer] = []
        self._end = size

    def add(self, data: memoryview | bytes, alignment: int) -> int:
        """Add data, and return its offset in the file, a multiple of `alignment`."""
        start = self._end + -self._end % alignment
        self.parts += [bytes(start - self._end), data]
        self._end = start + len(data)
        return start


def define(
    image: bytearray, sections: Sequence[Sequence[int]], places: Mapping[str, tuple[int, int]]
) -> None:
    """Let the undefined symbols that `places` names be in the section after the last one."""
    for entry, text, is_defined in [*symbols_in(image, sections)]:
        if text in places and not is_defined:
            name, *_ = SYMBOL.unpack_from(image, entry)
            new = name, GLOBAL_OBJECT, HIDDEN, len(sections), *places[text]
            SYMBOL.pack_into(image, entry, *new)


def section_kind(image: bytearray, constants: Mapping[str, Array], size: int) -> tuple[bytes, int]:
    """Return the name and the flags of the section of the constants."""
    if any(array.flags.writeable for array in constants.values()):
        return b".data.passline", ALLOC | WRITE
    (machine,) = struct.unpack_from("<H", image, MACHINE)
    if machine == MACHINES["x86_64"] and size > LARGE_BYTES:
        return b".lrodata.passline", ALLOC | X86_64_LARGE
    return b".rodata.passline", ALLOC


MATH = (
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 "
    "fabs fdim floor fma fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint llround log log10 "
    "log1p log2 logb lrint lround modf nearbyint nextafter pow remainder remquo rint round scalbn "
    "sin sinh sqrt tan tanh tgamma trunc"
).split()
C_LIBRARY = frozenset(
    ["malloc", "free", "memcpy", "memmove", "memset", "memcmp", "aligned_alloc", "abort"]
).union(MATH, (f"{name}f" for name in MATH))
"""The functions of C99, and `aligned_alloc` of C11, that code may call."""


class LibraryCode:
    """The compiled code of a library, and its large constants by symbol."""

    def __init__(
        self, module: llvm.ModuleRef, machine: llvm.TargetMachine, constants: Mapping[str, Array]
    ) -> None:
        self._module = module
        self._machine = machine
        self._constants = constants

    def llvm_ir(self, triple: str) -> Iterator[bytes]:
        """Yield the module as LLVM IR, of `triple`."""
        self._module.triple = triple
        names = {str(self._module.get_global_variable(name)): name for name in self._constants}
        for line in str(self._module).splitlines():
            if name := names.get(line):
                yield from llvm_ir_of(name, self._constants[name])
            else:
                yield f"{line}\n".encode()

    def assembly(self) -> Iterator[bytes]:
        """Yield the code as assembly."""
        yield self._machine.emit_assembly(self._module).encode()
        yield from assembly_of(self._constants)

    def object_file(self) -> list[Buffer]:
        """Return the parts of the object file."""
        return with_data(self._machine.emit_object(self._module), self._constants)


def compile_code(prepared: Prepared, interface: Interface) -> LibraryCode:
    """Compile a prepared function and its C interface for the target of the interface.

    PasslineError if it calls a function that neither the module nor C defines.
    """
    machine = machine_of(interface.target)
    ir = llvm_ir(prepared.module, exported=(prepared.entry,))
    module = optimize(ir, [prepared.entry], machine)
    add_interface(module, interface)
    constants = hide_data(module, interface, prepared.constants)
    declared = [function.name for function in module.functions if function.is_declaration]
    check_symbols([name for name in declared if not name.startswith("llvm.")], prepared)
    return LibraryCode(module, machine, constants)


def object_files(prepared: Prepared, interface: Interface) -> list[list[Buffer]]:
    """Compile a prepared function, in parts at the same time if it is large, and its C interface;
    return the object files, in parts. The linker is to hide their symbols.

    PasslineError if it calls a function that neither the module nor C defines.
    """
    machine = machine_of(interface.target)
    codes = object_code(prepared, interface.target, machine)
    undefined = undefined_symbols(*codes)
    constants = {n: prepared.constants[n] for n in undefined if n in prepared.constants}
    called = [name for name in undefined if name not in constants]
    if (gpu := interface.gpu) is not None:
        called = [name for name in called if not name.startswith(gpu.SYMBOLS)]
        constants |= gpu.data
    check_symbols(called, prepared)
    ir = f"{interface_ir(interface)}{references(constants)}"
    return [*([code] for code in codes), with_data(object_of(ir, machine), constants)]


def references(symbols: Iterable[str]) -> str:
    """Return LLVM IR that refers to data of other files, for symbols in the object file."""
    names = [quoted(symbol) for symbol in symbols]
    if not names:
        return ""
    table = f"[{len(names)} x ptr] [{', '.join(f'ptr {name}' for name in names)}]"
    lines = [
        *(f"{name} = external hidden constant i8" for name in names),
        f"@library.constants = internal constant {table}",
        '@llvm.used = appending global [1 x ptr] [ptr @library.constants], section "llvm.metadata"',
    ]
    return "\n".join([*lines, ""])


def object_of(ir: str, machine: llvm.TargetMachine) -> bytes:
    """Return the object file of LLVM IR."""
    module = load_llvm().parse_assembly(ir)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    return machine.emit_object(module)


def empty_object(target: Target) -> bytes:
    """Return an object file without code."""
    return object_of("", machine_of(target))


def check_symbols(called: Sequence[str], prepared: Prepared) -> None:
    """Raise PasslineError for a call of a function that is not one of C, nor, with several threads,
    one of the OpenMP runtime."""
    known = [name for name in called if name in C_LIBRARY]
    if prepared.threads > 1:
        known += [name for name in called if name.startswith(PREFIXES)]
    if missing := [name for name in called if name not in known]:
        raise PasslineError(missing_text(prepared.module, missing, "the C library"))


def add_interface(module: llvm.ModuleRef, interface: Interface) -> None:
    """Add the functions and data of an interface, the only caller of the model's function."""
    added = load_llvm().parse_assembly(interface_ir(interface))
    added.triple, added.data_layout = module.triple, module.data_layout
    module.link_in(added)
    module.get_function(interface.entry).linkage = "internal"


def hide_data(
    module: llvm.ModuleRef, interface: Interface, constants: Mapping[str, Array]
) -> dict[str, Array]:
    """Make data internal but for the description; return the large constants in use, with symbols
    that begin with the name of the library."""
    exported = (LOADER_SYMBOL, library_symbol(interface.name))
    used: dict[str, Array] = {}
    for variable in module.global_variables:
        name = variable.name
        if variable.is_declaration and name in constants:
            variable.name = f"{interface.name}.{name}"
            variable.visibility = "hidden"
            used[variable.name] = constants[name]
        elif not variable.is_declaration and name not in exported:
            variable.linkage = "internal"
    return used


CHUNK = 1 << 20
"""The bytes that are turned into text at once."""


def llvm_ir_of(name: str, array: Array) -> Iterator[bytes]:
    """Yield the definition of a constant in LLVM IR."""
    kind = "global" if array.flags.writeable else "constant"
    yield f'{quoted(name)} = hidden {kind} [{array.nbytes} x i8] c"'.encode()
    yield from texts(array, "\\{:02X}")
    yield f'", align {ALIGNMENT}\n'.encode()


def assembly_of(constants: Mapping[str, Array]) -> Iterator[bytes]:
    """Yield the definitions of constants in the GNU assembler's language."""
    for name, array in constants.items():
        symbol = quoted(name)[1:]
        section = '.data.passline,"aw"' if array.flags.writeable else '.rodata.passline,"a"'
        yield (
            f"\t.section\t{section},@progbits\n\t.p2align\t{ALIGNMENT.bit_length() - 1}\n"
            f"\t.globl\t{symbol}\n\t.hidden\t{symbol}\n\t.type\t{symbol},@object\n{symbol}:\n"
        ).encode()
        for text in texts(array, "\\{:03o}"):
            yield b'\t.ascii\t"' + text + b'"\n'
        yield f"\t.size\t{symbol}, {array.nbytes}\n".encode()


def texts(array: Array, form: str) -> Iterator[bytes]:
    """Yield the text of the bytes of an array, a part at a time; `form` is that of one byte."""
    import numpy as np

    table = np.frombuffer("".join(map(form.format, range(256))).encode(), np.uint8)
    table = table.reshape(256, -1)
    data = np.frombuffer(array, np.uint8)
    for start in range(0, len(data), CHUNK):
        yield table[data[start : start + CHUNK]].tobytes()
