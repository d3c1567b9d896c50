"""tir-simplify: options, and random functions that compute the same afterwards."""

from __future__ import annotations

from dataclasses import fields
from random import Random

import numpy as np
import pytest
from support.loops import Indices
from support.passes.results import run

from passline.passes.tir.simplify import Simplify
from passline.passmanager import ConfigError, PassContext, PasslineError
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.ir.verifier import verify
from passline.passmanager.registry import make_ir_context

CHAIN = """
tir.prim_func @f(%A: memref<1xi1>, %i: index, %j: index, %k: index) {
  %c0 = arith.constant 0 : index
  %a = arith.cmpi slt, %i, %j : index
  %b = arith.cmpi slt, %j, %k : index
  %both = arith.andi %a, %b : i1
  scf.if %both {
    %c = arith.cmpi slt, %i, %k : index
    memref.store %c, %A[%c0] : memref<1xi1>
  }
}
"""


def test_options_through_the_context() -> None:
    ctx = make_ir_context()
    module = parse_module(ctx, CHAIN, "test.mlir")
    assert "slt, %i, %k" in str(Simplify()(module))
    option = {"tir.Simplify": {"transitively_prove_inequalities": True}}
    with PassContext(config=option):
        assert "slt, %i, %k" not in str(Simplify()(module))


def test_an_unknown_option() -> None:
    with pytest.raises(ConfigError, match="did you mean 'transitively-prove-inequalities'"):
        PassContext(config={"tir.Simplify": {"transitively_prove_inequality": True}})


@pytest.mark.parametrize("seed", range(24))
def test_random_functions_compute_the_same(seed: int) -> None:
    ctx = make_ir_context()
    module = parse_module(ctx, Indices(Random(seed), "main").text, "test.mlir")
    options = {f.name: bool(seed >> n & 1) for n, f in enumerate(fields(Simplify))}
    simplified = module.clone()
    Simplify(**options).apply(ctx, simplified)
    verify(simplified)
    again = simplified.clone()
    Simplify(**options).apply(ctx, again)
    assert again.is_structurally_equivalent(simplified)
    for inputs in range(2):
        given = [arguments(inputs), arguments(inputs)]
        with np.errstate(all="ignore"):
            try:
                run(module, "main", given[0])
            except PasslineError:
                continue
            run(simplified, "main", given[1])
        for expected, actual in zip(*given, strict=True):
            np.testing.assert_array_equal(np.asarray(actual), np.asarray(expected))


def arguments(seed: int) -> tuple[object, ...]:
    rng = np.random.default_rng(seed)
    return (
        rng.integers(0, 5, 64).astype(np.int32),
        rng.integers(0, 3, 4).astype(np.int32),
        int(rng.integers(-6, 9)),
        int(rng.integers(-3, 20)),
        np.asarray(rng.integers(-128, 128)).astype(np.int8),
        np.asarray(rng.integers(-128, 128)).astype(np.int8),
        bool(rng.integers(0, 2)),
    )
