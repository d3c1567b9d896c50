"""The reading of models from files, bytes and protos."""

from __future__ import annotations

import logging
import mmap
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path

from google.protobuf.message import DecodeError
from onnx import ModelProto
from xdsl.dialects.builtin import ModuleOp

from ...interpreters.shape_bindings import Bindings
from .errors import ModelError
from .external_data import DataFiles, without_large_data
from .importer import import_graph

_log = logging.getLogger(__name__)


def import_model(
    model: ModelProto | bytes | str | PathLike[str],
    *,
    directory: str | PathLike[str] | None = None,
    warn: Callable[[str], None] = _log.warning,
    shapes: Mapping[str, Sequence[int | None] | Sequence[Sequence[int]]] | None = None,
    dims: Mapping[str, int | str] | None = None,
) -> ModuleOp:
    """Import a model, given as a proto, as bytes or by the path of its file; its graph becomes
    `func.func @main`, in relax.

    External data is read from `directory`, by default that of the file. `shapes` are shapes of
    inputs by name, with None for a dimension that stays unknown, and `dims` are sizes of symbolic
    dimensions (`dim_param`) by name; other symbolic dimensions become unknown ones, whose names are
    attributes of the parameters, and so do negative ones, with a message to `warn`. The shape
    of an input that is a sequence is a list of those of its elements, each of which becomes a
    parameter, `x.0`, `x.1`, ... Raises UnsupportedModelError, which lists all nodes that cannot be
    imported, ModelError for an invalid model, and ShapeBindingError for shapes or dims that do not
    fit the inputs.
    """
    place = None if directory is None else Path(directory)
    match model:
        case ModelProto():
            proto, files = model, DataFiles(place)
        case bytes():
            proto, files = parse(model, "the input"), DataFiles(place)
        case _:
            path = Path(model)
            proto, files = read(path), DataFiles(place or path.parent, path)
    tensors: dict[str, Sequence[int | None]] = {}
    sequences: dict[str, Sequence[Sequence[int]]] = {}
    for name, shape in (shapes or {}).items():
        elements = [element for element in shape if isinstance(element, Sequence)]
        if elements:
            sequences[name] = elements
        else:
            tensors[name] = [size for size in shape if not isinstance(size, Sequence)]
    return import_graph(proto, files, Bindings(tensors, dims or {}), sequences, warn)


def read(path: Path) -> ModelProto:
    """Read a model from a file; its large data stays there."""
    with path.open("rb") as file:
        if path.stat().st_size == 0:
            raise ModelError(f"'{path}' is empty")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            with memoryview(content) as view:
                try:
                    return parse(without_large_data(view, path.name), f"'{path}'")
                except ValueError as error:
                    raise ModelError(f"'{path}' is not an ONNX model: {error}") from None


def parse(content: bytes, name: str) -> ModelProto:
    """Parse a serialized model; ModelError if it is malformed."""
    model = ModelProto()
    try:
        model.ParseFromString(content)
    except DecodeError as error:
        raise ModelError(f"{name} is not an ONNX model: {error}") from None
    if not model.HasField("graph") or not model.opset_import:
        raise ModelError(f"{name} is not an ONNX model: it has no graph or imports no operators")
    return model
