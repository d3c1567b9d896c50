"""What a type checker says of instruments: it runs pyright on small programs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import passline

PROGRAM = '''# pyright: {mode}
from xdsl.dialects.builtin import ModuleOp

from passline.passmanager import PassContext, PassInfo, pass_instrument


@pass_instrument
class Names:
    """Collect the names of passes."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def run_before_pass(self, module: ModuleOp, info: {info}) -> None:
        self.names.append(info.name)


names = Names()
with PassContext(instruments=[names]) as ctx:
    ctx.override_instruments([names])
print(names.names)
'''


def errors_of(program: str, folder: Path) -> list[str]:
    """Return the rules that pyright finds broken in a program."""
    (folder / "program.py").write_text(program)
    root = Path(passline.__file__).resolve().parent
    settings = {"stubPath": str(root / "typings"), "include": ["."]}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "pyright", "--outputjson", "-p", str(folder)]
    command += ["--pythonpath", sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)["generalDiagnostics"]
    return [entry.get("rule", entry["message"]) for entry in found]


@pytest.mark.parametrize("mode", ["basic", "strict"])
def test_a_decorated_class_is_an_instrument(mode: str, tmp_path: Path):
    assert errors_of(PROGRAM.format(mode=mode, info="PassInfo"), tmp_path) == []


def test_a_hook_with_wrong_parameters_is_an_error(tmp_path: Path):
    program = PROGRAM.format(mode="basic", info="list[int]").replace("info.name", "str(info)")
    assert errors_of(program, tmp_path) == ["reportArgumentType", "reportArgumentType"]
