"""The assembly of kernels: modules of `cuda_tile` become cubins, by NVIDIA's `tileiras`."""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from ...dialects.cuda_tile.bytecode.tile_writer import write_tile_bytecode
from ...dialects.cuda_tile.module_ops import EntryOp, ModuleOp
from ...dialects.target import Target
from ...passmanager.errors import NotInstalledError, PasslineError, install_hint
from ...passmanager.forks import available_cores
from ..native.cache import read_entry, stamp_of, write_entry
from ..native.compiled import Damaged
from .debug_places import with_scopes

__all__ = [
    "TILEIRAS",
    "AssemblyError",
    "Resources",
    "assemble",
    "assemble_each",
    "find_tileiras",
    "resources",
]

TILEIRAS = "PASSLINE_TILEIRAS"
"""The environment variable with the path of the assembler."""
GPUS = (80, 86, 87, 88, 89, 90, 100, 103, 107, 110, 120, 121)
"""The processors that version 13.5 of the assembler knows, as `sm_` and a number."""


class AssemblyError(PasslineError):
    """The error for kernels that the assembler refuses."""


# The assembler


def find_tileiras() -> Path:
    """Find the assembler, and return its path.

    It is looked for in this order: the file that `PASSLINE_TILEIRAS` names, the package
    `nvidia-cuda-tileiras`, the PATH, and the toolkit in `CUDA_HOME` or `CUDA_PATH`. Errors:
    NotInstalledError.
    """
    for path in _candidates():
        if os.access(path, os.X_OK) and path.is_file():
            return path
    if given := os.environ.get(TILEIRAS):
        raise NotInstalledError(f"{TILEIRAS}={given}: there is no program")
    raise NotInstalledError(f"tileiras is not installed: {install_hint('cuda')}", name="tileiras")


def _candidates() -> Iterator[Path]:
    if given := os.environ.get(TILEIRAS):
        yield Path(given)
        return
    spec = find_spec("nvidia")
    for folder in (spec and spec.submodule_search_locations) or ():
        yield from sorted(Path(folder).glob("cu*/bin/tileiras"), reverse=True)
    if found := shutil.which("tileiras"):
        yield Path(found)
    for home in filter(None, map(os.environ.get, ("CUDA_HOME", "CUDA_PATH"))):
        yield Path(home) / "bin" / "tileiras"


def assemble(
    module: ModuleOp,
    target: Target,
    *,
    version: tuple[int, int] = (13, 3),
    options: Sequence[str] = ("--lineinfo",),
    cached: bool = True,
) -> bytes:
    """Assemble the kernels in `module` for a GPU, and return the cubin.

    `version` is that of the bytecode that the assembler reads. `options` are passed to it;
    `--lineinfo` writes a table of source lines, which profilers and compute-sanitizer show. A cubin
    in the cache is not assembled again.

    Errors: AssemblyError, NotInstalledError; PasslineError for a target that is no GPU.
    """
    gpu = _gpu_of(target)
    bytecode = write_tile_bytecode(with_scopes(module), version)
    tool = find_tileiras()
    key = _key(bytecode, gpu, stamp_of([tool]), *options)
    if cached and (found := read_entry(key, _read_cubin)) is not None:
        return found
    try:
        cubin = _run(tool, bytecode, [f"--gpu-name={gpu}", *options])
    except AssemblyError as error:
        if not isinstance(entry := module.body.block.first_op, EntryOp):
            raise
        if entry.next_op is not None:
            assemble_each(module, target)  # its error names the kernel
            raise
        raise AssemblyError(f"kernel @{entry.sym_name.data}: {error}") from None
    if cached:
        content = sha256(cubin).digest() + cubin
        write_entry(key, len(content), lambda file: file.write(content))
    return cubin


def assemble_each(module: ModuleOp, target: Target) -> list[bytes]:
    """Assemble the entries of a module apart, on the cores of this process, and return a cubin for
    each. If the module has global variables, which entries share, return one cubin.

    Errors: as `assemble`.
    """
    parts = [*_entries_apart(module)]
    with ThreadPoolExecutor(min(len(parts), available_cores()) or 1) as threads:
        return [*threads.map(partial(assemble, target=target), parts)]


def _entries_apart(module: ModuleOp) -> Iterator[ModuleOp]:
    """Yield a module for each entry."""
    ops = [*module.body.block.ops]
    if len(ops) < 2 or not all(isinstance(op, EntryOp) for op in ops):
        yield module
        return
    for op in ops:
        part = ModuleOp(module.sym_name.data)
        part.body.block.add_op(op.clone())
        yield part


def _gpu_of(target: Target) -> str:
    if not target.is_cuda:
        raise PasslineError(f"target {target} is no GPU: expected one of NVIDIA's, such as sm_90")
    number = target.cpu.removeprefix("sm_")
    if number not in map(str, GPUS):
        raise PasslineError(
            f"tileiras does not know the GPU '{target.cpu}': expected one of "
            f"{', '.join(f'sm_{gpu}' for gpu in GPUS)}"
        )
    return target.cpu


def _key(bytecode: bytes, *settings: str) -> str:
    texts = [b"cubin", bytecode, *map(str.encode, settings)]
    return sha256(b"".join(b"%d:%b" % (len(text), text) for text in texts)).hexdigest()


def _read_cubin(file: IO[bytes]) -> bytes:
    digest, cubin = file.read(32), file.read()
    if sha256(cubin).digest() != digest:
        raise Damaged
    return cubin


