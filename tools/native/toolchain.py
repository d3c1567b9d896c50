"""MLIR's command-line tools: finding them, and running them to translate MLIR to LLVM IR."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...passes.generic.mlir_tool import VARIABLE, find_mlir_opt
from ...passmanager.errors import PasslineError

__all__ = ["Tools", "find_tools", "to_llvm"]

OLDEST = 19
INSTALL = (
    "install MLIR's tools (Debian: mlir-22-tools), or name mlir-opt in PASSLINE_MLIR_OPT and, "
    "where it is not beside it, mlir-translate in PASSLINE_MLIR_TRANSLATE"
)


@dataclass(frozen=True)
class Tools:
    """The paths of the executables."""

    mlir_opt: str
    mlir_translate: str

    def llvm_ir(self, text: str, passes: Sequence[str], *, locations: bool = False) -> str:
        """Run `passes` over the module in `text` and return its LLVM IR, with the locations of
        operations if asked for. PasslineError with the output of the tool that fails."""
        if locations:
            passes = [*passes, "ensure-debug-info-scope-on-llvm-func"]
        pipeline = f"builtin.module({','.join(passes)})"
        # The verification after each pass takes 40% of the time; mlir-translate verifies, too.
        options = (f"--pass-pipeline={pipeline}", "--verify-each=false", "--emit-bytecode")
        lowered = run(self.mlir_opt, *options, stdin=text.encode())
        return run(self.mlir_translate, "--mlir-to-llvmir", stdin=lowered).decode()


def run(tool: str, *arguments: str, stdin: bytes) -> bytes:
    """Run a tool and return its output; PasslineError if it fails."""
    try:
        done = subprocess.run([tool, *arguments], input=stdin, capture_output=True)
    except OSError as error:
        raise PasslineError(f"'{tool}' cannot be run: {error.strerror}; {INSTALL}") from error
    if done.returncode != 0:
        message = done.stderr.decode(errors="replace").strip() or "no error message"
        raise PasslineError(
            f"{tool} failed with status {done.returncode}:\n{message}{_too_old(tool)}"
        )
    if not done.stdout:
        raise PasslineError(
            f"'{tool}' printed nothing, so it is not one of MLIR's tools; {INSTALL}"
        )
    return done.stdout


def _too_old(tool: str) -> str:
    """Return a note for the error message if `tool` is older than LLVM `OLDEST`, else ""."""
    done = subprocess.run([tool, "--version"], capture_output=True, text=True)
    version = re.search(r"LLVM version (\d+)", done.stdout)
    if version is None or int(version[1]) >= OLDEST:
        return ""
    return f"\nit belongs to LLVM {version[1]}, expected {OLDEST} or newer: {INSTALL}"


def find_tools() -> Tools:
    """Find the tools that the environment names (`PASSLINE_MLIR_OPT`,
    `PASSLINE_MLIR_TRANSLATE`), or else the newest on the PATH. If there are none, raise a
    PasslineError that explains what to install."""
    if (found := find_mlir_opt()) is None:
        named = os.environ.get(VARIABLE) or "mlir-opt"
        raise PasslineError(f"there is no executable '{named}': {INSTALL}")
    opt = Path(found)
    beside = opt.with_name(opt.name.replace("mlir-opt", "mlir-translate"))
    other = os.environ.get("PASSLINE_MLIR_TRANSLATE")
    translate = shutil.which(other or str(beside))
    if other and translate is None:
        raise PasslineError(f"there is no executable '{other}': {INSTALL}")
    if translate is None or translate == found:
        raise PasslineError(f"there is no mlir-translate beside '{opt}': {INSTALL}")
    return Tools(found, translate)


def to_llvm(by_pointer: bool, threads: int = 1) -> list[str]:
    """Return the passes that convert a lowered module to the dialect llvm. With several threads,
    they share the iterations of parallel loops by OpenMP.

    With `by_pointer`, a buffer is passed as the address of its first element, and LLVM can use
    `noalias`; otherwise as a descriptor.
    """
    shared: list[str] = []
    if threads > 1:
        # It puts bodies into memref.alloca_scope, which has to be gone before there are branches.
        shared = [f"convert-scf-to-openmp{{num-threads={threads}}}", "canonicalize"]
    return [
        "canonicalize",
        "cse",
        "arith-expand",
        "convert-math-to-funcs",  # math.ipowi
        "convert-vector-to-scf{full-unroll=true}",
        *shared,
        "convert-scf-to-cf",
        "expand-strided-metadata",
        "lower-affine",  # expand-strided-metadata creates affine.apply
        "convert-math-to-llvm",
        "convert-math-to-libm",  # functions without LLVM intrinsic; vectors lane by lane
        "convert-vector-to-llvm",
        "finalize-memref-to-llvm",
        f"convert-func-to-llvm{{use-bare-ptr-memref-call-conv={str(by_pointer).lower()}}}",
        "convert-arith-to-llvm",
        "convert-index-to-llvm",
        "convert-cf-to-llvm",
        "convert-ub-to-llvm",
        *(["convert-openmp-to-llvm"] if threads > 1 else []),
        "reconcile-unrealized-casts",
    ]
