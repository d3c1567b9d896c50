"""Functions that are sent are the same when they are read, in every field."""

from __future__ import annotations

import pytest
from support.releases import needs_part
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import Parser

from passline.passmanager.fast.transfer import Encoder, Unsendable, decode, known_objects, restore
from passline.passmanager.ir.changes import ModuleRecord
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.ir.walk import walk
from passline.passmanager.registry import make_ir_context

from .test_clone import states

pytestmark = needs_part("copying")

TEXT = """
func.func @loops(%n: index, %c: i1) -> index {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum = scf.for %i = %zero to %n step %one iter_args(%acc = %zero) -> (index) {
    %next = arith.addi %acc, %i : index
    scf.yield %next : index
  }
  cf.cond_br %c, ^then(%sum : index), ^else
^then(%x: index):
  func.return %x : index
^else:
  %y = arith.addi %sum, %sum {note = "twice"} : index
  func.return %y : index
}
func.func private @declared(index) -> index
"""


def parsed(text: str = TEXT) -> ModuleOp:
    return parse_module(make_ir_context(), text, "input.mlir")


def sent(module: ModuleOp) -> list[Operation]:
    known = known_objects(module, ModuleRecord(module))
    encoder = Encoder(known)
    for op in module.ops:
        encoder.add(op)
    return decode(encoder.packet(), known)


def test_every_field_arrives():
    module = parsed()
    for original, copy in zip(module.ops, sent(module), strict=True):
        original.detach()
        ours, _ = states(original)
        theirs, _ = states(copy)
        assert ours == theirs
        copy.verify()


def test_uses_keep_an_order_that_is_not_that_of_the_text():
    module = parsed()
    (loops, _) = module.ops
    zero = next(op for op in walk(loops) if op.name == "arith.constant").results[0]
    first = zero.first_use
    assert first is not None
    zero.remove_use(first)
    zero.add_use(first)
    last = [*zero.uses][-1]
    zero.remove_use(last)
    zero.add_use(last)
    expected = [(use.operation.name, use.index) for use in zero.uses]
    copy = sent(module)[0]
    value = next(op for op in walk(copy) if op.name == "arith.constant").results[0]
    assert [(use.operation.name, use.index) for use in value.uses] == expected


def test_known_attributes_are_shared_and_new_ones_equal():
    module = parsed()
    known = known_objects(module, ModuleRecord(module))
    (loops, _) = module.ops
    loops.attributes["new"] = StringAttr("made later")
    encoder = Encoder(known)
    encoder.add(loops)
    (copy,) = decode(encoder.packet(), known)
    assert copy.attributes == loops.attributes
    assert copy.attributes["new"] is not loops.attributes["new"]
    assert copy.properties["function_type"] is loops.properties["function_type"]
    for ours, theirs in zip(walk(loops), walk(copy), strict=True):
        assert ours.location is theirs.location


def test_copies_undo_changes():
    module = parsed()
    before = str(module)
    (loops, _) = module.ops
    encoder = Encoder({})
    encoder.add(loops)
    for op in [*walk(loops)]:
        op.attributes["changed"] = StringAttr("yes")
    erased = loops.regions[0].blocks[1].last_op
    assert erased is not None
    erased.detach()
    erased.erase()
    (copy,) = encoder.copies()
    restore(loops, copy)
    assert str(module) == before
    module.verify()


def test_what_cannot_be_pickled_is_refused():
    module = parsed()
    (loops, _) = module.ops

    @irdl_attr_definition
    class Local(ParametrizedAttribute):
        name = "toy.local"

    encoder = Encoder(known_objects(module, ModuleRecord(module)))
    loops.attributes["local"] = Local()  # no module has its class
    encoder.add(loops)
    with pytest.raises(Unsendable, match="cannot be pickled"):
        encoder.packet()


def test_what_uses_the_outside_is_refused():
    text = """
    "test.op"() ({
      %outside = "test.op"() : () -> i32
      "test.op"() ({
        "test.op"(%outside) : (i32) -> ()
      }) : () -> ()
    }) : () -> ()
    """
    module = Parser(make_ir_context(), text).parse_module()
    inner = [op for op in walk(module) if op.regions][2]
    with pytest.raises(Unsendable, match="outside of its function"):
        Encoder({}).add(inner)
