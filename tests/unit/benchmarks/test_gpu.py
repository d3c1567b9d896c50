"""The script of `make test-gpu` and `make bench-gpu`, on the simulated device."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import gpu
import numpy as np
import pytest
from gpu_networks import TorchOperations, all_cases

import passline


@pytest.mark.parametrize("kind", ["check", "time"])
def test_tiny_cases(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "gpu.json"
    options = ["--engine", "cuda-interpreter", "--tiny", "--json", str(file)]
    assert gpu.main([kind, *options, "product", "softmax"]) == 0
    found = json.loads(file.read_text())
    assert found["device"] == "simulated sm_90" and not found["left_out"]
    names = [row["name"] for row in found["rows"]]
    assert names == [*(["copy"] if kind == "time" else []), "product 32", "softmax 4x48"]
    for row in found["rows"]:
        assert not row["error"]
        assert row["seconds"]["passline"] > 0 if kind == "time" else row["difference"] < 0.02
    assert f"{kind} on simulated sm_90" in capsys.readouterr().out


def test_time_is_over(capsys: pytest.CaptureFixture[str]):
    options = ["--engine", "cuda-interpreter", "--tiny", "--seconds", "0"]
    assert gpu.main(["check", *options, "product"]) == 0
    assert "product 32: left out, the time is over" in capsys.readouterr().out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_rows_are_written_if_it_is_interrupted(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    compiled = passline.compile

    def interrupt(text: str, **options: Any) -> object:
        if "softmax" in text:
            signal.raise_signal(number)
        return compiled(text, **options)

    monkeypatch.setattr("passline.compile", interrupt)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # shells may ignore it
    file = tmp_path / "gpu.json"
    options = ["--engine", "cuda-interpreter", "--tiny", "--json", str(file)]
    try:
        status = gpu.main(["check", *options, "product", "softmax", "add"])
    finally:
        signal.signal(signal.SIGINT, before)
    found = json.loads(file.read_text())
    assert status == (130 if number == signal.SIGINT else 0)
    assert [row["name"] for row in found["rows"]][:1] == ["product 32"]
    assert found["left_out"] == ["softmax 4x48", "add, relu 4x48"]


def test_networks_of_relax_compute_what_those_of_torch_do():
    torch = pytest.importorskip("torch", reason="compares with torch")
    for case in all_cases(tiny=True):
        text, arguments, _ = case.module()
        (found,) = passline.run(text, *arguments)
        given = [torch.from_numpy(array.astype("f4")) for array in arguments]
        expected = case.network(TorchOperations(given)).numpy()
        np.testing.assert_allclose(found, expected, rtol=0.05, atol=0.05)


def test_no_driver(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    from passline.compiler.gpu.driver import load_driver

    load_driver.cache_clear()
    monkeypatch.setenv("PASSLINE_LIBCUDA", "libnone.so")
    assert gpu.main(["check"]) == 1
    assert "libnone.so was not found: install NVIDIA's driver" in capsys.readouterr().err
