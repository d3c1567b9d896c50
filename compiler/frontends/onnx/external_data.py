"""The data of large tensors, read on demand: a model of 500 MB is never in memory twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from os import fstat
from pathlib import Path

from onnx import StringStringEntryProto, TensorProto

from .errors import ModelError

LARGE = 1 << 20
"""The size in bytes from which on data is left in the file."""

# Of the messages of ONNX: ModelProto.graph, GraphProto.initializer, TensorProto.raw_data.
_PATH = (7, 5, 9)


def without_large_data(content: memoryview, name: str) -> bytes:
    """Return a serialized model whose large initializers refer to their data in the file `name`,
    which has this content. ValueError if it is malformed."""
    return _without(content, 0, len(content), name, _PATH)


def _without(content: memoryview, start: int, end: int, name: str, path: tuple[int, ...]) -> bytes:
    """Return a message without the large data at `path` in it; data that is left out is not
    read."""
    number, *rest = path
    kept = bytearray()
    for field, begin, body, stop in _fields(content, start, end):
        if field != number or stop - body < LARGE:
            kept += content[begin:stop]
        elif rest:
            inner = _without(content, body, stop, name, tuple(rest))
            kept += _varint(field << 3 | 2) + _varint(len(inner)) + inner
        else:
            kept += _place(name, body, stop - body)
    return bytes(kept)


def _fields(content: memoryview, start: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield the fields of a Protocol Buffers message: number, start, start of the value, end."""
    at = start
    while at < end:
        begin = at
        tag, at = _read_varint(content, at)
        body = at
        match tag & 7:
            case 0:
                _, at = _read_varint(content, at)
            case 1:
                at += 8
            case 2:
                length, body = _read_varint(content, at)
                at = body + length
            case 5:
                at += 4
            case kind:
                raise ValueError(f"unknown wire type {kind}")
        if at > end:
            raise ValueError("a field is longer than its message")
        yield tag >> 3, begin, body, at


def _read_varint(content: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(content) and shift < 64:
        byte = content[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise ValueError("a varint does not end")


def _varint(value: int) -> bytes:
    text = bytearray()
    while value >= 0x80:
        text.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*text, value])


def _place(name: str, offset: int, length: int) -> bytes:
    """Return the fields of a TensorProto that locate its data in a file."""
    entries = {"location": name, "offset": str(offset), "length": str(length)}
    return TensorProto(
        data_location=TensorProto.EXTERNAL,
        external_data=[StringStringEntryProto(key=k, value=v) for k, v in entries.items()],
    ).SerializeToString()


class DataFiles:
    """The files with tensor data outside of the parsed model: those in `directory` and the folders
    in it, and the file of the model itself. No other file is opened."""

    def __init__(self, directory: Path | None, model: Path | None = None) -> None:
        self._directory = directory
        self._model = model

    def read(self, tensor: TensorProto, size: int) -> bytes:
        """Return the data of a tensor that has `size` bytes; one more byte, if the data is longer.
        ModelError if it is missing, or its place is not allowed."""
        places = {entry.key: entry.value for entry in tensor.external_data}
        location = places.get("location", "")
        try:
            path = self._path_of(location)
            with path.open("rb") as file:
                end = fstat(file.fileno()).st_size
                offset = _number(places, "offset", 0, end)
                length = _number(places, "length", end - offset, end - offset)
                file.seek(offset)
                return file.read(min(length, size + 1))
        except (ValueError, OSError) as error:
            reason = getattr(error, "strerror", None) or error
            raise ModelError(f"{described(tensor)}: {reason}") from None

    def _path_of(self, location: str) -> Path:
        """Return the file at a location; ValueError if the model may not refer to it."""
        if self._model is not None and location == self._model.name:
            return self._model
        if self._directory is None:
            raise ValueError("the model was not read from a file")
        if Path(location).is_absolute():
            raise ValueError("the path must be relative to the model")
        path = (self._directory / location).resolve()
        if not path.is_relative_to(self._directory.resolve()):
            raise ValueError("it is outside of the folder of the model")
        if path.exists() and not path.is_file():
            raise ValueError("it is not a regular file")
        return path


def described(tensor: TensorProto) -> str:
    """Return the name of a tensor for a message, with the file of its data."""
    files = [entry.value for entry in tensor.external_data if entry.key == "location"]
    return ", ".join([f"tensor '{tensor.name}'", *(f"file '{file}'" for file in files[-1:])])


def _number(places: Mapping[str, str], key: str, default: int, limit: int) -> int:
    """Return a number of bytes; ValueError for another text, or if it exceeds the limit, the bytes
    that there are."""
    text = places.get(key, str(default))
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise ValueError(f"its {key} is {text!r}, expected a number of bytes")
    if (number := int(text)) > limit:
        raise ValueError(f"its {key} is {number}, but there are {limit} bytes")
    return number
