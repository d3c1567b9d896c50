"""Private names of xDSL, those with one underscore in front, are used in few files: below
`passmanager/fast/` for speed, and in the one for the interpreter, which says little of itself.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
import xdsl
from support.tables import table_test

ROOT = Path(__file__).parent.parent
PACKAGES = ("compiler", "dialects", "passes", "passmanager", "tools")
ALLOWED = ("passmanager/fast/", "compiler/interpreters/xdsl_interpreter.py")
READERS = {"attrgetter", "delattr", "getattr", "hasattr", "methodcaller", "setattr", "__setattr__"}
"""The functions that take names of attributes as texts."""
PUBLIC = {*dir(NamedTuple("Row", []))}
"""Names of Python itself that begin with an underscore, such as `_replace`."""


class Class(NamedTuple):
    """A class; those of one name in several files are taken for one."""

    is_of_xdsl: bool
    name: str


@dataclass
class Definitions:
    """The private names that source files define: all of them, and those of each class, with its
    bases."""

    names: set[str] = field(default_factory=set[str])
    members: defaultdict[Class, set[str]] = field(default_factory=lambda: defaultdict(set))
    bases: defaultdict[Class, set[Class]] = field(default_factory=lambda: defaultdict(set))

    def add(self, tree: ast.Module, is_of_xdsl: bool) -> None:
        """Add the definitions of a file."""
        imported = imports_of_xdsl(tree)
        self.names |= defined_in(tree.body)
        for node in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
            cls, members = Class(is_of_xdsl, node.name), members_of(node)
            self.names |= members
            self.members[cls] |= members
            self.bases[cls] |= {base_class(base, is_of_xdsl, imported) for base in node.bases}

    def inherited(self, cls: Class) -> set[str]:
        """Return the private names of xDSL's classes from which a class derives."""
        found, pending = {cls}, [cls]
        while pending:
            bases = self.bases[pending.pop()] - found
            found |= bases
            pending += bases
        return {name for cls in found if cls.is_of_xdsl for name in self.members[cls]}


def imports_of_xdsl(tree: ast.Module) -> dict[str, str]:
    """Return the names that a file imports from xDSL, and what they are called there."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "xdsl":
            found |= {alias.asname or alias.name: alias.name for alias in node.names}
    return found


def base_class(base: ast.expr, is_of_xdsl: bool, imported: Mapping[str, str]) -> Class:
    """Return the base class that an expression such as `module.Base[T]` names."""
    base = base.value if isinstance(base, ast.Subscript) else base
    first, *_ = parts = ast.unparse(base).split(".")
    name = parts[-1] if len(parts) > 1 else imported.get(first, first)
    return Class(is_of_xdsl or first in imported, name)


def private(names: Iterable[str]) -> set[str]:
    """Return the private ones of some names."""
    return {n for n in names if n[:1] == "_" and n[:2] not in ("_", "__") and n not in PUBLIC}


def defined_in(body: Iterable[ast.stmt]) -> set[str]:
    """Return the private names that the statements of a module or class define."""
    found: set[str] = set()
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            parts = (part for target in targets for part in ast.walk(target))
            found |= {part.id for part in parts if isinstance(part, ast.Name)}
        elif isinstance(node, ast.If | ast.Try):
            handlers = node.handlers if isinstance(node, ast.Try) else ()
            inner = [*node.body, *node.orelse, *(s for handler in handlers for s in handler.body)]
            found |= defined_in(inner)
    return private(found)


def members_of(cls: ast.ClassDef) -> set[str]:
    """Return the private names that a class defines, in its body or as attributes of `self`."""
    attributes = (node for node in ast.walk(cls) if isinstance(node, ast.Attribute))
    assigned = {a.attr for a in attributes if isinstance(a.ctx, ast.Store) and is_own(a)}
    return defined_in(cls.body) | private(assigned)


def is_own(node: ast.Attribute) -> bool:
    """Return whether an attribute is one of `self`, `cls` or `super()`."""
    value = node.value.func if isinstance(node.value, ast.Call) else node.value
    return isinstance(value, ast.Name) and value.id in ("self", "cls", "super")


def trees(paths: Iterable[Path]) -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(paths)}


@cache
def of_xdsl() -> Definitions:
    """Return the definitions of the installed xDSL."""
    found = Definitions()
    for folder in xdsl.__path__:
        for tree in trees(Path(folder).rglob("*.py")).values():
            found.add(tree, is_of_xdsl=True)
    return found


@cache
def uses(root: Path) -> dict[str, set[str]]:
    """Return the private names of xDSL that the files of a project use: file -> names."""
    inside = (path for package in PACKAGES for path in (root / package).rglob("*.py"))
    files = trees([*root.glob("*.py"), *inside])
    known = Definitions(set(), of_xdsl().members.copy(), of_xdsl().bases.copy())
    for tree in files.values():
        known.add(tree, is_of_xdsl=False)
    found = {str(path.relative_to(root)): set(used_in(files[path], known)) for path in files}
    return {file: names for file, names in found.items() if names}


def used_in(tree: ast.Module, known: Definitions) -> Iterator[str]:
    """Yield the private names of xDSL that a file imports, overrides or reads."""
    own = Definitions()
    own.add(tree, is_of_xdsl=False)
    others = of_xdsl().names - own.names
    inherited: dict[ast.AST, set[str]] = {}
    """The names of xDSL that the class around a node inherits."""
    yield from private(imports_of_xdsl(tree).values())
    for node in ast.walk(tree):  # outer classes first
        if isinstance(node, ast.ClassDef):
            names = known.inherited(Class(False, node.name))
            inherited |= dict.fromkeys(ast.walk(node), names)
            yield from names & members_of(node)
        elif isinstance(node, ast.Attribute):
            yield from {node.attr} & (inherited.get(node, set()) if is_own(node) else others)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in READERS:
            texts = (arg.value for arg in node.args if isinstance(arg, ast.Constant))
            yield from {text for text in texts if isinstance(text, str)} & others


def elsewhere(found: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return the uses in files that may have none."""
    return {file: names for file, names in found.items() if not file.startswith(ALLOWED)}


