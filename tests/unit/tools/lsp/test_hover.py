"""What the editor shows of a name."""

from __future__ import annotations

from lsprotocol.types import MarkupContent
from support.marked import open_at
from support.tables import table_test

from passline.tools.lsp.hover import hover

TEXT = """#map = affine_map<(d0) -> (d0)>
func.func @f(%a : i32, %m : memref<4x?xi32>) -> i32 {
  %k = arith.constant 42 : i32
  %b = arith.addi %a, %k : i32
  %t = "test.op"() : () -> tensor<2x3xf32>
  cf.br ^bb1(%b : i32)
^bb1(%c : i32):
  func.call @g() : () -> ()
  return %c : i32
}
func.func private @g() attributes {x = #map}
"""


def said(text: str, piece: str) -> str | None:
    """Return what is shown after the first character of `piece`."""
    start = text.index(piece) + 1
    found = hover(*open_at(f"{text[:start]}<|>{text[start:]}"))
    contents = None if found is None else found.contents
    return contents.value if isinstance(contents, MarkupContent) else None


@table_test(
    "piece, expected",
    [
        ("%a :", ["%a : i32"]),
        ("%a, %k", ["%a : i32", "func.func @f"]),
        ("%k =", ["%k : i32", "constant `42 : i32`"]),
        ("%m", ["memref<4x?xi32>", "shape 4 x ?"]),
        ("%t", ["tensor<2x3xf32>", "shape 2 x 3, 6 elements"]),
        ("^bb1(%b", ["^bb1(%c : i32):"]),
        ("%c :", ["%c : i32"]),
        ("@g() :", ["func.func private @g()"]),
        ("#map}", ["#map = affine_map<(d0) -> (d0)>"]),
        ("arith.addi", ["$lhs `,` $rhs", "`lhs`: ", "**Results**", "`Pure`"]),
        ("return", ["func.return", "any number"]),
    ],
)
def test_a_name_is_explained(piece: str, expected: list[str]) -> None:
    text = said(TEXT, piece) or ""
    missing = [part for part in expected if part not in text]
    assert not missing, text


def test_what_is_no_name_is_not_explained() -> None:
    assert said(TEXT, " i32") is None


def test_the_documentation_of_an_operation_is_shown() -> None:
    assert "documentation" in (said('"vector.broadcast"() : () -> ()\n', '"vector') or "")


def test_an_operation_that_is_not_registered_is_said_to_be() -> None:
    assert said('"x.y"() : () -> ()\n', '"x') == "`x.y` is not registered"


def test_a_file_that_is_broken_in_the_middle_keeps_its_types() -> None:
    broken = TEXT + "func.func @h( {\n  x(\n}\n" + TEXT.replace("@f", "@f2").partition("\n")[2]
    assert "%k : i32" in (said(broken, "%k =") or "")
    assert "%c : i32" in (said(broken[broken.index("@f2") - 10 :], "%c :") or "")


def test_a_function_with_an_error_keeps_the_types_of_what_was_read() -> None:
    broken = TEXT.replace("arith.addi %a, %k", "arith.adi %a, %k")
    assert "%k : i32" in (said(broken, "%k =") or "")


def test_an_operation_with_a_location_in_the_text_has_a_type() -> None:
    text = 'func.func @f() {\n  %x = arith.constant 1 : i8 loc("a":1:1)\n  return\n}\n'
    assert "%x : i8" in (said(text, "%x") or "")


def test_an_operation_in_dumps_has_the_pass_that_made_it() -> None:
    def dump(title: str, body: str) -> str:
        banner = f"// -----// IR Dump {title} //----- //\n"
        return f"{banner}func.func @f(%a : i32) {{\n  {body}\n  return\n}}\n\n"

    old, new = "%b = arith.addi %a, %a : i32", "%b = arith.muli %a, %a : i32"
    text = dump("Before one", old) + dump("After two (cse)", new) + dump("After three", new)
    last = text.index("After three")
    assert "since: After two (cse)" in (said(text[:last] + text[last:], "arith.muli") or "")
    assert "since: Before one" in (said(text, "arith.addi") or "")
    third = text[:last] + text[last:].replace("arith.muli", "arith.subi")
    assert "since: After three" in (said(third, "arith.subi") or "")
    assert "since" not in (said(TEXT, "arith.addi") or "")
