"""The verifier beside that of mlir-opt on 2,000 modules, most of them broken: each disagreement
belongs to a class below, which has a reason."""

from __future__ import annotations

import re
import subprocess
from bisect import bisect_right
from collections.abc import Sequence
from random import Random

import pytest
from support.programs.broken_modules import SOURCES, mutant
from support.releases import needs_xdsl
from xdsl.context import Context
from xdsl.utils.exceptions import ParseError, VerifyException

from passline.passes.generic.mlir_opt import find_mlir_opt
from passline.passmanager.errors import InvalidIRError
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.ir.verifier import verify
from passline.passmanager.registry import make_ir_context

MLIR_OPT = find_mlir_opt()
COUNT = 2000

# Messages of mlir-opt about modules that we accept. Which operands, regions and attributes an
# operation may have is said by its definition, and those of scf, cf, arith and tensor are xDSL's:
# its verifiers of these operations check less.
ACCEPTED = {
    r"'scf\.if' op region #\d+ should have no arguments": "xDSL's scf.if does not look at them",
    r"'scf\.(if|while)' op along control flow edge": "xDSL's scf.if and scf.while do not compare "
    "what is yielded with results and arguments",
    r"incorrect number of indices": "xDSL's tensor.extract and tensor.insert do not count indices",
    r"Invalid attribute `predicate`": "xDSL's arith.cmpi takes an integer of any type and value",
}
# Our messages about modules that mlir-opt accepts.
REFUSED = {
    r"Expected operandSegmentSizes property in memref\.alloc": "MLIR takes the sizes of segments "
    "that are not given for zeros, xDSL requires them",
}


def own_verdict(ctx: Context, text: str) -> str:
    """Return the error that we find in a module, or ""."""
    try:
        verify(parse_module(ctx, text, "mutant.mlir"))
    except (InvalidIRError, ParseError, VerifyException) as error:
        return str(error)
    return ""


def verdicts_of_mlir(texts: Sequence[str]) -> list[str]:
    """Return the first error that mlir-opt finds in each module, or "", in one process."""
    assert MLIR_OPT is not None
    starts: list[int] = []
    lines: list[str] = []
    for text in texts:
        starts.append(len(lines) + 1)
        lines += [*text.splitlines(), "// -----"]
    done = subprocess.run(
        [MLIR_OPT, "--split-input-file", "-o", "/dev/null"],
        input="\n".join(lines),
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, 1), done.stderr
    found = [""] * len(texts)
    for line, message in re.findall(r"^<stdin>:(\d+):\d+: error: (.*)$", done.stderr, re.MULTILINE):
        number = bisect_right(starts, int(line)) - 1
        found[number] = found[number] or message
    return found


@pytest.mark.skipif(MLIR_OPT is None, reason="mlir-opt is not installed (Debian: mlir-22-tools)")
@needs_xdsl("0.74", "compares the sum of segment sizes with the operands")
def test_each_disagreement_has_a_reason():
    ctx = make_ir_context()
    sources = [parse_module(ctx, text, "source.mlir") for text in SOURCES]
    mutants = [mutant(sources[seed % len(sources)], Random(seed)) for seed in range(COUNT)]
    ours = [own_verdict(ctx, text) for _, text in mutants]
    theirs = verdicts_of_mlir([text for _, text in mutants])
    used: set[str] = set()
    unexplained: list[str] = []
    for (mutation, text), own, other in zip(mutants, ours, theirs, strict=True):
        if bool(own) is bool(other):
            continue
        table, message = (REFUSED, own) if own else (ACCEPTED, other)
        reasons = [pattern for pattern in table if re.search(pattern, message)]
        used.update(reasons)
        if not reasons:
            kind = "we refuse" if own else "we accept"
            unexplained.append(f"{kind} after {mutation}: {message}\n{text}")
    assert not unexplained, "\n".join(unexplained[:3])
    assert used == {*ACCEPTED, *REFUSED}
    assert theirs.count("") > COUNT // 5  # modules that are valid
    assert sum(bool(own) and bool(other) for own, other in zip(ours, theirs, strict=True)) > 1000