def test_private_names_of_xdsl_are_used_in_few_files() -> None:
    assert elsewhere(uses(ROOT)) == {}


@table_test(
    ("file", "names"),
    [
        ("passmanager/fast/edit.py", {"_operands", "_type"}),  # in calls of `attrgetter`
        ("passmanager/fast/edit.py", {"_next_use", "_name"}),
        ("passmanager/fast/reading/locating_parser.py", {"_current_token", "_parse_block"}),
        ("compiler/interpreters/xdsl_interpreter.py", {"_impls", "_cast_impl_dict", "_run_op"}),
    ],
)
def test_the_files_that_use_them_are_found(file: str, names: set[str]) -> None:
    assert uses(ROOT)[file] >= names


IMPORT = "from xdsl.interpreter import Interpreter"


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("def f(op): return op._operands", "_operands"),
        ("def f(op): return getattr(op, '_operands')", "_operands"),
        ("def f(op): object.__setattr__(op, '_operands', ())", "_operands"),
        ("from xdsl.interpreter import _IMPL_DICT_KEY", "_IMPL_DICT_KEY"),
        (f"{IMPORT} as I\nclass A(I):\n    def _run_op(self, op, inputs): ...", "_run_op"),
        ("from xdsl import interpreter as i\nclass A(i.Interpreter):\n    _ctx = None", "_ctx"),
        (
            f"{IMPORT}\nclass A(Interpreter): ...\nclass B(A):\n    def f(self): return self._ctx",
            "_ctx",
        ),
    ],
)
def test_a_use_is_found(tmp_path: Path, code: str, name: str) -> None:
    (tmp_path / "passes").mkdir()
    (tmp_path / "passes/planted.py").write_text(code)
    assert elsewhere(uses(tmp_path)) == {"passes/planted.py": {name}}


@pytest.mark.parametrize(
    "code",
    [
        "class A:\n    _operands = 1\ndef f(a: A): return a._operands",
        "class A:\n    def __init__(self): self._operands = 1\n    def f(self): self._operands",
        f"{IMPORT}\nclass A(Interpreter):\n    def f(self): self._mine = 1",
        "def f(parser): return parser._actions",  # of argparse
    ],
)
def test_a_private_name_of_another_class_is_none(tmp_path: Path, code: str) -> None:
    (tmp_path / "planted.py").write_text(code)
    assert uses(tmp_path) == {}
