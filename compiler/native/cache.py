"""The cache of compiled functions: files in `$XDG_CACHE_HOME/passline`, by what they depend on.

An entry is code that will run, so that the folder must belong to the user, and be writable by no
other. Whatever is wrong with the folder or an entry, the function is compiled: no error is raised.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import IO, TypeVar

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp

from ...passmanager.ir.text.printer import ExactPrinter, PrintStyle
from ...passmanager.ir.walk import walk
from ...passmanager.registry import dialect_of, is_registered_here
from ...passmanager.releases.release import xdsl_version
from .compiled import Compiled, Damaged, read_compiled, write_compiled

T = TypeVar("T")

LIMIT = "PASSLINE_CACHE_SIZE"
"""The environment variable with the most bytes that the cache may take; 0 turns it off."""
DEFAULT_BYTES = 4 << 30
UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
SUFFIX = ".native"
PACKAGES = ("compiler", "dialects", "passes", "passmanager")
"""The packages whose code decides what a module is compiled to."""
EXACT_BYTES = 64
"""Smaller constants are part of the text that is hashed."""


# Keys


def key_of(module: ModuleOp, *settings: object) -> str:
    """Return the key of the code that a module is compiled to: a hash of all that it depends on.

    `settings` are the function, the target and all options; their text must tell them apart. All
    else that the code depends on is in `versions`.
    """
    printer = KeyPrinter(stream := StringIO(), PrintStyle(generic=True, debuginfo=True))
    printer.print_op(module)
    parts = (stream.getvalue(), *map(str, settings), *versions())
    texts = [part.encode() for part in parts]
    return sha256(b"".join(b"%d:%b" % (len(text), text) for text in texts)).hexdigest()


class KeyPrinter(ExactPrinter):
    """A printer that prints a hash of the elements of a constant."""

    def print_dense(self, dense: DenseIntOrFPElementsAttr) -> None:
        if len(data := dense.data.data) <= EXACT_BYTES:
            super().print_dense(dense)
        else:
            self.print_string(f'dense<"{sha256(data).hexdigest()}"> : ')
            self.print_attribute(dense.get_type())


def versions() -> Iterator[str]:
    """Yield the versions of all that takes part in a compilation: Passline, xDSL, LLVM, which
    programs for other devices do without."""
    yield source_stamp()
    yield plugin_stamp()
    yield xdsl_version()
    yield "" if find_spec("llvmlite") is None else version("llvmlite")


@cache
def source_stamp() -> str:
    """Return a text that changes with each change of a source file of this package."""
    root = Path(__file__).parents[2]
    files = [file for name in PACKAGES for file in (root / name).rglob("*.py")]
    return stamp_of([*root.glob("*.py"), *files])


def stamp_of(files: Iterable[Path]) -> str:
    """Return a hash of the names, the sizes and the times of files."""
    stamps = [f"{path} {s.st_size} {s.st_mtime_ns}" for path in sorted(files) if (s := path.stat())]
    return sha256("\n".join(stamps).encode()).hexdigest()


PLUGINS = ("xdsl.universe", "passline.interpreters", "passline.legalizations")
"""The groups of entry points by which other projects take part."""


@cache
def plugin_stamp() -> str:
    """Return a text that changes with the source files of plugins, as their kernels are part of
    the code. Nothing is imported."""
    return stamp_of(
        file
        for name in sorted(plugin_packages())
        for spec in [find_spec(name)]
        if spec is not None
        for folder in spec.submodule_search_locations or [str(spec.origin)]
        for file in ([Path(folder)] if folder.endswith(".py") else Path(folder).rglob("*.py"))
    )


def plugin_packages() -> set[str]:
    """Return the names of the packages that entry points name."""
    from importlib.metadata import entry_points

    modules = {point.module for group in PLUGINS for point in entry_points(group=group)}
    return {module.partition(".")[0] for module in modules} - {"passline", "xdsl"}


def is_covered(module: ModuleOp) -> bool:
    """Return whether a key covers the code by which `module` is compiled: the classes of its
    operations are in files that `versions` hashes, and so are their kernels and semantics, none of
    which was registered in this process."""
    classes = {type(op) for op in walk(module)}
    if any(is_registered_here(dialect_of(cls)) for cls in classes):
        return False
    bases = {base for cls in classes for base in cls.__mro__}
    return {base.__module__.partition(".")[0] for base in bases} <= covered_packages()


@cache
def covered_packages() -> frozenset[str]:
    """Return the names of the packages that `versions` covers, and those of Python."""
    return sys.stdlib_module_names | {"passline", "xdsl"} | plugin_packages()


# Entries


def load(key: str) -> Compiled | None:
    """Return the compiled function that is the entry `key`, None if there is none."""
    return read_entry(key, read_compiled)


def read_entry(key: str, read: Callable[[IO[bytes]], T]) -> T | None:
    """Return what `read` makes of the entry `key`, None if there is none. One of which it says that
    it is damaged, by raising Damaged, is removed."""
    if (folder := cache_folder(create=False)) is None:
        return None
    path = folder / f"{key}{SUFFIX}"
    try:
        # Anything else in its place, such as a pipe, must not be waited for.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid():
                return None
            content = read(file)
    except Damaged:
        with suppress(OSError):
            path.unlink()
        return None
    except OSError:
        return None
    with suppress(OSError):
        os.utime(path)  # it has been used now
    return content


def store(key: str, compiled: Compiled) -> None:
    """Add a compiled function as the entry `key`."""
    size = sum(map(len, compiled.objects)) + sum(a.nbytes for a in compiled.constants.values())
    write_entry(key, size, lambda file: write_compiled(compiled, file))


def write_entry(key: str, size: int, write: Callable[[IO[bytes]], object]) -> None:
    """Add an entry of about `size` bytes, and remove those that were used least recently if the
    cache is too large."""
    limit = max_bytes()
    if size > limit or (folder := cache_folder(create=True)) is None:
        return
    try:
        descriptor, name = tempfile.mkstemp(SUFFIX + ".new", dir=folder)
        try:
            with open(descriptor, "wb") as file:
                write(file)
            os.replace(name, folder / f"{key}{SUFFIX}")
        except BaseException:
            os.unlink(name)
            raise
        remove_oldest(folder, limit)
    except OSError:  # such as a full disk
        pass


def remove_oldest(folder: Path, limit: int) -> None:
    """Remove the entries that were used least recently, until `limit` bytes are left at most."""
    entries: list[tuple[float, int, Path]] = []
    for path in folder.glob(f"*{SUFFIX}*"):
        with suppress(OSError):
            status = path.stat()
            entries.append((status.st_mtime, status.st_size, path))
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= limit:
            return
        with suppress(OSError):
            path.unlink()
        total -= size


def cache_folder(*, create: bool) -> Path | None:
    """Return the folder of the cache, None if there is none, or if others could write to it."""
    if not hasattr(os, "getuid") or max_bytes() == 0:
        return None
    base = os.environ.get("XDG_CACHE_HOME", "")
    try:
        folder = (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "passline"
        if create:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except (OSError, RuntimeError):  # there is no home
        return None
    is_private = status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return folder if is_private and stat.S_ISDIR(status.st_mode) else None


def max_bytes() -> int:
    """Return the most bytes that the cache may take: `PASSLINE_CACHE_SIZE`, such as 500M, or 4G."""
    match = re.fullmatch(r"(\d+)([KMGT]?)", os.environ.get(LIMIT, "").strip().upper())
    return int(match[1]) << UNITS[match[2]] if match else DEFAULT_BYTES
