"""Assertions that fail on the interpreter."""

from __future__ import annotations

import numpy as np
import pytest
from support.parsing import parsed

from passline.compiler.interpreters.interpret import interpret
from passline.compiler.interpreters.signature import entry_function
from passline.compiler.interpreters.xdsl_interpreter import assertion_text
from passline.passmanager.errors import PasslineError

TEXT = """
tir.prim_func @main(%x: memref<2xf32>, %ok: i1) attributes {tir.outputs = 0 : i64} {
  tir.call @other(%x, %ok) : memref<2xf32>, i1
  tir.call @other(%x, %ok) : memref<2xf32>, i1
}
tir.prim_func private @other(%x: memref<2xf32>, %ok: i1) {
  cf.assert %ok, "it holds"
}
"""


def test_the_location_is_that_of_the_assertion_and_of_the_call():
    module = parsed(TEXT)
    main = interpret(module, entry_function(module, "main"))
    x, message = np.zeros(2, np.float32), r"assertion failed at x\.mlir:7:3: it holds \(called at "
    for _ in range(2):  # a failure leaves nothing behind for the next call
        with pytest.raises(PasslineError, match=message + r"x\.mlir:3:3\)"):
            main(x, np.asarray(False))
        main(x, np.asarray(True))


def test_an_assumption_that_does_not_hold():
    module = parsed(
        "tir.prim_func @main(%ok: i1) attributes {tir.outputs = 0 : i64} {\n  tir.assume %ok\n}"
    )
    main = interpret(module, entry_function(module, "main"))
    main(np.asarray(True))
    with pytest.raises(PasslineError, match="what tir.assume says does not hold"):
        main(np.asarray(False))


def test_without_locations():
    assert assertion_text("it holds", None) == "assertion failed: it holds"
