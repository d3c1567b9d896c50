"""LLVM in this process: optimization of LLVM IR, and linking of object code in memory."""

from __future__ import annotations

import ctypes
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ...dialects.target import Target, host
from ...passmanager.errors import PasslineError
from . import codegen
from .preparation.soft_promotion import CONVERSION

if TYPE_CHECKING:
    import llvmlite.binding as llvm


@dataclass(frozen=True)
class LoadedFunction:
    """A function in memory, which is freed together with this object."""

    address: int
    keeps: tuple[object, ...]
    """The objects that own the memory."""


def optimize(
    ir: str, exported: Collection[str], machine: llvm.TargetMachine, level: int = 3
) -> llvm.ModuleRef:
    """Parse LLVM IR and return the module, optimized for `machine`. All its functions except those
    `exported` become internal. PasslineError if it cannot be parsed."""
    load_llvm()
    try:
        return codegen.optimized(ir, exported, CONVERSION, machine, level)
    except RuntimeError as error:
        raise cannot_parse(error) from error


def cannot_parse(reason: object) -> PasslineError:
    """Return the error that LLVM cannot parse its IR."""
    return PasslineError(f"LLVM cannot parse the IR of the module: {reason}")


def is_in_process(symbol: str) -> bool:
    """Return whether this process defines a function or variable named `symbol`."""
    return hasattr(ctypes.CDLL(None), symbol)


def link(codes: Sequence[bytes], entry: str, symbols: Mapping[str, int]) -> LoadedFunction:
    """Load object files into memory and return their function `entry`. `symbols` gives the
    addresses of undefined symbols that this process does not define."""
    binding = load_llvm()
    builder = binding.JITLibraryBuilder()
    for code in codes:
        builder.add_object_img(code)
    builder.add_current_process().export_symbol(entry)
    for name, address in symbols.items():
        builder.import_symbol(name, address)
    jit = binding.create_lljit_compiler(machine_of(host()))
    try:
        library = builder.link(jit, entry)
    except RuntimeError as error:
        raise PasslineError(f"the machine code cannot be linked: {error}") from error
    return LoadedFunction(library[entry], (library, jit))


def load_llvm():  # -> the module llvmlite.binding
    """Return llvmlite's binding, initialized for all targets; NotInstalledError without it."""
    import llvmlite.binding as binding

    codegen.initialize()
    return binding


def machine_of(target: Target) -> llvm.TargetMachine:
    """Return LLVM's machine for a target."""
    return target_machine(*processor_of(target))


def processor_of(target: Target) -> codegen.Processor:
    """Return what LLVM generates code for."""
    features = target.features.split(",")
    if target.triple.startswith("aarch64"):  # LLVM has no name for multiply-adds, which all have
        features = [name for name in features if name != "+fma"]
    return codegen.Processor(target.triple, target.cpu, ",".join(features))


def target_machine(triple: str, cpu: str, features: str = "", opt: int = 3) -> llvm.TargetMachine:
    """Return a target machine for which LLVM calls only functions of C99."""
    load_llvm()
    return codegen.target_machine(codegen.Processor(triple, cpu, features, opt))


# The OpenMP runtime, which runs the iterations of parallel loops on several threads.


PREFIXES = ("__kmpc_", "omp_", "kmp_")
"""How the names of the functions of the runtime begin."""
NEEDED = "__kmpc_fork_call"
NAMES = ("libomp", "libiomp5")
INSTALL = (
    "install Debian's package libomp-22-dev (or libomp5 of any version), `pip install "
    "intel-openmp` (passline[threads]), or import a library that loads libomp, such as PyTorch"
)


class Runtime:
    """The runtime in this process. LLVM's and Intel's are the same library under two names."""

    def __init__(self, library: ctypes.CDLL, path: str) -> None:
        self._library = library
        self.path = path
        """The file, or "" for functions that the process itself has."""

    def address(self, symbol: str) -> int | None:
        """Return the address of a function of the runtime; None if it has none of that name."""
        if not hasattr(self._library, symbol):
            return None
        return ctypes.cast(getattr(self._library, symbol), ctypes.c_void_p).value


def find_runtime() -> Runtime | None:
    """Return the runtime: the one that this process has loaded, as a second one would end the
    process, or else that of the wheel `intel-openmp`, or of the system; None if there is none."""
    for path in candidates():
        try:
            library = ctypes.CDLL(path or None)
        except OSError:
            continue
        if hasattr(library, NEEDED):
            return Runtime(library, path)
    return None


def runtime_symbols(names: Iterable[str]) -> dict[str, int]:
    """Return the addresses of those `names` that are functions of the runtime."""
    names = [name for name in names if name.startswith(PREFIXES)]
    if not names or (runtime := find_runtime()) is None:
        return {}
    places = {name: runtime.address(name) for name in names}
    return {name: place for name, place in places.items() if place is not None}


def candidates() -> Iterator[str]:
    """Yield the paths of libraries that may be the runtime; "" is the process itself."""
    yield ""
    yield from loaded_libraries()
    yield from (str(path) for path in installed_libraries())
    yield from ("libomp.so.5", "libiomp5.so", "libomp.so", "libomp.dylib")


def loaded_libraries() -> list[str]:
    """Return the libraries in this process that have the name of a runtime. Those that Python
    extensions load do not give their functions to the process."""
    try:
        lines = Path("/proc/self/maps").read_text().splitlines()
    except OSError:
        return []
    paths = [line.split(maxsplit=5)[5] for line in lines if line.count("/")]
    return [path for path in dict.fromkeys(paths) if Path(path).name.startswith(NAMES)]


def installed_libraries() -> Iterator[Path]:
    """Yield the libraries of the wheel `intel-openmp`, of Homebrew, and of Debian's packages."""
    yield from (Path(root, "lib", "libiomp5.so") for root in (sys.prefix, sys.base_prefix))
    for root in ("/opt/homebrew", "/usr/local"):
        yield Path(root, "opt", "libomp", "lib", "libomp.dylib")

    def version(path: Path) -> int:
        digits = path.parent.parent.name.rpartition("-")[2]
        return int(digits) if digits.isdigit() else 0

    found = Path("/usr/lib").glob("llvm-*/lib/libomp.so*")
    yield from sorted(found, key=version, reverse=True)
    yield from Path("/usr/lib").glob("*-linux-gnu/libomp.so*")


def usable_threads(threads: int, warn: Callable[[str], object] | None = None) -> int:
    """Return `threads`; without an OpenMP runtime warn once, and return 1."""
    if threads == 1 or find_runtime() is not None:
        return threads
    (warn or warn_once)(
        f"one thread is used, not {threads}: no OpenMP runtime was found; {INSTALL}"
    )
    return 1


@cache
def warn_once(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=4)
