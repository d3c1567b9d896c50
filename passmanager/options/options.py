"""The options of a pass: its dataclass fields, described, checked and written as text."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple, cast, get_type_hints

from xdsl.passes import ModulePass

from ..registration.names import did_you_mean
from .types import from_value, to_text, type_text

__all__ = [
    "MLIR_OPTIONS",
    "PassOption",
    "check_range",
    "check_values",
    "find_option",
    "options_text",
    "pass_options",
    "pass_text",
]


class PassOption(NamedTuple):
    """One option: the field that it sets, its type, default (`MISSING` if required) and help, and
    the least value of a number, or of each in a list.
    """

    field: str
    type: object
    default: object
    help: str
    minimum: float | None = None

    @property
    def name(self) -> str:
        """The name as pipelines spell it."""
        return self.field.replace("_", "-")

    @property
    def type_text(self) -> str:
        """The type as Python spells it: `int`, `tuple[str, ...]`, `int | None`."""
        return type_text(self.type)


@cache
def pass_options(cls: type) -> tuple[PassOption, ...]:
    """Return the options of a pass class, in the order of its fields; empty if it is not a
    dataclass.

    The help of a field is in its metadata under `help`, the least value under `minimum`.
    """
    if not dataclasses.is_dataclass(cls):
        return ()
    hints = get_type_hints(cls)
    return tuple(
        PassOption(
            f.name,
            hints[f.name],
            _default(f),
            str(f.metadata.get("help", "")),
            f.metadata.get("minimum"),
        )
        for f in dataclasses.fields(cls)
        if f.init and not (f.name == "name" and issubclass(cls, ModulePass))
    )


def _default(field: dataclasses.Field[object]) -> object:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def find_option(cls: type, name: str, owner: str) -> PassOption:
    """Return the option `name` (with `-` or `_`) of a dataclass, which messages call `owner`.

    Errors: ValueError with the nearest name.
    """
    options = pass_options(cls)
    for option in options:
        if option.field == name.replace("-", "_"):
            return option
    names = [option.name for option in options]
    known = f"; its options are {', '.join(names)}" if names else "; it has none"
    hint = did_you_mean(name, names) or known
    raise ValueError(f"'{owner}' has no option '{name}'{hint}")


def check_range(option: PassOption, value: object) -> None:
    """Raise ValueError if a number in the value of an option is less than its minimum."""
    if option.minimum is None:
        return
    for number in cast(tuple[object, ...], value) if isinstance(value, tuple) else (value,):
        if isinstance(number, int | float) and not number >= option.minimum:
            raise ValueError(f"expected {option.minimum} or more, got {number}")


def check_values(options: object) -> None:
    """Raise TypeError if a field of type bool, int, float or str of a dataclass instance holds a
    value of another type, and ValueError if a field holds a number below its minimum.
    """
    for option in pass_options(type(options)):
        value: object = getattr(options, option.field)
        if any(option.type is plain for plain in (bool, int, float, str)):
            try:
                from_value(value, option.type)
            except ValueError as error:
                owner = type(options).__name__
                raise TypeError(f"option {option.field} of {owner}: {error}") from None
        try:
            check_range(option, value)
        except ValueError as error:
            raise ValueError(f"option {option.field}: {error}") from None


def options_text(options: object, *, defaults: bool = False) -> str:
    """Return the fields of a dataclass instance as a pipeline spells them, in braces.

    Fields at their defaults are left out unless `defaults`; the text is empty if no field is left.
    """
    shown: list[str] = []
    for option in pass_options(type(options)):
        value: object = getattr(options, option.field)
        if defaults or option.default is dataclasses.MISSING or value != option.default:
            text = to_text(value)
            shown.append(f"{option.name}={text}" if text else option.name)
    return f"{{{' '.join(shown)}}}" if shown else ""


def pass_text(pass_: ModulePass) -> str:
    """Return a pass as a pipeline spells it: its name, and the options that are not defaults."""
    return pass_.name + options_text(pass_)


MLIR_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "canonicalize": (
        "disable-patterns",
        "enable-patterns",
        "max-iterations",
        "max-num-rewrites",
        "region-simplify",
        "test-convergence",
        "top-down",
    ),
    "convert-scf-to-cf": ("allow-pattern-rollback",),
    "convert-scf-to-openmp": ("num-threads",),
    "gpu-map-parallel-loops": ("mapping-policy",),
    "inline": ("default-pipeline", "inlining-threshold", "max-iterations", "op-pipelines"),
    "print-ir": ("label",),
    "scf-parallel-loop-tiling": ("no-min-max-bounds",),
    "transform-interpreter": (
        "debug-bind-trailing-args",
        "debug-payload-root-tag",
        "disable-expensive-checks",
    ),
}
"""Pass -> the options that `mlir-opt` (LLVM 22) lists for it, and the pass of the same name here
does not have. The reproducers of `mlir-opt` give all options of a pass, and those that have no
meaning here are ignored with a warning.
"""
