"""The conditions of the compiler's passes: what they say, and that a pass refuses without them."""

from __future__ import annotations

import numpy as np
import pytest
from support.native.needs_llvmlite import needs_native
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException

import passline
from passline.passmanager import ConditionError, PassContext, PasslineError
from passline.passmanager.context import ConditionMode
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import make_ir_context

TENSORS = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}"""
GRAPH = """
func.func @main(%x: tensor<4xf32>) -> tensor<f32> {
  %0 = relax.graph -> tensor<4xf32> {
    %1 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    relax.output %1 : tensor<4xf32>
  }
  %2 = relax.sum %0 : (tensor<4xf32>) -> tensor<f32>
  func.return %2 : tensor<f32>
}"""
UNRANKED = "func.func @main(%x: tensor<*xf32>) { func.return }"
LOOP = """
tir.prim_func @f(%x: memref<8xf32>, %y: f32, %n: index) {{
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  tir.for {kind} %i = %c0 extent {extent} {{
    %0 = memref.alloc() : memref<f32>
    memref.store %y, %0[] : memref<f32>
    %1 = memref.load %0[] : memref<f32>
    memref.store %1, %x[%i] : memref<8xf32>
  }}
}}"""
VECTORIZED = LOOP.format(kind="vectorized", extent="%c8")
THREADS = LOOP.format(kind='thread_binding "threadIdx.x"', extent="%c8")
SCF = """
tir.prim_func @f(%c: i1, %x: memref<f32>, %y: f32) {
  scf.if %c {
    memref.store %y, %x[] : memref<f32>
  }
}"""


def ignore(diagnostics: object) -> None:
    """Show no diagnostics."""


def run(text: str, pipeline: str, mode: ConditionMode) -> ModuleOp:
    module = passline.load(text)
    with PassContext(opt_level=4, check_conditions=mode, renderer=ignore):
        parse_pipeline(pipeline).apply(make_ir_context(), module)
    return module


@table_test(
    ("text", "pipeline", "condition", "advice"),
    [
        (TENSORS, "plan-memory", "legalized", "run legalize-ops first"),
        (UNRANKED, "plan-memory", "bufferizable", ""),
        (GRAPH, "gradient", "a-normal-form", "run to-a-normal-form first"),
        (VECTORIZED, "tir-storage-rewrite", "no-vectorized-loops", "run tir-vectorize-loop first"),
        (
            LOOP.format(kind="vectorized", extent="%n"),
            "tir-vectorize-loop",
            "vectorizable-loops",
            "",
        ),
        (LOOP.format(kind="unrolled", extent="%n"), "tir-unroll-loop", "unrollable-loops", ""),
        (THREADS, "lower-tir", "on-a-processor", ""),
        (TENSORS, "lower-func", "llvm-signatures", ""),
        (SCF, "lower-scf", "no-scf-in-prim-funcs", ""),
    ],
)
def test_a_pass_refuses_what_its_condition_says(
    text: str, pipeline: str, condition: str, advice: str
) -> None:
    with pytest.raises(ConditionError) as caught:
        run(text, pipeline, "changed")
    assert f"requires '{condition}'" in caught.value.message
    assert caught.value.advice == advice and caught.value.op is not None
    with pytest.raises((PasslineError, DiagnosticException)) as caught_without:
        run(text, pipeline, "never")
    assert not isinstance(caught_without.value, ConditionError)


@table_test(
    ("text", "pipeline"),
    [
        (TENSORS, "legalize-ops,plan-memory,lower-tir,lower-func"),
        (GRAPH, "to-a-normal-form,gradient,legalize-ops,plan-memory"),
        (VECTORIZED, "tir-vectorize-loop,tir-storage-rewrite"),
        (VECTORIZED.replace("%c8 {", "%n {"), "tir-vectorize-loop{enable-vectorize=false}"),
        (SCF, "lower-tir,lower-scf"),
        (TENSORS, "optimize,lower-to-tir,lower-to-mlir,lower-to-llvm"),
    ],
)
def test_what_establishes_a_condition_makes_it_hold(text: str, pipeline: str) -> None:
    run(text, pipeline, "always")


def test_legalize_ops_says_what_it_would_leave() -> None:
    with pytest.raises(ConditionError, match="requires 'a-normal-form'") as caught:
        run(GRAPH, "legalize-ops", "changed")
    assert caught.value.advice == "run to-a-normal-form first"
    with pytest.raises(PasslineError, match="run to-a-normal-form and legalize-ops first"):
        run(GRAPH, "legalize-ops,plan-memory", "never")


def test_simplify_inference_leaves_the_functions_that_fusion_made() -> None:
    text = """
    func.func private @p(%x: tensor<1x2xf32>, %y: tensor<2xf32>) -> tensor<1x2xf32>
        attributes {relax.primitive} {
      %0 = relax.nn.batch_norm %x, %y, %y, %y, %y : (tensor<1x2xf32>, tensor<2xf32>,
          tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
      func.return %0 : tensor<1x2xf32>
    }"""
    run(text, "simplify-inference", "always")
    assert "batch_norm" not in str(
        run(text.replace("attributes {relax.primitive}", ""), "simplify-inference", "always")
    )


@needs_native
@table_test("level", [0, 2])
def test_a_dataflow_graph_has_machine_code(level: int) -> None:
    with PassContext(opt_level=level):
        function = passline.compile(passline.load(GRAPH))
    (result,) = function(np.zeros(4, "f4"))
    assert result == 4
