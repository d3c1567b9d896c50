"""The frontend `onnx` of tools; the importer, which needs the package onnx, is imported when it is
used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import IO, TYPE_CHECKING, ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...passmanager.releases.targets import Frontend

if TYPE_CHECKING:
    from ..interpreters.shape_bindings import Bindings


def parse_onnx(
    model: bytes | str,
    warn: Callable[[str], None] | None = None,
    bindings: Bindings | None = None,
) -> ModuleOp:
    """Import an ONNX model from its bytes, or from the file of that name and those beside it, with
    sizes for unknown dimensions; `warn` gets messages, which are logged by default."""
    import_module("onnx")  # first: a missing package is this one, and not protobuf, which it brings
    from .onnx import import_model

    shapes = None if bindings is None else bindings.shapes
    dims = None if bindings is None else bindings.dims
    if warn is None:
        return import_model(model, shapes=shapes, dims=dims)
    return import_model(model, shapes=shapes, dims=dims, warn=warn)


@dataclass(frozen=True)
class OnnxFrontend(Frontend):
    """The reader of ONNX models: the graph becomes `func.func @main`, in relax."""

    name = "onnx"
    opens_files: ClassVar[bool] = True
    """Whether the tools leave it to the frontend to read files."""

    shape: tuple[str, ...] = ()
    """Shapes of inputs, as `x=1x3x?x192`."""
    dim: tuple[str, ...] = ()
    """Sizes of symbolic dimensions, as `batch=4`."""

    _warn: ClassVar[Callable[[str], None] | None] = None

    def warning(self, warn: Callable[[str], None]) -> OnnxFrontend:
        """Return a frontend with the same options that sends its messages to `warn`."""
        frontend = replace(self)
        object.__setattr__(frontend, "_warn", warn)  # no field: it is no option
        return frontend

    def parse(self, ctx: Context, input: IO[bytes], input_name: str) -> ModuleOp:
        """Import a model; one that is read from a file finds its data in the files beside it."""
        from ..interpreters.shape_bindings import read_bindings

        is_file = getattr(input, "name", None) == input_name
        return parse_onnx(
            input_name if is_file else input.read(),
            self._warn,
            read_bindings(self.shape, self.dim),
        )