def _run(tool: Path, bytecode: bytes, options: Sequence[str]) -> bytes:
    with tempfile.TemporaryDirectory(prefix="passline-") as folder:
        source, result = Path(folder, "kernels.tileirbc"), Path(folder, "kernels.cubin")
        source.write_bytes(bytecode)
        command = [str(tool), *options, str(source), "-o", str(result)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        except OSError as e:
            raise NotInstalledError(f"'{tool}' does not run: {e.strerror}") from e
        if done.returncode or not result.exists():
            raise _error(tool, done, str(source))
        return result.read_bytes()


def _error(tool: Path, done: subprocess.CompletedProcess[str], source: str) -> PasslineError:
    """Return the error of a run: one line with its first errors that give a reason."""
    output = (done.stdout + done.stderr).replace(source, "the kernels")
    errors = re.findall(r"^.*?\b(?:error|fatal)\s*:\s*(.*\S)", output, re.MULTILINE)
    vague = "failed to compile Tile IR program"
    known = [text for text in dict.fromkeys(errors) if text != vague]
    if not known and (missing := _missing_parts(tool)):
        text = f"tileiras needs {' and '.join(missing)} beside it: {install_hint('cuda')}"
        return NotInstalledError(text, name="tileiras")
    if not known and done.returncode < 0:
        known = [f"it was ended by signal {-done.returncode}"]
    return AssemblyError("tileiras: " + "; ".join(known[:3] or [vague]))


def _missing_parts(tool: Path) -> list[str]:
    """Return the programs and libraries that the assembler needs and does not find."""
    root = tool.resolve().parent.parent
    libraries = [*root.glob("lib*/libnvvm.so*"), *root.glob("nvvm/lib*/libnvvm.so*")]
    has_ptxas = (tool.resolve().parent / "ptxas").exists() or shutil.which("ptxas")
    missing = [] if has_ptxas else ["ptxas (nvidia-cuda-nvcc)"]
    return missing if libraries else [*missing, "libnvvm (nvidia-nvvm)"]


# The registers and memory of kernels, from the sections `.nv.info` of a cubin. A section is a list
# of records, each of a form, a kind, a size and a value. Source: the output of NVIDIA's cuobjdump.

_REGISTERS, _FRAME, _REQUIRED_THREADS = 0x2F, 0x11, 0x10
_SIZED = 4
"""The form of a record whose third field is the size of the value after it; in other forms that
field is the value."""
SHARED, INFO = ".nv.shared.", ".nv.info."


@dataclass(frozen=True)
class Resources:
    """The registers, memory and threads that a kernel uses on a multiprocessor."""

    registers: int
    """The number of 32-bit registers of a thread."""
    local_bytes: int
    """The bytes of local memory of a thread: spilled registers, and arrays."""
    shared_bytes: int
    """The bytes of statically allocated shared memory of a block."""
    threads: int
    """The number of threads of a block."""


def resources(cubin: bytes) -> Mapping[str, Resources]:
    """Return the resources of each kernel in a cubin, by its name.

    Errors: AssemblyError if the data is no cubin.
    """
    try:
        return _resources(cubin)
    except (struct.error, IndexError, ValueError, UnicodeDecodeError) as e:
        raise AssemblyError("the data is no cubin: its sections cannot be read") from e


def _resources(cubin: bytes) -> Mapping[str, Resources]:
    if cubin[:6] != b"\x7fELF\x02\x01":
        raise ValueError
    sections = dict(_sections(cubin))
    of_symbol: dict[int, dict[int, int]] = {}
    for kind, value in _records(sections[".nv.info"].content):
        symbol, number = struct.unpack_from("<II", value)
        of_symbol.setdefault(symbol, {})[kind] = number
    symbols = _symbols(sections[".symtab"].content, sections[".strtab"].content)
    found: dict[str, Resources] = {}
    for symbol, facts in of_symbol.items():
        name = symbols[symbol]
        info = sections.get(INFO + name)
        shared = sections.get(SHARED + name)
        if info is not None and _REGISTERS in facts:
            threads = dict(_records(info.content)).get(_REQUIRED_THREADS, struct.pack("<I", 0))
            x, y, z = (*struct.unpack(f"<{len(threads) // 4}I", threads), 1, 1)[:3]
            size = 0 if shared is None else shared.size
            found[name] = Resources(facts[_REGISTERS], facts.get(_FRAME, 0), size, x * y * z)
    return found


@dataclass(frozen=True)
class _ElfSection:
    content: bytes
    size: int
    """The size in memory; the content is shorter for a section without data in the file."""


def _sections(cubin: bytes) -> Iterator[tuple[str, _ElfSection]]:
    """Yield the sections of an ELF file of 64 bits by name."""
    (start,) = struct.unpack_from("<Q", cubin, 0x28)
    count, names = struct.unpack_from("<HH", cubin, 0x3C)
    headers = [struct.unpack_from("<IIQQQQIIQQ", cubin, start + 64 * i) for i in range(count)]
    for name, _, _, _, offset, size, *_ in headers:
        text = _text_at(cubin, headers[names][4] + name)
        yield text, _ElfSection(cubin[offset : offset + size], size)


def _symbols(table: bytes, names: bytes) -> list[str]:
    starts = [struct.unpack_from("<I", table, at)[0] for at in range(0, len(table), 24)]
    return [_text_at(names, start) for start in starts]


def _text_at(data: bytes, start: int) -> str:
    return data[start : data.index(0, start)].decode()


def _records(info: bytes) -> Iterator[tuple[int, bytes]]:
    position = 0
    while position < len(info):
        form, kind, value = struct.unpack_from("<BBH", info, position)
        position += 4
        if form == _SIZED:
            yield kind, info[position : position + value]
            position += value
