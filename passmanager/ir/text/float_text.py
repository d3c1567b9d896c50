"""The text of floating-point numbers, as xDSL prints them, for many numbers at once."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import Float16Type, Float32Type, Float64Type
from xdsl.utils.bitwise_casts import convert_f32_to_u32, convert_f64_to_u64

__all__ = ["Float", "float_words"]

Float = Float16Type | Float32Type | Float64Type


def float_words(values: Sequence[float], type: Float) -> list[str]:
    """Return the text of each of the finite `values`, which are numbers of `type`.

    It is that of xDSL's `print_float`: six digits if they are exact, else all.
    """
    words = [f"{value:.5e}".replace("e", "0e", 1) for value in values]
    # Rounded to `type` in one call for all.
    read = type.unpack(type.pack([*map(float, words)]), len(words))
    if read == (*values,):
        return words
    return [
        word if same == value else _exact_word(value, type)
        for word, same, value in zip(words, read, values)
    ]


def _exact_word(value: float, type: Float) -> str:
    match type:
        case Float32Type():
            # 9 digits tell all f32 apart, 17 all f64.
            word = f"{value:.9g}"
            return word if "." in word else f"0x{convert_f32_to_u32(value):X}"
        case Float64Type():
            word = f"{value:.17g}"
            return word if "." in word else f"0x{convert_f64_to_u64(value):X}"
        case _:
            return repr(value)
