from __future__ import annotations

import pytest
from support.bytecode import TEXT, shown, written
from support.parsing import parsed
from xdsl.dialects.test import TestOp

from passline.passmanager.bytecode.writer import write_bytecode
from passline.passmanager.errors import PasslineError
from passline.passmanager.registry import make_ir_context


def test_equal_modules_are_written_as_equal_bytes() -> None:
    assert written(TEXT) == written(TEXT)


def test_constants_that_differ_in_the_sign_of_zero_are_kept_apart() -> None:
    text = '"test.a"() {x = [0.0 : f32], y = [-0.0 : f32]} : () -> ()'
    assert "x = [0.000000e+00 : f32], y = [-0.000000e+00 : f32]" in shown(written(text))


def test_a_version_that_is_not_known_is_refused() -> None:
    with pytest.raises(PasslineError, match="no version 7 of bytecode; there are 0 to 6"):
        written("module {}", 7)


def test_a_value_from_outside_of_an_isolated_operation_is_refused() -> None:
    module = parsed('func.func @f(%x: i32) { "test.a"(%x) : (i32) -> () func.return }')
    (function,) = module.ops
    inner = parsed("func.func @g() { func.return }")
    (other,) = inner.ops
    other.detach()
    module.body.block.add_op(other)
    use = TestOp([function.regions[0].block.args[0]])
    other.regions[0].block.insert_ops_before([use], other.regions[0].block.ops.first)  # type: ignore
    with pytest.raises(PasslineError, match="'test.op'.* uses a value out of scope"):
        write_bytecode(module, make_ir_context())


def test_the_module_is_not_changed() -> None:
    module = parsed(TEXT)
    before = str(module)
    write_bytecode(module, make_ir_context(True))
    assert str(module) == before


def test_many_attributes_are_numbered_by_their_uses() -> None:
    ops = "".join(f'"test.a"() {{x = {i} : i64}} : () -> ()\n' for i in range(300))
    text = f'{ops}"test.b"() {{y = 7 : i64}} : () -> ()'
    assert shown(written(text)) == shown(text)
