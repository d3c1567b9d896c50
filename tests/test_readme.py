"""The README: its commands are run and its outputs compared. Other pages: `test_docs.py`."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from support.inprocess import passline_opt, passline_reduce
from support.models import model_of
from support.toy import module

import passline

ROOT = Path(__file__).parent.parent
TEXTS = {
    name: (ROOT / name).read_text()
    for name in ("README.md", "docs/passline-opt.md", "docs/record.md")
}


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXTS["README.md"], re.DOTALL)


def commands() -> list[str]:
    lines = "".join(blocks("console")).splitlines()
    return [line[2:].split(" # ")[0] for line in lines if line.startswith("$ passline-opt ")]


@pytest.mark.parametrize("code", blocks("python"))
def test_python_runs(code: str) -> None:
    names: dict[str, object] = {"module": module("f")}
    exec(code, names)
    assert str(names["new_module"]) == str(names["module"])


def test_python_page_names_what_there_is() -> None:
    text = (ROOT / "docs" / "python.md").read_text()
    named = set(re.findall(r"passline\.([a-zA-Z_]+)", text)) - {"load", "dialects"}
    assert named <= {*passline.__all__} and len(named) > 15


@pytest.mark.parametrize("command", commands())
def test_commands_end_as_they_should(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    example = (ROOT / "examples" / "sequential.mlir").read_text()
    (tmp_path / "x.mlir").write_text(example)
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "sequential.mlir").write_text(example)
    model = model_of("g (float[3] x) => (float[3] y) { y = Relu(x) }")
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    kernel = "tir.prim_func @main(%x: memref<3xf32>) {\n}\n"
    (tmp_path / "model.mlir").write_text(kernel)  # as the command before writes one
    monkeypatch.chdir(tmp_path)
    args = shlex.split(command.split(">")[0])[1:]
    result = passline_opt(*args)
    if "constnat" in command:
        (shown,) = re.findall(
            r"fold-constnat\n(passline-opt: error.*?)```", TEXTS["README.md"], re.S
        )
        message = shown.partition("error: ")[2]
        said = re.sub("(?<=see ').*(?= --help)", "passline-opt", result.stderr)
        assert result.status == 2 and said.endswith(f"error: {message}")
    else:
        assert result.status == 0, result.stderr


def test_options_named_in_the_documentation_exist() -> None:
    helps = passline_opt("--help").stdout + passline_reduce("--help").stdout
    known = set(re.findall(r"--[a-z][a-z-]+", helps))
    named = set(re.findall(r"`(--[a-z][a-z-]+)", TEXTS["docs/passline-opt.md"]))
    assert named - known <= {"--a"} and len(named) > 30
