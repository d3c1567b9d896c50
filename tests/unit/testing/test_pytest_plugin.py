"""`pytest --lit`: collection, verdicts, and what a failure shows."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from support.tables import table_test

pytest_plugins = ["pytester"]

CONFIG = """
import lit.formats
config.name = "suite"
config.test_format = lit.formats.ShTest()
config.suffixes = {suffixes!r}
config.excludes = ["Inputs"]
config.available_features.add("here")
config.substitutions.append(("PRINT", "echo " + lit_config.params.get("word", "nothing")))
"""


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    """Return the folder of a run, without the plugins and options of this project's tests."""
    pytester.makeini("[pytest]\naddopts = -p no:cacheprovider -p no:xdist -p no:hypothesispytest\n")
    return pytester


def configure(suite: pytest.Pytester, *suffixes: str) -> None:
    (suite.path / "lit.cfg").write_text(CONFIG.format(suffixes=suffixes or (".mlir",)))


def write(suite: pytest.Pytester, **files: str) -> None:
    for name, text in files.items():
        (suite.path / f"{name}.mlir").write_text(text)


def run(suite: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """Run `pytest --lit` in this process."""
    return suite.runpytest_inprocess("--lit", *plugin(), *arguments)


def plugin() -> list[str]:
    """Return the arguments that load the plugin where this environment is older than it."""
    known = any(entry.name == "passline" for entry in entry_points(group="pytest11"))
    return [] if known else ["-p", "passline.testing.pytest_plugin"]


def verdicts(result: pytest.RunResult) -> dict[str, int]:
    counts = result.parseoutcomes()
    return {name: count for name, count in counts.items() if name != "warnings"}


def test_files_with_run_lines_are_tests(suite: pytest.Pytester) -> None:
    write(suite, good="// RUN: true\n", bad="// RUN: false\n", data="module {}\n")
    (suite.path / "other.txt").write_text("// RUN: false\n")
    assert verdicts(run(suite)) == {"passed": 1, "failed": 1}


def test_without_the_option_nothing_is_collected(suite: pytest.Pytester) -> None:
    write(suite, bad="// RUN: false\n")
    assert verdicts(suite.runpytest_inprocess(*plugin())) == {}


def test_the_ini_option_says_which_suffixes_are_tests(suite: pytest.Pytester) -> None:
    suite.makeini("[pytest]\nlit_suffixes = .test .ll\n")
    write(suite, bad="// RUN: false\n")
    (suite.path / "a.test").write_text("# RUN: true\n")
    assert verdicts(run(suite)) == {"passed": 1}


def test_a_file_is_substituted_and_may_write(suite: pytest.Pytester) -> None:
    write(suite, a="// RUN: cat %s > %t\n// RUN: cat %t | filecheck %s\n// CHECK: RUN: cat\n")
    assert verdicts(run(suite)) == {"passed": 1}
    assert [path.name for path in suite.path.glob("*")].count("Output") == 0


def test_verdicts_are_those_of_lit(suite: pytest.Pytester) -> None:
    configure(suite)
    write(
        suite,
        passes="// RUN: true\n",
        fails="// RUN: false\n",
        xfails="// RUN: false\n// XFAIL: *\n",
        xpasses="// RUN: true\n// XFAIL: here\n",
        requires="// RUN: false\n// REQUIRES: there\n",
        unsupported="// RUN: false\n// UNSUPPORTED: here\n",
        supported="// RUN: true\n// REQUIRES: here\n",
        unresolved="no line\n",
        retried="// RUN: test -f %t || (touch %t && false)\n",
        unparsed="// RUN: echo 'x\n",
    )
    result = run(suite, "-rA")
    shown = result.stdout.str()
    assert verdicts(result) == {"passed": 2, "failed": 5, "xfailed": 1, "skipped": 2}
    lit = Path(sys.executable).with_name("lit")
    plain = subprocess.run([lit, "-v", "."], cwd=suite.path, capture_output=True, text=True)
    for name, words in {
        "passes": ("PASS", "PASSED"),
        "fails": ("FAIL", "FAILED"),
        "xfails": ("XFAIL", "XFAIL"),
        "xpasses": ("XPASS", "FAILED"),
        "supported": ("PASS", "PASSED"),
        "unresolved": ("UNRESOLVED", "FAILED"),
        "unparsed": ("UNRESOLVED", "FAILED"),
    }.items():
        assert f"{words[0]}: suite :: {name}.mlir" in plain.stdout
        assert f"{words[1]} {name}.mlir::lit" in shown
    assert "UNSUPPORTED: suite :: requires.mlir" in plain.stdout


def test_the_configuration_of_a_folder_is_obeyed(suite: pytest.Pytester) -> None:
    configure(suite, ".test")
    write(suite, no="// RUN: false\n")
    for folder in ("Inputs", "local"):
        (suite.path / folder).mkdir()
        (suite.path / folder / "a.test").write_text("# RUN: PRINT | grep nothing\n")
    (suite.path / "local" / "lit.local.cfg").write_text("config.suffixes = ['.x']\n")
    (suite.path / "local" / "b.x").write_text("# RUN: true\n")
    (suite.path / "c.test").write_text("# RUN: PRINT | grep nothing\n")
    assert verdicts(run(suite)) == {"passed": 2}


@table_test("form", ["passline.testing.LitFormat()", "Own()"])
def test_the_format_of_a_suite_is_used(suite: pytest.Pytester, form: str) -> None:
    text = CONFIG.format(suffixes=(".mlir",)).replace("lit.formats.ShTest()", form)
    own = "class Own(lit.formats.ShTest):\n    execute = lambda *_: (lit.Test.PASS, '')"
    write(suite, a="// RUN: true\n" if "passline" in form else "// RUN: false\n")
    (suite.path / "lit.cfg").write_text(
        text.replace("import lit.formats", f"import lit.formats, passline.testing\n{own}")
    )
    assert verdicts(run(suite)) == {"passed": 1}


def test_a_folder_that_is_excluded_can_be_named(suite: pytest.Pytester) -> None:
    configure(suite)
    (suite.path / "Inputs").mkdir()
    (suite.path / "Inputs" / "a.mlir").write_text("// RUN: true\n")
    assert verdicts(run(suite)) == {}
    assert verdicts(run(suite, "Inputs")) == {"passed": 1}


def test_parameters_reach_the_configuration(suite: pytest.Pytester) -> None:
    configure(suite)
    write(suite, a="// RUN: PRINT | grep hello\n")
    assert verdicts(run(suite, "--lit-param", "word=hello")) == {"passed": 1}


def test_a_configuration_that_fails_is_an_error(suite: pytest.Pytester) -> None:
    (suite.path / "lit.cfg").write_text("lit_config.fatal('no tool found')\n")
    write(suite, a="// RUN: true\n")
    result = run(suite)
    assert verdicts(result) == {"errors": 1}
    result.stdout.fnmatch_lines(["*no tool found*"])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_a_failure_shows_the_run_line_and_the_check_line(suite: pytest.Pytester) -> None:
    write(
        suite,
        a="// RUN: true\n// RUN: echo first text | filecheck %s\n\n// CHECK: first line\nx\n",
    )
    result = run(suite)
    result.stdout.fnmatch_lines(
        [
            "a.mlir: FAIL",
            "a.mlir:2: // RUN: echo first text | filecheck %s",
            'a.mlir:4: error: *"first line"*',
            ">    4 | // CHECK: first line",
            "     5 | x",
            "first text",
            "*error: command failed with exit status: 1",
            'FAILED a.mlir::lit - a.mlir:4: error: *"first line"*',
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*lit_items.py*")


def test_a_failure_has_the_colours_of_pytest(suite: pytest.Pytester) -> None:
    write(suite, a="// RUN: echo x | filecheck %s\n// CHECK: y\n")
    assert "\x1b[31ma.mlir:2: error" in run(suite, "--color=yes").stdout.str()
    assert "\x1b" not in run(suite, "--color=no").stdout.str()


def test_an_unexpected_pass_says_so(suite: pytest.Pytester) -> None:
    write(suite, a="// RUN: true\n// XFAIL: *\n")
    run(suite).stdout.fnmatch_lines(["*it passes, although its XFAIL line says that it fails*"])


@table_test(
    "arguments, expected",
    [
        (("-k", "first"), {"passed": 1, "deselected": 1}),
        (("-x", "--deselect=first.mlir"), {"failed": 1, "deselected": 1}),
        (("second.mlir::lit",), {"failed": 1}),
    ],
)
def test_options_of_pytest_hold(
    suite: pytest.Pytester, arguments: tuple[str, ...], expected: dict[str, int]
) -> None:
    write(suite, first="// RUN: true\n", second="// RUN: false\n")
    assert verdicts(run(suite, *arguments)) == expected


def test_failed_files_run_again(suite: pytest.Pytester) -> None:
    suite.makeini("[pytest]\n")
    write(suite, first="// RUN: true\n", second="// RUN: false\n")
    run(suite)
    assert verdicts(run(suite, "--lf")) == {"failed": 1}


def test_workers_of_xdist_show_the_same_failure(suite: pytest.Pytester) -> None:
    suite.makeini("[pytest]\n")
    write(suite, a="// RUN: echo x | filecheck %s\n// CHECK: y\n", b="// RUN: true\n")
    result = suite.runpytest_subprocess("--lit", *plugin(), "-n2", "--color=yes")
    assert verdicts(result) == {"passed": 1, "failed": 1}
    assert "\x1b[31ma.mlir:2: error" in result.stdout.str()
    result.stdout.fnmatch_lines(["*a.mlir::*lit* - a.mlir:2: error: *"])


def test_junit_has_the_failure(suite: pytest.Pytester) -> None:
    write(suite, a="// RUN: echo x | filecheck %s\n// CHECK: y\n")
    run(suite, "--junitxml=out.xml")
    text = (suite.path / "out.xml").read_text()
    assert "a.mlir:2: error" in text and 'failures="1"' in text


def test_check_lines_are_updated(suite: pytest.Pytester) -> None:
    write(
        suite,
        new="// RUN: echo x | filecheck %s\n",
        hand="// RUN: echo x | filecheck %s\n// CHECK: y\n",
        failing="// RUN: false | filecheck %s\n",
    )
    suite.makepyfile(test_other="def test_other(): pass")
    result = run(suite, "--update-checks")
    assert verdicts(result) == {"passed": 1, "skipped": 1, "failed": 1, "deselected": 1}
    result.stdout.fnmatch_lines(
        [
            "failing.mlir: not updated: a command before FileCheck fails",
            "failing.mlir:1: // RUN: false | filecheck %s",
            "updated: new.mlir",
            "left as it is: hand.mlir: its CHECK lines were written by hand: name the file*",
            "1 updated, 0 up to date",
        ]
    )
    assert verdicts(run(suite, "new.mlir", "hand.mlir", "--update-checks")) == {"passed": 2}
    assert verdicts(run(suite, "new.mlir", "hand.mlir")) == {"passed": 2}
    run(suite, "--update-checks").stdout.fnmatch_lines(["0 updated, 2 up to date"])


def test_the_update_needs_lit(suite: pytest.Pytester) -> None:
    result = suite.runpytest_inprocess(*plugin(), "--update-checks")
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_the_plugin_imports_nothing() -> None:
    program = (
        "import sys, pytest\n"
        "before = {*sys.modules}\n"
        "import passline.testing.pytest_plugin\n"
        "print(sorted({*sys.modules} - before))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.split("'")[1::2] == [
        "passline",
        "passline.testing",
        "passline.testing.pytest_plugin",
    ]
