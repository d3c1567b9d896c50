"""Compare bytecode both ways with mlir-opt's on files of IR, part by part between `// -----`.

    .venv/bin/python tests/conformance/bytecode_files.py PATH... [--differing] [--every N]

Of each part that mlir-opt reads, mlir-opt writes bytecode. We read it: the IR is the same as that
of mlir-opt's generic text, read by us. We write it: mlir-opt reads that, and prints the same as of
the text, locations included. `--differing` prints what differs, and the errors.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import NamedTemporaryFile

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import ParseError

from passline.passes.generic.mlir_opt import find_mlir_opt
from passline.passmanager.bytecode.encoding import BYTECODE, VERSION, BytecodeError
from passline.passmanager.bytecode.reader import read_bytecode
from passline.passmanager.bytecode.writer import write_bytecode
from passline.passmanager.ir.text.parser import parse_module, split_chunks
from passline.passmanager.ir.text.printer import PrintStyle, module_text
from passline.passmanager.limits import deep_recursion
from passline.passmanager.registry import make_ir_context

MLIR_OPT = find_mlir_opt() or ""
GENERIC = "--mlir-print-op-generic"
SAME, UNREAD = "the same", "not read by mlir-opt"


def run_mlir_opt(content: bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
    """Run mlir-opt on a module. Bytecode is in a file, as that on stdin may lack the alignment that
    its resources demand; the memory for a small file is aligned to 16 bytes only."""
    command = [MLIR_OPT, "--allow-unregistered-dialect", "--mlir-print-local-scope", *options]
    if not content.startswith(BYTECODE):
        return subprocess.run(command, input=content, capture_output=True, check=False)
    with NamedTemporaryFile(suffix=".mlirbc") as file:
        file.write(content)
        file.flush()
        return subprocess.run([*command, file.name], capture_output=True, check=False)


def mlir_opt(content: bytes, *options: str) -> bytes | None:
    """Return what mlir-opt writes of a module, None if it refuses it."""
    done = run_mlir_opt(content, *options)
    return None if done.returncode else done.stdout


def text_of(module: ModuleOp) -> str:
    """Return the generic form of a module, without the names of resources, which xDSL changes."""
    style = PrintStyle(generic=True)
    text = module_text(module, make_ir_context(allow_unregistered=True), style)
    return re.sub(r"(dense_resource<)[\w.]+>", r"\1r>", text.partition("\n{-#")[0])


def outcome(part: bytes, version: int = VERSION) -> tuple[str, str]:
    """Return what comes of a part of a file, and what differs."""
    if (text := mlir_opt(part, GENERIC)) is None:
        try:  # in the generic form it may know the operations, or need not
            part = text_of(parse_module(make_ir_context(True), part.decode(), "-")).encode()
        except Exception:  # what passes reject may be invalid in any way
            return UNREAD, ""
        text = mlir_opt(part, GENERIC)
    shown = mlir_opt(part, GENERIC, "--mlir-print-debuginfo")
    bytecode = mlir_opt(part, "--emit-bytecode", f"--emit-bytecode-version={version}")
    if text is None or shown is None or bytecode is None:
        return UNREAD, ""
    ctx = make_ir_context(allow_unregistered=True)
    try:
        module = read_bytecode(ctx, bytecode, "x.mlirbc")
    except BytecodeError as error:
        return "not read by us", str(error)
    try:
        written = write_bytecode(module, ctx, version)
    except Exception as error:
        return "not written by us", repr(error)
    back = mlir_opt(written, GENERIC, "--mlir-print-debuginfo")
    if back is None:
        return "mlir-opt refuses ours", run_mlir_opt(written).stderr.decode(errors="replace")
    if back != shown:
        return "written otherwise", difference(shown.decode(), back.decode())
    try:
        expected = text_of(parse_module(make_ir_context(True), text.decode(), "-"))
    except ParseError as error:
        return f"{SAME}, and the text is not read by us", error.msg
    ours = renumbered(module)
    if ours != expected:
        return "read otherwise", difference(expected, ours)
    return SAME, ""


def renumbered(module: ModuleOp) -> str:
    """Return the text of a module with the names that mlir-opt gives to values."""
    text = mlir_opt(text_of(module).encode(), GENERIC)
    if text is None:
        return text_of(module)
    try:
        return text_of(parse_module(make_ir_context(True), text.decode(), "-"))
    except ParseError:
        return text_of(module)


def difference(expected: str, found: str) -> str:
    """Return the first lines that differ."""
    for one, other in zip(expected.splitlines(), found.splitlines(), strict=False):
        if one != other:
            return f"- {one}\n+ {other}"
    return "one is longer"


def parts_of(files: Sequence[Path]) -> Iterator[tuple[Path, int, bytes]]:
    for file in files:
        for part, line in split_chunks(file.read_bytes()):
            if part.strip():
                yield file, line, part


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--differing", action="store_true")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="take each Nth part")
    parser.add_argument("--version", type=int, default=VERSION)
    args = parser.parse_args()
    files = [f for p in args.paths for f in (sorted(p.rglob("*.mlir")) if p.is_dir() else [p])]
    counts = Counter[str]()
    with deep_recursion(), ThreadPoolExecutor(2) as pool:
        parts = [*parts_of(files)][:: args.every]
        versions: list[int] = [args.version] * len(parts)
        results = pool.map(outcome, (part for _, _, part in parts), versions)
        for (file, line, _), (kind, said) in zip(parts, results, strict=True):
            counts[kind] += 1
            if args.differing and kind not in (SAME, UNREAD):
                print(f"{file}:{line + 1}: {kind}\n{said}", flush=True)
    for kind, count in counts.most_common():
        print(f"{count:6} {kind}")
    sys.exit(set(counts) - {SAME, UNREAD} != set())


if __name__ == "__main__":
    main()
