"""Functions on a device, called with arrays of numpy and in device memory."""

from __future__ import annotations

import copy
import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.fake_cuda import FakeCuda
from support.suites.inprocess import capture
from xdsl.dialects.builtin import ModuleOp

import passline
from passline.compiler.gpu.build import cached_device_function, compile_for_device
from passline.compiler.gpu.device_arrays import DeviceArray
from passline.compiler.gpu.simulated import SimulatedDevice
from passline.passmanager.errors import PasslineError
from passline.tools.run import PasslineRunMain

Make = Callable[[], ModuleOp]
X = np.arange(37, dtype=np.float32)


class OtherArray:
    """An array of another library, in the memory of a device."""

    def __init__(self, array: DeviceArray) -> None:
        self.array = array
        self.streams: list[object] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()

    def __dlpack__(self, *, stream: int | None = None) -> object:
        self.streams.append(stream)
        return self.array.__dlpack__(stream=stream)

    @staticmethod
    def from_dlpack(array: DeviceArray) -> OtherArray:
        return OtherArray(array)

    def __array_namespace__(self) -> type[OtherArray]:
        return OtherArray


class Interface:
    """An array with CUDA's array interface alone."""

    def __init__(self, array: DeviceArray, strides: tuple[int, ...] | None = None) -> None:
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, "strides": strides}


def on_device(device: Any, values: np.ndarray[Any, Any]) -> DeviceArray:
    address = device.allocate(values.nbytes)
    device.upload(address, values)
    return DeviceArray(device, address, values.shape, values.dtype, None)


def test_numpy(add: Make):
    function = compile_for_device(add(), "main", None, SimulatedDevice(checked=True))
    assert function.returns_results and function.compile_seconds > 0
    for size in (37, 0, 1, 37):
        np.testing.assert_array_equal(function(X[:size])[0], 3 * X[:size])
    with pytest.raises(PasslineError, match="parameter 'x' is memref<.xf32>: expected float32"):
        function(X.astype(np.float64))


def test_device_arrays(cuda: FakeCuda, add: Make):
    device = cuda.device()
    function = compile_for_device(add(), "main", None, device)
    x = OtherArray(on_device(device, X))
    cuda.log()
    (y,) = function(x)
    assert isinstance(y, OtherArray) and x.streams == [device.stream]
    assert not [line for line in cuda.log() if "load" in line]  # neither upload nor download
    np.testing.assert_array_equal(y.array.numpy(), 3 * X)
    by_interface: Any = Interface(x.array)
    (z,) = function(by_interface)
    np.testing.assert_array_equal(z.numpy(), 3 * X)
    (v,) = function(y)  # a result as an argument
    np.testing.assert_array_equal(v.array.numpy(), 9 * X)


def test_other_streams_wait_for_a_result(cuda: FakeCuda, add: Make):
    device = cuda.device()
    (y,) = compile_for_device(add(), "main", None, device)(on_device(device, X))
    cuda.log()
    for stream in (None, -1, device.stream):
        y.__dlpack__(stream=stream)
    assert cuda.log() == []
    y.__dlpack__(stream=2)
    assert cuda.log() == ["wait in 2"]


def test_memory_of_a_capsule_is_freed(add: Make):
    device = SimulatedDevice()
    function = compile_for_device(add(), "main", None, device)
    free = device.free_bytes()
    (y,) = function(on_device(device, X))
    capsule = y.__dlpack__()
    assert capsule.__class__.__name__ == "PyCapsule"
    del y, capsule
    function.release()
    assert device.free_bytes() == free - X.nbytes  # the argument is the caller's


def test_results_in_given_memory(cuda: FakeCuda, add: Make):
    device = cuda.device()
    function = compile_for_device(add(), "main", None, device)
    out = on_device(device, np.zeros_like(X))
    function.write_into([out], [on_device(device, X)])
    np.testing.assert_array_equal(out.numpy(), 3 * X)
    array = np.zeros_like(X)
    function.write_into([array], [X])
    np.testing.assert_array_equal(array, 3 * X)
    with pytest.raises(PasslineError, match="is of 37: `out` is of 5"):
        function.write_into([on_device(device, X[:5])], [X])
    with pytest.raises(PasslineError, match="`out` for result .* float32 of 37x1: expected memref"):
        function.write_into([on_device(device, X[:, None])], [X])


