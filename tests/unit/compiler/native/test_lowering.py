"""The completion of lowering: modules from each stage, and messages about what has no kernel."""

from __future__ import annotations

from functools import cache
from random import Random

import numpy as np
import pytest
from support.budget import some
from support.missing import hide
from support.native.needs_llvmlite import needs_native
from support.networks import Network, distance_in, random_network
from support.parsing import parsed
from xdsl.dialects.builtin import ModuleOp

from passline.compiler.native import compile_module
from passline.compiler.native.lowering import NECESSARY, complete_lowering
from passline.dialects.target import NAMED, Target, host
from passline.passes import LOWER_TO_MLIR, LOWER_TO_TIR, OPTIMIZE
from passline.passmanager import PassContext, PasslineError
from passline.passmanager.instrument import PassInstrument
from passline.passmanager.ir.text.printer import module_text
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import make_ir_context

PASSES = (*OPTIMIZE, *LOWER_TO_TIR, *LOWER_TO_MLIR)
STAGES = some([0, *range(PASSES.index("fuse-ops") + 1, len(PASSES) + 1)], 3)

NO_LLVMLITE = r"llvmlite is not installed: pip install .*\[native\]'"


@cache
def network() -> Network:
    return random_network(Random(7), parts=3)


@pytest.mark.parametrize("count", STAGES, ids=[PASSES[n - 1] if n else "import" for n in STAGES])
@needs_native
def test_a_module_is_compiled_from_any_stage(count: int):
    module = network().module.clone()
    with PassContext(opt_level=3):
        parse_pipeline(",".join(PASSES[:count])).apply(make_ir_context(), module)
    text = module_text(module, make_ir_context())
    native = compile_module(parsed(text))
    assert distance_in(network(), native(*network().arguments)) is None


class Names(PassInstrument):
    """The names of the passes that run."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def run_before_pass(self, module: ModuleOp, info: object) -> None:
        self.names.append(getattr(info, "name", ""))


def passes_after(*passes: str) -> list[str]:
    """Return the passes that complete the lowering of a function after `passes`."""
    module = parsed("""func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
      func.return %0 : tensor<4xf32>
    }""")
    parse_pipeline(",".join(passes)).apply(make_ir_context(), module)
    with PassContext(opt_level=0, required_pass=NECESSARY, instruments=[names := Names()]):
        complete_lowering("main").apply(make_ir_context(), module)
    return names.names


def test_only_the_stages_that_are_left_run():
    tir = [name.partition("{")[0] for name in LOWER_TO_MLIR]
    start, to_tir, to_mlir = ["complete-lowering"], ["lower-to-tir"], ["lower-to-mlir"]
    kept = [*start, "remove-unused-functions", "tir-bind-target"]
    first, *others = LOWER_TO_TIR
    planned = [*to_tir, first, "infer-type", *others]
    assert passes_after() == [*kept, *planned, *to_mlir, *tir]
    assert passes_after("legalize-ops") == [*kept, *planned, *to_mlir, *tir]
    assert passes_after("lower-to-tir") == [*kept, *to_tir, *to_mlir, *tir]
    assert passes_after("lower-to-tir", "lower-tir") == start
    assert passes_after("legalize-ops", "lower-tir") == [*kept, *planned, *to_mlir, *tir]


def test_other_functions_need_no_machine_code():
    module = parsed("""
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { func.return %x : tensor<4xf32> }
    func.func @other(%x: tensor<?xf32>) -> tensor<?xf32> { func.return %x : tensor<?xf32> }
    """)
    with PassContext(opt_level=0):
        complete_lowering("main").apply(make_ir_context(), module)
    assert "@other" not in str(module)


@pytest.mark.parametrize(
    ("op", "types", "reason"),
    [
        (
            "reinterpret %f {dtype = i4}",
            "(tensor<4xf4E2M1FN>) -> tensor<4xi4>",
            "kernels do not compute with f4E2M1FN",
        ),
        (
            "dyn.reduce %x, %s",
            "(tensor<4xf64>, tensor<?xi64>) -> tensor<?xf64>",
            "the number of its parameters is not known",
        ),
    ],
)
def test_an_operation_without_a_kernel_is_named(op: str, types: str, reason: str):
    result = types.partition("-> ")[2]
    module = parsed(f"""func.func @main(
        %x: tensor<4xf64>, %f: tensor<4xf4E2M1FN>, %s: tensor<?xi64>) -> {result} {{
      %y = relax.{op} : {types}
      func.return %y : {result}
    }}""")
    shown: list[str] = []
    with PassContext(renderer=lambda found: shown.extend(map(str, found))):
        with pytest.raises(PasslineError):
            complete_lowering("main").apply(make_ir_context(), module)
    name = op.partition(" ")[0]
    expected = f"x.mlir:3:12: error: 'relax.{name}' op has no kernel: {reason}"
    assert expected in [text.partition("\n")[0] for text in shown]


@needs_native
def test_a_pass_that_is_disabled_is_missed():
    module = parsed(
        "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { func.return %x : tensor<2xf32> }"
    )
    with (
        PassContext(disabled_pass=["plan-memory"]),
        pytest.raises(
            PasslineError,
            match="@main at x.mlir:1:1 is on tensors: no pass has lowered it to buffers",
        ),
    ):
        compile_module(module)
    np.testing.assert_array_equal(compile_module(module)(np.ones(2, np.float32))[0], np.ones(2))


@pytest.fixture
def without_llvmlite(monkeypatch: pytest.MonkeyPatch):
    host.cache_clear()
    hide(monkeypatch, "llvmlite")


@pytest.mark.usefixtures("without_llvmlite")
def test_a_lowering_for_this_machine_needs_llvmlite():
    with pytest.raises(PasslineError, match=NO_LLVMLITE):
        complete_lowering("main")
    complete_lowering("main", NAMED["x86-64-v3"])


@pytest.mark.usefixtures("without_llvmlite")
@pytest.mark.parametrize("target", [None, NAMED["x86-64-v3"]])
def test_compilation_needs_llvmlite(target: Target | None, monkeypatch: pytest.MonkeyPatch):
    module = parsed("tir.prim_func @main(%x: memref<2xf32>) { }")
    with pytest.raises(PasslineError, match=NO_LLVMLITE):
        compile_module(module, target=target)


@needs_native
def test_devices_of_parameters_are_left_out():
    module = parsed(
        "func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {\n"
        "  %r = relax.abs %x : (tensor<1xf32>) -> tensor<1xf32>\n"
        "  return %r : tensor<1xf32>\n"
        "}\n"
    )
    parse_pipeline("plan-devices").apply(make_ir_context(), module)
    assert "relax.device" in str(module)
    (result,) = compile_module(module)(np.array([-2], np.float32))
    assert np.asarray(result).tolist() == [2]


@needs_native
def test_devices_of_functions_are_left_out():
    module = parsed(
        "func.func @main() -> tensor<1xf32>\n"
        "    attributes {relax.device = [[], [#relax.device<cpu>]]} {\n"
        "  %r = relax.full 2.0 : tensor<1xf32>\n"
        "  return %r : tensor<1xf32>\n"
        "}\n"
    )
    (result,) = compile_module(module)()
    assert np.asarray(result).tolist() == [2]
