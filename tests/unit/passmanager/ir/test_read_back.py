"""Whatever is printed is read back: all types and attributes, in all positions, in both forms."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, example, given, settings
from strategies.attributes import attributes, context, dense_attributes
from strategies.signatures import modules, unknown_op
from support.budget import examples
from support.releases import needs_part
from support.tables import table_test
from xdsl.dialects.builtin import (
    BytesAttr,
    ComplexType,
    DenseIntOrFPElementsAttr,
    ModuleOp,
    TensorType,
    f32,
)
from xdsl.ir import Attribute

from passline.passmanager.errors import InvalidIRError
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.ir.text.printer import PLAIN, PrintStyle, module_text
from passline.passmanager.ir.verifier import verify

reads_any_text = needs_part("reading")  # xDSL takes "\\C2\\80", which is UTF-8, for bytes
GENERIC = PrintStyle(generic=True)

many = settings(max_examples=examples(300), suppress_health_check=[HealthCheck.too_slow])
some = settings(many, max_examples=examples(60))


def read(text: str) -> ModuleOp:
    return parse_module(context, text, "a.mlir")


def read_attribute(attribute: Attribute) -> Attribute:
    """Return the attribute that is read from the text of an op that holds `attribute`."""
    module = ModuleOp([unknown_op("nobody.op", [], [], {"value": attribute})])
    (op,) = read(module_text(module, context)).ops
    return op.attributes["value"]


@reads_any_text
@many
@given(attributes)
def test_attributes(attribute: Attribute) -> None:
    assert read_attribute(attribute) == attribute


@many
@given(dense_attributes())
@example(DenseIntOrFPElementsAttr(TensorType(ComplexType(f32), []), BytesAttr(bytes(7) + b"J")))
def test_constants(constant: Attribute) -> None:
    assert read_attribute(constant) == constant


@reads_any_text
@some
@given(modules())
def test_modules_in_both_forms(module: ModuleOp) -> None:
    verify(module)
    for style in (PLAIN, GENERIC):
        assert read(module_text(module, context, style)).is_structurally_equivalent(module)


@reads_any_text
@some
@given(modules())
def test_modules_in_other_styles(module: ModuleOp) -> None:
    for style in (PrintStyle(unique_ssa_ids=True), PrintStyle(value_users=True)):
        assert read(module_text(module, context, style)).is_structurally_equivalent(module)


@reads_any_text
@some
@given(modules())
def test_locations(module: ModuleOp) -> None:
    for generic in (False, True):
        again = read(module_text(module, context, PrintStyle(generic=generic, debuginfo=True)))
        assert again.is_structurally_equivalent(module)
        assert locations_of(again) == locations_of(module)


def locations_of(module: ModuleOp) -> list[Attribute]:
    """Return the locations of all ops and block arguments."""
    found: list[Attribute] = []
    for op in module.walk():
        found.append(op.location)
        found += [arg.location for region in op.regions for b in region.blocks for arg in b.args]
    return found


@reads_any_text
@some
@given(modules())
def test_properties_as_attributes(module: ModuleOp) -> None:
    style = PrintStyle(generic=True, properties_as_attributes=True)
    if any(op.properties.keys() & op.attributes.keys() for op in module.walk()):
        with pytest.raises(InvalidIRError, match="cannot both be printed as attributes"):
            module_text(module, context, style)
    else:
        assert read(module_text(module, context, style)).is_structurally_equivalent(module)


# Found by the tests above, or by users


@table_test(
    "text",
    [
        "func.call @f(%x) : (i1) -> ((i1) -> i1)",
        "func.call @f(%x) : (i1) -> (() -> (() -> i1))",
        "relax.make_closure @f(%x) : (i1) -> (() -> i1)",
    ],
)
def test_a_result_that_is_a_function_is_in_parentheses(text: str) -> None:
    line = f"%0 = {text}"
    module = read(f'%x = "nobody.x"() : () -> i1\n{line}')
    printed = module_text(module, context)
    assert line in printed.replace("%1", "%0")
    assert read(printed).is_structurally_equivalent(module)


@table_test(
    "line",
    [
        # xDSL loses the attributes of parameters of declarations.
        '"func.func"() <{sym_name = "f", function_type = (i1) -> (), arg_attrs = [{a}]}> ({\n  }) '
        ": () -> ()",
        # An attribute with the name of a property
        '"func.func"() <{sym_name = "f", function_type = () -> ()}> ({\n  }) {sym_name = 1 : i64} '
        ": () -> ()",
        '"func.func"() <{sym_name = "f", function_type = () -> (), sym_visibility = "x"}> ({\n  }) '
        ": () -> ()",
    ],
)
def test_what_a_custom_form_would_lose_is_printed_in_generic_form(line: str) -> None:
    printed = module_text(read(line), context)
    assert line in printed
    assert read(printed).is_structurally_equivalent(read(line))


@table_test(
    ("text", "printed"),
    [
        ("1.5 : f80", "1.5 : f80"),
        ("0x7FFFC000000000000000 : f80", "0x7FFFC000000000000000 : f80"),
        ("0x3FFF8000000000000000 : f80", "1.0 : f80"),
        ("1.0e+300 : f128", "0x43E37E43C8800759C000000000000000 : f128"),
        ("-1.5 : f128", "-1.5 : f128"),
        ("0xFFFF0000000000000000000000000000 : f128", "0xFFFF0000000000000000000000000000 : f128"),
        ("array<f64: 0x7FF0000000000000>", "array<f64: 0x7ff0000000000000>"),
        ("dense<(-0.0, 0.0)> : tensor<2xcomplex<f16>>", None),
        ("#builtin.float_data<0x7FF0000000000000>", "#builtin.float_data<0x7ff0000000000000>"),
        ("#builtin.float_data<1.0e-05>", "#builtin.float_data<1.000000e-05>"),
        ('"f\\C3\\BCr"', '"f\\C3\\BCr"'),
        ('"\\FF"', '"\\FF"'),
        ('@"\\22\\C3\\BC"::@"a b"::@c', '@"\\22\\C3\\BC"::@"a b"::@c'),
        (f"{1 << 20000:#x} : i32000", f"{1 << 20000:#x} : i32000"),
    ],
)
def test_literals(text: str, printed: str | None) -> None:
    line = f'"nobody.op"() {{value = {text}}} : () -> ()'
    (op,) = read(line).ops
    value = op.attributes["value"]
    assert read_attribute(value) == value
    if printed is not None:
        assert f"{{value = {printed}}}" in module_text(ModuleOp([op.clone()]), context)


def read_with_locations(body: str) -> tuple[ModuleOp, ModuleOp]:
    """Return the module of a text, and what is read from its text with locations."""
    module = read(f'%x = "nobody.x"() : () -> i1\n{body}')
    again = read(module_text(module, context, PrintStyle(debuginfo=True)))
    assert again.is_structurally_equivalent(module)
    return module, again


def test_arguments_of_a_lambda_have_locations() -> None:
    text = "%0 = relax.lambda(%y: i1) -> i1 {\n    relax.yield %y : i1\n  }"
    module, again = read_with_locations(text)
    assert locations_of(again) == locations_of(module)


def test_a_type_within_a_custom_form_has_no_location() -> None:
    module, again = read_with_locations(
        "%0 = scf.while (%a = %x) : (i1) -> i1 {\n  scf.condition(%a) %a : i1\n} do {\n"
        "^bb0(%b: i1):\n  scf.yield %b : i1\n}"
    )
    assert [op.location for op in again.walk()] == [op.location for op in module.walk()]
