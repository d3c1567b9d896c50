"""The README: its blocks are run, its tables compared. Other pages: `test_docs.py`."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from support.pages import Runner, blocks
from support.suites.inprocess import passline_bisect, passline_opt, passline_reduce

import passline

ROOT = Path(__file__).parent.parent
TEXTS = {
    name: (ROOT / name).read_text()
    for name in ("README.md", "docs/passline-opt.md", "docs/record.md")
}


def tables(heading: str) -> list[list[str]]:
    """Return the cells of the rows of the table below a heading."""
    section = TEXTS["README.md"].partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[2:]]


def test_blocks_run(tmp_path: Path) -> None:
    (tmp_path / "examples").mkdir()
    shutil.copy(ROOT / "examples" / "sequential.mlir", tmp_path / "examples")
    Runner(ROOT / "README.md", tmp_path).run()
    assert "light_resnet50.onnx" in (tmp_path / "build" / "report.html").read_text()
    # The root of a clone is the package: what lies there would be a submodule of it.
    written = {path.name for path in tmp_path.iterdir() if path.name[0] != "."}
    assert written == {"build", "examples"}


def test_what_is_not_run_is_the_installation_and_what_needs_mlir_opt() -> None:
    skipped = [block.text for block in blocks(TEXTS["README.md"]) if block.not_run]
    install, *native = [text.splitlines() for text in skipped]
    assert install[:2] == ["make demo", ". .venv/bin/activate"] and "passline-opt" in install[2]
    assert all("native" in text[0] for text in native) and len(native) <= 1


def test_the_first_screen_says_what_it_is_and_shows_a_report_and_the_speed() -> None:
    screen = TEXTS["README.md"].partition("\n## ")[0]
    sentence = screen.split("\n\n")[1]
    assert sentence.startswith("Passline is ") and sentence.count(". ") == 0
    assert re.findall(r"^!\[[^]]{20,}\]\((.*)\)$", screen, re.MULTILINE) == [
        "docs/assets/report.png",
        "docs/assets/speed.svg",
    ]
    assert len(screen.splitlines()) < 40


def test_the_demo_installs_what_the_commands_need() -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert re.search(r"^demo: \$\(VENV\)/installed-demo$", makefile, re.MULTILINE)
    assert re.search(r"^EXTRAS_demo := onnx,native,onnxruntime$", makefile, re.MULTILINE)


def test_each_feature_names_its_tests() -> None:
    rows = tables("What it has")
    for feature, ours, *_ in rows:
        links = re.findall(r"\]\((tests/[^)]+\.py)\)", ours)
        assert bool(links) != (ours == "no"), feature
    assert len(rows) > 15


def test_figures_are_those_of_the_page_about_speed() -> None:
    lines = (ROOT / "docs" / "performance.md").read_text().splitlines()
    measured = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    shown = tables("How fast it is")
    for row, on, peer, ratio in shown:
        # The page has the number of ops in a column of its own, rows without one leave it empty.
        found = [
            cells[6]
            for cells in measured
            if len(cells) > 6
            and (cells[0], cells[4]) == (row, peer)
            and on in (cells[1], f"{cells[1]}, {cells[2]}")
        ]
        assert found == [ratio], f"{row} {on}: docs/performance.md has {found}"
    assert len(shown) > 10


def test_the_speed_of_models_is_that_of_the_page_about_models() -> None:
    text = (ROOT / "docs" / "models.md").read_text()
    table = text.partition("| compiled in |\n")[2].partition("\n\n")[0]
    ratios = [float(row.split("|")[4].strip(" x")) for row in table.splitlines()[1:]]
    named = re.search(r"nine real models run ([\d.]+) to ([\d.]+) times", TEXTS["README.md"])
    assert named and len(ratios) == 9
    assert [min(ratios), max(ratios)] == [float(named[1]), float(named[2])]


def test_python_page_names_what_there_is() -> None:
    text = (ROOT / "docs" / "python.md").read_text()
    named = set(re.findall(r"passline\.([a-zA-Z_]+)", text)) - {"load", "dialects"}
    assert named <= {*passline.__all__} and len(named) > 15


def test_options_named_in_the_documentation_exist() -> None:
    helps = "".join(
        tool("--help").stdout for tool in (passline_opt, passline_reduce, passline_bisect)
    )
    known = set(re.findall(r"--[a-z][a-z-]+", helps))
    named = set(re.findall(r"`(--[a-z][a-z-]+)", TEXTS["docs/passline-opt.md"]))
    assert named - known <= {"--a"} and len(named) > 30
