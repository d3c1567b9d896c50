"""What holds of every pass on every case of its file: the result is valid, a second run changes
nothing, and the functions compute what they did before, as far as their ops have semantics.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp, TupleType
from xdsl.dialects.func import FuncOp
from xdsl.interpreter import Interpreter
from xdsl.ir import Attribute
from xdsl.utils.exceptions import ParseError

from passline.passmanager import PassContext, PasslineError
from passline.passmanager.ir.reading import parse_module
from passline.passmanager.ir.snapshot import Snapshot
from passline.passmanager.ir.verifying import verify
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import make_ir_context
from passline.tools.chunks import split_chunks
from passline.tools.interpret import entry_function, interpret

__all__ = ["check_equal", "check_laws", "pipeline_of", "run"]

Values: TypeAlias = tuple[object, ...]


def pipeline_of(line: str) -> str | None:
    """The pipeline that a RUN line gives to passline-opt, None if it gives none or expects a
    failure.
    """
    words = shlex.split(line.split("|")[0])
    if "passline-opt" not in words or words[0] == "not" or "-p" not in words:
        return None
    return words[words.index("-p") + 1]


def check_laws(path: Path, pipeline: str) -> int:
    """Check the laws on each chunk of the file; returns how many functions were run before and
    after.
    """
    compared = 0
    for chunk, line in split_chunks(path.read_bytes()):
        ctx = make_ir_context(allow_unregistered=True)
        try:
            module = parse_module(ctx, chunk.decode(), str(path), line_offset=line)
        except ParseError as error:
            raise AssertionError(str(error)) from error
        before = module.clone()
        with PassContext(opt_level=9):
            sequential = parse_pipeline(pipeline)
            try:
                sequential.apply(ctx, module)
            except PasslineError:
                continue  # a case that shows an error; its CHECK lines say which
            verify(module)
            snapshot = Snapshot(module)
            sequential.apply(ctx, module)
        assert not snapshot.update(), f"a second run of {pipeline} changes the result of\n{before}"
        compared += compare(before, module)
    return compared


def compare(before: ModuleOp, after: ModuleOp) -> int:
    """Run the functions that both modules have on the same random inputs; how many could be run."""
    compared = 0
    for func in before.ops:
        if not isinstance(func, FuncOp) or func.is_declaration:
            continue
        arguments = random_arguments(func.function_type.inputs.data)
        if arguments is None or not any(
            isinstance(op, FuncOp) and op.sym_name == func.sym_name for op in after.ops
        ):
            continue
        try:
            expected = run(before, func.sym_name.data, arguments)
        except PasslineError:
            continue  # an op without semantics
        actual = run(after, func.sym_name.data, arguments)
        check_equal(actual, expected)
        compared += 1
    return compared


def check_equal(actual: object, expected: object) -> None:
    """AssertionError unless two values are: tuples in each element; functions always are."""
    if isinstance(expected, tuple):
        assert isinstance(actual, tuple)
        actual, expected = cast(Values, actual), cast(Values, expected)
        for pair in zip(actual, expected, strict=True):
            check_equal(*pair)
    elif not callable(expected):
        np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=1e-6)


def random_arguments(types: Sequence[Attribute]) -> Values | None:
    """Numpy arrays for tensor types, 2 for a size that is not known, and tuples of them; None for
    other types."""
    rng = np.random.default_rng(0)
    arguments: list[object] = []
    for type_ in types:
        if isinstance(type_, TupleType):
            if (elements := random_arguments(type_.types.data)) is None:
                return None
            arguments.append(elements)
            continue
        match = re.fullmatch(r"tensor<((?:[0-9?]+x)*)([fi])(\d+)>", str(type_))
        if match is None:
            return None
        shape = [2 if size == "?" else int(size) for size in match[1].split("x") if size]
        if match[2] == "f":
            arguments.append(rng.uniform(0.5, 2, shape).astype(f"f{int(match[3]) // 8}"))
        elif match[3] == "1":
            arguments.append(rng.integers(0, 2, shape).astype(bool))
        else:
            arguments.append(rng.integers(0, 5, shape).astype(f"i{int(match[3]) // 8}"))
    return tuple(arguments)


def run(module: ModuleOp, name: str, arguments: Values, *listeners: Interpreter.Listener) -> Values:
    """Call a function of the module on the numpy semantics; PasslineError if it has none."""
    ctx = make_ir_context()
    return interpret(module, entry_function(module, name), ctx, listeners)(*arguments)
