from __future__ import annotations

import random

import pytest
from support.bytecode import TEXT, minimal, numbers, shown, written
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp

from passline.passmanager.bytecode.container import Container
from passline.passmanager.bytecode.encoding import BytecodeError, Section, add_section
from passline.passmanager.bytecode.op_attributes import OpAttributes
from passline.passmanager.bytecode.reader import read_bytecode
from passline.passmanager.bytecode.writer import write_bytecode
from passline.passmanager.fast.acceleration import is_accelerated
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.registry import make_ir_context

IS_ACCELERATED = is_accelerated("creating")


def read(content: bytes) -> ModuleOp:
    return read_bytecode(make_ir_context(allow_unregistered=True), content, "x.mlirbc")


@table_test(
    "text",
    [
        TEXT,
        '"test.a"() {x = [1 : i8, -1 : i64, 3 : index, true, 255 : ui8, -5 : i100]} : () -> ()',
        '"test.a"() {x = [1.5 : f16, 0.1 : f32, -0.0 : f64, 1.0 : bf16]} : ()->()',
        '"test.a"() {x = [1.5 : f80, -2.0 : f128]} : () -> ()',
        '"test.a"() {x = array<i1: true, false>, y = array<i64: -1>, z = array<f32>} : () -> ()',
        '"test.a"() {x = dense<[true, false, true]> : tensor<3xi1>} : () -> ()',
        '"test.a"() {x = dense<true> : tensor<9xi1>, y = dense<[-1, 7]> : tensor<2xi4>} : () -> ()',
        '"test.a"() {x = dense<1.5> : tensor<2x3xf32>, y = dense<> : tensor<0xi8>} : () -> ()',
        '"test.a"() {x = dense<[(1.0, 2.0)]> : tensor<1xcomplex<f32>>} : () -> ()',
        '"test.a"() {x = @a, y = @a::@b::@c, z = unit, s = "a\\00\\FF", t = "\u00e9"} : () -> ()',
        '"test.a"() {x = {a = 1 : i8, "b c" = i32}, y = affine_map<(d0) -> (d0)>} : () -> ()',
        '"test.a"() {x = tensor<?x2xf32>, y = vector<[4]x2xf32>, z = memref<2xf32, 3>} : () -> ()',
        '"test.a"() {x = memref<2xf32, strided<[?], offset: 1>>, y = memref<*xf32>} : () -> ()',
        '"test.a"() {x = (i32, f32) -> (), y = tuple<i8, none>, z = complex<f64>} : () -> ()',
        '"test.a"() {x = tensor<*xi1>, y = tensor<2xi8, "e">, z = si7, w = ui9} : () -> ()',
        '"test.a"() {x = !foo.bar<1>, y = #foo.bar<"x">, z = #foo<bar "x">} : () -> ()',
        '"test.a"() : () -> () loc(fused<"m">["a":1:2, callsite("n"("b":3:4) at unknown)])',
        '"test.a"() : () -> () loc(unknown)',
        '"test.a"() ({ ^a(%x: i32 loc("b":3:4)): "test.b"(%x) : (i32) -> () }) : () -> ()',
        '"test.g"() ({ %a = "test.b"(%b) : (i32)->i32 %b = "test.c"(%a) : (i32)->i32 }) : ()->()',
        "func.func private @f(i32) -> i32 attributes {no_inline}",
        "func.func @f(%x: f32 {a.b}) { %y = arith.addf %x, %x fastmath<fast> : f32 func.return }",
        "memref.global @g : memref<2xf32> = dense<1.0>",
        '%0 = "arith.constant"() {x = 1 : i8} : () -> i32',  # without the value that MLIR requires
    ],
)
def test_what_is_written_is_read_the_same(text: str) -> None:
    assert shown(written(text)) == shown(text)


@pytest.mark.parametrize("version", range(6))
def test_older_versions_are_read_the_same(version: int) -> None:
    text = TEXT.replace("<{a = 1 : i8}>", "")  # before version 5 it is an attribute
    assert shown(written(text, version)) == shown(text)


def test_properties_are_attributes_before_version_5() -> None:
    text = '"test.a"() <{a = 1 : i8}> {b} : () -> ()'
    assert '"test.a"() {a = 1 : i8, b}' in shown(written(text, 4))
    assert '"test.a"() <{a = 1 : i8}> {b}' in shown(written(text, 5))


