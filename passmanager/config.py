"""The options of a PassContext: those of its passes, and registered ones that belong to no pass."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from xdsl.passes import ModulePass

from .errors import ConfigError, PassNotFoundError
from .info import closest_name, name_key
from .option_types import from_value
from .options import find_option, pass_options
from .registry import find_pass, installed

__all__ = ["Config", "ConfigValue", "config_types", "option_type", "register_config_option"]

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
    """Register `key` as an option of contexts, with values of `type_`, a plain type or a frozen
    dataclass.

    A value of a dataclass may be given as a dict; fields that the dict leaves out keep their
    defaults.

    Errors: ValueError if the key is registered already or names a pass, or if the default is of
    another type.
    """
    if name_key(key) in _registered:
        raise ValueError(f"config option '{key}' is registered already")
    # Plugins register theirs while they are loaded: the passes are not known yet.
    if installed.cache_info().currsize and name_key(key) in installed().names:
        raise ValueError(
            f"config option '{key}' is the name of a pass, whose fields are its options"
        )
    if default is not None:
        default = _convert_plain(key, default, type_)
    elif dataclasses.is_dataclass(cast(object, type_)):
        default = type_()
    _registered[name_key(key)] = _Registered(key, type_, default)


def _options() -> dict[str, _Registered]:
    """Return the registered options, including those of plugins, which are loaded."""
    installed()
    return _registered


class Config:
    """The validated options of one context.

    A key is a registered option, or a pass, whose value is a dict of its fields; `key.field` sets
    one field.
    """

    def __init__(self, values: Mapping[str, ConfigValue] | None = None) -> None:
        self._values: dict[str, ConfigValue] = {}
        self._fields: dict[str, dict[str, object]] = {}
        if values is not None and not isinstance(values, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"config is a dict of options, not {values!r}")
        for key, value in _gather_fields(values or {}).items():
            self._add(key, value)
        self.empty = not self._values

    def __repr__(self) -> str:
        return repr(self._values)

    def _add(self, key: str, value: ConfigValue) -> None:
        if value is None:
            raise ConfigError(f"config option '{key}' is None: leave it out for its default")
        if (option := _options().get(name_key(key))) is not None:
            self._values[option.key] = _convert(option, value)
            return
        try:
            pass_ = find_pass(key)
        except PassNotFoundError:
            raise ConfigError(_unknown_key(key)) from None
        self._fields[name_key(key)] = fields = _pass_fields(key, pass_, value)
        self._values[key] = fields

    def get(self, key: str) -> ConfigValue | None:
        """Return the value of a key, for a pass a dict of its fields, with defaults for what is not
        set; None for an unknown key.
        """
        if (option := _options().get(name_key(key))) is not None:
            return self._values.get(option.key, option.default)
        try:
            options = pass_options(find_pass(key))
        except PassNotFoundError:
            return None
        defaults = {o.field: o.default for o in options if o.default is not dataclasses.MISSING}
        return defaults | self._fields.get(name_key(key), {})

    def apply(self, pass_: ModulePass, name: str) -> ModulePass:
        """Return the pass with the fields that are at their defaults set from the key `name`."""
        if (fields := self._fields.get(name_key(name))) is None:
            return pass_
        options = {option.field: option for option in pass_options(type(pass_))}
        new = {
            field: value
            for field, value in fields.items()
            if field in options and getattr(pass_, field) == options[field].default
        }
        return dataclasses.replace(pass_, **new) if new else pass_


# Keys


def _is_key(key: str) -> bool:
    """Return whether a key is a registered option or the name of a pass."""
    return name_key(key) in _options() or name_key(key) in installed().names


def option_type(key: str) -> object | None:
    """Return the type of the values of a key, or of the field of `key.field`; None for passes and
    dataclasses, which have fields.

    Errors: ConfigError for an unknown key or field.
    """
    if (option := _options().get(name_key(key))) is not None:
        return None if dataclasses.is_dataclass(cast(object, option.type)) else option.type
    if _is_key(key):
        return None
    owner, _, field = key.rpartition(".")
    if not _is_key(owner):
        raise ConfigError(_unknown_key(key))
    registered = _options().get(name_key(owner))
    cls = find_pass(owner) if registered is None else registered.type
    try:
        return find_option(cls, field, owner).type
    except ValueError as error:
        raise ConfigError(f"config option {error}") from None


def _gather_fields(values: Mapping[str, ConfigValue]) -> dict[str, ConfigValue]:
    """Return the options with all `key.field`, and all spellings of a key, merged into a dict of
    fields under one `key`.
    """
    gathered: dict[str, ConfigValue] = {}
    spelled: dict[str, str] = {}
    for key, value in values.items():
        if not isinstance(key, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ConfigError(f"the key of a config option is a string, not {key!r}")
        owner, _, field = key.rpartition(".")
        if not _is_key(key) and _is_key(owner):
            key, value = owner, {field: value}
        key = spelled.setdefault(name_key(key), key)
        if key in gathered:
            before = gathered[key]
            if not (isinstance(before, Mapping) and isinstance(value, Mapping)):
                raise ConfigError(f"config option '{key}' is given twice: {before!r} and {value!r}")
            value = {**cast(Mapping[str, object], before), **cast(Mapping[str, object], value)}
        gathered[key] = value
    return gathered


def _unknown_key(key: str) -> str:
    """Return the message about an unknown key, with the nearest one."""
    candidates = [*(o.key for o in _options().values()), *installed().passes]
    closest = closest_name(key, candidates)
    registered = ", ".join(sorted(o.key for o in _options().values())) or "none"
    hint = f"did you mean '{closest}'?" if closest else f"registered options: {registered}"
    return f"there is no config option and no pass '{key}'; {hint}"


# Values


def _pass_fields(key: str, cls: type[ModulePass], value: ConfigValue) -> dict[str, object]:
    """Return the fields of a pass class that `value`, a dict or an instance of the class, sets."""
    if isinstance(value, cls):
        return {o.field: getattr(value, o.field) for o in pass_options(cls)}
    if not isinstance(value, Mapping):
        names = ", ".join(o.field for o in pass_options(cls)) or "no fields"
        raise ConfigError(
            f"config option '{key}' is a dict with fields of {cls.name} ({names}), not {value!r}"
        )
    return _fields(key, cls, cast(Mapping[str, object], value))


def _convert(option: _Registered, value: ConfigValue) -> ConfigValue:
    """Return `value` converted to the registered type; a dict becomes the dataclass."""
    if dataclasses.is_dataclass(cast(object, option.type)) and isinstance(value, Mapping):
        fields = _fields(option.key, option.type, cast(Mapping[str, object], value))
        try:
            return option.type(**fields)
        except (TypeError, ValueError) as error:
            raise ConfigError(f"config option '{option.key}': {error}") from error
    return _convert_plain(option.key, value, option.type)


def _fields(key: str, cls: type, given: Mapping[str, object]) -> dict[str, object]:
    """Return the fields of a dataclass that `given` sets, each converted to its type."""
    fields: dict[str, object] = {}
    for name, value in given.items():
        try:
            option = find_option(cls, name, key)
        except ValueError as error:
            raise ConfigError(f"config option {error}") from None
        fields[option.field] = _convert_plain(f"{key}.{name}", value, option.type)
    return fields


def _convert_plain(key: str, value: object, type_: object) -> object:
    try:
        return from_value(value, type_)
    except ValueError as error:
        raise ConfigError(f"config option '{key}': {error}") from None


def config_types() -> dict[str, dict[str, str]]:
    """Return all keys that a context's `config` takes, those of passes as `pass.field`, with their
    types as text under `type`.
    """
    found: dict[str, dict[str, str]] = {}
    for option in _options().values():
        if dataclasses.is_dataclass(cast(object, option.type)):
            found |= _field_types(option.key, option.type)
        else:
            found[option.key] = {"type": option.type.__name__}
    for name, factory in installed().passes.items():
        found |= _field_types(name, factory())
    return dict(sorted(found.items()))


def _field_types(key: str, cls: type) -> dict[str, dict[str, str]]:
    return {f"{key}.{o.field}": {"type": o.type_text} for o in pass_options(cls)}
