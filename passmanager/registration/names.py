"""The spelling and comparison of pass names."""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["PassName", "kebab_case", "name_key", "register_namespace"]


# Cached: a name is compared several times for each pass that runs.
@lru_cache(maxsize=4096)
def name_key(name: str) -> str:
    """Return the key that all spellings of a pass name have in common: `tir.UnrollLoop`,
    `tir-unroll-loop` and TVM's full name `tir.transform.UnrollLoop` have one key, as have
    `fold-constant` and `relay._transform.FoldConstant`.
    """
    own = rf"({'|'.join(_namespaces)})(?:\._?transform)?|" if _namespaces else "()"
    # A name follows that TVM writes with a capital.
    namespace = rf"(?:tvm\.)?(?:{own}_?transform)\.(?=[A-Z])"
    stays = re.sub(namespace, lambda found: f"{_namespaces.get(found[1] or '', '')}.", name)
    return re.sub(r"[-._]", "", stays).casefold()


_namespaces: dict[str, str] = {}


def register_namespace(namespace: str, stays: str = "") -> None:
    """Register a namespace of TVM, such as `relax` in `relax.transform.FuseOps`. Names of passes
    leave it out, or have `stays` in its place."""
    _namespaces[namespace] = stays
    name_key.cache_clear()


class PassName(str):
    """The name of a pass: a string that is equal to all spellings of the name, as `FuseOps`.

    Its hash is that of its own spelling, which alone sets and dicts find.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, str):
            return NotImplemented
        return str.__eq__(self, other) or name_key(str(self)) == name_key(str(other))

    def __ne__(self, other: object) -> bool:
        return NotImplemented if not isinstance(other, str) else not self == other

    __hash__ = str.__hash__


def kebab_case(name: str) -> str:
    """Return TVM's spelling or a Python name in kebab-case: `FoldConstant` becomes
    `fold-constant`.
    """
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name)
    return re.sub(r"[-._\s]+", "-", words).strip("-").lower()
