"""`make releases`: what is accelerated with each release of xDSL, as if nobody had tried it.

For each release the accelerated parts are compared with xDSL's own on the sample, and reading and
printing are timed beside xDSL's. The results are the table in `docs/xdsl-releases.md`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from table.rows import once, timed

RELEASES = (
    *("0.59.0", "0.60.0", "0.61.0", "0.62.0", "0.62.1", "0.63.0", "0.64.0", "0.65.0", "0.66.0"),
    *("0.67.0", "0.68.0", "0.69.0", "0.70.0", "0.71.0", "0.72.0", "0.73.0", "0.74.0", "0.75.0"),
)
ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "xdsl-releases.md"
OPS = 10_000


class Found(NamedTuple):
    """What was found with a release."""

    parts: Sequence[str]
    difference: str
    seconds: float
    """The time of the comparison."""
    reading: float
    """Our time, divided by xDSL's."""
    printing: float


def found_with(release: str) -> Found:
    """Return what is found with a release, which is installed beside the other ones."""
    folder = ROOT / ".cache" / f"xdsl-{release}-alone"
    if not (folder / "xdsl").is_dir():
        command = (sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target")
        subprocess.run([*command, str(folder), f"xdsl=={release}"], check=True)
        subprocess.run([sys.executable, "-m", "compileall", "-q", str(folder)], check=False)
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, "--this"],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return Found(*json.loads(done.stdout))


def found_here() -> Found:
    """Return what is found with the xDSL of this process."""
    from passline.passmanager.fast.comparison import compared
    from passline.passmanager.fast.known_releases import checksum_of_files

    start = time.perf_counter()
    verdict = compared(checksum_of_files())
    seconds = time.perf_counter() - start
    return Found(verdict.parts, verdict.difference, seconds, *ratios())


def ratios() -> tuple[float, float]:
    """Return our times for reading and printing `OPS` operations, divided by xDSL's."""
    from xdsl.parser import Parser
    from xdsl.printer import Printer

    from passline.passmanager.ir.text.parser import parse_module
    from passline.passmanager.ir.text.printer import ExactPrinter
    from passline.passmanager.registry import make_ir_context

    text, context = text_of_operations(), make_ir_context(allow_unregistered=True)
    module = parse_module(context, text, "x.mlir")
    ours, xdsls = ExactPrinter(mine := StringIO()), Printer(other := StringIO())
    ours.print_op(module)
    xdsls.print_op(module)
    assert mine.getvalue() == other.getvalue()
    reading = best(lambda: parse_module(context, text, "x.mlir"))
    printing = best(lambda: ExactPrinter(StringIO()).print_op(module))
    return (
        reading / best(lambda: Parser(context, text, "x.mlir").parse_module()),
        printing / best(lambda: Printer(StringIO()).print_op(module)),
    )


def text_of_operations() -> str:
    """Return a function of tensor and integer operations that differ in names and constants."""
    lines = ["func.func @f(%v: tensor<4x8xf32>, %b: tensor<4x8xf32>, %c: i32) {"]
    last = "%v"
    for i in range(OPS // 4):
        lines += [
            f"  %k{i} = arith.constant {i} : i32",
            f"  %v{i} = arith.addf {last}, %b : tensor<4x8xf32>",
            f"  %w{i} = arith.addi %k{i}, %c : i32",
            f'  %u{i} = "test.op"(%v{i}, %w{i}) {{a = {i % 7} : i64}} '
            ": (tensor<4x8xf32>, i32) -> tensor<4x8xf32>",
        ]
        last = f"%u{i}"
    return "\n".join([*lines, "  func.return", "}"])


def best(work: Callable[[], object]) -> float:
    """Return the shortest time of three runs."""
    run = timed(once(work), time.perf_counter)
    return min(run().seconds for _ in range(3))


def table(rows: Sequence[tuple[str, Found]]) -> str:
    """Return the table of the page."""
    from passline.passmanager.fast.parts import PARTS

    lines = ["| xDSL | accelerated | reading | printing |", "|---|---|---|---|"]
    for release, found in rows:
        off = [p for p in PARTS if p not in found.parts]
        on = "all parts" if not off else f"not {', '.join(off)}: {found.difference}"
        lines.append(f"| {release} | {on} | {found.reading:.2f} | {found.printing:.2f} |")
    return "\n".join(lines)


def main() -> None:
    """Measure all releases, and write the table."""
    if "--this" in sys.argv:
        json.dump(found_here(), sys.stdout)
        return
    rows = [(release, found_with(release)) for release in RELEASES]
    for release, found in rows:
        print(f"{release}: compared in {found.seconds:.1f} s", file=sys.stderr)
    page, new = PAGE.read_text(), table(rows)
    PAGE.write_text(re.sub(r"(?<=<!-- make releases -->\n)(?:\|.*\n)*", f"{new}\n", page))


if __name__ == "__main__":
    main()