def _with_gaps(x: DeviceArray) -> Interface:
    return Interface(x, (8,))


class Far(OtherArray):
    """An array on another device."""

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 3


def _of_integers(x: DeviceArray) -> DeviceArray:
    array = copy.copy(x)
    array.dtype, array.code = np.dtype(np.int32), 0
    return array


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (_with_gaps, "argument 'x' has gaps: expected contiguous elements"),
        (Far, "argument 'x' is on device 3 of DLPack's kind 2: expected simul"),
        (_of_integers, "parameter 'x' is memref<.xf32>: expected float32"),
    ],
)
def test_device_arrays_that_do_not_fit(add: Make, change: Callable[[DeviceArray], Any], text: str):
    device = SimulatedDevice()
    function = compile_for_device(add(), "main", None, device)
    with pytest.raises(PasslineError, match=text):
        function(change(on_device(device, X)))


def test_times(add: Make):
    function = compile_for_device(add(), "main", None, SimulatedDevice())
    times = function.step_times(X)
    assert [time.name for time in times] == ["add", "add"]
    assert times[1].where.endswith("add.mlir:11:3") and times[0].seconds > 0


def test_cache(add: Make, tmp_path: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("PASSLINE_CACHE_SIZE", raising=False)
    lowered: list[ModuleOp] = []

    def lower(module: ModuleOp) -> ModuleOp:
        lowered.append(module)
        return module

    for _ in range(2):
        function = cached_device_function(
            add(), "main", None, SimulatedDevice(), "test", lower=lower
        )
        np.testing.assert_array_equal(function(X)[0], 3 * X)
    assert len(lowered) == 1


def test_compile_on_an_engine(add: Make):
    function = passline.compile(add(), engine="cuda-interpreter", target="sm_80", level=None)
    np.testing.assert_array_equal(function(X)[0], 3 * X)
    np.testing.assert_array_equal(function({"x": X}, out=np.zeros_like(X))[0], 3 * X)
    assert function.engine == "cuda-interpreter"


NO_RANK = """\
func.func @main(%x: tensor<*xf32>) -> tensor<*xf32> {
  %0 = relax.exp %x : (tensor<*xf32>) -> tensor<*xf32>
  func.return %0 : tensor<*xf32>
}
"""


def test_a_function_without_a_program_runs_on_numpy(tmp_path: Path):
    with pytest.warns(RuntimeWarning, match="@main has no program for a GPU, and runs on numpy: "):
        function = passline.compile(NO_RANK, engine="cuda-interpreter")
    np.testing.assert_array_equal(function(X)[0], np.exp(X))
    (file := tmp_path / "m.mlir").write_text(NO_RANK)
    np.savez(tmp_path / "x.npz", x=np.zeros(2, np.float32))
    given = [str(file), "--engine=cuda-interpreter", "--inputs", str(tmp_path / "x.npz")]
    for more in ([], ["-O3", "--no-cache"]):
        result = capture(lambda more=more: PasslineRunMain([*given, *more]).run())
        assert result.status == 0 and result.stdout == "result0: float32 2\n[1. 1.]\n"
        assert "warning: @main has no program for a GPU" in result.stderr


def test_target_that_is_no_gpu(add: Make):
    text = "simulated .* cannot run code for x86-64-v3: expected sm_90"
    with pytest.raises(PasslineError, match=text):
        compile_for_device(add(), "main", passline.Target("x86-64-v3"), SimulatedDevice())


def test_simulated_device_without_memory(add: Make):
    function = compile_for_device(add(), "main", None, SimulatedDevice(memory=1000))
    with pytest.raises(PasslineError, match="too little memory: 1,024 bytes are needed, and 1,000"):
        function(np.zeros(200, np.float32))
    np.testing.assert_array_equal(function(X)[0], 3 * X)


def test_interruption_frees_simulated_memory(add: Make, monkeypatch: pytest.MonkeyPatch):
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    device = SimulatedDevice()
    free = device.free_bytes()
    function = compile_for_device(add(), "main", None, device)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("passline.compiler.gpu.simulated.launch", interrupt)
        function(X)
    assert device.free_bytes() == free
    np.testing.assert_array_equal(function(X)[0], 3 * X)


def test_addresses_of_arguments_are_passed_as_pointers():
    from passline.compiler.gpu.device import Address

    assert ctypes.sizeof(Address(2**63)) == 8 and Address(2**63).value == 2**63
