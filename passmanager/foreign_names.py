"""The names that another project has for passes and config keys, and what messages say of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .names import name_key

__all__ = ["ForeignName", "ForeignTable"]


@dataclass(frozen=True)
class ForeignName:
    """The name that another project has for a pass or a config key."""

    name: str
    here: str = ""
    """The counterpart: a key, or passes as in a pipeline; empty if there is none."""
    note: str = ""
    """What else is to be said about it, or why there is none."""
    is_same: bool = False
    """Whether the name stands for the counterpart, which is one pass or key."""


@dataclass(frozen=True)
class ForeignTable:
    """The passes and config keys of another project, each by its `name_key`: `ForeignNames`."""

    passes: Mapping[str, ForeignName]
    keys: Mapping[str, ForeignName]

    def find_pass(self, name: str, bare: bool = True) -> ForeignName | None:
        """Return the row of a pass, in any spelling; with `bare` a class of TVM's is known without
        its namespace, too."""
        key = name_key(name)
        return self.passes.get(key) or (self.passes.get(f"tir{key}") if bare else None)

    def find_key(self, name: str) -> ForeignName | None:
        """Return the row of a config key, or of the pass whose key it is."""
        return self.keys.get(name_key(name)) or self.find_pass(name)

    def same(self, name: str, bare: bool) -> str | None:
        """Return the pass that a name stands for."""
        found = self.find_pass(name, bare)
        return found.here if found is not None and found.is_same else None

    def pass_hint(self, name: str, candidates: Iterable[str], before: str) -> str:
        """Return the end of a message about an unknown pass."""
        if (found := self.find_pass(name)) is None:
            return ""
        if not found.here:
            return f"; {found.name} has no counterpart: {found.note}"
        keys = {_bare(candidate): candidate for candidate in candidates}
        here = [keys.get(_bare(each), "") for each in found.here.split(",")]
        passes = ",".join(f"{before}{each}" for each in here)
        note = f" ({found.note})" if found.note else ""
        return f", did you mean '{passes}'?{note}" if all(here) else ""

    def key_hint(self, name: str) -> str:
        """Return what a message says about an unknown config key."""
        if (found := self.find_key(name)) is None or not found.here:
            return "" if found is None else found.note
        note = f" ({found.note})" if found.note else ""
        return f"did you mean '{found.here}'?{note}"


def _bare(name: str) -> str:
    """Return the key of a pass or of its class: that of a class does not begin with `tir`."""
    return name_key(name).removeprefix("tir")
