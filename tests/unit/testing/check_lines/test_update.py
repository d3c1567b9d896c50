"""`--update-checks` on files whose tool is `cat`."""

from __future__ import annotations

from pathlib import Path

import pytest

from passline.testing.check_lines.update import LeftAloneError, UpdateFailedError, update_checks
from passline.testing.lit_suites import LitSuites

PRINTED = "builtin.module {\n  func.func @f(%x: i32) {\n    func.return\n  }\n}\n"
RUN = "// RUN: cat %S/printed | filecheck %s\n"


def update(path: Path, *, requested: bool = False) -> bool:
    suites = LitSuites(path.parent, [".mlir"], {}, path.parent / "scratch")
    (test,) = suites.tests(path, lambda _: False)
    try:
        return update_checks(test, suites.lit_config, requested=requested)
    finally:
        suites.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "printed").write_text(PRINTED)
    return tmp_path / "a.mlir"


def refusal(file: Path, text: str) -> str:
    """Return the reason for which a file is left as it is."""
    file.write_text(text)
    with pytest.raises(LeftAloneError) as error:
        update(file)
    assert file.read_text() == text
    return str(error.value)


def test_a_file_gets_its_check_lines_once(file: Path) -> None:
    file.write_text(f"{RUN}func.func @f(%x: i32) {{\n}}\n")
    assert update(file)
    text = file.read_text()
    assert "// CHECK-LABEL: func.func @f(\n// CHECK-SAME:  %[[X:.*]]: i32) {\n" in text
    assert not update(file)
    assert file.read_text() == text


def test_a_generated_file_follows_the_tool(file: Path) -> None:
    file.write_text(f"{RUN}a\n")
    update(file)
    (file.parent / "printed").write_text("new\n")
    assert update(file)
    assert file.read_text().endswith(f"{RUN}// CHECK:       new\na\n")


def test_check_lines_of_a_person_are_rewritten_on_request(file: Path) -> None:
    assert "written by hand" in refusal(file, f"{RUN}// CHECK: x\n")
    assert update(file, requested=True)
    assert not update(file)


def test_the_mode_of_the_file_is_kept(file: Path) -> None:
    file.write_text(f"{RUN}a\n")
    file.chmod(0o640)
    update(file)
    assert file.stat().st_mode & 0o777 == 0o640


def test_two_run_lines_share_a_prefix(file: Path) -> None:
    for name in ("a", "b"):
        (file.parent / name).write_text(f"func @f() {{\n}}\nfunc @g() {{\n  {name}\n}}\n")
    file.write_text(
        "// RUN: cat %S/a | filecheck %s --check-prefixes=ALL,A\n"
        "// RUN: cat %S/b | filecheck %s --check-prefix ALL --check-prefix B\n"
    )
    assert update(file) and not update(file)
    expected = """\
// ALL-LABEL: func @f() {
// ALL-NEXT:  }
// A-LABEL: func @g() {
// A-NEXT:    a
// A-NEXT:  }
// B-LABEL: func @g() {
// B-NEXT:    b
// B-NEXT:  }
"""
    assert file.read_text().endswith(expected)


def test_all_commands_of_a_run_line_run(file: Path) -> None:
    file.write_text(
        "// RUN: echo first > %t && cat %t | filecheck %s --check-prefix=A\n"
        "// RUN: env A=1 cat %t 2>&1 | cat | filecheck %s --check-prefix=B\n"
    )
    assert update(file)
    assert file.read_text().endswith("// A:       first\n// B:       first\n")


def test_percent_signs_of_commands_are_kept(file: Path) -> None:
    file.write_text("// RUN: echo '%%0 = x' | filecheck %s\n")
    assert update(file)
    assert "// CHECK:       %[[V0:.*]] = x\n" in file.read_text()


def test_a_command_that_fails_leaves_the_file(file: Path) -> None:
    text = "\n// RUN: cat %S/none | filecheck %s\n"
    file.write_text(text)
    with pytest.raises(UpdateFailedError, match="a command before FileCheck fails") as error:
        update(file)
    assert "RUN: at line 2\n" in error.value.output
    assert file.read_text() == text


def test_no_output_leaves_the_file(file: Path) -> None:
    text = "// RUN: true | filecheck %s\n"
    file.write_text(text)
    with pytest.raises(UpdateFailedError, match="the RUN line of line 1 prints nothing"):
        update(file)
    assert file.read_text() == text


def test_check_lines_that_would_fail_are_not_written(file: Path) -> None:
    text = "// RUN: cat %S/printed | filecheck %s --match-full-lines\n"
    file.write_text(text)
    with pytest.raises(UpdateFailedError, match="would fail with its new CHECK lines") as error:
        update(file)
    assert file.read_text() == text
    assert f"{file}:" in error.value.output


def test_tests_of_diagnostics_are_left_alone(file: Path) -> None:
    assert "diagnostics" in refusal(file, f"{RUN}// expected-error@+1 {{{{x}}}}\n")


def test_tests_that_fail_or_cannot_run_are_left_alone(file: Path) -> None:
    assert "XFAIL" in refusal(file, f"{RUN}// XFAIL: *\n")
    assert "features: x" in refusal(file, f"{RUN}// REQUIRES: x\n")


def test_other_uses_of_filecheck_are_left_alone(file: Path) -> None:
    assert "no RUN line pipes into FileCheck" in refusal(file, "// RUN: true\n")
    assert "line 1" in refusal(file, "// RUN: filecheck %s < %S/printed\n")
    assert "line 1" in refusal(file, "// RUN: cat %S/printed | not filecheck %s\n")
    assert "line 1" in refusal(file, "// RUN: cat %S/printed | filecheck %s | cat\n")
    other = "// RUN: cat %S/printed | filecheck %S/checks\n"
    assert "no RUN line pipes into FileCheck" in refusal(file, other)


def test_conflicting_run_lines_are_left_alone(file: Path) -> None:
    assert "prefix of its own" in refusal(file, f"{RUN}// RUN: echo x | filecheck %s\n")


def test_a_file_that_is_not_in_utf8_is_left_alone(file: Path) -> None:
    file.write_bytes(f"{RUN}// \xff\n".encode("latin-1"))
    with pytest.raises(LeftAloneError, match="UTF-8"):
        update(file)
