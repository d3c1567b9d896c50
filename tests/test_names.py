"""The names of the product: no class name stands for two things, no file name for two in a layer,
and minima and maxima are `MIN_` and `MAX_`."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PRODUCT = [
    path
    for tree in ("compiler", "dialects", "passes", "passmanager", "testing", "tools")
    for path in sorted((ROOT / tree).rglob("*.py"))
    if "template" not in path.parts  # the project that `passline new` writes
]


def classes(path: Path) -> Iterator[ast.ClassDef]:
    """Yield the classes that a module defines at its top level."""
    return (node for node in ast.parse(path.read_bytes()).body if isinstance(node, ast.ClassDef))


def is_operation(node: ast.ClassDef) -> bool:
    """Return whether a class is an operation: in another dialect, one may have its name."""
    return any("irdl_op_definition" in ast.unparse(mark) for mark in node.decorator_list)


def test_no_class_name_stands_for_two_things() -> None:
    places = defaultdict[str, list[str]](list)
    operations = set[str]()
    for path in PRODUCT:
        place = path.relative_to(ROOT)
        for node in classes(path):
            # An operation is named by its class and the dialect, whose folder is the second; the
            # dialects of MLIR are extended by a file each.
            folder = place.parts[1]
            extended = place.stem if folder == "extensions" else folder
            dialect = extended if is_operation(node) else ""
            places[f"{dialect} {node.name}".strip()].append(f"{place}:{node.lineno}")
            operations |= {node.name} if dialect else set()
    assert len(places) > 800 and len(operations) > 100
    twice = {name: found for name, found in places.items() if len(found) > 1}
    mixed = {name: places[name] for name in operations & places.keys()}
    assert twice | mixed == {}


_ONNX = Path("compiler/frontends/onnx")

PARALLEL = [
    {_ONNX / "operators", _ONNX / "contrib"},
    {Path("dialects/relax"), Path("dialects/cuda_tile")},
]
"""The folders of a layer that have files of the same names by design: converters of ONNX's
operators by family, and of those that onnxruntime adds; types and attributes of dialects."""


def layer(place: Path) -> str:
    """Return the layer that a file is in: its top folder, or a part of the compiler.

    The layers of `test_layers.py` that are a folder within another one belong to that, as one
    looks for a file in both; `passes/generic` is in another product than the passes around it.
    """
    inner = place.parts[0] == "compiler" or place.parts[:2] == ("passes", "generic")
    return "/".join(place.parts[: 2 if inner and len(place.parts) > 2 else 1])


def same_names(places: Iterable[Path]) -> list[list[str]]:
    """Return the files that have the name of another one in their layer."""
    found = defaultdict[tuple[str, str], list[Path]](list)
    for place in places:
        if place.stem != "__init__":
            found[layer(place), place.stem].append(place)
    return [
        [*map(str, files)]
        for files in found.values()
        if len(files) > 1 and {file.parent for file in files} not in PARALLEL
    ]


def test_no_file_name_stands_for_two_files_in_a_layer() -> None:
    assert same_names(path.relative_to(ROOT) for path in PRODUCT) == []


def test_files_of_one_name_are_seen() -> None:
    twice = ["passmanager/run.py", "passmanager/fast/run.py"]
    apart = ["tools/run.py", "passes/inline.py", "passes/generic/inline.py", "dialects/__init__.py"]
    assert same_names(map(Path, [*twice, *apart])) == [twice]


def test_minima_and_maxima_are_named_so() -> None:
    names = r"^_?(?:LEAST|MOST)_\w+(?=:| =)"
    found = {
        str(path.relative_to(ROOT)): constants
        for path in PRODUCT
        if (constants := re.findall(names, path.read_text(), re.MULTILINE))
    }
    assert found == {}
