"""The script of `make test-gpu` and `make bench-gpu`, on the simulated device."""

from __future__ import annotations

import json
from pathlib import Path

import gpu
import pytest


@pytest.mark.parametrize("kind", ["check", "time"])
def test_tiny_cases(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "gpu.json"
    options = ["--engine", "cuda-interpreter", "--tiny", "--json", str(file)]
    assert gpu.main([kind, *options, "product", "softmax"]) == 0
    found = json.loads(file.read_text())
    assert found["device"] == "simulated sm_90" and len(found["rows"]) == 2
    for row in found["rows"]:
        assert not row["error"]
        assert row["seconds"]["passline"] > 0 if kind == "time" else row["difference"] < 0.02
    assert f"{kind} on simulated sm_90" in capsys.readouterr().out


def test_time_is_over(capsys: pytest.CaptureFixture[str]):
    options = ["--engine", "cuda-interpreter", "--tiny", "--seconds", "0"]
    assert gpu.main(["check", *options, "product"]) == 0
    assert "product 32: left out, the time is over" in capsys.readouterr().out


def test_no_driver(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    from passline.compiler.gpu.driver import load_driver

    load_driver.cache_clear()
    monkeypatch.setenv("PASSLINE_LIBCUDA", "libnone.so")
    assert gpu.main(["check"]) == 1
    assert "libnone.so was not found: install NVIDIA's driver" in capsys.readouterr().err
