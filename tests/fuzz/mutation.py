"""Mutations of texts and bytes: what a damaged or hostile input looks like."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

__all__ = ["mutate_bytes", "mutate_text"]

MAX_LENGTH = 8_000
"""No mutated input is longer, so that the time of a run is that of many inputs."""

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[%@#!^]?[\w$.]+|->|\s+|.', re.DOTALL)

_EXTREMES = (
    "0 1 -1 9223372036854775807 -9223372036854775808 18446744073709551616 4294967296 1e999 -0.0 "
    "0x 0x7FC00000 0xFFFFFFFFFFFFFFFFFFFF 1.0e-400 ? nan inf 00 1_000 1e5 - ٣ ²"
).split()

_WORDS = [
    *"( ) [ ] { } < > , : ; = -> * ? x # ! % @ ^ \" ' \\ / // /* {-# #-}".split(),
    *"i1 i0 i64 ui8 si3 i16777216 f16 bf16 f32 f64 index none tensor vector memref tuple".split(),
    *"dense sparse dense_resource affine_map affine_set loc unit true false strided array".split(),
    *"builtin.module func.func func.return scf.if scf.for relax.add relax.constant".split(),
    *"tensor<4xf32> tensor<*xf32> tensor<?xi64> memref<4xf32> () !x #x ^bb0 %0 @f \x00".split(" "),
    *"\x1b[31m \u202e \ufeff \u2028 é \U0001f600 \r \x7f".split(" "),
    '"\\FF"',
    '"\\',
]


def mutate_text(text: str, random: Random, others: Sequence[str]) -> str:
    """Return `text` with one to eight random changes; some take tokens from one of `others`."""
    tokens = _TOKEN.findall(_excerpt(text, random))
    for _ in range(1 + int(random.expovariate(0.7)) % 8):
        if not tokens:
            break
        random.choice(_TEXT_CHANGES)(tokens, random, others)
    return "".join(tokens)[:MAX_LENGTH]


def _excerpt(text: str, random: Random) -> str:
    """Return a part of a text that is too long, from the start of a line."""
    if len(text) <= MAX_LENGTH:
        return text
    start = text.find("\n", random.randrange(len(text) - MAX_LENGTH // 2)) + 1
    return text[start : start + MAX_LENGTH]


def _place(tokens: list[str], random: Random) -> int:
    """Return the index of a token, rarely that of blanks."""
    index = random.randrange(len(tokens))
    return index - (index > 0 and tokens[index].isspace())


def _delete(tokens: list[str], random: Random, others: Sequence[str]) -> None:
    start = _place(tokens, random)
    del tokens[start : start + random.choice((1, 1, 1, 2, 5, 50))]


def _repeat(tokens: list[str], random: Random, others: Sequence[str]) -> None:
    start = _place(tokens, random)
    part = tokens[start : start + random.choice((1, 1, 2, 5, 20))]
    tokens[start:start] = part * random.choice((1, 1, 2, 100))


def _swap(tokens: list[str], random: Random, others: Sequence[str]) -> None:
    a, b = _place(tokens, random), _place(tokens, random)
    tokens[a], tokens[b] = tokens[b], tokens[a]


def _replace_number(tokens: list[str], random: Random, others: Sequence[str]) -> None:
    numbers = [i for i, token in enumerate(tokens) if token[:1].isdigit()]
    if numbers:
        index = random.choice(numbers)
        tokens[index] = re.sub(r"^\d+", lambda _: random.choice(_EXTREMES), tokens[index])


def _replace_word(tokens: list[str], random: Random, others: Sequence[str]) -> None:
    tokens[_place(tokens, random)] = random.choice(_WORDS)


def _insert_word(tokens: list[str], random: Random, others: Sequence[str]) -> None:
    tokens.insert(_place(tokens, random), random.choice(_WORDS))


def _copy_token(tokens: list[str], random: Random, others: Sequence[str]) -> None:
    """Replace a token by another one of the same text."""
    tokens[_place(tokens, random)] = tokens[_place(tokens, random)]


def _splice(tokens: list[str], random: Random, others: Sequence[str]) -> None:
    """Insert a part of another text."""
    other = _TOKEN.findall(random.choice(others)[:MAX_LENGTH])
    if other:
        start = _place(other, random)
        at = _place(tokens, random)
        tokens[at:at] = other[start : start + random.choice((1, 3, 10, 100))]


def _truncate(tokens: list[str], random: Random, others: Sequence[str]) -> None:
    del tokens[_place(tokens, random) :]


def _change_character(tokens: list[str], random: Random, others: Sequence[str]) -> None:
    index = _place(tokens, random)
    token = tokens[index]
    at = random.randrange(len(token))
    tokens[index] = token[:at] + chr(random.randrange(0x250)) + token[at + 1 :]


_TEXT_CHANGES: Sequence[Callable[[list[str], Random, Sequence[str]], None]] = (
    *(_delete, _delete, _swap, _swap, _repeat, _replace_number, _replace_number, _replace_word),
    *(_replace_word, _insert_word, _copy_token, _copy_token, _splice, _truncate),
    _change_character,
)


def mutate_bytes(data: bytes, random: Random) -> bytes:
    """Return `data` with one to eight random changes."""
    changed = bytearray(data[:MAX_LENGTH])
    for _ in range(1 + int(random.expovariate(0.7)) % 8):
        if not changed:
            break
        at = random.randrange(len(changed))
        match random.randrange(7):
            case 0 | 1:
                changed[at] ^= 1 << random.randrange(8)
            case 2:
                changed[at] = random.choice((0, 1, 0x7F, 0x80, 0xFF))
            case 3:
                del changed[at : at + random.choice((1, 2, 8, 100))]
            case 4:
                changed[at:at] = random.randbytes(random.choice((1, 2, 8)))
            case 5:
                other = random.randrange(len(changed))
                changed[at:at] = changed[other : other + random.choice((1, 4, 32))]
            case _:
                if random.random() < 0.3:
                    del changed[at:]
    return bytes(changed)
