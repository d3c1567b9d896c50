"""The `config` of a PassContext, from the command line and from TOML files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast, get_origin

from ...passmanager.config import option_type
from ...passmanager.errors import ConfigError
from ...passmanager.options.text import OptionText, from_text
from ...passmanager.registration.names import name_key

__all__ = ["read_config"]


def read_config(file: str | None, assignments: Sequence[str]) -> dict[str, object]:
    """Return the options in a TOML file, overridden by assignments `KEY=VALUE`.

    A field of a key is written `key.field`. Errors: ConfigError for invalid TOML, a malformed
    assignment, an unknown key or a value of another type.
    """
    found: dict[str, tuple[str, object]] = {}
    for key, value in _from_file(file) if file is not None else ():
        found[name_key(key)] = key, value
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        if not equals:
            raise ConfigError(f"--config {assignment}: expected KEY=VALUE")
        found[name_key(key)] = key.strip(), _value(key.strip(), text.strip())
    return dict(found.values())


def _value(key: str, text: str) -> object:
    """Parse the value of a key; commas separate the elements of a list."""
    type_ = option_type(key)
    if type_ is None:
        raise ConfigError(f"config option '{key}' has fields: write {key}.FIELD=VALUE")
    parts = text.split(",") if get_origin(type_) is tuple and text else [text] if text else []
    try:
        return from_text([OptionText(part) for part in parts], type_)
    except ValueError as error:
        raise ConfigError(f"config option '{key}': {error}") from None


def _from_file(name: str) -> Iterator[tuple[str, object]]:
    import tomllib

    try:
        with open(name, "rb") as file:
            yield from _flatten(tomllib.load(file), "")
    except ValueError as error:  # of the syntax, of UTF-8, or for a number of too many digits
        raise ConfigError(f"'{name}' is not TOML: {error}") from None
    except RecursionError:
        raise ConfigError(f"'{name}' is nested too deeply") from None


def _flatten(table: Mapping[str, object], prefix: str) -> Iterator[tuple[str, object]]:
    """Yield the values in a table and its nested tables; `[tir.UnrollLoop]` is nested in `tir`."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flatten(cast(dict[str, object], value), f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
