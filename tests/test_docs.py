"""The pages in `docs/`: their code blocks are run, and their links lead somewhere."""

from __future__ import annotations

import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from support.models.from_text import model_of
from support.pages import Runner, blocks, matches
from support.passes.toy import register_in_test
from support.suites.inprocess import capture, passline_bisect, passline_opt, passline_reduce
from support.tables import table_test
from table.report import DATA, measured_in, with_versions

from passline.passes import PASSES
from passline.passmanager import Rounding, find_pass
from passline.passmanager.names import Change
from passline.tools.compile import PasslineCompileMain
from passline.tools.lsp import code_actions, lsp_tool
from passline.tools.run import PasslineRunMain
from passline.tools.server import serve
from passline.tools.tune import PasslineTuneMain

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if "reference" not in page.parts)


def name(page: Path) -> str:
    return page.relative_to(DOCS).as_posix()


@pytest.mark.parametrize("page", [p for p in PAGES if "```" in p.read_text()], ids=name)
def test_code_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    register_in_test(monkeypatch)  # a pass with a place would take part in all later tests
    example = (ROOT / "examples" / "sequential.mlir").read_text()
    (tmp_path / "x.mlir").write_text(example)
    model = model_of("g (float[3] x) => (float[3] y) { y = Relu(x) }")
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    Runner(page, tmp_path).run()


@table_test("page", PAGES)
def test_blocks_that_are_not_run_say_why(page: Path) -> None:
    text = page.read_text()
    found = [block.not_run for block in blocks(text) if block.not_run]
    reasons = [reason for reason in found if not reason.startswith("not installed: ")]
    assert len(reasons) == text.count("<!-- not run")
    assert all(len(reason.split()) > 2 for reason in reasons)


@table_test("page", [*PAGES, ROOT / "README.md"])
def test_links_lead_to_files(page: Path) -> None:
    """The pages of the reference are made for the site: a link to one fails in the repository."""
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


def rounding_table() -> dict[str, list[list[str]]]:
    """Return the rows of the table of rounding for each pass; of a row without a name, the passes
    are those before."""
    section = (DOCS / "relax.md").read_text().partition("What each pass may do, to floats")[2]
    _, table, *_ = section.split("\n\n")
    rows, names = dict[str, list[list[str]]](), list[str]()
    for line in table.splitlines()[2:]:
        first, *cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        names = re.findall(r"`([\w-]+)`", first) or names
        for name in names:
            rows.setdefault(name, []).append(cells)
    return rows


def rounding_in(rows: list[list[str]]) -> tuple[int, set[str]]:
    """Return the units and the changes of special values that some rows of the table name."""
    units = [int(n) for row in rows for n in re.findall(r"(\d+) units", row[1])]
    cells = " ".join(row[3] for row in rows)
    changes: set[str] = {c for c in get_args(Change) if re.search(rf"\b{c}", cells)}
    if any("may change" in row[2] for row in rows):
        changes.add("sign of zero may change")
    return max(units, default=0), changes


def test_the_table_of_rounding_has_the_facts_of_each_pass() -> None:
    rows = rounding_table()
    rounding = {n: r for n in PASSES if (r := getattr(find_pass(n), "rounds", False))}
    assert sorted(rounding.keys() - rows.keys()) == []
    said = {name: rounding_in(rows[name]) for name in rounding}
    # Not in the facts of the class, but of an instance.
    said["legalize-ops"][1].discard("finite may become NaN")
    known = {n: (r.units, {*r.changes}) for n, r in rounding.items() if isinstance(r, Rounding)}
    assert known == {name: said[name] for name in known}
    assert len(known) >= 14


def test_the_places_that_the_architecture_names_exist() -> None:
    section = (DOCS / "architecture.md").read_text().partition("\n## Where to look\n")[2]
    rows = [row for row in section.partition("\n## ")[0].splitlines()[3:] if row.startswith("|")]
    places = [re.findall(r"`([\w/]+\.(?:py|js))`", row) for row in rows]
    assert all(places) and len(places) == 11
    assert [path for paths in places for path in paths if not (ROOT / path).exists()] == []


