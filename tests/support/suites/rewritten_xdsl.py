"""Releases of xDSL that do not exist: the installed one with its functions written otherwise."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

import xdsl

__all__ = ["MODULES", "changed", "copied", "rewritten"]

MODULES = (
    *("builder", "pattern_rewriter", "printer", "traits"),
    *("dialects/builtin", "dialects/func", "dialects/arith", "dialects/memref", "dialects/scf"),
    *("ir/core", "irdl/operations", "irdl/constraints", "irdl/declarative_assembly_format"),
    *("parser/core", "parser/attribute_parser", "parser/base_parser", "parser/generic_parser"),
    *("utils/base_printer", "utils/mlir_lexer", "utils/lexer"),
)
"""The modules of its reader, printer, IR and irdl."""


def rewritten(folder: Path) -> Path:
    """Copy xDSL below a folder with each function of `MODULES` written otherwise, with the same
    meaning: other names of local variables, other nesting, no docstrings. Return the folder.
    """
    copy = copied(folder) / "xdsl"
    for module in MODULES:
        file = copy / f"{module}.py"
        tree = ast.parse(file.read_text())
        file.write_text(ast.unparse(ast.fix_missing_locations(_Functions().visit(tree))))
    return folder


def changed(folder: Path, changes: Mapping[str, tuple[str, str]]) -> Path:
    """Copy xDSL below a folder, with one text replaced by another in each of some modules."""
    copy = copied(folder) / "xdsl"
    for module, (old, new) in changes.items():
        file = copy / f"{module}.py"
        text = file.read_text()
        assert old in text, f"{module} has no {old!r}"
        file.write_text(text.replace(old, new, 1))
    return folder


def copied(folder: Path) -> Path:
    """Copy xDSL and its metadata below a folder, and return that."""
    (source,) = xdsl.__path__
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(source, folder / "xdsl", ignore=ignored)
    for metadata in Path(source).parent.glob("xdsl-*.dist-info"):
        shutil.copytree(metadata, folder / metadata.name)
    return folder


class _Functions(ast.NodeTransformer):
    """Writes functions otherwise: the locals have other names, `return` is behind a variable, and
    conditions are turned around."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        outer = {name for inner in _inner(node) for name in _names(inner)}
        stored = {
            n.id for n in _own(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        parameters = {arg.arg for arg in ast.walk(node.args) if isinstance(arg, ast.arg)}
        kept = outer | parameters | _declared(node)
        renamed = {name: f"{name}_of_ours" for name in stored - kept}
        for child in _own(node):
            if isinstance(child, ast.Name) and child.id in renamed:
                child.id = renamed[child.id]
            elif isinstance(child, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
                if child.name in renamed:
                    child.name = renamed[child.name]
        self.generic_visit(node)
        node.body = _without_docstring(node.body)
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        self.generic_visit(node)
        is_chain = len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)
        has_walrus = any(isinstance(n, ast.NamedExpr) for n in ast.walk(node.test))
        if node.orelse and not is_chain and not has_walrus:
            test = ast.UnaryOp(ast.Not(), node.test)
            return ast.If(test, node.orelse, node.body)
        return node


def _own(function: ast.FunctionDef) -> Iterable[ast.AST]:
    """Yield the nodes of a function, but not those of functions and classes in it."""
    pending: list[ast.AST] = [*function.body]
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef | ast.AsyncFunctionDef):
            pending += ast.iter_child_nodes(node)


def _inner(function: ast.FunctionDef) -> Iterable[ast.AST]:
    scopes = ast.FunctionDef | ast.Lambda | ast.ClassDef | ast.AsyncFunctionDef
    return [node for node in _own(function) if isinstance(node, scopes)]


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | {
        name for n in ast.walk(node) if isinstance(n, ast.Nonlocal) for name in n.names
    }


def _declared(function: ast.FunctionDef) -> set[str]:
    scopes = [n for n in ast.walk(function) if isinstance(n, ast.Global | ast.Nonlocal)]
    return {name for scope in scopes for name in scope.names}


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    match body:
        case [ast.Expr(ast.Constant(value=str())), *rest] if rest:
            return rest
        case _:
            return body
