"""Passes beside those of mlir-opt on random modules of `arith`, `scf` and `func`: ours never leave
more operations, and keep what functions compute, bit for bit.

Constants of vectors are compared by their elements; mlir-opt computes a shift that is too wide for
some of them. The peers are `--canonicalize`, `--cse`, and `--sccp` for `fold-constant`. MLIR has no
pass that only removes dead operations (`--remove-dead-values` of LLVM 22 also removes parameters,
and crashes on some of these modules): the peer of `dead-code-elimination` is `--cse`, which removes
dead operations, and `--symbol-dce`, until nothing changes, on modules without common
subexpressions.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Sequence
from functools import cache
from random import Random
from typing import cast

import numpy as np
import pytest
from support.parsing import parsed
from support.programs.scalar_programs import random_scalar_module
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp

from passline.compiler.interpreters.interpret import interpret
from passline.compiler.interpreters.signature import Value, entry_function
from passline.passes import (
    SCCP,
    Canonicalize,
    DeadCodeElimination,
    EliminateCommonSubexpr,
    FoldConstant,
    IntRangeOptimizations,
    RemoveDeadValues,
)
from passline.passes.generic.mlir_opt import find_mlir_opt
from passline.passmanager import PassContext
from passline.passmanager.base import Pass
from passline.passmanager.ir.changes import Snapshot
from passline.passmanager.ir.text.parser import split_chunks
from passline.passmanager.ir.verifier import verify
from passline.passmanager.ir.walk import walk
from passline.passmanager.registry import make_ir_context

MLIR_OPT = find_mlir_opt()
needs_mlir_opt = pytest.mark.skipif(
    MLIR_OPT is None, reason="mlir-opt is not installed (Debian: mlir-22-tools)"
)

ARGUMENTS: tuple[tuple[Value, ...], ...] = (
    (np.int32(5), np.int32(-3), 2, True, False, np.float32(1.5)),
    (np.int32(-(2**31)), np.int32(2**31 - 1), 3, False, True, np.float32(-0.0)),
    (np.int32(0), np.int32(1), 0, True, True, np.float32(np.nan)),
)  # pyright: ignore[reportAssignmentType]

DEAD_CODE = (
    "--pass-pipeline=builtin.module(composite-fixed-point-pass"
    "{name=dead-code pipeline=cse,symbol-dce max-iterations=100})"
)


def by_mlir_opt(texts: Sequence[str], *options: str) -> list[str]:
    """Run mlir-opt on modules, all in one process."""
    assert MLIR_OPT is not None
    command = [MLIR_OPT, "--split-input-file", *options]
    text = "\n// -----\n".join(texts)
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    chunks = [chunk.decode() for chunk, _ in split_chunks(done.stdout.encode())]
    assert len(chunks) == len(texts)
    return chunks


def by_passes(module: ModuleOp, *passes: Pass) -> ModuleOp:
    """Run passes on a copy of a module; the result is valid, and the last one changes it no
    more."""
    result, ctx = module.clone(), make_ir_context()
    with PassContext(opt_level=4):
        for pass_ in passes:
            pass_.apply(ctx, result)
        verify(result)
        snapshot = Snapshot(result)
        passes[-1].apply(ctx, result)
    assert not snapshot.update()
    return result


def results(module: ModuleOp) -> list[tuple[bytes, ...]]:
    """Return the bits of the results of `@main` on each of the arguments; all NaNs are alike."""
    run = interpret(module, entry_function(module, "main"))
    dtypes = (np.int32, np.int64, np.bool_, np.float32)
    return [
        tuple(
            b"NaN" if (array := np.asarray(value).astype(dtype)) != array else array.tobytes()
            for value, dtype in zip(run(*arguments), dtypes, strict=True)
        )
        for arguments in ARGUMENTS
    ]


@cache
def modules(acyclic: bool = False) -> list[ModuleOp]:
    return [parsed(random_scalar_module(seed, acyclic=acyclic)) for seed in range(100)]


def number_of(op_names: Counter[str], leave_out: str = "") -> int:
    return op_names.total() - op_names[leave_out]


def check(
    inputs: Sequence[ModuleOp], passes: Pass | Sequence[Pass], *options: str, leave_out: str = ""
) -> None:
    """Run passes and their peers on each module, and compare operations and results."""
    passes = passes if isinstance(passes, Sequence) else [passes]
    ours = [by_passes(module, *passes) for module in inputs]
    theirs = by_mlir_opt([str(module) for module in inputs], *options)
    for before, after, text in zip(inputs, ours, theirs, strict=True):
        left, expected = (Counter(op.name for op in walk(m)) for m in (after, parsed(text)))
        assert number_of(left, leave_out) <= number_of(expected, leave_out), (
            f"{left - expected} more than mlir-opt leaves of\n{before}"
        )
        assert results(after) == results(before), f"another result for\n{before}"


@needs_mlir_opt
def test_canonicalize():
    check(modules(), Canonicalize(), "--canonicalize")


@needs_mlir_opt
def test_eliminate_common_subexpr():
    inputs = [by_passes(module, DeadCodeElimination()) for module in modules()]
    check(inputs, EliminateCommonSubexpr(), "--cse")


@needs_mlir_opt
def test_dead_code_elimination():
    inputs = [by_passes(module, EliminateCommonSubexpr()) for module in modules()]
    check(inputs, DeadCodeElimination(), DEAD_CODE)


@needs_mlir_opt
def test_sccp():
    """With `canonicalize`: the body of a loop that never runs stays as it is, unlike in mlir-opt,
    which takes it to run."""
    check(modules(), (SCCP(), Canonicalize()), "--sccp", "--canonicalize")


@needs_mlir_opt
def test_remove_dead_values():
    """Beside what cse and symbol-dce leave, as mlir-opt's pass crashes on some."""
    inputs = [by_passes(module, EliminateCommonSubexpr()) for module in modules()]
    check(inputs, RemoveDeadValues(), "--pass-pipeline=builtin.module(cse)")


