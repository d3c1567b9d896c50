"""The layers of the package: imports go down only, and nothing imports itself in a circle.

All imports count, those inside functions and under `TYPE_CHECKING` too. As a program this file
draws the imports of the two products, for `docs/architecture.md`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from support.import_drawing import drawing
from support.tables import table_test

ROOT = Path(__file__).parent.parent

_RELEASES = {"passmanager.releases", "passmanager.fast", "compiler.releases"}
_CORE = {"passmanager", "passes.generic", *_RELEASES}
_TENSORS = {*_CORE, "dialects", "compiler.interpreters"}
_MEASURED = {*_TENSORS, "compiler.analysis", "compiler.kernels"}
_COMPILED = {*_MEASURED, "passes"}
_LIBRARIES = {
    *_COMPILED,
    *("compiler", "compiler.native", "compiler.gpu", "compiler.compile", "compiler.tune"),
}
_COMPILER_TOOL = {*_LIBRARIES, "tools", "tools.compiler_extension"}

MAY_IMPORT: dict[str, set[str]] = {
    "passmanager.releases": set(),
    "passmanager.fast": {"passmanager", "passmanager.releases"},
    "passmanager": {"passmanager.releases", "passmanager.fast"},
    "passes.generic": {"passmanager", "passmanager.fast", "passmanager.releases"},
    "compiler.releases": {"passmanager.releases"},
    "dialects": {"passmanager", *_RELEASES},
    "compiler.interpreters": {*_CORE, "dialects"},
    "compiler.analysis": _TENSORS,
    "compiler.kernels": {*_TENSORS, "compiler.analysis"},
    "passes": _MEASURED,
    "compiler.frontends": {*_TENSORS, "compiler.analysis"},
    "compiler.native": _COMPILED,
    "compiler.gpu": {*_COMPILED, "compiler.native"},
    "compiler.compile": {*_COMPILED, "compiler.native"},
    "compiler.tune": {*_COMPILED, "compiler.native", "compiler.gpu"},
    "compiler": {*_LIBRARIES, "compiler.frontends"},
    "tools": {"passmanager", "passes.generic", "passmanager.fast", "passmanager.releases"},
    "testing": {"passmanager", "tools"},
    "tools.compiler_extension": {*_LIBRARIES, "compiler.frontends", "tools"},
    "tools.compile": _COMPILER_TOOL,
    "tools.run": _COMPILER_TOOL,
    "tools.tune": _COMPILER_TOOL,
    "passline": {*_LIBRARIES, "compiler.frontends", "tools"},
}
"""The packages that each package may import, itself apart; `passline` are the modules of the root,
which no other imports. The tools know the compiler in the four modules that are named alone.
"""

Graph = Mapping[str, set[str]]


def modules(root: Path) -> dict[str, Path]:
    """Return the modules below `root`: dotted name -> file."""
    found = {f"passline.{path.stem}": path for path in root.glob("*.py")}
    for top in sorted({package.split(".")[0] for package in MAY_IMPORT}):
        for path in (root / top).rglob("*.py"):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(name: str, path: Path, known: Mapping[str, Path]) -> Iterator[str]:
    """Yield the modules of the project that a module imports."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    if package[:1] == ["passline"]:
        package = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) + 1 - node.level]
            source = [*base, *([node.module] if node.module else [])]
            for alias in node.names:
                inner, outer = ".".join([*source, alias.name]), ".".join(source)
                candidates = (inner, f"passline.{inner}", outer, f"passline.{outer}")
                yield next((name for name in candidates if name in known), outer)


def import_graph(root: Path) -> Graph:
    """Return the imports of each module below `root`; a package without code is left out."""
    known = modules(root)
    return {
        name: {target for target in imports(name, path, known) if target in known}
        for name, path in known.items()
    }


def circle(graph: Graph) -> list[str] | None:
    """Return the path of a circle in `graph`, or None."""
    done: set[str] = set()
    for start in graph:
        path, on_path = [start], {start}
        pending = [iter(sorted(graph[start]))]
        while pending:
            target = next(pending[-1], None)
            if target is None:
                pending.pop()
                done.add(last := path.pop())
                on_path.discard(last)
            elif target in on_path:
                return [*path[path.index(target) :], target]
            elif target not in done:
                path.append(target)
                on_path.add(target)
                pending.append(iter(sorted(graph[target])))
    return None


def package_of(module: str) -> str:
    """Return the package of MAY_IMPORT that a module is in."""
    return max((p for p in MAY_IMPORT if f"{module}.".startswith(f"{p}.")), key=len, default=module)


def upward(graph: Graph) -> list[str]:
    """Return the imports in `graph` that go up or across, as text."""
    return [
        f"{name} -> {target}"
        for name, targets in sorted(graph.items())
        for target in sorted(targets)
        if (package := package_of(name)) != (other := package_of(target))
        and other not in MAY_IMPORT.get(package, ())
    ]


INFRASTRUCTURE = "the infrastructure"
DRAWINGS = ROOT / "docs" / "assets"


def is_infrastructure(package: str) -> bool:
    return package.startswith("passmanager") or package in ("passes.generic", "tools", "testing")


def drawings(graph: Graph) -> dict[Path, str]:
    """Return the drawings of the imports of the two products, by their files."""
    imports: dict[str, set[str]] = {package: set() for package in MAY_IMPORT}
    for name, targets in graph.items():
        imports[package_of(name)] |= {package_of(target) for target in targets}
    first = [package for package in MAY_IMPORT if is_infrastructure(package)]
    second = [p for p in MAY_IMPORT if not is_infrastructure(p) and p != "passline"]
    below = {
        name: {INFRASTRUCTURE if is_infrastructure(other) else other for other in imports[name]}
        for name in second
    }
    titles = {"infrastructure": "The infrastructure", "compiler": "The compiler"}
    return {
        DRAWINGS / f"imports-{product}.svg": drawing(f"{titles[product]}: its imports", *graph_of)
        for product, graph_of in {
            "infrastructure": (first, imports),
            "compiler": ([INFRASTRUCTURE, *second], {INFRASTRUCTURE: set[str](), **below}),
        }.items()
    }


