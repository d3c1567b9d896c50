"""Compare passes with mlir-opt's on the functions of MLIR's own test files, by operations left.

    .venv/bin/python tests/conformance/mlir_files.py DIRECTORY [PART...] [--differing]

DIRECTORY is `mlir/test` of a checkout of LLVM, of the release of the mlir-opt that is found; none
of its text is part of this project. Each PART of a path chooses files (default: those of
`PIPELINES` by name); `--differing` prints the functions of which more is left, or that are not
read. Exit code 1 if a part matches no file.

A case is one function with the symbols that it refers to, once as mlir-opt prints it and once in
generic form. "failed" are those that a pass or the verifier ends with an error. Functions with an
operation that MLIR registers and xDSL lacks are counted apart.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import UnregisteredOp
from xdsl.utils.exceptions import ParseError

from passline.passes.generic.mlir_opt import find_mlir_opt
from passline.passmanager import PassContext
from passline.passmanager.ir.text.parser import parse_module, split_chunks
from passline.passmanager.ir.verifier import verify
from passline.passmanager.ir.walk import walk
from passline.passmanager.registry import make_ir_context
from passline.tools.opt import PasslineOptMain


class Pipelines(NamedTuple):
    """A pipeline of mlir-opt and its counterpart here."""

    theirs: str
    ours: str


CANONICALIZE = Pipelines("builtin.module(canonicalize)", "canonicalize")
PIPELINES = {
    "Dialect/Arith/canonicalize.mlir": CANONICALIZE,
    "Dialect/Arith/constant-fold.mlir": CANONICALIZE,
    "Transforms/canonicalize.mlir": CANONICALIZE,
    "Transforms/canonicalize-dce.mlir": Pipelines(
        "builtin.module(func.func(canonicalize{region-simplify=aggressive}))",
        "canonicalize{region-simplify=aggressive}",
    ),
    "Transforms/canonicalize-block-merge.mlir": Pipelines(
        "builtin.module(func.func(canonicalize{region-simplify=aggressive}))",
        "canonicalize{region-simplify=aggressive}",
    ),
    "Dialect/SCF/canonicalize.mlir": CANONICALIZE,
    "Dialect/ControlFlow/canonicalize.mlir": CANONICALIZE,
    "Dialect/MemRef/canonicalize.mlir": CANONICALIZE,
    "Transforms/cse.mlir": Pipelines("builtin.module(cse)", "cse"),
    "Transforms/inlining.mlir": Pipelines("builtin.module(inline{default-pipeline=})", "inline"),
}
"""The files of MLIR of which the results are kept up."""
BY_STEM = {
    "canonicali": CANONICALIZE,
    "fold": CANONICALIZE,
    "Vector/canonicalize/": CANONICALIZE,
    "sccp": Pipelines("builtin.module(sccp)", "sccp"),
    "cse": Pipelines("builtin.module(cse)", "cse"),
    "inlining": PIPELINES["Transforms/inlining.mlir"],
    "loop-invariant-code-motion": Pipelines(
        "builtin.module(loop-invariant-code-motion)", "loop-invariant-code-motion"
    ),
    "mem2reg": Pipelines("builtin.module(mem2reg)", "mem2reg"),
    "sroa": Pipelines("builtin.module(sroa)", "sroa"),
    "control-flow-sink": Pipelines("builtin.module(control-flow-sink)", "control-flow-sink"),
    "remove-dead-values": Pipelines("builtin.module(remove-dead-values)", "remove-dead-values"),
    "test-symbol-dce": Pipelines("builtin.module(symbol-dce)", "symbol-dce"),
    "int-range": Pipelines(
        "builtin.module(int-range-optimizations,canonicalize)",
        "int-range-optimizations,canonicalize",
    ),
}
"""Pipelines of further files, by a part of their names, or of their paths."""

_TOP_LEVEL = re.compile(r"^  (?=[^\s})^])", re.MULTILINE)
_SYMBOL = re.compile(r'@("[^"]*"|[\w.$-]+)')
_SYM_NAME = re.compile(r'sym_name = ("[^"]*")')
_OP_NAME = re.compile(r'^ *(?:%[^=]+= )?"([\w.$-]+)"[(]', re.MULTILINE)


def mlir_opt(texts: Sequence[str], *options: str) -> list[str]:
    """Run mlir-opt on modules in one process; the result of one that fails is empty."""
    executable = find_mlir_opt()
    assert executable is not None, "mlir-opt is not installed (Debian: mlir-22-tools)"
    command = [executable, "--split-input-file", "--allow-unregistered-dialect", *options]
    marker = "\n// -----\n"
    done = subprocess.run(command, input=marker.join(texts), capture_output=True, text=True)
    chunks = [chunk.decode() for chunk, _ in split_chunks(done.stdout.encode())]
    if len(chunks) == len(texts):
        return chunks
    # It crashed.
    return [mlir_opt([text], *options)[0] for text in texts] if len(texts) > 1 else [""]


class Case(NamedTuple):
    """A function of a test file of MLIR as a module of its own, in both forms."""

    name: str
    custom: str
    generic: str


def cases(texts: Sequence[str]) -> Iterator[Case]:
    """Yield the functions of modules that mlir-opt reads."""
    local = "--mlir-print-local-scope"
    custom, generic = mlir_opt(texts, local), mlir_opt(texts, local, "--mlir-print-op-generic")
    for customs, generics in zip(map(top_level, custom), map(top_level, generic), strict=True):
        names = [symbol(text) for text in generics]
        known = dict(zip(names, range(len(names)), strict=True))
        for index, (name, text) in enumerate(zip(names, generics, strict=True)):
            if text.count("\n") <= 1 or len(customs) != len(generics):
                continue
            needed = dict.fromkeys([index])
            for found in (pending := [index]):
                new = [known[n] for n in references(generics[found]) if n in known]
                pending += [n for n in new if n not in needed]
                needed |= dict.fromkeys(new)
            chosen = sorted(needed)
            module = "".join(generics[n] for n in chosen)
            yield Case(
                name,
                "module {\n" + "".join(customs[n] for n in chosen) + "}\n",
                f'"builtin.module"() ({{\n{module}}}) : () -> ()\n',
            )


def top_level(module: str) -> list[str]:
    """Return the operations of a module that mlir-opt printed, one text each."""
    starts = [match.start() for match in _TOP_LEVEL.finditer(module)]
    return [
        module[start:end] if end else module[start : module.rstrip().rfind("\n") + 1]
        for start, end in zip_longest(starts, starts[1:])
    ]


def symbol(generic: str) -> str:
    """Return the name of an operation in generic form; '' if it is no symbol."""
    first_region = generic.split("({\n", 1)[0]
    return found[1].strip('"') if (found := _SYM_NAME.search(first_region)) else ""


def references(text: str) -> list[str]:
    """Return the symbols that a text refers to."""
    return [name.strip('"') for name in _SYMBOL.findall(text)]


@cache
def dialects_of_mlir() -> frozenset[str]:
    """Return the names of the dialects that mlir-opt registers."""
    executable = find_mlir_opt()
    assert executable is not None
    shown = subprocess.run([executable, "--show-dialects"], capture_output=True, text=True).stdout
    return frozenset(re.split(r"[,\s]+", shown.partition(":")[2]))


def lacking(ctx: Context, generic: str) -> list[str]:
    """Return the operations of a text that MLIR registers and xDSL does not."""
    names = dict.fromkeys(_OP_NAME.findall(generic))
    known = [name for name in names if name.partition(".")[0] in dialects_of_mlir()]
    return [name for name in known if not registered(ctx, name)]


def registered(ctx: Context, name: str) -> bool:
    """Return whether an operation is known here."""
    op = ctx.get_optional_op(name)
    return op is not None and not issubclass(op, UnregisteredOp)


def left(text: str, pipeline: str) -> Counter[str] | Exception:
    """Return the operations that a pipeline leaves of a module, or the error that it ends with."""
    tool = PasslineOptMain(args=["-p", pipeline])
    ctx = make_ir_context(allow_unregistered=True)
    try:
        module = parse_module(ctx, text, "case.mlir")
        with PassContext(opt_level=4):
            tool.pipeline.apply(ctx, module)
        verify(module)
    except Exception as error:
        return error
    return Counter(
        op.op_name.data if isinstance(op, UnregisteredOp) else op.name for op in walk(module)
    )


def judge(ours: Counter[str] | Exception, theirs: Counter[str]) -> str:
    """Return how what is left here compares with what mlir-opt leaves."""
    if isinstance(ours, Exception):
        return "not read" if isinstance(ours, ParseError) else "failed"
    if ours == theirs:
        return "same"
    if ours.total() == theirs.total():
        return "others"
    return "fewer" if ours.total() < theirs.total() else "more"


VERDICTS = ("same", "fewer", "others", "more", "failed", "not read")


def compare(file: Path, pipelines: Pipelines, show: bool) -> dict[str, Counter[str]]:
    """Return the verdicts on the functions of a file, by form; print those that differ."""
    chunks = [chunk.decode() for chunk, _ in split_chunks(file.read_bytes())]
    found = list(cases(chunks))
    option = f"--pass-pipeline={pipelines.theirs}"
    texts = [case.generic for case in found]
    theirs = mlir_opt(texts, option, "--mlir-print-op-generic") if texts else []
    ctx = make_ir_context(allow_unregistered=True)
    verdicts: dict[str, Counter[str]] = {"custom": Counter(), "generic": Counter()}
    for case, text in zip(found, theirs, strict=True):
        if not text.strip():
            continue
        expected = Counter(_OP_NAME.findall(text))
        missing = lacking(ctx, case.generic)
        for form, source in (("custom", case.custom), ("generic", case.generic)):
            ours = left(source, pipelines.ours)
            verdict = "lacking" if missing else judge(ours, expected)
            verdicts[form][verdict] += 1
            if show and verdict in ("more", "failed", "not read"):
                what = ours if isinstance(ours, Exception) else ours - expected
                print(f"{file.name} {form} @{case.name}: {verdict}: {what}\n{source}{text}")
            elif show and verdict == "lacking" and form == "generic":
                print(f"{file.name} @{case.name}: xDSL lacks {', '.join(missing)}")
    return verdicts


def pipelines_of(path: str) -> Pipelines | None:
    """Return the pipelines to compare on a file, by its name."""
    if path in PIPELINES:
        return PIPELINES[path]
    stem = path.rpartition("/")[2]
    return next(
        (pair for part, pair in BY_STEM.items() if part in (path if "/" in part else stem)), None
    )


def main(arguments: Sequence[str]) -> int:
    """Print the table of the files that the arguments choose."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--differing", action="store_true")
    chosen = parser.parse_args(arguments)
    every = sorted(str(p.relative_to(chosen.directory)) for p in chosen.directory.rglob("*.mlir"))
    files = [f for f in every if any(part in f for part in chosen.parts)] or list(PIPELINES)
    if missing := [part for part in chosen.parts if not any(part in file for file in every)]:
        print(f"no file of {chosen.directory} has {', '.join(missing)} in its path")
        return 1
    print(f"{'file':42} {'form':8} functions lacking " + " ".join(f"{v:>8}" for v in VERDICTS))
    for file in files:
        if (pipelines := pipelines_of(file)) is None:
            continue
        for form, verdicts in compare(chosen.directory / file, pipelines, chosen.differing).items():
            row = " ".join(f"{verdicts[v]:8}" for v in VERDICTS)
            total, lacked = verdicts.total(), verdicts["lacking"]
            print(f"{file:42} {form:8} {total:9} {lacked:7} {row}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
