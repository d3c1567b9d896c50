"""The names that a model gives to its inputs and outputs: an attribute of parameters and results.

    func.func @main(%data.0: tensor<4xf32> {onnx.name = "gpu_0/data_0"})

A value name of MLIR can have few characters, and no printer has to keep it. Source: onnx-mlir.
"""

from __future__ import annotations

from xdsl.dialects.builtin import BytesAttr, DictionaryAttr, StringAttr

__all__ = ["name_in", "text_of", "with_name"]

NAME = "onnx.name"


def name_in(attributes: DictionaryAttr) -> str | None:
    """Return the name in the attributes of a parameter or result, or None."""
    return text_of(attributes.data.get(NAME))


def text_of(attribute: object) -> str | None:
    """Return the text that an attribute is, or None."""
    match attribute:
        case StringAttr(data=text):
            return text
        case BytesAttr(data=text):  # xDSL reads text that is not ASCII as bytes
            return text.decode(errors="replace")
        case _:
            return None


def with_name(attributes: DictionaryAttr, name: str) -> DictionaryAttr:
    """Return the attributes of a parameter or result with the name `name`."""
    return DictionaryAttr({**attributes.data, NAME: StringAttr(name)})
