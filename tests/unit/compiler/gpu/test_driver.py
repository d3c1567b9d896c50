"""CUDA's driver: each call has the right arguments, and each failure is one line."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.fake_cuda import FakeCuda
from support.suites.inprocess import capture
from xdsl.dialects.builtin import ModuleOp

from passline.compiler.gpu.build import compile_for_device
from passline.compiler.gpu.device import default_device
from passline.compiler.gpu.driver import DriverError, load_driver
from passline.tools.run import PasslineRunMain

Make = Callable[[], ModuleOp]
X = np.arange(37, dtype=np.float32)


def test_calls(cuda: FakeCuda, add: Make):
    device = cuda.device()
    assert (device.target, device.name, device.dlpack) == ("sm_90", "Fake", (2, 0))
    function = compile_for_device(add(), "main", None, device)
    np.testing.assert_array_equal(function(X)[0], 3 * X)
    launch = "launch 3 1 1 of 1 1 1, 37"
    calls = ["stream 0", "load cubin", "alloc 256", "upload 148", "alloc 256", "alloc 256"]
    assert cuda.log() == [*calls, launch, launch, "download 148"]
    np.testing.assert_array_equal(function(2 * X)[0], 6 * X)
    captured = ["stream 1", "capture 1", launch, launch]
    assert cuda.log() == ["upload 148", *captured, "graph of 2", "download 148"]
    np.testing.assert_array_equal(function(-X)[0], -3 * X)
    assert cuda.log() == ["upload 148", "graph of 2", "download 148"]


def test_other_sizes_are_another_plan(cuda: FakeCuda, add: Make):
    function = compile_for_device(add(), "main", None, cuda.device())
    for size in (37, 1, 16, 37):
        np.testing.assert_array_equal(function(X[:size])[0], 3 * X[:size])


def test_memory_is_freed(cuda: FakeCuda, add: Make):
    function = compile_for_device(add(), "main", None, cuda.device())
    function(X)
    cuda.log()
    del function
    assert sorted(cuda.log()) == ["free 256", "free 256", "free 256", "unload"]


def test_waits(cuda: FakeCuda, add: Make):
    cuda.set(busy=1000)
    np.testing.assert_array_equal(
        compile_for_device(add(), "main", None, cuda.device())(X)[0], 3 * X
    )


@pytest.mark.parametrize(
    ("pattern", "count", "expected"),
    [
        (b"\x07", 5, ["set8 5"]),
        (b"\x01\x02", 3, ["set16 3"]),
        (b"\x01\x02\x03\x04", 3, ["set32 3"]),
        (bytes(8), 3, ["set32 6"]),
        (bytes(range(8)), 3, ["upload 24"]),
    ],
)
def test_fill(cuda: FakeCuda, pattern: bytes, count: int, expected: list[str]):
    device = cuda.device()
    address = device.allocate(64)
    cuda.log()
    device.fill(address, pattern, count)
    assert cuda.log() == expected
    array = np.empty(len(pattern) * count, np.uint8)
    device.download(array, address)
    assert array.tobytes() == pattern * count


def test_events(cuda: FakeCuda, add: Make):
    device = cuda.device()
    assert device.seconds(device.event(), device.event()) == 2e-3
    times = compile_for_device(add(), "main", None, device).step_times(X)
    assert [(time.name, time.seconds) for time in times] == [("add", 2e-3)] * 2


# Errors


MODEL = """\
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
"""
FAILURES: dict[str, tuple[dict[str, int], dict[str, str], str]] = {
    "no driver": (
        {},
        {"PASSLINE_LIBCUDA": "libnone.so"},
        "libnone.so was not found: install NVIDIA's driver, 580 or newer, or run ",
    ),
    "another library": (
        {},
        {"PASSLINE_LIBCUDA": "libc.so.6"},
        "NVIDIA's driver lacks cuInit: install release 580 or newer",
    ),
    "an older driver": (
        {"version": 12080},
        {},
        "NVIDIA's driver supports CUDA 12.8: expected 13.0 or newer, which driver 580 and newer",
    ),
    "no device": (
        {"devices": 0},
        {"CUDA_VISIBLE_DEVICES": "7"},
        "no NVIDIA GPU is visible: nvidia-smi lists those .*; CUDA_VISIBLE_DEVICES is '7'",
    ),
    "no assembler": (
        {},
        {"PASSLINE_TILEIRAS": "none"},
        "PASSLINE_TILEIRAS=none: there is no program",
    ),
    "a device that is not known": (
        {"major": 7},
        {},
        "Fake is an sm_70: expected one of sm_80, sm_86, .*, sm_121",
    ),
    "too little memory": (
        {"memory": 100},
        {},
        "Fake has too little memory: 256 bytes are needed, and 100 are free",
    ),
    "code for another device": (
        {"image": 209},
        {},
        "the code does not run on Fake: compile it for sm_90, by target='sm_90'",
    ),
    "a kernel that exceeds a limit": (
        {"launch": 701},
        {},
        r"kernel @fused_exp at .*m.mlir:2:8 \(relax.exp at .*m.mlir:2:8\) needs more registers "
        "or shared memory than a block of Fake has: compile it for sm_90",
    ),
    "a fault": (
        {"fault": 700},
        {},
        r"kernel @fused_exp at .*m.mlir:2:8 .* failed on Fake: CUDA_ERROR_ILLEGAL_ADDRESS; ",
    ),
}


@pytest.mark.parametrize("name", [*FAILURES])
@pytest.mark.usefixtures("assembler")
def test_a_failure_is_one_line(
    cuda: FakeCuda, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
):
    settings, variables, text = FAILURES[name]
    cuda.set(**settings)
    for variable, value in {"PASSLINE_LIBCUDA": cuda.file, **variables}.items():
        monkeypatch.setenv(variable, value)
    cuda.run_anything()
    load_driver.cache_clear()
    default_device.cache_clear()
    (file := tmp_path / "m.mlir").write_text(MODEL)
    result = capture(lambda: PasslineRunMain([str(file), "--engine=cuda"]).run())
    first, *rest = result.stderr.splitlines()
    assert result.status in (1, 2) and re.search(rf"error: {text}", first), result.stderr
    assert not rest or re.fullmatch("see '.* --help'", "\n".join(rest))
    default_device.cache_clear()
    load_driver.cache_clear()


def test_too_little_memory(cuda: FakeCuda, add: Make):
    function = compile_for_device(add(), "main", None, cuda.device())
    cuda.set(memory=600)
    text = "Fake has too little memory: 256 bytes are needed, and 88 are free"
    with pytest.raises(DriverError, match=text):
        function(X)
    cuda.set(memory=1 << 20)
    np.testing.assert_array_equal(function(X)[0], 3 * X)


def test_memory_of_other_plans_is_used_if_there_is_too_little(cuda: FakeCuda, add: Make):
    function = compile_for_device(add(), "main", None, cuda.device())
    cuda.set(memory=3 * 512)
    for size in (100, 37, 100):
        x = np.ones(size, np.float32)
        np.testing.assert_array_equal(function(x)[0], 3 * x)


def test_grid_that_exceeds_a_limit(cuda: FakeCuda):
    text = "kernel f needs a grid of 1x70000x1 tile blocks: expected 1 to 2147483647x65535x65535"
    with pytest.raises(DriverError, match=text):
        cuda.device().launch(0, "f", (1, 70000, 1), [])


@pytest.mark.parametrize("calls", [0, 1, 2])  # the third is the launch of a graph
def test_a_fault_names_the_last_kernels(cuda: FakeCuda, add: Make, calls: int):
    function = compile_for_device(add(), "main", None, cuda.device())
    for _ in range(calls):
        function(X)
    cuda.set(fault=700)
    text = (
        r"^a kernel failed on Fake: CUDA_ERROR_ILLEGAL_ADDRESS; of 2 launches, the last are of "
        r"@add at [^,]*:9:3, @add at [^,]*:11:3; in a new process, PASSLINE_CUDA_SYNC=1 tells "
    )
    with pytest.raises(DriverError, match=text):
        function(X)


def test_a_fault_names_its_kernel(cuda: FakeCuda, add: Make, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PASSLINE_CUDA_SYNC", "1")
    function = compile_for_device(add(), "main", None, cuda.device())
    cuda.set(fault=700)
    text = (
        r"^kernel @add at .*add.mlir:9:3 failed on Fake: CUDA_ERROR_ILLEGAL_ADDRESS; start .*races$"
    )
    with pytest.raises(DriverError, match=text):
        function(X)


def test_interruption_frees_memory(cuda: FakeCuda, add: Make, monkeypatch: pytest.MonkeyPatch):
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    function = compile_for_device(add(), "main", None, cuda.device())
    monkeypatch.setattr("passline.compiler.gpu.device.sleep", interrupt)
    cuda.set(busy=10**9)
    cuda.log()
    with pytest.raises(KeyboardInterrupt):
        function(X)
    log = cuda.log()
    assert sum(line.startswith("free") for line in log) == 3
    assert sum(line.startswith("alloc") for line in log) == 3
