"""Machine code for named targets: what this machine can run, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.native.needs_llvmlite import needs_native
from support.parsing import parsed
from xdsl.dialects.builtin import ModuleOp

from passline.compiler.interpreters.interpret import interpret
from passline.compiler.interpreters.signature import entry_function
from passline.compiler.native import compile_module, function
from passline.dialects.target import NAMED, Target, host, set_target
from passline.passmanager.errors import PasslineError

pytestmark = needs_native

NETWORK = """
!x = tensor<1x3x9x11xf32>
!w = tensor<5x3x3x3xf32>
!c = tensor<1x5x9x11xf32>
!r = tensor<1x5x99xf32>
!m = tensor<99x7xf32>
!y = tensor<1x5x7xf32>
func.func @main(%x: !x, %w: !w, %m: !m) -> !y {
  %0 = relax.nn.conv2d %x, %w {padding = [1, 1]} : (!x, !w) -> !c
  %1 = relax.tanh %0 : (!c) -> !c
  %2 = relax.reshape %1 {newshape = [1, 5, 99]} : (!c) -> !r
  %3 = relax.matmul %2, %m : (!r, !m) -> !y
  %4 = relax.nn.softmax %3 {axis = 2 : i64} : (!y) -> !y
  func.return %4 : !y
}
"""


def is_runnable(target: Target) -> bool:
    same = target.triple.partition("-")[0] == host().triple.partition("-")[0]
    return same and target.wants <= host().wants


@pytest.mark.parametrize("name", NAMED)
def test_code_for_a_target_computes_the_same(name: str):
    target = NAMED[name]
    if not is_runnable(target):
        pytest.skip(f"this machine cannot run code for {name}")
    check(network(), target)


def network() -> ModuleOp:
    return parsed(NETWORK)


def check(module: ModuleOp, target: Target | None = None) -> None:
    """Compare the machine code of a network with the interpreter."""
    rng = np.random.default_rng(0)
    shapes = [(1, 3, 9, 11), (5, 3, 3, 3), (99, 7)]
    arrays = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    (expected,) = interpret(module, entry_function(module, "main"))(*arrays)
    (result,) = compile_module(module, target=target)(*arrays)
    np.testing.assert_allclose(result, np.asarray(expected), rtol=1e-4, atol=1e-6, strict=True)


def test_a_module_with_the_target_of_another_machine_runs():
    module = network()
    set_target(module, NAMED["aarch64"])
    check(module)


def test_code_for_another_architecture_is_refused():
    other = replace(host(), triple="sparc-unknown-linux")
    with pytest.raises(PasslineError, match=r"this machine \(\w+\) cannot run code for sparc"):
        function.check_runnable(other)


def test_code_that_needs_more_features_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(function, "host", lambda: NAMED["x86-64-v2"])
    with pytest.raises(PasslineError, match="cannot run code for x86-64-v3: it lacks avx, avx2, "):
        function.check_runnable(NAMED["x86-64-v3"])
    function.check_runnable(NAMED["x86-64"])
