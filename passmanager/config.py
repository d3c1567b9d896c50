"""The options of a PassContext: options of passes, and registered ones that belong to no pass."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from xdsl.passes import ModulePass

from .errors import ConfigError
from .limits import DEFAULT_MAX_ELEMENTS, MAX_ELEMENTS
from .names import closest_name, find_name, key_hint, name_key
from .options import check_range, find_option, from_value, pass_options
from .registry import installed

ConfigValue = object
"""A number, a string, a tuple, a dict of these, or an instance of a registered dataclass."""


@dataclass(frozen=True)
class _Key:
    """A key of `config`, with the type of its values, or a factory of it.

    The type is a pass class, whose values are dicts of its fields, or that of a registered option:
    a frozen dataclass or a plain type.
    """

    name: str
    given_type: type | Callable[[], type]
    given_default: object = None
    least: float | None = None
    """The least number that the option may be; None if there is none."""

    @cached_property
    def type(self) -> type:
        return self.given_type if isinstance(self.given_type, type) else self.given_type()

    @cached_property
    def default(self) -> object:
        if self.given_default is not None:
            return _convert(self.name, self.given_default, self.type)
        return self.type() if dataclasses.is_dataclass(self.type) and not self.is_pass else None

    @property
    def is_pass(self) -> bool:
        return issubclass(self.type, ModulePass)

    @property
    def has_fields(self) -> bool:
        return self.is_pass or dataclasses.is_dataclass(self.type)

    def convert(self, value: ConfigValue) -> ConfigValue:
        """Return `value` converted to the type, for a pass a dict of the fields that it sets.

        Errors: ConfigError if the value has another type, or sets an unknown field.
        """
        if isinstance(value, ModulePass) and isinstance(value, self.type):
            return {o.field: getattr(value, o.field) for o in pass_options(self.type)}
        if self.has_fields and isinstance(value, Mapping):
            fields = _convert_fields(self.name, self.type, cast(Mapping[str, object], value))
            return fields if self.is_pass else self._construct(fields)
        if self.is_pass:
            raise ConfigError(_not_a_dict(self.name, self.type, value))
        converted = _convert(self.name, value, self.type)
        if self.least is not None and cast(float, converted) < self.least:
            raise ConfigError(
                f"config option '{self.name}' is {converted}: expected at least {self.least}"
            )
        return converted

    def _construct(self, fields: dict[str, object]) -> object:
        try:
            return self.type(**fields)
        except (TypeError, ValueError) as error:
            raise ConfigError(f"config option '{self.name}': {error}") from error


_registered: dict[str, _Key] = {
    name_key(MAX_ELEMENTS): _Key(MAX_ELEMENTS, int, DEFAULT_MAX_ELEMENTS, least=0)
}


def register_config_option(
    key: str, type_: type | Callable[[], type], default: ConfigValue = None
) -> None:
    """Register `key` as an option of contexts, with values of `type_`, a plain type or a frozen
    dataclass, or a function that imports it on first use.

    A value of a dataclass may be given as a dict; fields that the dict leaves out keep their
    defaults.

    Errors: ValueError if the key is registered already or names a pass, or if the default is of
    another type.
    """
    if name_key(key) in _registered:
        raise ValueError(f"config option '{key}' is registered already")
    # Plugins register their options while the registry is filled: it is not asked before.
    if installed.cache_info().currsize and name_key(key) in installed().names:
        raise ValueError(
            f"config option '{key}' is the name of a pass, whose fields are its options"
        )
    option = _Key(key, type_, default)
    if isinstance(type_, type):
        _ = option.default  # which raises for one of another type
    _registered[name_key(key)] = option


def _find_key(key: str) -> _Key | None:
    """Return the registered option or the pass called `key`, or None."""
    registry = installed()  # loads the plugins, which register their options
    if (option := _registered.get(name_key(key))) is not None:
        return option
    if (name := find_name(key, registry.names)) is None:
        return None
    own = key if name_key(key) == name_key(name) else name
    return _Key(own, registry.passes[name]())


def _all_keys() -> Iterator[_Key]:
    """Yield the registered options, then the passes."""
    passes = installed().passes
    yield from _registered.values()
    for name, factory in passes.items():
        yield _Key(name, factory())


class Config(Mapping[str, ConfigValue]):
    """The validated options of one context: a read-only mapping of what was set.

    A key is a registered option, or a pass, whose value is a dict of its fields; `key.field` sets
    one field. A key may be looked up in any spelling; the value for a pass has defaults for the
    fields that are not set.
    """

    def __init__(self, values: Mapping[str, ConfigValue] | None = None) -> None:
        self._values: dict[str, ConfigValue] = {}
        self._pass_fields: dict[str, dict[str, object]] = {}
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
        if (found := _find_key(key)) is None:
            raise ConfigError(_unknown_key(key))
        self._values[found.name] = converted = found.convert(value)
        if found.is_pass:
            self._pass_fields[name_key(found.name)] = cast(dict[str, object], converted)

    def __getitem__(self, key: str) -> ConfigValue:
        found = _find_key(key)
        if found is None or name_key(found.name) not in map(name_key, self._values):
            raise KeyError(key)
        return self.value(key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def value(self, key: str) -> ConfigValue | None:
        """Return the value of a key, for a pass a dict of its fields, with defaults for what is not
        set; None for an unknown key.
        """
        if (found := _find_key(key)) is None:
            return None
        if not found.is_pass:
            return self._values.get(found.name, found.default)
        options = pass_options(found.type)
        defaults = {o.field: o.default for o in options if o.default is not dataclasses.MISSING}
        return defaults | self._pass_fields.get(name_key(found.name), {})

    def apply(self, pass_: ModulePass, name: str) -> ModulePass:
        """Return the pass with the fields that are at their defaults set from the key `name`.

        Errors: ConfigError if the pass refuses a value.
        """
        if (fields := self._pass_fields.get(name_key(name))) is None:
            return pass_
        options = {option.field: option for option in pass_options(type(pass_))}
        new = {
            field: value
            for field, value in fields.items()
            if field in options and getattr(pass_, field) == options[field].default
        }
        try:
            return dataclasses.replace(pass_, **new) if new else pass_
        except (TypeError, ValueError) as error:
            raise ConfigError(f"config option '{name}': {error}") from error


def option_type(key: str) -> object | None:
    """Return the type of the values of a key, or of the field of `key.field`; None for passes and
    dataclasses, which have fields.

    Errors: ConfigError for an unknown key or field.
    """
    if (found := _find_key(key)) is not None:
        return None if found.has_fields else found.type
    owner, _, field = key.rpartition(".")
    if (found := _find_key(owner)) is None:
        raise ConfigError(_unknown_key(key))
    try:
        return find_option(found.type, field, owner).type
    except ValueError as error:
        raise ConfigError(f"config option {error}") from None


def config_types(owners: bool = False) -> dict[str, dict[str, str]]:
    """Return all keys that a context's `config` takes, with their types as text under `type`; the
    key of an option of a pass is `pass.field`. With `owners` the passes that have options are keys,
    too: their values are dicts, and the type is the class, as in TVM.
    """
    found: dict[str, dict[str, str]] = {}
    for key in _all_keys():
        if key.has_fields:
            if owners and pass_options(key.type):
                found[key.name] = {"type": key.type.__name__}
            found |= {
                f"{key.name}.{o.field}": {"type": o.type_text} for o in pass_options(key.type)
            }
        else:
            found[key.name] = {"type": key.type.__name__}
    return dict(sorted(found.items()))


# Values


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
        # A key may itself contain dots, as `relax.fallback_device_type`.
        if _find_key(key) is None and _find_key(owner) is not None:
            key, value = owner, {field: value}
        key = spelled.setdefault(name_key(key), key)
        if key in gathered:
            before = gathered[key]
            if not (isinstance(before, Mapping) and isinstance(value, Mapping)):
                raise ConfigError(f"config option '{key}' is given twice: {before!r} and {value!r}")
            value = {**cast(Mapping[str, object], before), **cast(Mapping[str, object], value)}
        gathered[key] = value
    return gathered


def _convert_fields(key: str, cls: type, given: Mapping[str, object]) -> dict[str, object]:
    """Return the fields of a dataclass that `given` sets, each converted to its type."""
    fields: dict[str, object] = {}
    for name, value in given.items():
        try:
            option = find_option(cls, name, key)
        except ValueError as error:
            raise ConfigError(f"config option {error}") from None
        fields[option.field] = converted = _convert(f"{key}.{name}", value, option.type)
        try:
            check_range(option, converted)
        except ValueError as error:
            raise ConfigError(f"config option '{key}.{name}': {error}") from None
    return fields


def _convert(key: str, value: object, type_: object) -> object:
    try:
        return from_value(value, type_)
    except ValueError as error:
        raise ConfigError(f"config option '{key}': {error}") from None


def _not_a_dict(key: str, cls: type[ModulePass], value: object) -> str:
    """Return the message that the value of a key is not a dict of fields of a pass."""
    names = ", ".join(option.field for option in pass_options(cls)) or "no fields"
    return f"config option '{key}' is a dict with fields of {cls.name} ({names}), not {value!r}"


def _unknown_key(key: str) -> str:
    """Return the message about an unknown key: what to write instead of a key of TVM, the field of
    a pass that is called so, or the nearest key.
    """
    start = f"there is no config option and no pass '{key}'"
    if hint := key_hint(key):
        return f"{start}; {hint}"
    options = [option.name for option in _registered.values()]
    registered = ", ".join(sorted(options)) or "none"
    closest = _field_called(key) or closest_name(key, [*options, *installed().passes])
    meant = f"did you mean '{closest}'?" if closest else f"registered options: {registered}"
    return f"{start}; {meant}"


def _field_called(key: str) -> str | None:
    """Return the key of the option of a pass whose name is the last part of `key`, if only one pass
    has such an option.
    """
    namespace, _, field = key.rpartition(".")
    found = [k for k in config_types() if k.rpartition(".")[2] == field] if namespace else []
    return found[0] if len(found) == 1 else None
