"""The parallel trees of operations of relax: declarations, semantics and kernels.

Declarations and kernels lie in files of the same folder and name below `dialects/relax` and
`compiler/kernels`, semantics in the file of the folder's name in `compiler/interpreters/relax`.
Operations whose parameters are operands have the semantics of others.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import TypeAlias, cast

from support.modules import modules_below
from xdsl.ir import Operation

from passline.compiler import kernels
from passline.compiler.interpreters import relax as interpreters
from passline.dialects import relax

Places: TypeAlias = tuple[str, str]
"""The files of the declaration and the kernel, as `reduction.scan`."""

EXCEPTIONS: Mapping[Places, str] = {
    ("data.concatenation", "data.manipulation"): "a smaller file",
    ("data.detection", "data.data_dependent"): "its kernel computes a size first",
    ("data.indexing", "data.data_dependent"): "its kernel computes a size first",
    ("images", "images.resize"): "kernels of images are a folder",
    ("reduction.nn", "data.manipulation"): "batch_flatten is a reshape, padding moves elements",
    ("reduction.reduction", "reduction.arg_reduction"): (
        "an index of an extremum has a kernel of its own"
    ),
    ("windows", "windows.pooling"): "kernels of windows are a folder",
}
"""The operations whose files differ, with the reason."""


def tables_below(package: ModuleType) -> dict[type[Operation], str]:
    """Return the file of the smallest table below a package that names each operation."""
    found: dict[type[Operation], tuple[int, str]] = {}
    for place in modules_below(package.__name__):
        if ".gpu." in place:
            continue  # tile programs are by what they share on a GPU
        module = import_module(place)
        for name, value in vars(module).items():
            if not name.isupper() or not isinstance(value, dict):
                continue
            table = cast("dict[object, object]", value)
            if re.search(rf"(?m)^{name}(: [^=]*)? = ", inspect.getsource(module)) is None:
                continue  # it is imported
            file = (len(table), place.removeprefix(f"{package.__name__}."))
            for op in table:
                if isinstance(op, type) and issubclass(op, Operation):
                    found[op] = min(file, found.get(op, file))
    return {op: file for op, (_, file) in found.items()}


def test_declarations_semantics_and_kernels_are_parallel():
    semantics, legalizations = tables_below(interpreters), tables_below(kernels)
    operations = [op for op in relax.Relax.operations if op in semantics]
    declared = {op: op.__module__.removeprefix(f"{relax.__name__}.") for op in operations}
    assert len(operations) > 100
    assert [op for op in operations if semantics[op] != declared[op].split(".")[0]] == []
    places = {(declared[op], legalizations.get(op, declared[op])) for op in operations}
    assert {place for place in places if place[0] != place[1]} == {*EXCEPTIONS}
