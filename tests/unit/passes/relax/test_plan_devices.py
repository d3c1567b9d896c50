"""Devices planned: the fallback device, large programs, and operations of other projects."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import cast

import numpy as np
import pytest
from support.budget import some
from support.parsing import parsed
from support.passes.results import check_equal, run
from support.programs.relax_programs import random_program
from xdsl.dialects.builtin import (
    ArrayAttr,
    IndexType,
    IntegerType,
    ModuleOp,
    TensorType,
    UnitAttr,
    f32,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.scf import ForOp, IfOp, WhileOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def
from xdsl.rewriter import InsertPoint, Rewriter

from passline.compiler.analysis.devices import DEVICE
from passline.dialects.relax.closures import InvokeOp, LambdaOp
from passline.dialects.relax.device import DeviceAttr, DeviceCopyOp, OnDeviceOp
from passline.dialects.relax.interfaces import OnHost
from passline.dialects.relax.types import is_tensor
from passline.passes.relax.plan_devices import PlanDevices, plan_devices
from passline.passmanager import CollectingActions, ConfigError, DiagnosticError, PassContext
from passline.passmanager.ir.changes import Snapshot
from passline.passmanager.ir.text.parser import parse_module, split_chunks
from passline.passmanager.ir.verifier import verify
from passline.passmanager.ir.walk import walk
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import make_ir_context

FILECHECK = Path(__file__).parents[3] / "filecheck/passes/relax"
CASES = [FILECHECK / f"plan_devices{theme}.mlir" for theme in ("", "_control_flow")]
T = TensorType(f32, [2])
CPU, CUDA = DeviceAttr("cpu"), DeviceAttr("cuda")


def function(*lines: str) -> ModuleOp:
    text = "\n".join(["func.func @f(%x : tensor<2xf32>) -> tensor<2xf32> {", *lines, "}"])
    return parsed(text)


def parameters(module: ModuleOp, name: str = "f") -> list[DeviceAttr]:
    """Return the devices of the parameters and results of a function."""
    func = next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == name)
    entries = [*(func.arg_attrs or ()), *(func.res_attrs or ())]
    devices = [entry.data.get("relax.device") for entry in entries]
    return [device for device in devices if isinstance(device, DeviceAttr)]


def copies(module: ModuleOp) -> int:
    return sum(isinstance(op, DeviceCopyOp) for op in walk(module))


def plan(module: ModuleOp, fallback: DeviceAttr = CUDA) -> int:
    """Plan, without an error; return the number of copies."""
    plan_devices(module, fallback, recorder := CollectingActions())
    assert not recorder.errors
    verify(module)
    return recorder.counts["copies"]


@pytest.mark.parametrize(("given", "device"), [(2, "cuda"), ("vulkan", "vulkan"), (1, "cpu")])
def test_the_fallback_device_is_a_name_or_a_number(given: object, device: str):
    with PassContext(config={"relax.fallback_device_type": given}):
        module = PlanDevices()(function("return %x : tensor<2xf32>"))
    assert parameters(module) == [DeviceAttr(device)] * 2


def test_the_fallback_device_is_the_cpu_unless_it_is_set():
    assert parameters(PlanDevices()(function("return %x : tensor<2xf32>"))) == [CPU] * 2


@pytest.mark.parametrize("wrong", [77, "gpu", True, -1])
def test_a_fallback_device_that_there_is_not(wrong: object):
    with pytest.raises(ConfigError, match="expected one of cpu, cuda"):
        PassContext(config={"relax.fallback_device_type": wrong})


def test_the_option_is_listed():
    assert PassContext.list_configs()["relax.fallback_device_type"]["type"] == "DeviceType"


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_second_run_changes_nothing(path: Path):
    for chunk, line in split_chunks(path.read_bytes()):
        module = parse_module(make_ir_context(), chunk.decode(), str(path), line_offset=line)
        plan(module)
        snapshot = Snapshot(module)
        assert plan(module) == 0
        assert not snapshot.update(), module


@pytest.mark.parametrize("n", [1555, 10_000])
def test_a_long_chain(n: int):
    lines = [
        f"%v{i + 1} = relax.add {f'%v{i}' if i else '%x'}, %x : "
        "(tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>"
        for i in range(n)
    ]
    annotated = (
        f"%r = relax.on_device %v{n} {{device = #relax.device<vulkan>}} : "
        "(tensor<2xf32>) -> tensor<2xf32>"
    )
    module = function(*lines, annotated, "return %r : tensor<2xf32>")
    assert plan(module) == 0
    assert parameters(module) == [DeviceAttr("vulkan")] * 2


def test_mutual_recursion_and_functions_before_their_callees():
    text = """
    func.func @f(%c : i1, %x : tensor<2xf32>) -> tensor<2xf32> {
      %0 = func.call @g(%c, %x) : (i1, tensor<2xf32>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }
    func.func @g(%c : i1, %x : tensor<2xf32>) -> tensor<2xf32> {
      %0 = scf.if %c -> (tensor<2xf32>) {
        %1 = func.call @f(%c, %x) : (i1, tensor<2xf32>) -> tensor<2xf32>
        scf.yield %1 : tensor<2xf32>
      } else {
        %2 = relax.on_device %x {device = #relax.device<metal>, constrain_result = true}
          : (tensor<2xf32>) -> tensor<2xf32>
        scf.yield %2 : tensor<2xf32>
      }
      return %0 : tensor<2xf32>
    }"""
    module = parsed(text)
    assert plan(module) == 0
    assert parameters(module) == parameters(module, "g") == [DeviceAttr("metal")] * 2


def test_a_contradiction_fails_the_pass_and_names_both_sites():
    module = parsed("""
        func.func @f(%x : tensor<2xf32> {relax.device = #relax.device<cuda>}) -> tensor<2xf32> {
          %0 = relax.device_copy %x {src = #relax.device<cpu>, dst = #relax.device<cuda>}
            : (tensor<2xf32>) -> tensor<2xf32>
          return %0 : tensor<2xf32>
        }""")
    with pytest.raises(DiagnosticError) as raised:
        PlanDevices()(module)
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.message.endswith(
        "copies from #relax.device<cpu> a value that is on #relax.device<cuda>"
    )
    (note,) = diagnostic.notes
    assert note.message == "'func.func' op has parameter 0 on #relax.device<cuda>"


# Random programs


def annotate(module: ModuleOp, random: Random) -> None:
    """Annotate some of the values of tensors in a module."""
    for op in [*walk(module)]:
        for result in op.results:
            if is_tensor(result.type) and random.random() < 0.2:
                device = DeviceAttr(random.choice(["cpu", "cuda", "vulkan"]))
                fixed, body = random.choice([(False, True), (True, True), (False, False)])
                annotation = OnDeviceOp(
                    result, device=device, constrain_result=fixed, constrain_body=body
                )
                result.replace_uses_with_if(
                    annotation.result, lambda use, new=annotation: use.operation is not new
                )
                Rewriter.insert_op(annotation, InsertPoint.after(op))


class Devices:
    """The device of each value, read by the rules of `plan_devices`; checks that each operation is
    on one device."""

    def __init__(self, module: ModuleOp) -> None:
        self.at: dict[SSAValue, Attribute] = {}
        self.default: Attribute = CUDA
        for op in walk(module):
            if isinstance(op, FuncOp):
                assert op.arg_attrs is not None and op.res_attrs is not None
                self.arguments(op.args, [entry.data.get(DEVICE) for entry in op.arg_attrs])
                self.default = op.res_attrs.data[0].data[DEVICE]
                self.block(op.body.block, [self.default])

    def arguments(self, values: Sequence[SSAValue], places: Sequence[Attribute | None]) -> None:
        for value, place in zip(values, places, strict=True):
            if place is not None and not isinstance(place, UnitAttr):
                self.at[value] = place

    def block(self, block: Block, ends: Sequence[Attribute | None]) -> list[Attribute | None]:
        """Return the devices of the terminator's operands, and check them against `ends`."""
        for op in block.ops:
            if op is not block.last_op:
                self.op(op)
        end = block.last_op
        assert end is not None
        given = [self.at.get(value) for value in end.operands[-len(ends) :]]
        assert all(e is None or g == e for g, e in zip(given, ends, strict=True)), end
        return given

    def op(self, op: Operation) -> None:
        operands = [self.at[value] for value in op.operands if value in self.at]
        match op:
            case OnDeviceOp():
                self.at[op.result] = op.device
                self.at[op.input] = op.device
            case DeviceCopyOp():
                assert self.at[op.input] == op.src, op
                self.at[op.result] = op.dst
            case LambdaOp():
                self.at[op.result] = op.attributes[DEVICE]
                arguments, results = self.parts(op.result)
                self.arguments(op.body.block.args, arguments)
                outer, self.default = self.default, results[0]
                self.block(op.body.block, results)
                self.default = outer
            case InvokeOp():
                arguments, results = self.parts(op.callee)
                assert [self.at[value] for value in op.arguments] == arguments, op
                self.arguments(op.res, results)
            case IfOp():
                first = self.block(op.true_region.block, [None] * len(op.results))
                self.block(op.false_region.block, first)
                self.arguments(op.results, first)
            case ForOp():
                places = [self.at[value] for value in op.iter_args]
                self.arguments(op.body.block.args[1:], places)
                self.arguments(op.results, self.block(op.body.block, places))
            case WhileOp():
                places = [self.at[value] for value in op.arguments]
                self.arguments(op.before_region.block.args, places)
                passed = self.block(op.before_region.block, [None] * len(op.results))
                self.arguments(op.after_region.block.args, passed)
                self.arguments(op.results, passed)
                self.block(op.after_region.block, places)
            case _:
                assert len(set(operands)) <= 1, op
                for result in op.results:
                    if not isinstance(result.type, IndexType | IntegerType):
                        self.at[result] = operands[0] if operands else self.annotated(result)

    def parts(self, function: SSAValue) -> list[list[Attribute]]:
        """Return the devices of the arguments and of the results of a function."""
        parts = cast(ArrayAttr[ArrayAttr[Attribute]], self.at[function])
        return [[*part] for part in parts]

    def annotated(self, value: SSAValue) -> Attribute:
        """Return the device of a source: the annotated one, or that of the function's result."""
        users = [use.operation for use in value.uses]
        return next((user.device for user in users if isinstance(user, OnDeviceOp)), self.default)


@pytest.mark.parametrize("seed", some(range(25), 2))
def test_in_random_programs_each_operation_is_on_one_device(seed: int):
    ctx = make_ir_context()
    module = parse_module(ctx, random_program(seed), "random.mlir")
    with PassContext(opt_level=4):
        parse_pipeline("to-a-normal-form").apply(ctx, module)
    annotate(module, Random(seed))
    before = module.clone()
    plan(module)
    Devices(module)
    snapshot = Snapshot(module)
    assert plan(module) == 0
    assert not snapshot.update()
    tensors = [np.arange(n, dtype=np.float32) - 1.5 for n in (1, 4, 4)]
    for condition in (True, False):
        arguments = (*tensors, condition)
        check_equal(run(module, "main", arguments), run(before, "main", arguments))


@irdl_op_definition
class LengthOp(OnHost, IRDLOperation):
    """An operation of another project, whose result is on the host."""

    name = "other.length"

    input = operand_def(T)
    result = result_def(T)

    def host_results(self) -> Sequence[int]:
        return (0,)


def test_an_operation_of_another_project_takes_part():
    block = Block(arg_types=[T])
    length = LengthOp.create(operands=block.args, result_types=[T])
    block.add_ops([length, ReturnOp(length)])
    module = ModuleOp([FuncOp("f", ([T], [T]), Region(block))])
    assert plan(module) == 0
    assert parameters(module) == [CPU, CPU]
