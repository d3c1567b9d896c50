"""Assertions in machine code: what fails is reported, and nothing that follows is executed."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from support.native.needs_llvmlite import needs_native
from support.parsing import parsed
from xdsl.dialects import memref
from xdsl.dialects.func import FuncOp

from passline.compiler.interpreters.interpret import interpret
from passline.compiler.interpreters.signature import entry_function
from passline.compiler.native import NativeFunction, compile_module
from passline.compiler.native.preparation.assertions import report_assertions
from passline.passmanager.errors import PasslineError
from passline.passmanager.ir.walk import walk

pytestmark = needs_native

ATTRIBUTES = "attributes {tir.outputs = 1 : i64}"


def fails(function: NativeFunction, *arguments: object) -> str:
    """Return the message of a call that fails."""
    with pytest.raises(PasslineError) as caught:
        function(*arguments)  # pyright: ignore[reportArgumentType]
    return str(caught.value)


# Every iteration writes its number; the assertion is that x[i] is positive.
LOOP = """
tir.prim_func @main(%x: memref<SIZExi64>, %y: memref<SIZExi64>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0 : i64
  tir.for KIND %i = %c0 extent %c4 {
    %v = memref.load %x[%i] : memref<SIZExi64>
    %ok = arith.cmpi sgt, %v, %zero : i64
    cf.assert %ok, "x is positive"
    memref.store %v, %y[%i] : memref<SIZExi64>
  }
  memref.store %zero, %x[%c0] : memref<SIZExi64>
}
"""


@pytest.mark.parametrize("kind", ["serial", "parallel", "unrolled", "vectorized"])
@pytest.mark.parametrize("size", ["4", "?"])
def test_what_follows_is_not_executed(size: str, kind: str):
    text = LOOP.replace("SIZE", size).replace("KIND", "" if kind == "serial" else kind)
    module = parsed(text)
    main = compile_module(module)
    x, y = np.array([1, 2, -3, 4]), np.zeros(4, np.int64)
    assert fails(main, x, y) == "assertion failed at x.mlir:9:5: x is positive"
    assert y.tolist() == [1, 2, 0, 0] or (kind != "serial" and y.tolist() == [0, 0, 0, 0])
    assert x.tolist() == [1, 2, -3, 4]
    with pytest.raises(PasslineError, match=r"assertion failed at x\.mlir:9:5: x is positive"):
        interpret(module, entry_function(module, "main"))(x, y)
    main(np.array([1, 2, 3, 4]), y)
    assert y.tolist() == [1, 2, 3, 4]


VALUES = """
func.func @main(%x: memref<4xi64>, %y: memref<4xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0 : i64
  %f = arith.constant 0.0 : f32
  %sum, %g = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %zero, %h = %f) -> (i64, f32) {
    %v = memref.load %x[%i] : memref<4xi64>
    %ok = arith.cmpi sgt, %v, %zero : i64
    %r = scf.if %ok -> (i64) {
      scf.yield %v : i64
    } else {
      cf.assert %ok, "x is positive"
      %w = memref.load %x[%i] : memref<4xi64>
      scf.yield %w : i64
    }
    %t = arith.addi %s, %r : i64
    %n = arith.addf %h, %h : f32
    scf.yield %t, %n : i64, f32
  }
  memref.store %sum, %y[%c0] : memref<4xi64>
  func.return
}
"""


def test_values_that_blocks_return():
    main = compile_module(parsed(VALUES))
    y = np.zeros(4, np.int64)
    main(np.array([1, 2, 3, 4]), y)
    assert y[0] == 10
    assert "14:7" in fails(main, np.array([1, -2, 3, 4]), y)


WHILE = """
func.func @main(%x: memref<4xi64>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  scf.while () : () -> () {
    %v = memref.load %x[%c0] : memref<4xi64>
    %more = arith.cmpi ne, %v, %zero : i64
    scf.condition(%more)
  } do {
    func.call @step(%x) : (memref<4xi64>) -> ()
    scf.yield
  }
  func.return
}
func.func private @step(%x: memref<4xi64>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i64
  %v = memref.load %x[%c0] : memref<4xi64>
  %ok = arith.cmpi sge, %v, %one : i64
  cf.assert %ok, "x is positive"
  %w = arith.subi %v, %one : i64
  memref.store %w, %x[%c0] : memref<4xi64>
  func.return
}
"""


def test_a_while_loop_ends():
    """From a negative number it would never get to 0."""
    main = compile_module(parsed(WHILE))
    main(x := np.array([3, 0, 0, 0]))
    assert x[0] == 0
    assert fails(main, np.array([-3, 0, 0, 0])) == (
        "assertion failed at x.mlir:20:3: x is positive (called at x.mlir:10:5)"
    )


BLOCKS = """
func.func @main(%x: memref<4xi64>) {
  %c0 = arith.constant 0 : index
  %v = memref.load %x[%c0] : memref<4xi64>
  %zero = arith.constant 0 : i64
  %ok = arith.cmpi sge, %v, %zero : i64
  cf.cond_br %ok, ^more, ^end
^more:
  %less = arith.cmpi slt, %v, %zero : i64
  cf.assert %less, "x is negative"
  cf.br ^end
^end:
  memref.store %zero, %x[%c0] : memref<4xi64>
  func.return
}
"""


def test_functions_of_several_blocks():
    main = compile_module(parsed(BLOCKS))
    main(x := np.array([-3, 0, 0, 0]))
    assert x[0] == 0
    assert "x is negative" in fails(main, x := np.array([3, 0, 0, 0]))
    assert x[0] == 3


RESULTS = """
func.func @main(%x: memref<4xi64>, %y: memref<4xi64>) attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %t = memref.alloc() : memref<4xi64>
  %v = func.call @checked(%x) : (memref<4xi64>) -> i64
  %u = memref.alloc() : memref<8xi64>
  memref.store %v, %u[%c0] : memref<8xi64>
  memref.store %v, %t[%c0] : memref<4xi64>
  memref.dealloc %t : memref<4xi64>
  %w = func.call @checked(%y) : (memref<4xi64>) -> i64
  memref.store %v, %y[%c0] : memref<4xi64>
  memref.dealloc %u : memref<8xi64>
  func.return
}
func.func private @checked(%x: memref<4xi64>) -> i64 {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %v = memref.load %x[%c0] : memref<4xi64>
  %ok = arith.cmpi ne, %v, %zero : i64
  cf.assert %ok, "x is not 0"
  func.return %v : i64
}
"""


def test_buffers_are_freed():
    """Both ways out of the function free what it allocated, once."""
    module = parsed(RESULTS)
    report_assertions(module)
    main = entry_function(module, "main")
    assert isinstance(main, FuncOp)
    *_, normal, exit = [b for b in main.body.blocks if b.last_op and not b.last_op.successors]
    for block in (normal, exit):
        freed = [op.memref for op in block.ops if isinstance(op, memref.DeallocOp)]
        assert len(freed) == len({*freed}) == 2
    assert len([op for op in walk(main) if isinstance(op, memref.DeallocOp)]) == 4
    module.verify()


def test_assertions_share_what_they_free():
    """Of 20 sizes that are known at run time, 20 buffers are live at the end: each is freed once in
    its place, and once for all failures."""
    count = 20
    lines = [
        f"""  %a{i} = memref.alloc(%n) : memref<?xi64>
  %v{i} = func.call @checked(%x) : (memref<4xi64>) -> i64"""
        for i in range(count)
    ]
    lines += [f"  memref.dealloc %a{i} : memref<?xi64>" for i in range(count)]
    head = "func.func @main(%x: memref<4xi64>, %n: index) attributes {tir.outputs = 1 : i64} {"
    checked = RESULTS[RESULTS.index("func.func private") :]
    module = parsed("\n".join([head, *lines, "  func.return\n}", checked]))
    report_assertions(module)
    module.verify()
    main = entry_function(module, "main")
    frees = [op.memref for op in walk(main) if isinstance(op, memref.DeallocOp)]
    assert len(frees) == 2 * count and len({*frees}) == count


def test_functions_that_return_values():
    text = RESULTS.replace("func.call @checked(%y)", "func.call @checked(%x)")
    main = compile_module(parsed(text))
    assert main(np.array([5, 0, 0, 0]))[0][0] == 5
    assert "(called at x.mlir:5:8)" in fails(main, np.array([0, 0, 0, 0]))


def test_modules_without_assertions_are_not_changed():
    module = parsed("func.func @main(%x: memref<4xi64>) {\n  func.return\n}")
    before = str(module)
    assert not report_assertions(module)
    assert str(module) == before


BRANCH = """
func.func @main(%x: memref<4xi64>, %c: i1, %d: i1) {
  %i = arith.constant 0 : index
  %r = scf.if %c -> (memref<4xi64>) {
    cf.assert %d, "no"
    %t = memref.alloc() : memref<4xi64>
    "memref.copy"(%x, %t) : (memref<4xi64>, memref<4xi64>) -> ()
    scf.yield %t : memref<4xi64>
  } else {
    scf.yield %x : memref<4xi64>
  }
  %v = memref.load %r[%i] : memref<4xi64>
  %s = arith.addi %v, %v : i64
  memref.store %s, %x[%i] : memref<4xi64>
  func.return
}"""


def test_a_block_returns_a_buffer_after_an_assertion():
    main, x = compile_module(parsed(BRANCH)), np.array([1, 2, 3, 4])
    main(x, 1, 1)
    main(x, 0, 0)
    np.testing.assert_array_equal(x, [4, 2, 3, 4])
    with pytest.raises(PasslineError, match="assertion failed.*: no$"):
        main(x, 1, 0)
    np.testing.assert_array_equal(x, [4, 2, 3, 4])


def test_threads_do_not_disturb_each_other():
    main = compile_module(parsed(LOOP.replace("SIZE", "4").replace("KIND", "")))
    wrong: list[object] = []

    def call(good: bool) -> None:
        for _ in range(200):
            x, y = np.array([1, 2, 3 if good else -3, 4]), np.zeros(4, np.int64)
            try:
                main(x, y)
            except PasslineError as error:
                wrong.extend([str(error)] if good else [])
            else:
                wrong.extend([] if good and y[3] == 4 else ["no error"])

    threads = [threading.Thread(target=call, args=(i % 2 == 0,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# Recursion

RECURSION = """
func.func @main(%x: memref<4xi64>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i64
  %zero = arith.constant 0 : i64
  %v = memref.load %x[%c0] : memref<4xi64>
  %w = arith.subi %v, %one : i64
  memref.store %w, %x[%c0] : memref<4xi64>
  %more = arith.cmpi ne, %w, %zero : i64
  scf.if %more {
    func.call @other(%x) : (memref<4xi64>) -> ()
  }
  func.return
}
func.func private @other(%x: memref<4xi64>) {
  BUFFER
  func.call @main(%x) : (memref<4xi64>) -> ()
  func.return
}
"""


@pytest.mark.parametrize("buffer", ["", "%t = memref.alloca() : memref<100000xi64>"])
def test_recursion(buffer: str):
    """It may be as deep as the stack allows: 4 MiB."""
    main = compile_module(parsed(RECURSION.replace("BUFFER", buffer)))
    for _ in range(3):
        main(x := np.array([2 if buffer else 4000, 0, 0, 0]))
        assert x[0] == 0
    message = fails(main, x := np.array([-1, 0, 0, 0]))
    assert "nested too deeply" in message
    assert x[0] > -10_000
