"""The site that `make docs` builds: its generated pages, its navigation, and that it needs no
network."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from interface import GROUPS, infrastructure_names, own_names
from operations import example
from reference import markdown, pages
from support.releases import has_xdsl
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, f32
from xdsl.dialects.test import TestOp
from xdsl.irdl import IRDLOperation

import passline
from passline import passmanager
from passline.dialects.relax import Relax
from passline.dialects.tir import Tir
from passline.passes import PASSES, PIPELINES
from passline.passmanager import instruments

if not has_xdsl("0.67"):
    pytest.skip("needs xDSL 0.67: types that examples of the site have", allow_module_level=True)

ROOT = Path(__file__).parent.parent
reference_pages = cache(pages)  # in seconds, which a worker without these tests need not spend


def test_everything_that_is_registered_is_in_the_reference() -> None:
    operations = {op.name for op in [*Relax.operations, *Tir.operations]}
    classes = {name for name in instruments.__all__ if name[0].isupper()}
    named = {*PASSES, *PIPELINES, *operations, *classes}
    text = "\n".join(reference_pages().values())
    headings = set(re.findall(r"^##+ (.*)$", text, re.MULTILINE))
    # Not all that the package offers are instruments.
    assert named - headings <= {*classes} and len(named & headings) > 240
    assert {"PassTimingInstrument", "PassContractError", "NonConvergenceError"} <= headings


def test_a_pass_has_its_facts_and_its_example() -> None:
    page = reference_pages()["reference/passes-relax.md"]
    section = page.partition("## fold-constant\n")[2].partition("\n## ")[0]
    assert "Before:\n\n```mlir\nfunc.func" in section and "\nAfter:\n\n```mlir\n" in section
    assert "| level | `2` |" in section and "| requires | `infer-type` |" in section
    assert "| `max-elements` | `int` | `16777216` | " in section
    assert "`tests/filecheck/passes/relax/fold_constant.mlir`" in section


def test_the_exit_statuses_are_those_of_the_tools() -> None:
    rows = re.findall(r"^\| (\d+) \| \S", reference_pages()["reference/errors.md"], re.MULTILINE)
    assert rows == ["0", "1", "2", "3", "130", "141"]


def section(page: str, heading: str) -> str:
    return reference_pages()[page].partition(f"\n{heading}\n")[2].partition("\n### ")[0]


def test_each_operation_has_its_syntax_its_types_and_an_example() -> None:
    for page, dialect in (("reference/relax.md", Relax), ("reference/tir.md", Tir)):
        for op in dialect.operations:
            text = section(page, f"### {op.name}")
            (shown,) = re.findall(r"^Example:\n\n```mlir\n(.*?)```", text, re.MULTILINE | re.DOTALL)
            assert re.match(rf"(%[\w, %]+ = )?{re.escape(op.name)}\b", shown), op.name
            assert op.name in text.replace(shown, ""), f"{op.name} has no syntax"
            assert issubclass(op, IRDLOperation)
            definition = op.get_irdl_definition()
            for kind, values in (("operand", definition.operands), ("result", definition.results)):
                for name, _ in values:
                    assert re.search(rf"^\| {kind} \| `{name}` \| \w", text, re.MULTILINE), op.name


def test_the_section_of_an_operation() -> None:
    text = section("reference/relax.md", "### relax.concatenate")
    assert "\n%result = relax.concatenate %tensors {axis = ...} : (types) -> type\n" in text
    assert "| operand | `tensors` | tensor, any number |" in text
    assert "| `axis` | list of i64 |" not in text and "| `axis` | i64 | `0` |" in text
    text = section("reference/relax.md", "### relax.nn.conv2d")
    assert '| `data_layout` | string | `"NCHW"` |' in text
    assert "| `strides` | list of i64 | `[1, 1]` |" in text
    assert "| `out_dtype` | type | optional |" in text


def test_an_example_is_the_one_with_the_fewest_unknown_dimensions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ops = [
        TestOp(result_types=[TensorType(f32, shape)])
        for shape in ([DYNAMIC_INDEX], [12, 12], [4, 4])
    ]

    def instances(folder: str) -> dict[type[TestOp], list[TestOp]]:
        return {TestOp: ops}

    monkeypatch.setattr("operations.instances", instances)
    assert example(TestOp) == str(ops[2])


def test_the_public_names_of_python_are_on_the_pages_of_the_interface() -> None:
    grouped = [name for names in GROUPS.values() for name in names]
    assert sorted(grouped) == sorted(infrastructure_names())
    assert {"compile", "load", "tune", "Tuning", "CompiledFunction"} <= {*own_names()}
    page = reference_pages()["reference/api.md"]
    named = re.findall(r"^::: passline\.(\w+)$", page, re.MULTILINE)
    others = {*passline.__all__} - {*named} - {*passmanager.__all__}
    assert all(inspect.ismodule(getattr(passline, name)) for name in others - {"__version__"})


def test_docstrings_become_markdown() -> None:
    doc = "Sum a*b*c of `x*y`.\n\nAfter {n=1}:\n\n    %a\n\n      %b\n\nSource: <b>."
    assert "\n".join(markdown(doc)).split("\n") == [
        *("Sum a\\*b\\*c of `x*y`.", "", "After, with `{n=1}`:", ""),
        *("```mlir", "%a", "", "  %b", "```", "", "Source: \\<b>.", ""),
    ]


def test_each_page_is_in_the_navigation() -> None:
    text = (ROOT / "mkdocs.yml").read_text()
    named = set(re.findall(r"^ +- (\S+\.md)$", text, re.MULTILINE))
    written = {p.relative_to(ROOT / "docs").as_posix() for p in (ROOT / "docs").rglob("*.md")}
    assert named == {*written, *reference_pages()}


def test_each_page_has_a_name_of_its_own() -> None:
    """Which is its heading: mkdocs.yml gives no other titles to pages."""
    folder = ROOT / "docs"
    written = {p.relative_to(folder).as_posix(): p.read_text() for p in folder.rglob("*.md")}
    headings = [text.partition("\n")[0] for text in {**written, **reference_pages()}.values()]
    assert all(heading.startswith("# ") for heading in headings)
    assert len({heading.lower() for heading in headings}) == len(headings)
    assert not re.search(r"^ +- .*: \S+\.md$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)


def test_the_site_is_built_without_warnings_and_without_the_network(tmp_path: Path) -> None:
    for module in ("material", "mkdocstrings_handlers.python"):
        pytest.importorskip(module, reason="the extra `docs` is not installed")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", tmp_path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    html = {path: path.read_text() for path in tmp_path.rglob("*.html")}
    loaded = {
        match[1]
        for text in html.values()
        for match in re.finditer(
            r'<(?:script|link|img|iframe)[^>]*(?:src|href)="(https?:[^"]*)"', text
        )
    }
    assert loaded == set() and len(html) > 25
    assert (tmp_path / "assets" / "iframe-worker.js").exists()
    interface = html[tmp_path / "reference" / "passmanager.html"]
    for name in infrastructure_names():
        assert f'id="passline.passmanager.{name}"' in interface, name
    assert (
        "disabled_pass" in interface
        and 'id="passline.tools.corpus.corpus.map"' in (html[tmp_path / "reference" / "api.html"])
    )
    first = html[tmp_path / "index.html"]
    assert all(f'href="{path.removesuffix(".md")}.html"' in first for path in reference_pages())
    passes = html[tmp_path / "reference" / "passes-relax.html"]
    assert '<span class="nv">%x</span>' in passes  # MLIR is highlighted
