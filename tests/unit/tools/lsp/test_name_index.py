"""The names in a text: definitions and uses by scopes, also where the text does not parse."""

from __future__ import annotations

from support.tables import table_test

from passline.tools.lsp.names import Name, NameIndex, index_of


def index(text: str) -> NameIndex:
    return index_of(text, lambda name: name.endswith(("func", "module")))


def roles(text: str) -> list[tuple[str, str]]:
    return [(name.text, name.role) for name in index(text).names]


def defined_at(text: str, use: str) -> int | None:
    """Return the line, from 0, of the definition of the last name `use` in a text."""
    found = index(text)
    name = [name for name in found.names if name.text == use][-1]
    definition = found.definition(name)
    return None if definition is None else text.count("\n", 0, definition.start)


FUNCTION = """func.func @f(%a : i32) {
  %b, %c:2 = "test.op"(%a) : (i32) -> (i32, i32, i32)
  %r = scf.for %i = %b to %c#1 step %a iter_args(%acc = %a) -> (i32) {
    scf.yield %acc : i32
  }
  cf.br ^bb1(%r : i32)
^bb1(%z : i32):
  return %z : i32
}
"""


def test_values_blocks_and_symbols_have_roles() -> None:
    found = roles(FUNCTION)
    assert found[:2] == [("@f", "symbol"), ("%a", "argument")]
    assert ("%i", "argument") in found and ("%acc", "argument") in found
    assert ("%c", "use") in found and ("^bb1", "block") in found and ("%z", "argument") in found


def test_a_use_is_defined_in_the_nearest_scope_that_has_the_name() -> None:
    assert defined_at(FUNCTION, "%acc") == 2
    assert defined_at(FUNCTION, "%z") == 6
    assert defined_at(FUNCTION, "^bb1") == 6


def test_a_name_of_an_inner_region_is_not_visible_outside() -> None:
    text = '"a.b"() ({\n  %x = "c.d"() : () -> i32\n}) : () -> ()\n"e.f"(%x) : (i32) -> ()\n'
    assert defined_at(text, "%x") is None


def test_results_that_share_a_name_are_numbered() -> None:
    (op, *_) = index('%a, %b:2, %c = "x.y"() : () -> (i32, i32, i32, i32)\n').ops
    assert [(result.text, result.index) for result in op.results] == [
        ("%a", 0),
        ("%b", 1),
        ("%c", 3),
    ]


def test_a_use_of_one_of_several_results_has_its_number() -> None:
    (name,) = index('"x.y"(%b#1) : (i32) -> ()').names
    assert (name.text, name.index) == ("%b", 1)


@table_test(
    "text",
    [
        "func.func private @f() attributes {llvm.emit_c_interface}",
        '"x.y"() <{a = 1 : i32}> : () -> ()',
        '"x.y"() {a = 1 : i32, b} : () -> ()',
        '"x.y"() {"quoted" = 1 : i32} : () -> ()',
    ],
)
def test_braces_of_attributes_open_no_region(text: str) -> None:
    """The dictionaries after `attributes`, of properties, and at the end of an operation."""
    assert len(index(text).scopes) == 1


def test_variables_in_parentheses_before_an_equals_sign_are_arguments() -> None:
    text = (
        'scf.parallel (%i, %j) = (%a, %a) to (%b, %b) step (%c, %c) {\n  "x.y"(%j) : (i1) -> ()\n}'
    )
    assert defined_at(text, "%j") == 0
    assert [name.role for name in index(text).names][:2] == ["argument", "argument"]


def test_a_parenthesis_that_is_not_closed_ends_with_the_next_operation() -> None:
    text = 'func.func @f() {\n  %a = "x.y"(%b\n  %c = "x.z"(%a) : (i32) -> i32\n  return\n}\n'
    assert [op.name for op in index(text).ops] == ["func.func", "x.y", "x.z", "return"]
    assert defined_at(text, "%a") == 1


def test_a_brace_that_is_not_closed_ends_with_the_text() -> None:
    found = index('func.func @f() {\n  scf.if %c {\n    %x = "a.b"() : () -> i32\n')
    assert [op.end >= 0 for op in found.ops] == [True, True, True]


def test_a_symbol_in_generic_form_is_found() -> None:
    (op,) = index('"func.func"() <{sym_name = "h", function_type = () -> ()}> ({}) : () -> ()').ops
    assert op.symbol is not None and op.symbol.text == "@h"


def test_a_call_defines_no_symbol() -> None:
    assert roles("func.call @g() : () -> ()") == [("@g", "use")]


def test_names_in_comments_and_strings_are_none() -> None:
    assert roles('// %a @b\n"x.y"() {s = "%c ^d"} : () -> ()') == []


def visible(text: str, mark: str) -> list[str]:
    names: list[Name] = index(text).visible(text.index(mark))
    return [name.text for name in names]


def test_visible_values_are_those_before_in_scopes_around() -> None:
    assert visible(FUNCTION, "scf.yield") == ["%acc", "%i", "%r", "%c", "%b", "%a"]
    assert visible(FUNCTION, "return") == ["%z", "%r", "%c", "%b", "%a"]


@table_test(
    "text, use, line",
    [
        (
            '"a.b"() ({\n}, {\n  %x = "c.d"() : () -> i1\n  "e.f"(%x) : (i1) -> ()\n}) : () -> ()',
            "%x",
            2,
        ),
        ("scf.reduce(%a) {\n}, {\n^bb0(%x : i1):\n  a.b %x\n}", "%x", 2),
        ("r.for %x : !t = %a to %b {\n  a.b %x\n}", "%x", 0),
        ("scf.forall (%x) in (4) {\n  a.b %x\n}", "%x", 0),
        ("%x = pdl.attribute = 0 : i32\na.b %x", "%x", 0),
        ("%x = index.constant 1\na.b %x", "%x", 0),
    ],
)
def test_clauses_of_many_dialects_define_names(text: str, use: str, line: int) -> None:
    assert defined_at(text, use) == line
