"""The nine real models that come with onnx, with seeded weights, against onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.models.kernels import count_kernels
from support.models.onnxruntime_reference import run_onnxruntime
from support.models.seeded import NAMES, Array, light_path, random_input, seeded
from support.suites.inprocess import capture
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from passline.compiler.frontends.onnx import import_model
from passline.compiler.interpreters.interpret import interpret
from passline.compiler.interpreters.signature import entry_function
from passline.dialects.relax.contraction.convolution import Conv2dOp
from passline.dialects.relax.data.manipulation import LayoutTransformOp
from passline.dialects.relax.types import shape_of, tensor_type
from passline.passes import OPTIMIZE
from passline.passmanager import PassContext, PassInfo, PassInstrument
from passline.passmanager.ir.changes import Snapshot
from passline.passmanager.ir.walk import walk
from passline.passmanager.pipeline import parse_pipeline
from passline.tools.run import PasslineRunMain, save_arrays

QUICK = ("resnet50", "shufflenet", "squeezenet")
SEEDS = (0, 1, 2)
TOLERANCE = 1e-4  # of the standard deviation of the logits


def cases() -> list[object]:
    """Return each model with each seed; only `make test-models` runs the slow models."""
    return [
        pytest.param(name, seed, marks=[] if name in QUICK else pytest.mark.models)
        for name in NAMES
        for seed in SEEDS
    ]


@pytest.mark.parametrize(("name", "seed"), cases())
def test_run_agrees_with_onnxruntime(name: str, seed: int, tmp_path: Path):
    model = seeded(name, seed)
    (file := tmp_path / f"{name}.onnx").write_bytes(model.SerializeToString())
    inputs = random_input(model, seed)
    save_arrays(str(tmp_path / "x.npz"), inputs)
    args = [str(file), "--inputs", str(tmp_path / "x.npz"), "--outputs", str(tmp_path / "y.npz")]
    result = capture(lambda: PasslineRunMain(args=args).run())
    assert result.status == 0, result.stderr

    expected = run_onnxruntime(file, inputs)
    with np.load(tmp_path / "y.npz") as outputs:
        actual = [outputs[key] for key in outputs.files]
    assert len(actual) == len(expected)
    logits = expected[-1]
    assert logits.std() > 1e-3  # else nothing is compared
    assert np.abs(actual[-1] - logits).max() < TOLERANCE * logits.std()


KERNELS = {
    "bvlc_alexnet": 14,
    "densenet121": 188,
    "inception_v1": 66,
    "inception_v2": 76,
    "resnet50": 57,
    "shufflenet": 75,
    "squeezenet": 31,
    "vgg19": 25,
    "zfnet512": 14,
}
"""The number of kernels when grouped by hand: one for each convolution, or group of parallel ones,
with all operations that can be fused into it, for the parts of the result of such a group, for each
pooling, product and softmax, for each concatenation that is not in place with the element-wise
operations after it, and the like."""


def optimized(module: ModuleOp, *instruments: PassInstrument) -> ModuleOp:
    with PassContext(opt_level=3, instruments=instruments):
        return parse_pipeline(",".join(OPTIMIZE))(module)


@pytest.mark.parametrize("name", NAMES)
def test_kernels(name: str, tmp_path: Path):
    file = light_path(name)
    if name == "inception_v2":  # its weights are all alike: they cancel, and scales are not folded
        (file := tmp_path / f"{name}.onnx").write_bytes(seeded(name, 0).SerializeToString())
    assert count_kernels(optimized(import_model(file))) <= KERNELS[name]


class LogitsAfterEachPass(PassInstrument):
    """An instrument that records the error of the logits after each pass; it runs the model
    again only if the pass changed it."""

    def __init__(self, inputs: dict[str, Array], logits: Array) -> None:
        self.inputs, self.logits = [*inputs.values()], logits
        self.snapshot: Snapshot | None = None
        self.errors: list[tuple[str, float]] = []
        """Each pass with the largest error after it, in standard deviations of the logits."""

    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        if info.composite:
            return
        if self.is_changed(module):
            *_, actual = interpret(module, entry_function(module, "main"))(*self.inputs)
            difference = np.abs(np.asarray(actual) - self.logits).max() / self.logits.std()
            self.errors.append((info.text, float(difference)))
        else:
            self.errors.append((info.text, self.errors[-1][1]))

    def is_changed(self, module: ModuleOp) -> bool:
        if self.snapshot is None:
            self.snapshot = Snapshot(module)
            return True
        return bool(self.snapshot.update())


@pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.models) for n in NAMES]
)
def test_every_pass_keeps_the_logits(name: str, tmp_path: Path):
    """Check the error of the logits after each pass.

    `make test-models` shows the errors printed here, in standard deviations.
    """
    model = seeded(name, 3)
    (file := tmp_path / f"{name}.onnx").write_bytes(model.SerializeToString())
    inputs = random_input(model, 3)
    check = LogitsAfterEachPass(inputs, run_onnxruntime(file, inputs)[-1])
    module = optimized(import_model(file), check)
    for text, error in check.errors:
        print(f"{name:14} {error:.1e} after {text}")
    assert len(check.errors) >= len(OPTIMIZE)
    assert not [error for error in check.errors if error[1] >= TOLERANCE]
    assert count_kernels(module) <= KERNELS[name]


TRANSFORMS = {
    "bvlc_alexnet": 4,
    "densenet121": 3,
    "inception_v1": 5,
    "shufflenet": 41,
    "zfnet512": 4,
}
"""The largest number of layout transformations left; 2 for the other models: of the image, and
before the flattening. In a blocked layout there are two more around each LRN; a concatenation has
an operand from the first convolution, whose channels cannot be split; inception_v1 branches after
an LRN. Shufflenet reshapes channels."""


@pytest.mark.parametrize("layout", ["NHWC", "NCHW4c"])
@pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.models) for n in NAMES]
)
def test_layouts(name: str, layout: str, tmp_path: Path):
    model = seeded(name, 4)
    (file := tmp_path / f"{name}.onnx").write_bytes(model.SerializeToString())
    inputs = random_input(model, 4)
    *before, fuse = OPTIMIZE
    with PassContext(opt_level=3):
        pipeline = ",".join([*before, f"convert-layout{{desired=relax.nn.conv2d:{layout}}}", fuse])
        module = parse_pipeline(pipeline)(import_model(file))
    assert not [op for op in walk(module) if is_conv_of_another_layout(op, layout)]
    transforms = [op for op in walk(module) if isinstance(op, LayoutTransformOp)]
    assert len(transforms) <= TRANSFORMS.get(name, 2)
    *_, actual = interpret(module, entry_function(module, "main"))(*inputs.values())
    logits = run_onnxruntime(file, inputs)[-1]
    assert np.abs(np.asarray(actual) - logits).max() < TOLERANCE * logits.std()


def is_conv_of_another_layout(op: Operation, layout: str) -> bool:
    """Return whether `op` is a convolution that could have the layout, but has another one."""
    if not isinstance(op, Conv2dOp) or op.data_layout == layout:
        return False
    weight = shape_of(tensor_type(op.weight))
    assert weight is not None
    return layout == "NHWC" or not any(channels % 4 for channels in weight[:2])