def test_general_passes_in_any_order_keep_results():
    passes = (
        SCCP(),
        IntRangeOptimizations(),
        RemoveDeadValues(),
        Canonicalize(),
        DeadCodeElimination(),
    )
    for seed, module in enumerate(modules()):
        pipeline = Random(seed).choices(passes, k=4)
        after = by_passes(module, *pipeline)
        names = ",".join(pass_.name for pass_ in pipeline)
        assert results(after) == results(module), f"another result after {names} for\n{module}"


def constant_module(seed: int) -> str:
    """Return a function that computes vectors and tensors out of constants."""
    random = Random(seed)
    kind = random.choice(("vector", "tensor"))
    element, names, elements = random.choice(ELEMENTS)
    type = f"{kind}<{random.choice(('4', '2x2'))}x{element}>"
    lines: list[str] = []
    for index in range(3):
        values = [random.choice(elements) for _ in range(4)]
        shown = ", ".join(values) if "2x2" not in type else "[{}, {}], [{}, {}]".format(*values)
        dense = values[0] if random.random() < 0.4 else f"[{shown}]"
        lines.append(f"  %{index} = arith.constant dense<{dense}> : {type}")
    for index in range(3, 12):
        a, b = random.randrange(index), random.randrange(index)
        lines.append(f"  %{index} = arith.{random.choice(names)} %{a}, %{b} : {type}")
    results = ", ".join(f"%{index}" for index in range(3, 12))
    types = ", ".join([type] * 9)
    body = "\n".join(lines)
    return f"func.func @main() -> ({types}) {{\n{body}\n  func.return {results} : {types}\n}}\n"


INTEGERS = "addi subi muli andi ori xori minsi maxsi minui maxui divsi remui".split()
FLOATS = "addf subf mulf divf maximumf minimumf maxnumf minnumf".split()
ELEMENTS = (
    ("i8", INTEGERS, ("-128", "127", "-1", "0", "1", "3", "7", "9")),
    ("i32", INTEGERS, ("-2147483648", "2147483647", "-1", "0", "1", "31", "32", "100")),
    ("i1", "addi muli andi ori xori".split(), ("true", "false")),
    ("f32", FLOATS, ("0.0", "-0.0", "1.5", "-2.0", "1.0e30", "3.0e-39", "0x7F800000")),
    ("f16", FLOATS, ("0.0", "-0.0", "1.5", "-2.0", "65504.0", "0.1")),
)
"""Types of elements, the operations on them, and numbers."""


@needs_mlir_opt
def test_constants_of_vectors_are_computed_as_by_mlir_opt():
    texts = [constant_module(seed) for seed in range(120)]
    theirs = by_mlir_opt(texts, "--canonicalize")
    computed = 0
    for text, expected in zip(texts, theirs, strict=True):
        ours, other = by_passes(parsed(text), Canonicalize()), parsed(expected)
        ours_returned, returned = (list(module.walk())[-1].operands for module in (ours, other))
        for a, b in zip(ours_returned, returned, strict=True):
            # What is undefined for one element, as a division by zero, stays for both.
            assert isinstance(a.owner, ConstantOp) == isinstance(b.owner, ConstantOp), text
            if isinstance(a.owner, ConstantOp) and isinstance(b.owner, ConstantOp):
                computed += 1
                assert _bits(a.owner.value) == _bits(b.owner.value), text
    assert computed > 600


def _bits(value: object) -> list[bytes]:
    """Return the bits of the elements of a constant; all NaNs are alike."""
    assert isinstance(value, DenseIntOrFPElementsAttr)
    numbers = [np.float64(number) for number in cast("tuple[float, ...]", value.get_values())]
    return [b"NaN" if np.isnan(number) else number.tobytes() for number in numbers]


# fold-constant goes once over a function: it does not find a value that a loop carries from round
# to round to be a constant, nor the parameter of a private function. So these modules have no loops
# and no calls. It leaves each constant where it was folded, while mlir-opt merges equal ones, as
# `canonicalize` does; they are not counted.
@needs_mlir_opt
def test_fold_constant():
    inputs = [by_passes(module, DeadCodeElimination()) for module in modules(acyclic=True)]
    check(inputs, FoldConstant(), "--sccp", leave_out="arith.constant")


@needs_mlir_opt
def test_what_sccp_finds_and_fold_constant_does_not():
    """The exceptions above, by example; `canonicalize` finds the first, too."""
    loop = """
      func.func @main(%n: index) -> i32 {
        %0 = arith.constant 0 : index
        %c = arith.constant 3 : i32
        %r = scf.for %i = %0 to %n step %n iter_args(%a = %c) -> (i32) {
          %s = arith.subi %a, %a : i32
          %b = arith.addi %a, %s : i32
          scf.yield %b : i32
        }
        %d = arith.addi %r, %c : i32
        func.return %d : i32
      }"""
    call = """
      func.func private @f(%a: i32) -> i32 {
        %b = arith.addi %a, %a : i32
        func.return %b : i32
      }
      func.func @main() -> i32 {
        %c = arith.constant 3 : i32
        %r = func.call @f(%c) : (i32) -> i32
        func.return %r : i32
      }"""
    left = [str(by_passes(parsed(text), FoldConstant())).count("addi") for text in (loop, call)]
    theirs = [text.count("addi") for text in by_mlir_opt([loop, call], "--sccp")]
    assert (left, theirs) == ([2, 1], [0, 0])
    assert "addi" not in str(by_passes(parsed(loop), Canonicalize()))
