"""LegalizeOps: operations that are skipped, and legalizations for one call."""

from __future__ import annotations

import numpy as np
import pytest
from support.parsing import parsed
from support.passes.results import run
from xdsl.ir import Operation
from xdsl.utils.exceptions import PassFailedException

from passline.compiler.kernels.builder import Elements, KernelBuilder, Tensor
from passline.compiler.kernels.scalars import add
from passline.passes.relax.legalize_ops import LegalizeOps
from passline.passmanager import PassContext


def doubled(_: Operation, b: KernelBuilder, x: Tensor) -> Tensor:
    """A legalization that is not that of `relax.exp`."""
    return Elements(x.shape, x.element, lambda b, index: add(b, b.read(x, index), b.read(x, index)))


EXP = """
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = relax.exp %x : (tensor<3xf32>) -> tensor<3xf32>
  func.return %0 : tensor<3xf32>
}
"""


def test_a_legalization_for_one_call():
    module = parsed(EXP)
    x = np.array([1, 2, 3], np.float32)
    own = LegalizeOps(customize_legalize_map=(f"relax.exp={__name__}:doubled",))
    (found,) = run(own(module), "main", (x,))
    assert np.asarray(found).tolist() == [2, 4, 6]
    (found,) = run(LegalizeOps()(module), "main", (x,))  # the next call has those of the project
    np.testing.assert_allclose(np.asarray(found), np.exp(x), 1e-6)


def test_skipped_operations_break_no_promise():
    with PassContext(check_conditions="always"):
        LegalizeOps(skip_ops=("relax.exp",))(parsed(EXP))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"skip_ops": ("relax.expp",)},
            "skip-ops 'relax.expp': unknown operation 'relax.expp', did",
        ),
        ({"customize_legalize_map": ("relax.exp",)}, "as 'relax.exp=package.module:function'"),
        ({"customize_legalize_map": ("relax.ex=math:sin",)}, "unknown operation 'relax.ex', did"),
    ],
)
def test_wrong_operations(options: dict[str, tuple[str, ...]], message: str):
    with pytest.raises(PassFailedException) as caught:
        LegalizeOps(**options)(parsed(EXP))  # pyright: ignore[reportArgumentType]
    assert message in str(caught.value)
