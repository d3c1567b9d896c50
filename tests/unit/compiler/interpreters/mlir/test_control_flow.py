"""func, cf and scf."""

from __future__ import annotations

import pytest

from passline.passmanager.errors import PasslineError
from tests.support.programs.computed import computed

COUNT = """
func.func @main(%n: {type}, %step: {type}) -> {type} {{
  %zero = arith.constant 0 : {type}
  %sum = "scf.for"(%zero, %n, %step, %zero) ({{
  ^bb0(%i: {type}, %s: {type}):
    %t = arith.addi %s, %i : {type}
    scf.yield %t : {type}
  }}) : ({type}, {type}, {type}, {type}) -> {type}
  return %sum : {type}
}}"""


@pytest.mark.parametrize("type", ["index", "i8", "i64"])
def test_for(type: str):
    assert computed(COUNT.format(type=type), 5, 1) == [10]
    assert computed(COUNT.format(type=type), 5, 2) == [6]
    assert computed(COUNT.format(type=type), 0, 1) == [0]


def test_the_induction_variable_is_of_its_type():
    assert computed(COUNT.format(type="i8"), 100, 1) == [4950 - 256 * 19]


@pytest.mark.parametrize("step", [0, -1])
def test_a_step_that_is_not_positive_is_reported(step: int):
    with pytest.raises(PasslineError, match=rf"the step of a loop is positive, not {step}"):
        computed(COUNT.format(type="index"), 5, step)


def test_while():
    text = """
      func.func @main(%n: i64) -> i64 {
        %r = scf.while (%a = %n) : (i64) -> i64 {
          %limit = arith.constant 100 : i64
          %c = arith.cmpi slt, %a, %limit : i64
          scf.condition(%c) %a : i64
        } do {
        ^bb0(%a: i64):
          %b = arith.addi %a, %a : i64
          scf.yield %b : i64
        }
        return %r : i64
      }"""
    assert computed(text, 3) == [192]
    assert computed(text, 100) == [100]


def test_if_without_results_and_without_else():
    text = """
      func.func @main(%c: i1) -> i32 {
        %one = arith.constant 1 : i32
        %m = memref.alloc() : memref<i32>
        scf.if %c {
          memref.store %one, %m[] : memref<i32>
        }
        %r = memref.load %m[] : memref<i32>
        return %r : i32
      }"""
    assert computed(text, True) == [1]
    assert computed(text, False) == [0]


@pytest.mark.parametrize(("flag", "result"), [(2, 10), (5, 20), (0, 30)])
def test_index_switch(flag: int, result: int):
    text = """
      func.func @main(%n: index) -> i32 {
        %a = arith.constant 10 : i32
        %b = arith.constant 20 : i32
        %c = arith.constant 30 : i32
        %r = scf.index_switch %n -> i32
        case 2 { scf.yield %a : i32 }
        case 5 { scf.yield %b : i32 }
        default { scf.yield %c : i32 }
        return %r : i32
      }"""
    assert computed(text, flag) == [result]


def test_execute_region():
    text = """
      func.func @main(%c: i1) -> i32 {
        %r = "scf.execute_region"() ({
          "cf.cond_br"(%c)[^one, ^two] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
        ^one:
          %a = arith.constant 1 : i32
          scf.yield %a : i32
        ^two:
          %b = arith.constant 2 : i32
          scf.yield %b : i32
        }) : () -> i32
        return %r : i32
      }"""
    assert computed(text, True) == [1]
    assert computed(text, False) == [2]


PARALLEL = """
func.func @main(%n: index) -> (f32, i32) {
  %zero = arith.constant 0 : index
  %step = arith.constant 1 : index
  %product = arith.constant 3.0 : f32
  %sum = arith.constant 5 : i32
  %r, %s = "scf.parallel"(%zero, %zero, %n, %n, %step, %step, %product, %sum)
      <{operandSegmentSizes = array<i32: 2, 2, 2, 2>}> ({
  ^bb0(%i: index, %j: index):
    %two = arith.constant 2.0 : f32
    %k = arith.index_cast %j : index to i32
    "scf.reduce"(%two, %k) ({
    ^bb1(%a: f32, %b: f32):
      %c = arith.mulf %a, %b : f32
      scf.reduce.return %c : f32
    }, {
    ^bb2(%a: i32, %b: i32):
      %c = arith.addi %a, %b : i32
      scf.reduce.return %c : i32
    }) : (f32, i32) -> ()
  }) : (index, index, index, index, index, index, f32, i32) -> (f32, i32)
  return %r, %s : f32, i32
}"""


def test_parallel_reduces_from_the_first_values_on():
    assert computed(PARALLEL, 2) == [3 * 2**4, 5 + 2]
    assert computed(PARALLEL, 0) == [3, 5]


@pytest.mark.parametrize(("flag", "result"), [(1, 3), (-1, 7), (0, 5)])
def test_switch(flag: int, result: int):
    text = """
      func.func @main(%f: i8) -> i32 {
        %a = arith.constant 3 : i32
        %b = arith.constant 4 : i32
        %d = arith.constant 5 : i32
        "cf.switch"(%f, %d, %a, %a, %b)[^default, ^one, ^two]
            <{case_values = dense<[1, -1]> : tensor<2xi8>, case_operand_segments = array<i32: 1, 2>,
              operandSegmentSizes = array<i32: 1, 1, 3>}> : (i8, i32, i32, i32, i32) -> ()
      ^default(%x: i32):
        return %x : i32
      ^one(%y: i32):
        return %y : i32
      ^two(%z: i32, %w: i32):
        %s = arith.addi %z, %w : i32
        return %s : i32
      }"""
    assert computed(text, flag) == [result]


def test_calls_take_and_return_scalars_of_their_types():
    text = """
      func.func @main(%x: i64) -> i64 {
        %y = func.call @square(%x) : (i64) -> i64
        return %y : i64
      }
      func.func private @square(%x: i64) -> i64 {
        %y = arith.muli %x, %x : i64
        return %y : i64
      }"""
    assert computed(text, 2**62 + 1) == [2**63 - 2**64 + 1]  # 2^124 + 2^63 + 1, of 64 bits
