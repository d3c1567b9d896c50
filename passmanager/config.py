"""The options of a PassContext: those of its passes, and registered ones that belong to no pass."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from xdsl.passes import ModulePass

from .errors import ConfigError, PassNotFoundError
from .info import closest_name, name_key
from .options import find_option, from_value, pass_options
from .registry import find_pass, installed

__all__ = ["Config", "ConfigValue", "config_types", "register_config_option"]

ConfigValue = object
"""A number, a string, a tuple, a dict of these, or an instance of a registered dataclass."""


@dataclass(frozen=True)
class _Registered:
    """A key that belongs to no pass: its type, plain or a frozen dataclass, and its default."""

    key: str
    type: type
    default: object


_registered: dict[str, _Registered] = {}


def register_config_option(key: str, type_: type, default: ConfigValue = None) -> None:
    """Let contexts hold `key` with a value of `type_`, a plain type or a frozen dataclass.

    A dataclass takes a dict too; fields that the dict leaves out keep their defaults.
    Errors: ValueError if the key is registered already or names a pass.
    """
    if name_key(key) in _registered:
        raise ValueError(f"config option '{key}' is registered already")
    if name_key(key) in installed().names:
        raise ValueError(
            f"config option '{key}' is the name of a pass, whose fields are its options"
        )
    if default is None and dataclasses.is_dataclass(cast(object, type_)):
        default = type_()
    _registered[name_key(key)] = _Registered(key, type_, default)


class Config:
    """The legalised options of one context."""

    def __init__(self, values: Mapping[str, ConfigValue] | None = None) -> None:
        self._values: dict[str, ConfigValue] = {}
        self._fields: dict[str, dict[str, object]] = {}
        if values is not None and not isinstance(values, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"config is a dict of options, not {values!r}")
        for key, value in (values or {}).items():
            self._add(key, value)

    def __bool__(self) -> bool:
        return bool(self._values)

    def __repr__(self) -> str:
        return repr(self._values)

    def _add(self, key: str, value: ConfigValue) -> None:
        if value is None:
            raise ConfigError(f"config option '{key}' is None")
        if (option := _registered.get(name_key(key))) is not None:
            self._values[option.key] = _legalise(option, value)
            return
        try:
            pass_ = find_pass(key)
        except PassNotFoundError:
            raise ConfigError(_unknown_key(key)) from None
        self._fields[name_key(key)] = fields = _pass_fields(key, pass_, value)
        self._values[key] = fields

    def get(self, key: str) -> ConfigValue | None:
        """The value of a key; else the registered default, for a pass its fields' defaults, else
        None.
        """
        option = _registered.get(name_key(key))
        if option is not None:
            return self._values.get(option.key, option.default)
        return self._fields.get(name_key(key))

    def apply(self, pass_: ModulePass, name: str) -> ModulePass:
        """The pass with the fields that were left at their defaults filled from the key that names
        it.
        """
        if (fields := self._fields.get(name_key(name))) is None:
            return pass_
        options = {option.field: option for option in pass_options(type(pass_))}
        new = {
            field: value
            for field, value in fields.items()
            if field in options and getattr(pass_, field) == options[field].default
        }
        return dataclasses.replace(pass_, **new) if new else pass_


def _unknown_key(key: str) -> str:
    candidates = [*(o.key for o in _registered.values()), *installed().passes]
    closest = closest_name(key, candidates)
    registered = ", ".join(sorted(o.key for o in _registered.values())) or "none"
    hint = f"did you mean '{closest}'?" if closest else f"registered options: {registered}"
    return f"there is no config option and no pass '{key}'; {hint}"


def _pass_fields(key: str, cls: type[ModulePass], value: ConfigValue) -> dict[str, object]:
    """The fields of the pass class that `value`, a dict or an instance of the class, sets."""
    if isinstance(value, cls):
        return {o.field: getattr(value, o.field) for o in pass_options(cls)}
    if not isinstance(value, Mapping):
        names = ", ".join(o.field for o in pass_options(cls)) or "no fields"
        raise ConfigError(
            f"config option '{key}' is a dict with fields of {cls.name} ({names}), not {value!r}"
        )
    return _fields(key, cls, cast(Mapping[str, object], value))


def _legalise(option: _Registered, value: ConfigValue) -> ConfigValue:
    """`value` as the registered type has it; a dict becomes the dataclass."""
    if dataclasses.is_dataclass(cast(object, option.type)) and isinstance(value, Mapping):
        return option.type(**_fields(option.key, option.type, cast(Mapping[str, object], value)))
    return _checked(option.key, value, option.type)


def _fields(key: str, cls: type, given: Mapping[str, object]) -> dict[str, object]:
    """The fields of a dataclass that `given` sets, each checked against its type."""
    fields: dict[str, object] = {}
    for name, value in given.items():
        try:
            option = find_option(cls, name, key)
        except ValueError as error:
            raise ConfigError(f"config option {error}") from None
        fields[option.field] = _checked(f"{key}.{name}", value, option.type)
    return fields


def _checked(key: str, value: object, type_: object) -> object:
    try:
        return from_value(value, type_)
    except ValueError as error:
        raise ConfigError(f"config option '{key}': {error}") from None


def config_types() -> dict[str, dict[str, str]]:
    """Every key that a context's `config` takes: a registered one with its type, a pass with those
    of its fields.
    """
    found = {o.key: {"type": o.type.__name__} for o in _registered.values()}
    for name, factory in installed().passes.items():
        options = pass_options(factory())
        for option in options:
            found[f"{name}.{option.field}"] = {"type": option.type_text}
    return dict(sorted(found.items()))