@pytest.fixture(scope="module")
def graph() -> Graph:
    return import_graph(ROOT)


def test_imports_go_down_only(graph: Graph) -> None:
    assert upward(graph) == []


def test_the_drawings_show_the_imports(graph: Graph) -> None:
    for path, text in drawings(graph).items():
        assert path.read_text() == text, "python tests/test_layers.py draws them anew"


def test_no_module_imports_itself_in_a_circle(graph: Graph) -> None:
    found = circle(graph)
    assert found is None, " -> ".join(found or ())


def test_the_graph_has_the_imports_of_functions_and_type_checking(graph: Graph) -> None:
    assert len(graph) > 200
    assert {"passmanager", "compiler.source", "passline.transform"} <= graph["passline.__init__"]
    assert "compiler.interpreters.relax" in graph["compiler.interpreters"]  # inside a function
    evaluator = graph["compiler.analysis.constant_evaluator"]
    assert "compiler.interpreters.arrays" in evaluator  # under TYPE_CHECKING


@pytest.mark.parametrize(
    ("sources", "path"),
    [
        ({"a": "from . import b", "b": "def f():\n    from . import a"}, "tools.a -> tools.b"),
        ({"a": "if TYPE_CHECKING:\n    from .b import X", "b": "from .a import Y"}, "tools.a"),
    ],
)
def test_a_circle_is_found_with_its_path(
    tmp_path: Path, sources: dict[str, str], path: str
) -> None:
    (tmp_path / "tools").mkdir()
    for name, text in sources.items():
        (tmp_path / "tools" / f"{name}.py").write_text(text)
    found = circle(import_graph(tmp_path))
    assert found is not None and path in " -> ".join(found)


def test_an_import_of_the_compiler_by_a_tool_for_any_dialect_is_found(tmp_path: Path) -> None:
    for name in ("compiler/engines", "passes/relax/fold", "tools/opt", "tools/run"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        text = "from ..compiler.engines import a\ndef f():\n    from ..passes.relax.fold import b"
        (tmp_path / f"{name}.py").write_text(text if name.startswith("tools") else "")
    found = ["tools.opt -> compiler.engines", "tools.opt -> passes.relax.fold"]
    assert upward(import_graph(tmp_path)) == found


def test_an_import_of_the_root_is_found(tmp_path: Path) -> None:
    (tmp_path / "passes").mkdir()
    (tmp_path / "passes" / "p.py").write_text("from .. import transform")
    (tmp_path / "transform.py").write_text("from .passes.p import run")
    graph = import_graph(tmp_path)
    assert graph["passline.transform"] == {"passes.p"}
    assert upward(graph) == ["passes.p -> passline.transform"]


def test_an_import_that_goes_up_is_found(tmp_path: Path) -> None:
    for package, text in {"dialects": "from ..passes.p import run", "passes": ""}.items():
        (tmp_path / package).mkdir()
        (tmp_path / package / "p.py").write_text(text)
    assert upward(import_graph(tmp_path)) == ["dialects.p -> passes.p"]


def reads_of_version(text: str) -> list[str]:
    """Return the places in a source that read xDSL's version elsewhere than by `xdsl_version()`, or
    decide by it.
    """
    found: list[str] = []
    for node in ast.walk(ast.parse(text)) if "version" in text else ():
        match node:
            case ast.ImportFrom(module="xdsl", names=names):
                found += [ast.unparse(node) for alias in names if alias.name == "__version__"]
            case ast.Attribute(attr="__version__", value=ast.Name(id="xdsl")):
                found.append(ast.unparse(node))
            case ast.Call(args=[ast.Constant(value="xdsl")]) if "version(" in ast.unparse(node):
                found.append(ast.unparse(node))
            case ast.Compare() | ast.Match() if "xdsl_version" in ast.unparse(node):
                found.append(ast.unparse(node))
            case _:
                pass
    return found


def test_only_adapters_know_the_release_of_xdsl():
    for name, path in modules(ROOT).items():
        if not name.startswith(("passmanager.releases", "compiler.releases", "passmanager.fast")):
            assert reads_of_version(path.read_text()) == [], path


@table_test(
    "text",
    [
        "from xdsl import __version__ as v",
        "import xdsl\nprint(xdsl.__version__)",
        "from importlib.metadata import version\nversion('xdsl')",
        "import importlib.metadata as m\nm.version('xdsl')",
        "if xdsl_version() < '0.70': pass",
    ],
)
def test_a_look_at_the_release_is_found(text: str):
    assert reads_of_version(text)


def test_the_version_may_be_printed():
    assert not reads_of_version("print(xdsl_version())")


def test_what_is_asked_of_traits_is_answered_for_unregistered_operations() -> None:
    """xDSL answers that an unregistered operation has each trait, also `ConstantLike` or `Pure`."""
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for package in {package.split(".")[0] for package in MAY_IMPORT}
        for path in sorted((ROOT / package).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "has_trait"
        and not any(keyword.arg == "value_if_unregistered" for keyword in node.keywords)
    ]
    assert not wrong


if __name__ == "__main__":
    for path, text in drawings(import_graph(ROOT)).items():
        path.write_text(text)
