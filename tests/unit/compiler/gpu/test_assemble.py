"""The assembly of kernels, and what they take of a processor."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.gpu.cubins import cubin

from passline.compiler.gpu.assemble import (
    TILEIRAS,
    AssemblyError,
    Resources,
    assemble,
    assemble_each,
    find_tileiras,
    resources,
)
from passline.dialects.cuda_tile.module_ops import ModuleOp
from passline.dialects.target import Target
from passline.passmanager.errors import NotInstalledError, PasslineError
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.registry import make_ir_context

TEXT = """
cuda_tile.module @kernels {
  entry @double(%p: tile<ptr<f32>>) {
    %t = make_token : token
    %i = iota : tile<128xi32>
    %q = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
    %b = broadcast %q : tile<1xptr<f32>> -> tile<128xptr<f32>>
    %a = offset %b, %i : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
    %x, %t1 = load_ptr_tko weak %a token=%t : tile<128xptr<f32>> -> tile<128xf32>, token
    %y = addf %x, %x : tile<128xf32>
    %t2 = store_ptr_tko weak %a, %y token=%t1 : tile<128xptr<f32>>, tile<128xf32> -> token
    return
  }
}
"""


def kernels(text: str = TEXT) -> ModuleOp:
    (found,) = parse_module(make_ir_context(), text, "x").body.ops
    assert isinstance(found, ModuleOp)
    return found


def program(path: Path, script: str) -> Path:
    """Return a program that stands for the assembler."""
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PASSLINE_CACHE_SIZE", "1M")


def test_a_cubin_for_each_gpu() -> None:
    try:
        find_tileiras()
    except NotInstalledError:
        pytest.skip(f"needs tileiras: {TILEIRAS}, or the package nvidia-cuda-tileiras")
    for gpu in ("sm_80", "sm_90", "sm_100"):
        found = resources(assemble(kernels(), Target(gpu)))["double"]
        assert found.registers > 0 and found.local_bytes == 0 and found.threads >= 32


def test_a_target_that_is_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PasslineError, match="x86-64-v3 is no GPU"):
        assemble(kernels(), Target("x86-64-v3"))
    with pytest.raises(PasslineError, match="does not know the GPU 'sm_70': expected one of sm_80"):
        assemble(kernels(), Target('sm_80{cpu="sm_70"}'))


def test_an_assembler_that_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TILEIRAS, str(tmp_path / "none"))
    with pytest.raises(NotInstalledError, match="none: there is no program"):
        assemble(kernels(), Target("sm_90"))


def test_errors_of_the_assembler_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "ptxas error : Entry function 'double' uses too much shared data"
    script = f'echo "{said}" >&2; echo "error: failed to compile Tile IR program" >&2; exit 5'
    monkeypatch.setenv(TILEIRAS, str(program(tmp_path / "tileiras", script)))
    with pytest.raises(AssemblyError) as error:
        assemble(kernels(), Target("sm_90"))
    assert str(error.value) == (
        "kernel @double: tileiras: Entry function 'double' uses too much shared data"
    )


def test_parts_of_the_assembler_that_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = 'echo "error: failed to compile Tile IR program" >&2; exit 5'
    monkeypatch.setenv(TILEIRAS, str(program(tmp_path / "tileiras", script)))
    monkeypatch.setenv("PATH", "/bin")
    with pytest.raises(NotInstalledError, match=r"needs ptxas .* and libnvvm .* beside it: pip"):
        assemble(kernels(), Target("sm_90"))


def test_what_was_assembled_is_not_assembled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = f'echo . >> {tmp_path}/runs; shift $(($# - 1)); printf cubin > "$1"'
    monkeypatch.setenv(TILEIRAS, str(program(tmp_path / "tileiras", script)))
    assert assemble(kernels(), Target("sm_90")) == assemble(kernels(), Target("sm_90")) == b"cubin"
    assert (tmp_path / "runs").read_text() == ".\n"
    (entry,) = (tmp_path / "cache" / "passline").iterdir()
    entry.write_bytes(b"damaged")
    assert assemble(kernels(), Target("sm_90")) == b"cubin"
    assemble(kernels(), Target("sm_80"))
    assert (tmp_path / "runs").read_text() == ".\n" * 3


LAST = "shift $(($# - 3));"
"""Makes $1 the bytecode of a program that stands for the assembler, and $3 the cubin."""
PAIR = """
cuda_tile.module @kernels {
  entry @first(%p: tile<ptr<f32>>) {
    return
  }
  entry @second(%n: tile<i32>) {
    return
  }
}
"""


def test_entries_are_assembled_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = f'{LAST} cat "$1" >> {tmp_path}/runs; cp "$1" "$3"'
    monkeypatch.setenv(TILEIRAS, str(program(tmp_path / "tileiras", script)))
    found = assemble_each(kernels(PAIR), Target("sm_90"))
    assert [b"first" in code for code in found] == [True, False]
    assert [b"second" in code for code in found] == [False, True]
    (tmp_path / "runs").unlink()
    changed = PAIR.replace("%n: tile<i32>", "%n: tile<i64>")
    assert assemble_each(kernels(changed), Target("sm_90"))[0] == found[0]
    assert b"first" not in (tmp_path / "runs").read_bytes()  # it is in the cache


def test_entries_with_global_variables_stay_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TILEIRAS, str(program(tmp_path / "tileiras", f'{LAST} cp "$1" "$3"')))
    text = PAIR.replace("@kernels {", "@kernels { global @g <f32: 1.0> : tile<1xf32>", 1)
    (code,) = assemble_each(kernels(text), Target("sm_90"))
    assert b"first" in code and b"second" in code


def test_the_error_names_the_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = f'{LAST} grep -q second "$1" && echo "error: it is too large" && exit 1; cp "$1" "$3"'
    monkeypatch.setenv(TILEIRAS, str(program(tmp_path / "tileiras", script)))
    for work in (assemble, assemble_each):
        with pytest.raises(AssemblyError) as error:
            work(kernels(PAIR), Target("sm_90"))
        assert str(error.value) == "kernel @second: tileiras: it is too large"


def test_resources_are_those_in_the_sections() -> None:
    assert resources(cubin()) == {"f": Resources(40, 8, 1024, 128)}


def test_resources_of_other_data() -> None:
    for data in (b"", b"\x7fELF", cubin()[:100]):
        with pytest.raises(AssemblyError, match="no cubin"):
            resources(data)
