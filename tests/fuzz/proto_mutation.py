"""Mutations of Protocol Buffers messages: the fields, not the bytes."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

__all__ = ["mutate_message"]

_INTEGERS = (0, 1, -1, 2, 7, 16, 1 << 31, (1 << 40), (1 << 62), (1 << 63) - 1, -(1 << 63))
_FLOATS = (0.0, -0.0, 1.0, -1.0, 1e30, float("inf"), float("nan"))
_TEXTS = ("", "x", "/etc/x", "../x", "\x1b[31m", "<script>", "é", "Add", "If", "Loop", "?", "0")


def mutate_message(message: Message, random: Random, other: Message) -> None:
    """Change one to six fields of a message, or of messages in it; some take a value of the same
    kind from `other`."""
    for _ in range(1 + int(random.expovariate(0.7)) % 6):
        places = [*_fields(message)]
        if not places:
            return
        _change(*random.choice(places), random, [*_fields(other)])


def _fields(message: Message) -> Iterator[tuple[Message, FieldDescriptor]]:
    """Yield the set fields of a message and of the messages in it, with their owners."""
    for field, value in message.ListFields():
        yield message, field
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            for inner in value if field.is_repeated else [value]:
                yield from _fields(inner)


def _change(
    owner: Message,
    field: FieldDescriptor,
    random: Random,
    others: list[tuple[Message, FieldDescriptor]],
) -> None:
    same = [place for place in others if place[1].full_name == field.full_name]
    if random.random() < 0.15:
        owner.ClearField(field.name)
    elif same and random.random() < 0.3:
        _copy(owner, field, *random.choice(same))
    elif field.is_repeated:
        _change_repeated(getattr(owner, field.name), field, random)
    elif field.type == FieldDescriptor.TYPE_MESSAGE:
        getattr(owner, field.name).Clear()
    else:
        _set(owner, field, _scalar(field, getattr(owner, field.name), random))


def _copy(
    owner: Message, field: FieldDescriptor, source: Message, source_field: FieldDescriptor
) -> None:
    """Set a field to its value in another message."""
    holder = type(owner)()
    holder.MergeFrom(source)
    for other, _ in holder.ListFields():
        if other.name != source_field.name:
            holder.ClearField(other.name)
    owner.ClearField(field.name)
    owner.MergeFrom(holder)


def _change_repeated(values: Any, field: FieldDescriptor, random: Random) -> None:
    index = random.randrange(len(values))
    message = field.type == FieldDescriptor.TYPE_MESSAGE
    match random.randrange(4):
        case 0:
            del values[index]
        case 1 if message:
            values.add().CopyFrom(values[index])
        case 1:
            values.append(values[index])
        case 2 if message and len(values) > 1:
            kept = type(values[0])()
            kept.CopyFrom(values[0])
            values[0].CopyFrom(values[index])
            values[index].CopyFrom(kept)
        case _ if not message:
            try:
                values[index] = _scalar(field, values[index], random)
            except (ValueError, TypeError):  # the field is narrower
                del values[index]
        case _:
            values[index].Clear()


def _set(owner: Message, field: FieldDescriptor, value: object) -> None:
    try:
        setattr(owner, field.name, value)
    except (ValueError, TypeError):  # the field is narrower
        owner.ClearField(field.name)


def _scalar(field: FieldDescriptor, value: Any, random: Random) -> object:
    """Return another value for a field that has `value`."""
    if isinstance(value, bytes):
        size = random.choice((0, 1, len(value) // 2, len(value) + 1))
        return random.choice((value[:size], random.randbytes(size), value[::-1]))
    if isinstance(value, str):
        return random.choice((*_TEXTS, value + "x", value[:-1]))
    if isinstance(value, float):
        return random.choice(_FLOATS)
    return random.choice((*_INTEGERS, int(value) + 1, -int(value), random.randrange(30)))
