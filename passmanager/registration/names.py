"""The spelling and comparison of pass names."""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["kebab_case", "name_key"]


# Cached: a name is compared several times for each pass that runs.
@lru_cache(maxsize=4096)
def name_key(name: str) -> str:
    """Return the key under which all spellings of a pass name are equal: `tir.UnrollLoop` and
    `tir-unroll-loop` have the same, and so has TVM's full name `tir.transform.UnrollLoop`.
    """
    return re.sub(r"[-._]", "", _TVM_NAMESPACE.sub(_own_namespace, name)).casefold()


_TVM_NAMESPACE = re.compile(
    r"(?:tvm\.)?(?:transform|(?:relax|relay)(?:\.transform)?|(?:s_)?(tir)x?(?:\.transform)?)\.(?=[A-Z])"
)
"""The namespaces of TVM before the name of a pass, which TVM writes with a capital. The passes on
`tir` have it in their names.
"""


def _own_namespace(namespace: re.Match[str]) -> str:
    return f"{namespace[1] or ''}."


def kebab_case(name: str) -> str:
    """Return TVM's spelling or a Python name in kebab-case: `FoldConstant` becomes
    `fold-constant`.
    """
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name)
    return re.sub(r"[-._\s]+", "-", words).strip("-").lower()
