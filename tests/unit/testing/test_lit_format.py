"""The format for lit: verdicts and output of plain lit, with tools in forks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.servers import IS_WARM

CONFIG = """
import lit.formats
import passline.testing

config.name = "toy"
config.suffixes = {".test"}
config.environment["PATH"] = PATH
config.substitutions.append(("%warm", SCRIPT))
config.available_features.add("here")
config.test_format = FORMAT
"""
TESTS = {
    "passes": "RUN: python-tool %s | cat > %t\nRUN: diff %t %t && grep pa%{empty}sses %t",
    "fails": "RUN: python-tool %s 3",
    "not": "RUN: not python-tool %s 3",
    "expected": "XFAIL: *\nRUN: python-tool %s 3",
    "unexpected": "XFAIL: *\nRUN: python-tool %s",
    "unsupported": "REQUIRES: elsewhere\nRUN: python-tool %s",
    "required": "REQUIRES: here\nRUN: python-tool %s",
    "stderr": "RUN: python-tool %s 2>&1 >/dev/null | grep error",
    "both": "RUN: python-tool %s >& %t && grep error %t",
    "killed": "RUN: python-tool %s -9",
    "crash": "RUN: not python-tool %s -9",
    "environment": "RUN: env MARK=3 python-tool %s > %t && grep MARK=3 %t",
    "directory": "RUN: mkdir -p %t.d && cd %t.d && python-tool %s | grep .d$",
    "several": "RUN: python-tool %s; python-tool %s 1 || python-tool %s",
    "missing": "RUN: no-such-tool %s",
    "pipefail": "RUN: python-tool %s 2 | cat",
    "input": "RUN: python-tool %s < %s",
    "syntax": "RUN: python-tool %s |",
    "large": "RUN: python-tool %s large | python-tool %s -",
}
TOOL = """
import os, signal, sys
print("error", file=sys.stderr)
print(open(sys.argv[1]).read(), os.environ.get("MARK") and "MARK=" + os.environ["MARK"])
print(os.getcwd())
for option in sys.argv[2:]:
    if option == "large":
        print("x" * 1_000_000)
    elif option == "-":
        print(len(sys.stdin.read()))
    elif option == "-9":
        os.kill(os.getpid(), signal.SIGKILL)
    else:
        sys.exit(int(option))
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """Return a suite with tests of many kinds."""
    folder = tmp_path / "suite"
    folder.mkdir()
    for name, text in TESTS.items():
        (folder / f"{name}.test").write_text(f"{text}\n")
    tool = folder / "python-tool"
    tool.write_text(f"#!{sys.executable}\n{TOOL}")
    tool.chmod(0o755)
    return folder


def run_lit(suite: Path, format: str, *options: str) -> tuple[dict[str, tuple[str, str]], str]:
    """Return verdict and output of each test, and what lit prints to stderr."""
    path = os.pathsep.join([str(suite), os.environ["PATH"]])
    config = CONFIG.replace("PATH)", f"{path!r})").replace("= PATH", f"= {path!r}")
    config = config.replace("SCRIPT", repr(str(suite / "warm"))).replace("FORMAT", format)
    (suite / "lit.cfg.py").write_text(config)
    lit = Path(sys.executable).with_name("lit")
    report = suite.parent / "report.json"
    command = [lit, "-j2", "--succinct", f"--output={report}", *options, suite]
    done = subprocess.run(command, capture_output=True, text=True)
    tests = json.loads(report.read_text())["tests"]
    return {test["name"]: (test["code"], test["output"]) for test in tests}, done.stderr


def test_verdicts_and_output_are_those_of_lit(suite: Path) -> None:
    plain, _ = run_lit(suite, "lit.formats.ShTest()")
    warm, notes = run_lit(suite, "passline.testing.LitFormat()")
    assert len(plain) == len(TESTS) and {code for code, _ in plain.values()} >= {
        "PASS", "FAIL", "XFAIL", "XPASS", "UNSUPPORTED", "UNRESOLVED",
    }  # fmt: skip
    assert warm == plain
    assert "note" not in notes


def write_warm(suite: Path, line: str) -> None:
    """Make a suite of one test, whose tool fails if it does not run in a fork."""
    for test in suite.glob("*.test"):
        test.unlink()
    (suite / "one.test").write_text(f"RUN: {line}\n")
    (suite / "warm").write_text(f"#!{sys.executable}\n{IS_WARM}\n")
    (suite / "warm").chmod(0o755)


def test_tools_run_in_forks(suite: Path) -> None:
    write_warm(suite, "%warm | grep warm")
    tests, _ = run_lit(suite, "passline.testing.LitFormat(False)")
    assert [code for code, _ in tests.values()] == ["PASS"]


def test_what_a_fork_cannot_run_is_run_and_said_once(suite: Path) -> None:
    line = "env PYTHONHASHSEED=1 %warm | grep cold"
    write_warm(suite, f"{line} && {line}")
    tests, notes = run_lit(suite, "passline.testing.LitFormat()")
    assert [code for code, _ in tests.values()] == ["PASS"]
    assert notes.count("runs cold: Python was started with other variables") == 1


def test_an_external_shell(suite: Path) -> None:
    write_warm(suite, "(%warm) | grep cold")
    format = "passline.testing.LitFormat(execute_external=True, force_execute_external=True)"
    tests, notes = run_lit(suite, format)
    assert [code for code, _ in tests.values()] == ["PASS"]
    assert notes.count("RUN lines in an external shell run no tool warm") == 1


def test_a_test_that_takes_too_long_is_killed(suite: Path) -> None:
    pytest.importorskip("psutil", reason="lit kills processes with psutil")
    write_warm(suite, "%warm")
    sleep = "import time; time.sleep(600)"
    (suite / "warm").write_text(f"#!{sys.executable}\n{sleep}\n")
    tests, _ = run_lit(suite, "passline.testing.LitFormat()", "--timeout=2")
    assert [code for code, _ in tests.values()] == ["TIMEOUT"]
