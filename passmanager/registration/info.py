"""PassInfo, the metadata of a pass, and the checks of what it is made of."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import cast

from ..errors import ConfigError
from .names import PassName, name_key
from .rounding import Rounding

__all__ = [
    "PassInfo",
    "check_context_level",
    "check_level",
    "check_name",
    "check_names",
    "check_spelling",
]


@dataclass(frozen=True)
class PassInfo:
    """The name, level and requirements of a pass.

    `opt_level` is the lowest level of a context at which a Sequential runs the pass; `required`
    names the passes whose result it needs. `name` is equal to all its spellings, also to TVM's:
    `info.name == "FuseOps"`; `key` is the `name_key` of the name. The other fields are not compared
    when two infos are: `text` is the pass with its options as a pipeline spells them; `composite`
    is true for a pass made of passes, `rounds` for one that may change how floats are rounded,
    `changes_interface` for one that may change the public functions.
    TVM's order of arguments works too: `PassInfo(2, "fold-constant", [])`.
    """

    name: str = field(compare=False)
    opt_level: int = 0
    required: tuple[str, ...] = ()
    text: str = field(default="", compare=False)
    composite: bool = field(default=False, compare=False)
    rounds: bool | Rounding = field(default=False, compare=False)
    changes_interface: bool = field(default=False, compare=False)
    key: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.name, int) and isinstance(self.opt_level, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            level, name = self.name, self.opt_level
            object.__setattr__(self, "name", name)
            object.__setattr__(self, "opt_level", level)
        check_name(self.name)
        check_level(self.opt_level)
        object.__setattr__(self, "required", check_names("required", self.required))
        object.__setattr__(self, "text", self.text or self.name)
        object.__setattr__(self, "key", name_key(self.name))
        object.__setattr__(self, "name", PassName(self.name))


def check_name(name: object) -> None:
    """Raise TypeError if `name` is not a string, ValueError if it has only '-', '.' and '_'."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a pass is a string, not {name!r}")
    if not name_key(name):
        raise ValueError(
            f"the name of a pass needs at least one letter or digit; {name!r} has none"
        )


def check_spelling(name: str) -> None:
    """Raise ValueError if `name` has characters that a pipeline cannot spell."""
    if not re.fullmatch(r"[\w.\-]+", name, re.ASCII):
        raise ValueError(
            f"the name of a pass consists of letters, digits, '-', '.' and '_', not {name!r}"
        )


def check_level(opt_level: object) -> None:
    """Raise TypeError if `opt_level` is not an int, ValueError if it is negative."""
    if _whole(opt_level, "opt_level") < 0:
        raise ValueError(f"opt_level is 0 or more, not {opt_level}")


HIGHEST_LEVEL = 4
"""The highest level of a context: passes of Passline and of TVM have levels up to 4."""


def check_context_level(
    level: object, highest: int = HIGHEST_LEVEL, setting: str = "opt_level"
) -> None:
    """Raise TypeError if the level of a context is not an int, ConfigError if it is out of
    range."""
    if not 0 <= (number := _whole(level, setting)) <= highest:
        limit = "0 or more" if number < 0 else f"{highest} or less"
        raise ConfigError(f"{setting} is {limit}, not {level}: levels are 0 to {highest}")


def _whole(level: object, setting: str) -> int:
    if not isinstance(level, int) or isinstance(level, bool):
        raise TypeError(f"{setting} is a whole number, not {level!r}")
    return level


def check_names(setting: str, names: object) -> tuple[str, ...]:
    """Return the pass names in `names` as a tuple; messages name the setting that has them.

    Errors: TypeError if `names` is a single string, whose letters would be taken for names, or not
    an iterable of strings.
    """
    if isinstance(names, str):
        raise TypeError(f"{setting} is a list of names: write [{names!r}] instead of {names!r}")
    if not isinstance(names, Iterable):
        raise TypeError(f"{setting} is a list of names, not {names!r}")
    checked: list[str] = []
    for name in cast(Iterable[object], names):
        if not isinstance(name, str):
            raise TypeError(f"{setting} is a list of names, but holds {name!r}")
        checked.append(name)
    return tuple(checked)
