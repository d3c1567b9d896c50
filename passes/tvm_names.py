"""The passes and config keys of TVM, with their counterparts: the table in `tvm_names.txt`.

It is read when a name is not known. `docs/tvm-passes.md` shows it.
"""

from __future__ import annotations

from importlib.resources import files

from ..passmanager.foreign_names import ForeignName, ForeignTable
from ..passmanager.names import name_key

TABLE = "tvm_names.txt"


def read_sections() -> dict[str, list[ForeignName]]:
    """Return the rows of the table, by section."""
    sections: dict[str, list[ForeignName]] = {}
    for line in (files(__package__ or "") / TABLE).read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            sections[line.strip("[]")] = []
        elif line and not line.startswith("#"):
            name, here, note = (part.strip() for part in line.split("|"))
            row = ForeignName(name, here.removeprefix("= "), note, here.startswith("="))
            [*sections.values()][-1].append(row)
    return sections


def read_names() -> ForeignTable:
    """Return the passes and the config keys of TVM, each by its `name_key`."""
    sections = read_sections()
    passes = [row for kind in ("passes", "older passes") for row in sections[kind]]
    keys = [row for kind in ("keys", "older keys") for row in sections[kind]]
    return ForeignTable(*({key_of(row.name): row for row in rows} for rows in (passes, keys)))


def key_of(name: str) -> str:
    """Return the `name_key` of a name in the table: `relax.FuseTIR` stands for the full name
    `relax.transform.FuseTIR` too."""
    namespace, _, rest = name.partition(".")
    full = f"{namespace}.transform.{rest}" if rest[:1].isupper() and "." not in rest else name
    return name_key(full)
