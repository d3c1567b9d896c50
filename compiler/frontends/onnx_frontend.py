"""The frontend `onnx` of tools; the importer, which needs the package onnx, is imported when it is
used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING, ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...passmanager.errors import PasslineError
from ...passmanager.registration.installation import install_hint
from ...passmanager.releases.frontends import Frontend

if TYPE_CHECKING:
    from ..interpreters.shape_bindings import Bindings

__all__ = ["OnnxFrontend", "package_of", "parse_onnx"]


OF_ONNX = ("google", "ml_dtypes", "onnx")
"""The packages that are installed with onnx."""


def parse_onnx(
    model: bytes | str,
    warn: Callable[[str], None] | None = None,
    bindings: Bindings | None = None,
) -> ModuleOp:
    """Import an ONNX model from its bytes, or from the file of that name and those beside it, with
    sizes for unknown dimensions; `warn` gets messages, which are logged by default."""
    try:
        from .onnx import import_model
    except ModuleNotFoundError as error:
        raise PasslineError(
            f"reading ONNX needs {package_of(error.name)}, which is not installed: "
            f"{install_hint('onnx')}"
        ) from None
    shapes = None if bindings is None else bindings.shapes
    dims = None if bindings is None else bindings.dims
    if warn is None:
        return import_model(model, shapes=shapes, dims=dims)
    return import_model(model, shapes=shapes, dims=dims, warn=warn)


def package_of(module: str | None) -> str:
    """Return the name of the package to install for a module that is missing."""
    name = (module or "").partition(".")[0]
    return "onnx" if name in OF_ONNX else name


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
        """Return a frontend with the same options of which `warn` gets the messages."""
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
