"""The laws of passes, checked on each case of their FileCheck files: the result is valid, a
second run changes nothing, and functions whose ops have semantics compute the same as before."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import IndexType, MemRefType, ModuleOp, TensorType, TupleType
from xdsl.dialects.func import FuncOp
from xdsl.interpreter import Interpreter
from xdsl.ir import Attribute
from xdsl.utils.exceptions import ParseError

from passline.compiler.interpreters.equivalence import SemanticsError
from passline.compiler.interpreters.interpret import interpret
from passline.compiler.interpreters.signature import Function, entry_function, input_types
from passline.instruments import SemanticsInstrument
from passline.passes import REPLACEMENTS
from passline.passmanager import PassContext, PasslineError
from passline.passmanager.ir.changes.changes import Snapshot
from passline.passmanager.ir.checks.verifier import verify
from passline.passmanager.ir.text.inputs import split_chunks
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import installed, make_ir_context

__all__ = ["check_equal", "check_laws", "pipeline_of", "run"]

Values: TypeAlias = tuple[object, ...]

TENSORS = (TensorType, MemRefType, TupleType)

OPEN = re.compile(r"index|\?")
"""The parts of a type for which a size has to be chosen: index and unknown dimensions."""


def pipeline_of(line: str) -> str | None:
    """Return the pipeline that a RUN line gives to passline-opt; None if it gives none or
    expects a failure."""
    words = shlex.split(line.split("|")[0])
    if "passline-opt" not in words or words[0] == "not" or "-p" not in words:
        return None
    return words[words.index("-p") + 1]


MAX_STEPS = 1 << 12
"""The budget of a function for the comparison of results."""


def check_laws(path: Path, pipeline: str) -> None:
    """Check the laws on each chunk of the file."""
    for chunk, line in split_chunks(path.read_bytes()):
        ctx = make_ir_context(allow_unregistered=True)
        try:
            module = parse_module(ctx, chunk.decode(), str(path), line_offset=line)
        except ParseError as error:
            raise AssertionError(str(error)) from error
        before = module.clone()
        with PassContext(opt_level=4, instruments=[SemanticsInstrument(max_steps=MAX_STEPS)]):
            # As passline-opt does: `canonicalize` is Passline's own.
            sequential = parse_pipeline(pipeline, installed().passes | REPLACEMENTS)
            try:
                sequential.apply(ctx, module)
            except SemanticsError:
                raise
            except PasslineError:
                continue  # a case that shows an error; its CHECK lines say which
        verify(module)
        snapshot = Snapshot(module)
        with PassContext(opt_level=4):
            sequential.apply(ctx, module)
        assert not snapshot.update(), f"a second run of {pipeline} changes the result of\n{before}"


def compare(before: ModuleOp, after: ModuleOp) -> int:
    """Run the functions that both modules have on the same random inputs, and compare the
    results; return the number of comparisons."""
    compared = 0
    for func in before.ops:
        if not isinstance(func, Function) or func.is_declaration:
            continue
        others = [op for op in after.ops if isinstance(op, Function)]
        other = next((op for op in others if op.sym_name == func.sym_name), None)
        if other is None or len(input_types(other)) != len(input_types(func)):
            continue  # after lowering a function also takes the buffers of its results
        types = input_types(func)
        if isinstance(func, FuncOp) and not all(isinstance(t, TENSORS) for t in types):
            continue  # other tests run functions of scalars, which may be trip counts
        for size in (2, 5) if OPEN.search(str(func.function_type)) else (2,):
            arguments = random_arguments(types, size)
            if arguments is None:
                break
            try:
                expected = run(before, func.sym_name.data, arguments)
            except PasslineError:
                continue  # an op without semantics, or an access out of bounds
            actual = run(after, func.sym_name.data, arguments)
            check_equal(actual, expected)
            compared += 1
    return compared


def check_equal(actual: object, expected: object) -> None:
    """Raise AssertionError unless two values are equal: tuples element by element, numbers with
    a tolerance. Functions are not compared."""
    if isinstance(expected, tuple):
        assert isinstance(actual, tuple)
        actual, expected = cast(Values, actual), cast(Values, expected)
        for pair in zip(actual, expected, strict=True):
            check_equal(*pair)
    elif not callable(expected):
        np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=1e-6)


def random_arguments(types: Sequence[Attribute], size: int = 2) -> Values | None:
    """Return random arguments: numpy arrays for tensors, buffers and numbers, and tuples of them;
    None if there is another type.

    `size` is used as each index and each unknown dimension.
    """
    rng = np.random.default_rng(0)
    arguments: list[object] = []
    for type_ in types:
        if isinstance(type_, TupleType):
            if (elements := random_arguments(type_.types.data, size)) is None:
                return None
            arguments.append(elements)
            continue
        if isinstance(type_, IndexType):
            arguments.append(size)
            continue
        shaped = re.fullmatch(r"(?:tensor|memref)<((?:[0-9?]+x)*)(\w+)(?:, \".*\")?>", str(type_))
        sizes, element = shaped.groups() if shaped else ("", str(type_))
        match = re.fullmatch(r"([fi])(\d+)", element)
        if match is None:
            return None
        shape = [size if n == "?" else int(n) for n in sizes.split("x") if n]
        if match[1] == "f":
            array = rng.uniform(0.5, 2, shape)
            arguments.append(np.asarray(array).astype(f"f{int(match[2]) // 8}"))
        elif match[2] == "1":
            arguments.append(np.asarray(rng.integers(0, 2, shape)).astype(bool))
        else:
            arguments.append(np.asarray(rng.integers(0, 5, shape)).astype(f"i{int(match[2]) // 8}"))
    return tuple(arguments)


def run(module: ModuleOp, name: str, arguments: Values, *listeners: Interpreter.Listener) -> Values:
    """Run a function of the module by the numpy semantics; PasslineError if an op has none."""
    ctx = make_ir_context()
    return interpret(module, entry_function(module, name), ctx, listeners)(*arguments)
