"""Dense analyses: what holds before and after operations."""

from __future__ import annotations

from xdsl.dialects.test import TestOp
from xdsl.ir import Operation

from passline.passmanager import DenseBackwardAnalysis, DenseForwardAnalysis
from passline.passmanager.ir.walk import walk

from .test_sparse import parse

Names = frozenset[str]


def name(op: Operation) -> str:
    """Return the name that a test gives to an operation."""
    return next((str(key) for key in op.attributes), "")


class Past(DenseForwardAnalysis[Names]):
    """The operations that may have run before."""

    def join(self, a: Names, b: Names) -> Names:
        return a | b

    def boundary(self) -> Names:
        return frozenset()

    def transfer(self, op: Operation, state: Names) -> Names:
        return state | {name(op)} if isinstance(op, TestOp) else state


class Future(DenseBackwardAnalysis[Names]):
    """The operations that may run after."""

    def join(self, a: Names, b: Names) -> Names:
        return a | b

    def boundary(self) -> Names:
        return frozenset()

    def transfer(self, op: Operation, state: Names) -> Names:
        return state | {name(op)} if isinstance(op, TestOp) else state


TEXT = """
func.func @f(%c: i1, %n: index) {
  "test.op"() {a} : () -> ()
  scf.if %c {
    "test.op"() {b} : () -> ()
  }
  scf.for %i = %n to %n step %n {
    "test.op"() {d} : () -> ()
    "test.op"() {e} : () -> ()
  }
  func.call @g() : () -> ()
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  "test.op"() {f} : () -> ()
  cf.br ^bb2
^bb2:
  "test.op"() {h} : () -> ()
  func.return
^bb3:
  "test.op"() {never} : () -> ()
  func.return
}
func.func private @g() {
  "test.op"() {g} : () -> ()
  func.return
}
"""


def test_forward() -> None:
    module = parse(TEXT)
    past = Past(module)
    found = {name(op): past.before(op) for op in walk(module) if isinstance(op, TestOp)}
    assert {key: None if s is None else "".join(sorted(s)) for key, s in found.items()} == {
        "a": "",
        "b": "a",
        "d": "abde",
        "e": "abde",
        "f": "abdeg",
        "h": "abdefg",
        "never": None,
        "g": "abde",
    }


def test_backward() -> None:
    module = parse(TEXT)
    future = Future(module)
    found = {name(op): future.state(op) for op in walk(module) if isinstance(op, TestOp)}
    assert {key: "".join(sorted(s or ())) for key, s in found.items() if key != "never"} == {
        "a": "abdefgh",
        "b": "bdefgh",
        "d": "defgh",
        "e": "defgh",
        "f": "fh",
        "h": "h",
        "g": "fgh",
    }
