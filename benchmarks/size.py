"""The size of the house: lines, files, folders and names, as `make size` prints them.

The product is what is installed, with the template of `passline new`; lines are those of files in
git, formatted by `ruff format`. Classes of operations in different dialects may have one name.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import quantiles

ROOT = Path(__file__).parent.parent
APART = ("benchmarks", "docs", "examples", "tests", "typings", ".ci")
"""The folders of Python files that are not the product."""


def tracked(*patterns: str) -> list[str]:
    """Return the files in git that match patterns, as paths from the root."""
    listed = subprocess.run(
        ["git", "ls-files", *patterns], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return [name for name in listed.stdout.split("\n") if name and (ROOT / name).exists()]


def product_files() -> list[str]:
    """Return the Python files of the product."""
    return [name for name in tracked("*.py") if name.split("/")[0] not in APART]


def line_count(name: str) -> int:
    """Return the number of lines of a file."""
    return (ROOT / name).read_text(encoding="utf-8").count("\n")


def homonyms(names: Iterable[str]) -> dict[str, list[str]]:
    """Return the names of classes that several files define, with these files."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for name in names:
        if "/template/" not in name:
            for node in ast.parse((ROOT / name).read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef) and not _is_operation(node):
                    found[node.name].append(name)
    return {name: files for name, files in found.items() if len(files) > 1}


def _is_operation(node: ast.ClassDef) -> bool:
    return any("irdl_op_definition" in ast.unparse(mark) for mark in node.decorator_list)


def collected() -> int:
    """Return the number of tests that pytest collects."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n", "0"]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    return sum("::" in line for line in output.splitlines())


def main() -> None:
    """Print the table."""
    product = product_files()
    lines = sorted(line_count(name) for name in product)
    by_tree = Counter[str]()
    for name in product:
        by_tree[name.split("/")[0] if "/" in name else "root"] += line_count(name)
    tests = [name for name in tracked("tests") if name.endswith((".py", ".mlir"))]
    folders = {str(Path(name).parent) for name in product}
    shared = homonyms(product)
    cuts = quantiles(lines, n=10)
    trees = ", ".join(f"{tree} {count:,}" for tree, count in by_tree.most_common())
    print(f"lines of product        {sum(lines):>9,}   ({trees})")
    print(f"lines of tests          {sum(map(line_count, tests)):>9,}   (Python and FileCheck)")
    print(f"files, folders          {len(product):>9,}   {len(folders)}")
    print(f"lines of a file         {cuts[4]:>9.0f}   (median; p90 {cuts[8]:.0f}, max {lines[-1]})")
    print(f"class names of several  {len(shared):>9,}   {' '.join(sorted(shared))}")
    print(f"tests                   {collected():>9,}")


if __name__ == "__main__":
    main()
