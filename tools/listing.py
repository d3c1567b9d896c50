"""What `--list-passes` and `--list-configs` print."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator, Mapping

from xdsl.passes import ModulePass

from ..passmanager.base import Pass
from ..passmanager.config import config_types
from ..passmanager.options import PassOption, pass_options, to_text

__all__ = ["list_configs", "list_passes", "summary"]


def list_passes(passes: Mapping[str, Callable[[], type[ModulePass]]]) -> Iterator[str]:
    """For each pass a line with its name, level and requirements, then its help and its options,
    indented.
    """
    width = max(map(len, passes), default=0)
    for name in sorted(passes):
        cls = passes[name]()
        yield f"{name:{width}}{_metadata(cls)}".rstrip()
        if text := summary(cls):
            yield f"    {text}"
        yield from (f"    {_describe(option)}" for option in pass_options(cls))


def _metadata(cls: type[ModulePass]) -> str:
    if not issubclass(cls, Pass):
        return ""
    requires = f"  requires {', '.join(cls.required)}" if cls.required else ""
    return f"  level {cls.opt_level}{requires}"


def summary(cls: type[ModulePass]) -> str:
    """The first sentence of the class's own docstring, as one line."""
    doc = cls.__dict__.get("__doc__") or ""
    if doc.startswith(f"{cls.__name__}("):  # what @dataclass writes where the author wrote nothing
        return ""
    paragraph = " ".join(inspect.cleandoc(doc).split("\n\n")[0].split())
    return re.split(r"(?<=\.)\s+(?=[A-Z])", paragraph)[0]


def _describe(option: PassOption) -> str:
    default = ""
    if option.default is not dataclasses.MISSING:
        default = f" = {to_text(option.default) or '()'}"
    return f"{option.name}: {option.type_text}{default}" + (
        f"  {option.help}" if option.help else ""
    )


def list_configs() -> Iterator[str]:
    """A line for each key of `--config` and its type."""
    types = config_types()
    width = max(map(len, types), default=0)
    for key, description in types.items():
        yield f"{key:{width}}  {description['type']}"