def test_what_is_read_needs_no_module() -> None:
    module = read(written("module {}"))
    assert isinstance(module, ModuleOp) and not [*module.ops]


def test_resources_are_read() -> None:
    text = """
"test.a"() {x = dense_resource<blob> : tensor<2xi8>} : () -> ()
{-# dialect_resources: { builtin: { blob: "0x400000000102" } } #-}
"""
    ctx = make_ir_context(allow_unregistered=True)
    content = write_bytecode(parse_module(ctx, text, "x.mlir"), ctx)
    # The handle is that of the process: a resource of this name was read before.
    assert '"0x400000000102"' in shown(content)


def test_uses_are_in_the_order_of_the_operations_backwards() -> None:
    text = """
"test.g"() ({
  "test.use"(%b) : (i32) -> ()
  %a = "test.a"() : () -> i32
  %b = "test.b"(%a, %a) : (i32, i32) -> i32
  "test.use"(%b, %a) : (i32, i32) -> ()
}) : () -> ()
"""
    module = read(written(text))
    (graph,) = module.ops
    _, a, b, last = graph.regions[0].block.ops
    found = [(use.operation, use.index) for use in a.results[0].uses]
    assert found == [(last, 1), (b, 1), (b, 0)]
    assert next(use.operation for use in b.results[0].uses) is last


@table_test(
    "text",
    [
        # Operations of the same bytes, but for operands and locations.
        "func.func @f(%a: i32) { %b = arith.addi %a, %a : i32 %c = arith.addi %a, %b : i32"
        " %d = arith.addi %c, %b : i32 func.return }",
        # The class of a loop depends on the types of its operands: the third one is unsigned.
        "func.func @f(%a: index, %i: i32) { scf.for %x = %a to %a step %a { }"
        " scf.for %x = %a to %a step %a { } scf.for unsigned %x = %a to %a step %a { }"
        " scf.for %x = %i to %i step %i : i32 { } scf.for %x = %i to %i step %i : i32 { }"
        " func.return }",
        # A known operation that uses a value which comes later, and more behind it.
        '"test.g"() ({ "test.u"(%a) : (i32) -> () %a = "test.a"() : () -> i32'
        ' "test.u"(%a) : (i32) -> () "test.u"(%b) : (i32) -> () "test.u"(%a) : (i32) -> ()'
        ' %b = "test.a"() : () -> i32 "test.u"(%b) : (i32) -> () }) : () -> ()',
        # As many bytes behind the location in one, fewer in the other.
        '"test.g"() ({ %a:2 = "test.a"() : () -> (i8, i8) %b = "test.a"() : () -> i8'
        ' %c:2 = "test.a"() : () -> (i8, i8) %d = "test.a"() : () -> i8 }) : () -> ()',
    ],
)
def test_operations_like_one_before_are_read_the_same(text: str) -> None:
    assert shown(written(text)) == shown(text)


def test_values_take_more_bytes_than_one_in_large_blocks() -> None:
    ops = "".join(f"%{n + 1} = arith.addi %{n}, %{n // 2} : i32\n" for n in range(20_000))
    text = f"func.func @f(%0: i32) {{ {ops} func.return }}"
    module = read(written(text))
    assert shown(write_bytecode(module, make_ir_context())) == shown(text)


def test_a_value_that_does_not_exist_is_refused_in_a_known_operation() -> None:
    text = (
        '"test.g"() ({ ^a(%x: i8): "test.u"(%x) : (i8) -> () "test.u"(%x) : (i8) -> () }) : ()->()'
    )
    content = written(text)
    # The last operation of the region is the last one with an operand.
    end = Container(make_ir_context(True), content, "x.mlirbc", 1).sections[Section.IR][1]
    changed = content[: end - 1] + numbers(9) + content[end:]
    with pytest.raises(BytecodeError, match="there is no value 9, of 1"):
        read(changed)


def test_an_operation_that_is_not_registered_is_refused_by_name() -> None:
    content = written('"test.unknown"() : () -> ()')
    with pytest.raises(BytecodeError, match="operation 'test.unknown' is not registered; --allow"):
        read_bytecode(make_ir_context(), content, "x.mlirbc")


