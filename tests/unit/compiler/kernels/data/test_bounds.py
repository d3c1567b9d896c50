"""Indices from data that are out of bounds: kernels report them, and access nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support.native.needs_llvmlite import needs_native
from support.operations.evaluation import Array, constant, run
from support.operations.legalized import legalize, legalized, module_of
from support.parsing import parsed
from xdsl.dialects import cf
from xdsl.dialects.builtin import ModuleOp, f32, i8, i16, i32, i64
from xdsl.ir import Operation

from passline.compiler.interpreters.interpret import interpret
from passline.compiler.interpreters.signature import entry_function
from passline.compiler.native import compile_module
from passline.dialects.relax.data.indexing import (
    GatherNDOp,
    GatherOp,
    ScatterElementsOp,
    ScatterNDOp,
    TakeOp,
)
from passline.dialects.relax.data.manipulation import ReverseSequenceOp
from passline.dialects.relax.types import Element
from passline.passmanager import PassContext
from passline.passmanager.errors import PasslineError
from passline.passmanager.ir.walk import walk

DATA = np.arange(12, dtype=np.float32).reshape(3, 4)
ZEROS = np.zeros((1, 2), np.float32)

END = 2**63

OPERATIONS: dict[str, Callable[[Operation], Operation]] = {
    "relax.take": lambda i: TakeOp(constant(DATA, f32), i, axis=1, mode="raise"),
    "relax.take, flat": lambda i: TakeOp(constant(DATA[0], f32), i, mode="raise"),
    "relax.gather": lambda i: GatherOp(constant(DATA, f32), i, axis=1),
    "relax.gather_nd": lambda i: GatherNDOp(constant(DATA[[0, 1, 2, 0]].T, f32), i),
    "relax.scatter_elements": lambda i: ScatterElementsOp(
        constant(DATA, f32), i, constant(ZEROS, f32), axis=-1, reduction="add"
    ),
    "relax.scatter_nd": lambda i: ScatterNDOp(
        constant(DATA[[0, 1, 2, 0]].T, f32), i, constant(ZEROS[0, :1], f32)
    ),
}
"""Operations that take indices of shape 1x2, into dimensions of 4 elements."""

VALID = [(0, 3), (-4, -1), (2, -3)]
INVALID = [(0, 4), (4, 0), (-5, 0), (5, 5), (10**9, 0), (0, -(10**9)), (END - 1, 0), (-END, -1)]


def operation(name: str, indices: Array, element: Element = i64) -> Operation:
    return OPERATIONS[name](constant(indices, element))


def arguments(op: Operation) -> list[Array]:
    owners = [operand.owner for operand in op.operands]
    return [np.asarray(run(owner)) for owner in owners if isinstance(owner, Operation)]


@pytest.mark.parametrize("name", OPERATIONS)
def test_kernels_check_indices(name: str):
    template = operation(name, np.array([(0, 0)]))
    module = legalized(template)
    kernel, semantics = module_function(module), module_function(module_of([template]))
    for pair in VALID:
        given = arguments(operation(name, np.array([pair])))
        np.testing.assert_array_equal(kernel(*given)[0], semantics(*given)[0])
    for pair in INVALID:
        given = arguments(operation(name, np.array([pair])))
        with pytest.raises(PasslineError, match="out of bounds"):
            semantics(*given)
        with pytest.raises(PasslineError, match=f"{name.partition(',')[0]}: .*out of bounds"):
            kernel(*given)


@needs_native
def test_machine_code_checks_indices():
    """One module for all, compiled once."""
    templates = [operation(name, np.array([(0, 0)])) for name in OPERATIONS]
    module = module_of(templates)
    for number, name in enumerate(OPERATIONS):
        with PassContext(verify_each=False):
            function = compile_module(module, f"f{number}")
        semantics = module_function(module, f"f{number}")
        for pair in [*VALID, *INVALID, *VALID]:
            given = arguments(operation(name, np.array([pair])))
            if pair in VALID:
                np.testing.assert_array_equal(function(*given)[0], semantics(*given)[0])
            else:
                with pytest.raises(PasslineError, match=f"{name.partition(',')[0]}: .*bounds"):
                    function(*given)


@needs_native
@pytest.mark.parametrize("name", ["relax.scatter_elements", "relax.scatter_nd"])
def test_machine_code_writes_nothing(name: str):
    """Neither around the result, which is in the middle of an array of the caller, nor into it."""
    template = operation(name, np.array([(0, 0)]))
    kernel = f"fused_{name.removeprefix('relax.')}"
    with PassContext(verify_each=False):
        function = compile_module(legalized(template), kernel)
    for pair in INVALID:
        *_, data, indices, updates = arguments(operation(name, np.array([pair])))
        memory = np.full(3 * data.size, 7, np.float32)
        result = memory[data.size : 2 * data.size].reshape(data.shape)
        with pytest.raises(PasslineError, match="out of bounds"):
            function(data, indices, updates, result)
        assert (memory == 7).all()


def module_function(module: ModuleOp, name: str = "f0"):
    return interpret(module, entry_function(module, name))


@pytest.mark.parametrize("element", [i8, i16, i32], ids=str)
def test_narrow_indices(element: Element):
    module = legalized(operation("relax.gather", np.array([(0, 0)]), element))
    kernel = module_function(module)
    least = -(1 << element.bitwidth - 1)
    for value in (least, -least - 1, 4, -5):
        given = arguments(operation("relax.gather", np.array([(0, value)]), element))
        with pytest.raises(PasslineError, match="out of bounds"):
            kernel(*given)


def test_lengths_of_sequences():
    data = constant(DATA, f32)
    module = legalized(ReverseSequenceOp(data, constant([0, 0, 0], i64)))
    kernel, x = module_function(module), DATA
    (result,) = kernel(x, np.array([-END, 4, 1]))
    np.testing.assert_array_equal(result, np.stack([x[0], x[1, ::-1], x[2]]))
    with pytest.raises(PasslineError, match=r"reverse_sequence: a length exceeds the sequence"):
        kernel(x, np.array([0, 5, 0]))


def test_no_elements():
    """Nothing is checked of no indices, and each index of a dimension of size 0 is an error."""
    empty = GatherNDOp(constant(DATA, f32), constant(np.zeros((0, 2)), i64))
    assert not asserts(legalized(empty))
    module = legalized(GatherOp(constant(np.zeros((0, 4)), f32), constant([[0]], i64)))
    with pytest.raises(PasslineError, match="axis 0 with size 0"):
        module_function(module)(np.zeros((0, 4), np.float32), np.array([[0]]))


TAKE = """
func.func @main(%x: tensor<{size}xf32>, %i: tensor<?xi64>) -> tensor<?xf32> {{
  %0 = relax.take %x, %i {{axis = 0, mode = "{mode}"}}
      : (tensor<{size}xf32>, tensor<?xi64>) -> tensor<?xf32>
  func.return %0 : tensor<?xf32>
}}
"""


@needs_native
@pytest.mark.parametrize("size", ["?", 0])
@pytest.mark.parametrize("mode", ["clip", "wrap"])
def test_nothing_is_taken_of_no_elements(mode: str, size: int | str):
    """An index into no elements cannot be clipped: it fails. Without indices, nothing does."""
    data = np.zeros(0, np.float32)
    with PassContext(verify_each=False):
        function = compile_module(parsed(TAKE.format(size=size, mode=mode)))
    legalize(module := parsed(TAKE.format(size=size, mode=mode)))
    for compiled in (function, module_function(module, "main")):
        assert np.asarray(compiled(data, np.zeros(0, np.int64))[0]).size == 0
        with pytest.raises(PasslineError, match=r"relax\.take: axis 0 of the data has no elements"):
            compiled(data, np.array([0]))


def test_dimensions_are_checked_apart():
    module = legalized(GatherNDOp(constant(DATA, f32), constant([[0, 0]], i64)))
    kernel = module_function(module)
    assert kernel(DATA, np.array([[2, 3]]))[0] == 11
    with pytest.raises(PasslineError, match="for dimensions 3x4"):
        kernel(DATA, np.array([[3, 2]]))


# Constants


def asserts(module: ModuleOp) -> list[cf.AssertOp]:
    return [op for op in walk(module) if isinstance(op, cf.AssertOp)]


GATHER = """
func.func @main(%x: tensor<4xf32>) -> tensor<2xf32> {{
  %i = {indices} : tensor<2xi64>
  %0 = relax.gather %x, %i : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}}
