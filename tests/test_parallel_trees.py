"""The parallel trees of operations of relax: declarations, semantics and kernels.

They lie in files of the same folder and name below `dialects/relax`, `compiler/interpreters/relax`
and `compiler/kernels`. Operations whose parameters are operands have the semantics of others.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType
from typing import TypeAlias, cast

from xdsl.ir import Operation

from passline.compiler import kernels
from passline.compiler.interpreters import relax as interpreters
from passline.dialects import relax

Places: TypeAlias = tuple[str, str, str]
"""The files of the declaration, the semantics and the kernel, as `windows.pooling`."""

EXCEPTIONS: Mapping[Places, str] = {
    ("contraction.linear_algebra", "contraction.linear_algebra", "contraction.einsum"): (
        "the kernel of einsum has a plan of its own"
    ),
    ("contraction.linear_algebra", "contraction.linear_algebra", "contraction.matmul"): (
        "products of two matrices have tiles"
    ),
    ("data.concatenation", "data.manipulation", "data.manipulation"): "a smaller file",
    ("data.detection", "data.detection", "data.data_dependent"): "its kernel computes a size first",
    ("data.gather", "data.indexing", "data.data_dependent"): "its kernel computes a size first",
    ("data.gather", "data.indexing", "data.indexing"): "a smaller file",
    ("data.image", "data.image", "images.resize"): "kernels of images are a folder",
    ("data.image", "data.image", "images.space_to_depth"): "kernels of images are a folder",
    ("data.permutation", "data.manipulation", "data.manipulation"): "a smaller file",
    ("data.reshape", "data.manipulation", "data.manipulation"): "a smaller file",
    ("data.scatter", "data.indexing", "data.indexing"): "a smaller file",
    ("data.split", "data.manipulation", "data.manipulation"): "a smaller file",
    ("data.strided_slice", "data.indexing", "data.indexing"): "a smaller file",
    ("elementwise.broadcast", "data.manipulation", "data.manipulation"): "a smaller file",
    ("reduction.nn", "reduction.nn", "data.manipulation"): "batch_flatten is a reshape",
    ("reduction.nn", "reduction.nn", "data.padding"): "the modes of padding are a file",
    ("reduction.reduction", "reduction.reduction", "reduction.arg_reduction"): (
        "an index of an extremum has a kernel of its own"
    ),
}
"""The operations whose files differ, with the reason."""


def tables_below(package: ModuleType) -> dict[type[Operation], str]:
    """Return the file of the smallest table below a package that names each operation."""
    found: dict[type[Operation], tuple[int, str]] = {}
    for info in walk_packages(package.__path__, f"{package.__name__}."):
        module = import_module(info.name)
        for name, value in vars(module).items():
            if not name.isupper() or not isinstance(value, dict):
                continue
            table = cast("dict[object, object]", value)
            if re.search(rf"(?m)^{name}(: [^=]*)? = ", inspect.getsource(module)) is None:
                continue  # it is imported
            place = (len(table), info.name.removeprefix(f"{package.__name__}."))
            for op in table:
                if isinstance(op, type) and issubclass(op, Operation):
                    found[op] = min(place, found.get(op, place))
    return {op: place for op, (_, place) in found.items()}


def test_declarations_semantics_and_kernels_are_parallel():
    semantics, legalizations = tables_below(interpreters), tables_below(kernels)
    places = {
        (
            op.__module__.removeprefix(f"{relax.__name__}."),
            semantics[op],
            legalizations.get(op, "no kernel"),
        )
        for op in relax.Relax.operations
        if op in semantics
    }
    assert {place for place in places if len({*place}) > 1} == {*EXCEPTIONS}