def test_properties_of_unknown_encoding_are_refused_by_name() -> None:
    # As of a file from a program that has an operation of this name.
    content = written('"arith.addq"() <{a = 1 : i8}> : () -> ()')
    file = Container(make_ir_context(True), content, "x.mlirbc", 1)
    with pytest.raises(BytecodeError, match="the properties of 'arith.addq' is not known"):
        OpAttributes(file).properties("arith.addq", True, 0, 0)


def test_regions_may_be_nested_ten_thousand_deep() -> None:
    level = numbers(0) + b"\x10" + numbers(0, 1 << 1, 1, 0, 1 << 1)
    innermost = numbers(0) + b"\x10" + numbers(0, 1 << 1, 1, 0, 0)
    levels = 10_000 if IS_ACCELERATED else 300  # xDSL looks for circles at each level
    module = read(minimal(IR=numbers(1 << 1) + level * levels + innermost))
    again = read(write_bytecode(module, make_ir_context()))
    depth, inner = 0, again.body.block.first_op
    while isinstance(inner, ModuleOp):
        inner, depth = inner.body.block.first_op, depth + 1
    assert depth == levels


def test_operations_without_a_module_are_wrapped_in_one() -> None:
    operation = numbers(0) + b"\x10" + numbers(0, 1 << 1, 1, 0, 0)
    module = read(minimal(IR=numbers(2 << 1) + operation * 2))
    assert [type(op) for op in module.ops] == [ModuleOp, ModuleOp]


@table_test(
    ("order", "uses"),
    [
        (numbers(3 << 1, 2, 0, 1), [1, 0, 2]),
        (numbers(2 << 1 | 1, 0, 1), None),
        (numbers(4 << 1 | 1, 0, 1, 1, 0), [1, 2, 0]),
        (numbers(3 << 1, 0, 0, 1), None),
        (numbers(2 << 1, 0, 1), None),
    ],
)
def test_another_order_of_uses_is_read(
    order: bytes, uses: list[int] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without a section of its own for the region of the module, whose size would change.
    def is_isolated(_: object) -> bool:
        return False

    monkeypatch.setattr("passline.passmanager.bytecode.writer._is_isolated", is_isolated)
    text = '"test.a"() ({ ^bb0(%x: i8): "test.u"(%x, %x, %x) : (i8, i8, i8) -> () }) : () -> ()'
    content = written(text)
    # The byte after the arguments says whether an order follows.
    head = numbers(1, 1, 1 << 1 | 1, 1)
    assert content.count(head)
    file = Container(make_ir_context(True), content, "x.mlirbc", 1)
    start, end = file.sections[Section.IR]
    at = content.index(b"\0", content.index(head, start) + len(head))
    operations = content[start:at] + b"\1" + order + content[at + 1 : end]
    changed = bytearray(content[: start - 2])
    add_section(changed, Section.IR, (operations,))
    changed += content[end:]
    if uses is None:
        with pytest.raises(BytecodeError, match="not an order of 3 uses"):
            read(bytes(changed))
        return
    (op,) = read(bytes(changed)).ops
    found = [use.index for use in op.regions[0].block.args[0].uses]
    assert found == (uses if IS_ACCELERATED else [2, 1, 0])


def test_changed_files_are_read_or_refused() -> None:
    """Bytes that are changed at random never raise anything but BytecodeError."""
    content, choose = written(TEXT), random.Random(1)
    ctx = make_ir_context(allow_unregistered=True)
    for _ in range(500):
        changed = bytearray(content)
        for _ in range(choose.choice((1, 2, 8))):
            at = choose.randrange(4, len(changed))
            match choose.randrange(4):
                case 0:
                    changed[at] = choose.randrange(256)
                case 1:
                    changed[at : at + 9] = b"\0" + b"\xff" * 8
                case 2:
                    del changed[at : at + choose.randrange(1, 9)]
                case _:
                    changed[at:at] = choose.randbytes(3)
            if len(changed) < 6:
                break
        try:
            read_bytecode(ctx, bytes(changed), "x.mlirbc")
        except BytecodeError as error:
            assert "\n" not in str(error)
