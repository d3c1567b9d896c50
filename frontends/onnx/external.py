"""The data of large tensors, read on demand: a model of 500 MB is never in memory twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from onnx import StringStringEntryProto, TensorProto
from onnx.external_data_helper import load_external_data_for_tensor

from .errors import ModelError

__all__ = ["DataFiles", "without_large_data"]

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
    """The files with tensor data outside of the parsed model: those in `directory`, and the file
    of the model itself."""

    def __init__(self, directory: Path | None, model: Path | None = None) -> None:
        self._directory = directory
        self._model = model

    def read(self, tensor: TensorProto) -> bytes:
        """Return the data of a tensor; ModelError if it is missing."""
        places = {entry.key: entry.value for entry in tensor.external_data}
        place = places.get("location", "")
        if self._model is not None and place == self._model.name:
            with self._model.open("rb") as file:
                file.seek(int(places.get("offset", 0)))
                return file.read(int(places.get("length", -1)))
        if self._directory is None:
            raise ModelError(
                f"tensor '{tensor.name}' is stored in the file '{place}', "
                "but the model was not read from a file"
            )
        loaded = TensorProto()
        loaded.CopyFrom(tensor)
        try:
            load_external_data_for_tensor(loaded, str(self._directory))
        except Exception as error:  # of onnx's checker, of its own reader, or of the system
            raise ModelError(f"tensor '{tensor.name}', file '{place}': {error}") from None
        return loaded.raw_data
