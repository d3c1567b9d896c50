"""Targets and frontends as options name them, with options of their own: `name{option=value}`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from xdsl.utils.arg_spec import ArgSpecConvertible, parse_spec
from xdsl.utils.exceptions import ArgSpecParseError

from ..passmanager.errors import PasslineError
from ..passmanager.names import did_you_mean


def name_in(text: str) -> str:
    """Return the name in `name{option=value}`, which may be malformed otherwise."""
    return text.partition("{")[0].strip()


def unknown_name(kind: str, name: str, names: Sequence[str]) -> PasslineError:
    """Return the error for a `kind` that does not exist, with the nearest of `names`, or all."""
    hint = did_you_mean(name, names) or f"; choose from {', '.join(names)}"
    return PasslineError(f"there is no {kind} '{name}'{hint}")


def check_spec(
    kind: str,
    text: str,
    offered: Mapping[str, object],
    *own: type[ArgSpecConvertible],
    others: Sequence[str] = (),
) -> None:
    """Raise PasslineError if `text` does not name one of `offered`, each one a `kind`, or
    if its options are not those of the class that is offered.

    `own` have the options of those entries of their names that are functions; `others` are further
    names for the message.
    """
    try:
        spec = parse_spec(text)
    except ArgSpecParseError as error:
        raise PasslineError(str(error)) from None
    if spec.name not in offered:
        raise unknown_name(kind, spec.name, [*offered, *others])
    entry = offered[spec.name]
    try:
        if (cls := class_of(entry) or next((c for c in own if c.name == spec.name), None)) is None:
            if spec.parameters:
                raise PasslineError(f"{kind} '{spec.name}' takes no options")
        else:
            cls.from_spec(spec)
    except ValueError as error:
        raise PasslineError(f"{kind} '{spec.name}': {error}") from None
    except ImportError as error:
        raise PasslineError(
            f"{kind} '{spec.name}' needs '{error.name}', which is not installed"
        ) from None


def class_of(entry: object) -> type[ArgSpecConvertible] | None:
    """Return the class of a target or frontend; None for a function, as in older xDSL."""
    factory = cast(Callable[..., type[ArgSpecConvertible]], entry)
    return None if inspect.signature(factory).parameters else factory()
