"""The linking of shared libraries, by the compilers and linkers that this machine has."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...dialects.target import Target
from ...passmanager.errors import PasslineError
from ..native.jit import find_runtime

VARIABLE = "CC"
COMPILERS = ("cc", "gcc", "clang")
LINKERS = ("ld.lld", "ld")
EMULATIONS = {"x86_64": "elf_x86_64", "aarch64": "aarch64linux"}
MATH_LIBRARY = "libm.so.6"
"""The name of glibc's mathematical functions."""


@dataclass(frozen=True)
class Linker:
    """A program that links, with the arguments that are always given."""

    command: tuple[str, ...]
    is_compiler: bool
    """Whether it is a C compiler, which passes options to its linker and knows the C library."""

    def link(
        self,
        objects: Sequence[Path],
        output: Path,
        soname: str,
        symbols: Path,
        empty: Path,
        runtimes: Sequence[Path] = (),
    ) -> None:
        """Link object files to a shared library.

        `symbols` is a version script. `empty` is an object file without code, from which stand-ins
        are made: for the C library, where a linker does not know it, and for `runtimes`, such as
        that of OpenMP. PasslineError with the output of the linker if it fails.
        """
        options = self._option("-soname", soname) + self._option("-z", "noexecstack")
        options += self._option("--version-script", str(symbols))
        if self.is_compiler:
            options += ["-Wl,--as-needed", "-lm"]
        stand_ins = [] if self.is_compiler else [MATH_LIBRARY]
        stand_ins += [runtime.name for runtime in runtimes]
        if stand_ins:
            options += self._option("--no-as-needed")
            options += [str(self._stand_in(empty, name)) for name in stand_ins]
        for runtime in runtimes:
            if runtime.is_absolute():  # it is not where the system looks
                options += self._option("-rpath", str(runtime.parent))
        self._run("-shared", "-o", output, *objects, *options)

    def _option(self, *words: str) -> list[str]:
        """Return an option of the linker, which a compiler passes on."""
        return [f"-Wl,{','.join(words)}"] if self.is_compiler else [*words]

    def _stand_in(self, empty: Path, soname: str) -> Path:
        """Return a library without code that has the name of another one."""
        library = empty.with_name(soname)
        more = ["-nostdlib"] if self.is_compiler else []
        self._run("-shared", *more, *self._option("-soname", soname), "-o", library, empty)
        return library

    def _run(self, *arguments: str | Path) -> None:
        command = [*self.command, *map(str, arguments)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        except OSError as error:
            raise PasslineError(f"'{command[0]}' cannot be run: {error.strerror}") from error
        if done.returncode != 0:
            said = done.stderr.strip() or "no error message"
            raise PasslineError(f"{command[0]} failed with status {done.returncode}:\n{said}")


def openmp_library(target: Target) -> Path:
    """Return this machine's OpenMP runtime if `target` is like it, else its usual name."""
    is_own = target.triple.partition("-")[0] == platform.machine().replace("AMD64", "x86_64")
    runtime = find_runtime() if is_own else None
    return Path(runtime.path if runtime is not None and runtime.path else "libomp.so.5")


def version_script(symbols: Iterable[str]) -> str:
    """Return a script for linkers that makes these symbols alone visible outside of a library."""
    return f"{{ global: {' '.join(f'{symbol};' for symbol in symbols)} local: *; }};\n"


def find_linker(target: Target) -> Linker:
    """Return a linker for `target`: the compiler that `CC` names; else a compiler for the target,
    or a linker for it. PasslineError if there is none, with what to install."""
    arch = target.triple.partition("-")[0]
    if named := os.environ.get(VARIABLE):
        return named_compiler(named, arch)
    for name in (*COMPILERS, f"{arch}-linux-gnu-gcc"):
        if (path := shutil.which(name)) and architecture(path) == arch:
            return Linker((path,), is_compiler=True)
    for name in (*LINKERS, f"{arch}-linux-gnu-ld"):
        if (path := shutil.which(name)) and links(path, arch):
            return Linker((path, "-m", EMULATIONS[arch]), is_compiler=False)
    raise PasslineError(
        f"there is no linker for {arch}: install lld or gcc (Debian: lld, "
        f"gcc-{arch.replace('_', '-')}-linux-gnu), or name a compiler in {VARIABLE}; "
        "files .o, .s and .ll need none"
    )


def named_compiler(named: str, arch: str) -> Linker:
    """Return the compiler that the environment names, with its options."""
    try:
        command = shlex.split(named)
    except ValueError as error:
        raise PasslineError(f"{VARIABLE}={named}: {error}") from None
    if not command or (path := shutil.which(command[0])) is None:
        raise PasslineError(f"there is no executable '{named}', which {VARIABLE} names")
    command[0] = path
    if (own := architecture(*command)) != arch:
        makes = f"makes code for {own}" if own else "does not say what it makes code for"
        raise PasslineError(
            f"the compiler '{named}', which {VARIABLE} names, {makes}: expected one for {arch}"
        )
    return Linker(tuple(command), is_compiler=True)


def architecture(*compiler: str) -> str | None:
    """Return the architecture that a compiler makes code for, None if it does not say."""
    said = output_of(*compiler, "-dumpmachine")
    return said.strip().partition("-")[0] or None if said is not None else None


def links(linker: str, arch: str) -> bool:
    """Return whether a linker links code for `arch`."""
    if arch not in EMULATIONS:
        return False
    if "lld" in Path(linker).name:
        return True
    return EMULATIONS[arch] in (output_of(linker, "-V") or "").split()


def output_of(*command: str) -> str | None:
    """Return what a command prints, None if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None
