"""The "Python Sequential Example" of TVM's design document, as examples/sequential.py has it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp

from passline.dialects.relax.constant import ConstantOp
from passline.dialects.relax.elementwise.binary import AddOp
from passline.passmanager import PassContext

EXAMPLE = Path(__file__).parents[3] / "examples" / "sequential.py"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("sequential_example", EXAMPLE)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def body(module: ModuleOp) -> list[str]:
    """Return the names of the ops of the only function."""
    (func,) = module.ops
    assert isinstance(func, FuncOp)
    return [op.name.removeprefix("relax.") for op in func.body.block.ops]


def test_constant_part_is_one_constant_and_z1_is_merged_into_z(example: ModuleType) -> None:
    (func,) = example.main().ops
    assert isinstance(func, FuncOp)
    folded, c, y, z, z2, end = func.body.block.ops
    assert isinstance(folded, ConstantOp) and isinstance(c, ConstantOp)
    if folded.result in z.operands:
        folded, c = c, folded
    assert all(isinstance(add, AddOp) for add in (y, z, z2)) and isinstance(end, ReturnOp)
    assert list(y.operands) == [func.args[0], folded.result]
    assert list(z.operands) == [y.results[0], c.result]
    assert list(z2.operands) == [z.results[0], z.results[0]]
    original = np.frombuffer(c.value.data.data, np.float32)
    np.testing.assert_array_equal(
        np.frombuffer(folded.value.data.data, np.float32), (original + original) * 2
    )


def test_program_itself_is_left_alone(example: ModuleType) -> None:
    program = example.program()
    before = str(program)
    with PassContext(opt_level=3):
        example.pipeline(program)
    assert str(program) == before


def test_print_ir_shows_the_module_after_fold_constant(
    example: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    example.main()
    printed = capsys.readouterr().err
    assert printed.startswith("PrintIR():\nbuiltin.module {")
    assert "relax.multiply" not in printed
    assert printed.count("relax.add") == 4, "eliminate-common-subexpr has not run yet"


def test_disabled_pass_leaves_out_a_pass(example: ModuleType) -> None:
    with PassContext(opt_level=3, disabled_pass=["EliminateCommonSubexpr"]):
        assert body(example.pipeline(example.program())).count("add") == 4


def test_level_2_leaves_out_eliminate_common_subexpr(example: ModuleType) -> None:
    with PassContext(opt_level=2):
        assert body(example.pipeline(example.program())).count("add") == 4