"""


@pytest.mark.parametrize(
    "indices", ["relax.constant dense<[-4, 3]>", "relax.constant dense<3>", "relax.full -4"]
)
def test_constants_in_bounds_are_not_checked_at_run_time(indices: str):
    legalize(module := parsed(GATHER.format(indices=indices)))
    assert not asserts(module)


@pytest.mark.parametrize("indices", ["relax.constant dense<[-4, 4]>", "relax.full -5"])
def test_constants_out_of_bounds_are_warned_of(indices: str, capsys: pytest.CaptureFixture[str]):
    """They are an error at run time only, as the operation may never be executed."""
    legalize(module := parsed(GATHER.format(indices=indices)))
    assert "x.mlir:4:8: warning: 'relax.gather' op an index is out" in capsys.readouterr().err
    with pytest.raises(PasslineError, match="out of bounds"):
        interpret(module, entry_function(module, "main"))(DATA[0])


def test_a_constant_in_a_dimension_of_unknown_size_is_checked_at_run_time(
    capsys: pytest.CaptureFixture[str],
):
    text = GATHER.format(indices="relax.constant dense<[0, 1]>").replace("tensor<4x", "tensor<?x")
    legalize(module := parsed(text))
    assert asserts(module) and not capsys.readouterr().err
    kernel = interpret(module, entry_function(module, "main"))
    np.testing.assert_array_equal(kernel(DATA[0])[0], DATA[0, :2])
    with pytest.raises(PasslineError, match="out of bounds"):
        kernel(DATA[0, :1])


def test_a_kernel_that_is_shared_checks_what_one_call_needs():
    text = """
