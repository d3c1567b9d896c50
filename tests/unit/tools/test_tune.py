"""Tuning with machine code: processes that measure, the tool, and `passline.tune`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.native.needs_llvmlite import needs_native
from support.suites.inprocess import Result, capture, interruptible

import passline
from passline.compiler.gpu.driver import load_driver
from passline.compiler.gpu.simulated import SimulatedDevice
from passline.compiler.kernels.choices import Choice
from passline.compiler.kernels.database import Database
from passline.compiler.tune import worker as sandbox
from passline.compiler.tune.module_tuning import tune_module
from passline.compiler.tune.search import Settings
from passline.compiler.tune.task import Measurement, Task, TunableKernel, tunable_kernels
from passline.compiler.tune.worker import alternate, compiled, measure
from passline.dialects.target import Target, host
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.registry import make_ir_context
from passline.tools.tune import PasslineTuneMain

MODEL = """\
func.func @main(%x: tensor<1x16x12x12xf32>) -> tensor<1x24x12x12xf32> {
  %w = relax.constant dense<0.5> : tensor<24x16x1x1xf32>
  %0 = relax.nn.conv2d %x, %w : (tensor<1x16x12x12xf32>, tensor<24x16x1x1xf32>)
      -> tensor<1x24x12x12xf32>
  %1 = relax.nn.relu %0 : (tensor<1x24x12x12xf32>) -> tensor<1x24x12x12xf32>
  func.return %1 : tensor<1x24x12x12xf32>
}
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.mlir"
    path.write_text(MODEL)
    return path


def tune(*args: str | Path) -> Result:
    return capture(lambda: PasslineTuneMain(args=[*map(str, args)]).run())


def tunable() -> TunableKernel:
    model = parse_module(make_ir_context(), MODEL, "model.mlir")
    (kernel,), _ = tunable_kernels(model, host(), "none")
    return kernel


def task(seconds: float = 0.01, time_limit: float = 60.0, text: str | None = None) -> Task:
    kernel = tunable()
    alone, constants = kernel.alone()
    (made,) = kernel.made()
    _, choice = made.ranked()[-1]
    target = str(kernel.target)
    return Task(
        kernel.key,
        alone if text is None else text,
        tuple(constants),
        (choice,),
        target,
        "none",
        seconds,
        time_limit,
    )


# Measurements