NOT_OF_PYTHON = {
    *("passline.codegens", "passline.legalizations"),  # groups of entry points
    *("passline.max_elements", "passline.skip_optimization"),  # a key of --config, an attribute
    *("passline.command", "passline.arguments"),  # settings of the extension for VS Code
    *(code_actions.RUN, code_actions.PREVIEW, code_actions.RESULT, code_actions.REMARKS),
    *(code_actions.TEST, code_actions.OUTPUT, code_actions.UPDATE),
}


@table_test("page", [*PAGES, ROOT / "README.md"])
def test_modules_that_are_named_exist(page: Path) -> None:
    """The names in code blocks are imported by `test_code_blocks_run`."""
    for dotted in set(re.findall(r"`(passline(?:\.\w+)+)", page.read_text())) - NOT_OF_PYTHON:
        pkgutil.resolve_name(dotted)


@table_test("page", [*PAGES, ROOT / "README.md"])
def test_versions_of_peers_are_those_that_were_measured(page: Path) -> None:
    text = page.read_text()
    assert with_versions(text, measured_in(DATA)) == text


def ours(page: Path) -> str:
    """Return a page; of the tables on the pages for users of others, the last column only."""
    text = page.read_text()
    if page.stem.startswith("coming-from"):
        return re.sub(r"^\|.*\|(.*)\|$", r"\1", text, flags=re.MULTILINE)
    return text


def test_options_that_are_named_exist() -> None:
    helps = "".join(
        tool("--help").stdout for tool in (passline_opt, passline_reduce, passline_bisect)
    )
    for tool in (PasslineRunMain, PasslineCompileMain, PasslineTuneMain, serve.run):
        helps += capture(lambda tool=tool: tool(["--help"])).stdout
    helps += lsp_tool.make_parser().format_help()
    for module in ("pytest", "filecheck", "lit.main"):
        command = [sys.executable, "-m", module, "--help"]
        helps += subprocess.run(command, capture_output=True, text=True, check=True).stdout
    known = set(re.findall(r"--[a-z][a-z-]+", helps)) | {f"--{name}" for name in PASSES}
    named = set(re.findall(r"`(--[a-z][a-z-]+)(?=[`= ])", "\n".join(map(ours, PAGES))))
    assert (
        named - known <= {"--a", "--check-prefixes", "--count-ops", "--growth"} and len(named) > 60
    )


# The mechanism

PAGE = """\
```mlir title="x.mlir"
func.func @f() {
  func.return
}
```

```console
$ cat x.mlir | head -1    # a comment
func.func @f() {
$ passline-opt x.mlir
...
```

```python
print(open("x.mlir").read().count("func"))
```

```text
3
```

<!-- not run: it does nothing -->
```console
$ rm x.mlir
```
"""


def run(page: str, directory: Path) -> None:
    file = directory / "page.md"
    file.write_text(page)
    (directory / "run").mkdir()
    Runner(file, directory / "run").run()


def test_a_page_runs(tmp_path: Path) -> None:
    run(PAGE, tmp_path)
    assert (tmp_path / "run" / "x.mlir").exists()


@pytest.mark.parametrize(
    ("right", "wrong", "line"),
    [
        ("func.func @f() {\n$", "func.func @g() {\n$", 8),
        ("opt x.mlir", "opt y.mlir", 8),
        ("\n3\n", "\n2\n", 19),
        ("print(", "print(1 / 0 +", 15),
        ("cat x.mlir |", "echo error: ; cat x.mlir |", 8),
    ],
)
def test_a_wrong_page_fails_with_the_line(
    right: str, wrong: str, line: int, tmp_path: Path
) -> None:
    assert PAGE.count(right) == 1
    with pytest.raises(AssertionError, match=rf'page\.md(:|", line ){line}\b'):
        run(PAGE.replace(right, wrong), tmp_path)


def test_dots_stand_for_any_text() -> None:
    assert matches("a...c\n...", "a\nb c\nd") and matches("...", "")
    assert not matches("a...c", "a b") and not matches("", "a")