func.func @main(%x: tensor<4xf32>, %j: tensor<2xi64>) -> (tensor<2xf32>, tensor<2xf32>) {
  %i = relax.constant dense<[0, 1]> : tensor<2xi64>
  %0 = relax.gather %x, %i : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
  %1 = relax.gather %x, %j : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
  func.return %0, %1 : tensor<2xf32>, tensor<2xf32>
}
"""
    legalize(module := parsed(text))
    assert len(asserts(module)) == 1
    function = interpret(module, entry_function(module, "main"))
    with pytest.raises(PasslineError, match=r"at x\.mlir:4:8: .* \(called at x\.mlir:5:8\)"):
        function(DATA[0], np.array([0, 4]))


def test_a_public_function_may_be_called_with_other_constants():
    text = """
func.func @main(%x: tensor<4xf32>) -> tensor<2xf32> {
  %i = relax.constant dense<[0, 1]> : tensor<2xi64>
  %0 = func.call @f(%x, %i) : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
func.func VISIBILITY @f(%x: tensor<4xf32>, %i: tensor<2xi64>) -> tensor<2xf32>
    attributes {relax.primitive} {
  %0 = relax.gather %x, %i : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
"""
    for visibility, expected in (("private", 0), ("", 1)):
        legalize(module := parsed(text.replace("VISIBILITY", visibility)))
        assert len(asserts(module)) == expected


def test_indices_that_the_kernel_computes():
    """The check reads what the operation reads: the sum."""
    text = """
func.func @main(%x: tensor<4xf32>, %i: tensor<2xi64>) -> tensor<2xf32> {
  %0 = func.call @f(%x, %i) : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
func.func private @f(%x: tensor<4xf32>, %i: tensor<2xi64>) -> tensor<2xf32>
    attributes {relax.primitive} {
  %j = relax.add %i, %i : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %0 = relax.take %x, %j {mode = "raise"} : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
  %1 = relax.take %0, %j {mode = "raise"} : (tensor<2xf32>, tensor<2xi64>) -> tensor<2xf32>
  func.return %1 : tensor<2xf32>
}
"""
    legalize(module := parsed(text))
    function = interpret(module, entry_function(module, "main"))
    (result,) = function(DATA[0], np.array([0, -1]))
    np.testing.assert_array_equal(result, [0, 0])
    with pytest.raises(PasslineError, match="axis 0 with size 4"):
        function(DATA[0], np.array([0, 2]))
    with pytest.raises(PasslineError, match="axis 0 with size 2"):
        function(DATA[0], np.array([0, 1]))