def test_functions_take_turns():
    calls: list[str] = []

    def run(name: str) -> Callable[[int], float]:
        def times(repeat: int) -> float:
            calls.extend([name] * repeat)
            return 1e-3

        return times

    times = alternate(run("a"), run("b"), seconds=0)
    runs = [name for i, name in enumerate(calls) if i == 0 or calls[i - 1] != name]
    assert [*map(len, times)] == [8, 8] and runs == ["a", "b"] * (len(runs) // 2) and len(runs) > 16


@needs_native
def test_a_candidate_is_checked_and_measured():
    result = measure(task())
    assert result.error == "" and result.seconds > 0 and result.estimated_seconds > 0
    assert len(result.ratios) == 2 and result.steady_ratio >= result.ratio


@needs_native
def test_a_wrong_result_is_an_error(monkeypatch: pytest.MonkeyPatch):
    def wrong(task: Task, choices: tuple[Choice, ...]) -> Callable[..., object]:
        right = compiled(task, ())
        return (lambda *args: (right(*args)[0] + 1,)) if choices else right

    monkeypatch.setattr("passline.compiler.tune.worker.compiled", wrong)
    assert measure(task(text=tunable().alone()[0] + "\n")).error.startswith("wrong result: ")


@needs_native
def test_choices_that_the_kernel_does_not_have_are_an_error():
    given = task()
    (choice,) = given.choices
    other = replace(choice, form={**choice.form, "m": 99})
    result = measure(replace(given, choices=(other,)))
    assert result.error == "the kernel does not have these choices"


PRODUCT = """\
func.func @main(%x: tensor<32x32xf32>, %y: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = relax.matmul %x, %y : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  func.return %0 : tensor<32x32xf32>
}
"""


def test_tiles_are_measured_on_a_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for module in ("worker", "module_tuning"):
        monkeypatch.setattr(f"passline.compiler.tune.{module}.default_device", SimulatedDevice)
    (file := tmp_path / "product.mlir").write_text(PRODUCT)
    settings = Settings(trials=2, seconds=0)
    tuned = tune_module(
        passline.optimize(file), tmp_path / "db", Target("sm_90"), settings, measure=measure
    )
    (outcome,) = tuned.outcomes
    assert outcome.record is not None and not outcome.failures
    assert [choice.kind for choice in outcome.record.choices] == ["product-tiles"]
    assert outcome.record.seconds > 0 and outcome.record.trials == 2
    found = Database.read(tmp_path / "db").find(outcome.kernel.key, Target("sm_90"))
    assert found is not None and found.choices == outcome.record.choices


def test_there_is_no_tuning_for_a_gpu_without_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("passline.compiler.gpu.driver.LIBRARY", "libnone.so")
    load_driver.cache_clear()
    (file := tmp_path / "product.mlir").write_text(PRODUCT)
    result = tune(file, "--target=sm_90", "-o", tmp_path / "db")
    assert result.status == 1 and "libnone.so was not found: install NVIDIA's" in result.stderr


# Processes


@needs_native
def test_a_process_measures_one_task_after_the_other_and_ends():
    try:
        first, second = sandbox.measure_apart(task()), sandbox.measure_apart(task())
        assert first.error == second.error == ""
        (process,) = sandbox._idle  # pyright: ignore[reportPrivateUsage]
        assert process.popen.poll() is None
    finally:
        sandbox.stop_processes()
    assert process.popen.poll() is not None


def test_a_process_that_takes_too_long_or_crashes_is_replaced(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PYTHONSTARTUP", "")
    assert sandbox.measure_apart(task(time_limit=0.01)).error == "took longer than 0.01 s"
    monkeypatch.setattr(sys, "executable", "/bin/false")
    assert sandbox.measure_apart(task()).error == "the process ended with status 1"
    sandbox.stop_processes()


# The tool and the function


@needs_native
def test_a_tiny_model_is_tuned_and_compiled_with_what_was_found(model: Path, tmp_path: Path):
    path = tmp_path / "tuned.jsonl"
    result = tune(model, "-o", path, "--trials=2")
    assert result.status == 0, result
    assert "1/1 nn.conv2d nn.relu tensor<1x24x12x12xf32>: " in result.stderr
    assert "(2 candidates)" in result.stderr and result.stdout.startswith("1 kernel, ")
    data = json.loads(path.read_text())
    assert data["trials"] == 2 and data["finished"] and str(tmp_path) not in path.read_text()
    again = tune(model, "-o", path, "--trials=2")
    assert "known" in again.stderr and len(path.read_text().splitlines()) == 1
    x = np.random.default_rng(0).standard_normal((1, 16, 12, 12)).astype(np.float32)
    with passline.PassContext(config={"legalize-ops": {"database": str(path)}}):
        tuned = passline.compile(str(model))
    assert np.allclose(tuned(x)[0], passline.compile(str(model))(x)[0], rtol=1e-4, atol=1e-4)


@needs_native
def test_a_module_without_kernels_is_answered_with_the_reason(tmp_path: Path):
    (file := tmp_path / "x.mlir").write_text("func.func @f(%x: i32) { func.return }")
    result = tune(file, "-o", tmp_path / "tuned.jsonl")
    assert (result.status, result.stderr) == (0, "")
    assert result.stdout.startswith("nothing to tune: ") and "0 kernels" not in result.stdout


@needs_native
def test_candidates_are_measured_on_a_dask_cluster(model: Path, tmp_path: Path):
    distributed = pytest.importorskip("distributed")
    path = tmp_path / "tuned.jsonl"
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        executor = f"--executor=dask:{cluster.scheduler_address}"
        result = tune(model, "-o", path, "--trials=1", executor)
        client.run(sandbox.stop_processes)
    assert result.status == 0 and "(1 candidates)" in result.stderr, result


@needs_native
def test_ctrl_c_keeps_what_has_been_measured(model: Path, tmp_path: Path):
    model.write_text(f"{MODEL}{MODEL.replace('main', 'second').replace('x12', 'x20')}")
    path = tmp_path / "tuned.jsonl"
    command = [sys.executable, "-m", "passline.tools.tune", str(model), "-o", str(path)]
    process = subprocess.Popen(
        [*command, "--trials=1", "--quiet"],
        stderr=subprocess.PIPE,
        preexec_fn=interruptible,
        start_new_session=True,
    )
    while process.poll() is None and not path.exists():
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130 and b"interrupted" in said and b"Traceback" not in said
    assert Database.read(path).warnings == [] and len(Database.read(path)) >= 1


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--trials=0"], "greater than 0"),
        (["--share=101"], "expected a percentage up to 100"),
        (["--executor=threads"], "expected processes or dask:ADDRESS"),
        (["--executor=dask:x", "--jobs=2"], "--jobs is for --executor=processes"),
        (["-o", "model.mlir"], "the database would overwrite the input"),
        (["--target=x86-64-v9"], "there is no target 'x86-64-v9'"),
    ],
    ids=str,
)
def test_wrong_usage(args: list[str], message: str, model: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(model.parent)
    result = tune("model.mlir", *args)
    assert result.status in (1, 2) and message in result.stderr, result
    assert "Traceback" not in result.stderr


@needs_native
def test_a_target_that_this_machine_cannot_run_is_refused(model: Path):
    other = "x86-64-v3" if host().triple.startswith("aarch64") else "aarch64"
    result = tune(model, f"--target={other}")
    assert result.status == 1 and "cannot run code for" in result.stderr


def test_measurements_are_ratios():
    assert Measurement(0.5, 1.0, (0.5, 0.75)).steady_ratio == 0.75
