"""The reading of modules from files and text, and the writing to files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Protocol, TypeAlias, runtime_checkable

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import ParseError

from ..passmanager.context import PassContext
from ..passmanager.errors import InvalidIRError, PasslineError
from ..passmanager.ir.location import place_of, remember_source
from ..passmanager.ir.text.parser import BYTECODE, decode_mlir, parse_module
from ..passmanager.ir.text.printer import module_text
from ..passmanager.ir.verifier import verify
from ..passmanager.ir.walk import brief, walk
from ..passmanager.limits import deep_recursion
from ..passmanager.names import nearest_file
from ..passmanager.notebook import offer_display
from ..passmanager.output.files import replace_file
from ..passmanager.registry import make_ir_context
from .frontends.onnx_frontend import parse_onnx
from .interpreters.shape_bindings import Bindings

__all__ = ["Source", "SourceNotFoundError", "load", "save"]


@runtime_checkable
class OnnxModel(Protocol):
    """An `onnx.ModelProto`, told by its method, so that onnx need not be installed."""

    def SerializeToString(self) -> bytes: ...


Source: TypeAlias = ModuleOp | str | PathLike[str] | bytes | OnnxModel
"""A module, or what it is read from: a path, the text of IR, bytecode, an `onnx.ModelProto` or its
bytes."""

TEXT, BYTES = "<text>", "<bytes>"
"""The names of a text, and of bytecode, in locations and messages."""


class SourceNotFoundError(PasslineError, FileNotFoundError):
    """The error for the path of a file that does not exist."""


def load(
    source: Source,
    *,
    ctx: Context | None = None,
    allow_unregistered: bool = False,
    verify_ir: bool = True,
    shapes: Mapping[str, Sequence[int | None]] | None = None,
    dims: Mapping[str, int | str] | None = None,
) -> ModuleOp:
    """Return the module in a file of IR (`x.mlir`, or bytecode of MLIR), an ONNX model
    (`model.onnx`) or a text of IR.

    A string is a path if such a file exists or if it looks like one: on one line, with the end of
    the name of a file or without the characters of IR. `bytes` are bytecode or an ONNX model, which
    an `onnx.ModelProto` is, too; a module is returned as it is. Operations keep their locations.
    `ctx` has the dialects, by default all that are installed, each imported when it occurs; with
    `allow_unregistered`, operations of others are read, too. `shapes` are shapes of parameters of
    `@main` by name, with None for a dimension that stays unknown, and `dims` are sizes of named
    dimensions. In a notebook, modules are shown with highlighting from now on.

    Errors: SourceNotFoundError (a FileNotFoundError) with the nearest name; PasslineError for a
    file that cannot be read as its name says; xDSL's ParseError; InvalidIRError for IR that fails
    verification, unless `verify_ir` is false; ShapeBindingError for sizes that do not fit.
    """
    offer_display()
    bindings = Bindings(shapes or {}, dims or {})
    with _nested_deeply():
        module = _read(source, partial(_parse, ctx, allow_unregistered, bindings), bindings)
        if verify_ir and module is not source:
            _verify(module)
    return module


def _read(
    source: Source, parse: Callable[[str | bytes, str], ModuleOp], bindings: Bindings
) -> ModuleOp:
    """Return the module that a source holds, not verified; `parse` takes text or bytecode, and its
    name."""
    match source:
        case ModuleOp():
            if bindings:
                raise PasslineError("sizes are chosen when a module is read; later by BindShapes")
            return source
        case bytes() if source.startswith(BYTECODE):
            return parse(source, BYTES)
        case bytes():
            return parse_onnx(source, bindings=bindings)
        case str() if not _is_path(source):
            remember_source(TEXT, source.encode())
            return parse(source, TEXT)
        case str() | PathLike():
            return _load_file(Path(source), parse, bindings)
        case OnnxModel():
            return parse_onnx(source.SerializeToString(), bindings=bindings)
        case _:
            raise TypeError(
                "a module is read from a path, a text, bytes or an onnx.ModelProto, not "
                f"{brief(source)}"
            )


@contextmanager
def _nested_deeply() -> Generator[None]:
    """Allow deeply nested IR; PasslineError where it is nested too deeply for the stack."""
    try:
        with deep_recursion():
            yield
    except RecursionError:
        raise PasslineError("the IR is nested too deeply") from None


def _verify(module: ModuleOp) -> None:
    """Verify a module; the error has a note with the location of the invalid operation."""
    try:
        verify(module)
    except InvalidIRError as error:
        error.add_note(f"in {brief(error.op)}{place_of(error.op)}")
        raise


_FILE_NAME = re.compile(r"\.\w+\s*$")
_IR = re.compile(r'[{}%"@(=]')


def _is_path(text: str) -> bool:
    """Return whether a string is a path, and not the text of IR."""
    if "\n" in text or not text.strip():
        return False
    return bool(os.path.exists(text) or _FILE_NAME.search(text) or not _IR.search(text))


def _load_file(
    path: Path, parse: Callable[[str | bytes, str], ModuleOp], bindings: Bindings
) -> ModuleOp:
    if not path.exists():
        raise SourceNotFoundError(f"there is no file '{path}'{nearest_file(path)}")
    if path.is_dir():
        raise PasslineError(f"'{path}' is a directory, not a file with a module")
    if path.suffix == ".onnx":
        return parse_onnx(str(path), bindings=bindings)
    content = path.read_bytes()
    is_bytecode = content.startswith(BYTECODE)
    return parse(content if is_bytecode else decode_mlir(str(path), content), str(path))


def _parse(
    ctx: Context | None, allow_unregistered: bool, bindings: Bindings, text: str | bytes, name: str
) -> ModuleOp:
    """Parse IR, text or bytecode; the pipeline in a reproducer is left out."""
    limit = PassContext.current().max_elements
    context = ctx or make_ir_context(allow_unregistered)
    try:
        if isinstance(text, bytes):
            from ..passmanager.bytecode.reader import read_bytecode

            module = read_bytecode(context, text, name, max_elements=limit)
        else:
            if "mlir_reproducer" in text:
                from ..passmanager.instruments.reproducer import read_reproducer

                text, _ = read_reproducer(text)
            module = parse_module(context, text, name, max_elements=limit)
    except ParseError as error:
        if "--allow-unregistered-dialect" in error.msg:
            error.add_note("in Python: passline.load(source, allow_unregistered=True)")
        raise
    if bindings:
        from ..passes.relax.bind_shapes import bind_module

        bind_module(module, "main", bindings)
    return module


def save(module: ModuleOp, path: str | PathLike[str]) -> None:
    """Write a module to a file that `load` reads back exactly: `x.mlirbc` as bytecode of MLIR, any
    other as text.

    The file is replaced in one step. PasslineError for the name of an ONNX model, which cannot be
    written.
    """
    if not isinstance(module, Operation):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"save(module, path) takes a module, not {brief(module)}")
    path = Path(path)
    if path.suffix == ".onnx":
        raise PasslineError(
            f"'{path}' cannot be written: modules are saved as text (.mlir) or bytecode (.mlirbc)"
        )
    context = _context_of(module)
    with _nested_deeply():
        if path.suffix == ".mlirbc":
            from ..passmanager.bytecode.writer import write_bytecode

            replace_file(path, [write_bytecode(module, context)])
        else:
            replace_file(path, [module_text(module, context)])


def _context_of(module: ModuleOp) -> Context:
    """Return a context in which the dialects of the module are loaded, which hold its resources."""
    ctx = make_ir_context(allow_unregistered=True)
    for name in {op.name.partition(".")[0] for op in walk(module)}:
        ctx.get_optional_dialect(name)
    return ctx
