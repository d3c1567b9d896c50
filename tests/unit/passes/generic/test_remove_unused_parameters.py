"""RemoveUnusedParameters: a function that may not be changed keeps what it passes on alive."""

from __future__ import annotations

from support.suites.inprocess import passline_opt

TEXT = """
func.func private @inner(%a: i32, %b: i32) -> i32 { return %a : i32 }
func.func private @outer(%a: i32, %b: i32) -> i32 {
  %0 = func.call @inner(%a, %b) : (i32, i32) -> i32
  return %0 : i32
}
func.func @main(%a: i32) -> i32 {
  %0 = func.call @outer(%a, %a) : (i32, i32) -> i32
  return %0 : i32
}
"""


def test_every_function_is_asked_about_once():
    for allowed, expected in (
        (0, "@inner(%a: i32, %b: i32)"),
        (1, "@outer(%a: i32, %b: i32)"),
        (2, "@outer(%a: i32) "),
    ):
        counter = f"--debug-counter=remove-unused-parameters=1-{allowed}"
        if not allowed:
            counter = "--debug-counter=remove-unused-parameters=9"
        result = passline_opt("-p", "remove-unused-parameters", counter, stdin=TEXT)
        assert result.status == 0, result.stderr
        assert expected in result.stdout
        if allowed:
            assert "@inner(%a: i32)" in result.stdout


def test_the_statistics_count_parameters():
    result = passline_opt("-p", "remove-unused-parameters", "--pass-statistics", stdin=TEXT)
    assert "removed-parameters" in result.stderr
