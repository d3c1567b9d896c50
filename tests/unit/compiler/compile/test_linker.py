"""Which linker is found for a target, and what is said if there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from passline.compiler.compile.linker import Linker, find_linker
from passline.dialects.target import NAMED
from passline.passmanager.errors import PasslineError

X86, ARM = NAMED["x86-64-v3"], NAMED["aarch64"]


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that alone is on the PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    return tmp_path


def add(directory: Path, name: str, output: str, status: int = 0) -> str:
    """Add a program that prints `output`; return its path."""
    path = directory / name
    path.write_text(f"#!/bin/sh\necho '{output}'\necho it says why >&2\nexit {status}\n")
    path.chmod(0o755)
    return str(path)


def test_a_compiler_is_taken_that_is_for_the_target(programs: Path) -> None:
    own = add(programs, "cc", "x86_64-linux-gnu")
    cross = add(programs, "aarch64-linux-gnu-gcc", "aarch64-linux-gnu")
    assert find_linker(X86) == Linker((own,), is_compiler=True)
    assert find_linker(ARM) == Linker((cross,), is_compiler=True)


def test_else_a_linker_is_taken(programs: Path) -> None:
    add(programs, "cc", "x86_64-linux-gnu")
    add(programs, "ld", "GNU ld\n  Supported emulations:\n   elf_x86_64")
    cross = add(programs, "aarch64-linux-gnu-ld", "   aarch64linux\n   armelf")
    assert find_linker(ARM) == Linker((cross, "-m", "aarch64linux"), is_compiler=False)
    lld = add(programs, "ld.lld", "LLD 22")
    assert find_linker(ARM) == Linker((lld, "-m", "aarch64linux"), is_compiler=False)


def test_without_one_the_error_says_what_to_install(programs: Path) -> None:
    add(programs, "ld", "elf_x86_64")
    add(programs, "gcc", "x86_64-linux-gnu", status=1)
    with pytest.raises(PasslineError) as caught:
        find_linker(ARM)
    assert str(caught.value) == (
        "there is no linker for aarch64: install lld or gcc (Debian: lld, gcc-aarch64-linux-gnu), "
        "or name a compiler in CC; files .o, .s and .ll need none"
    )


def test_the_environment_names_a_compiler(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = add(programs, "mycc", "aarch64-linux-gnu")
    monkeypatch.setenv("CC", "mycc --target='a b'")
    assert find_linker(ARM) == Linker((path, "--target=a b"), is_compiler=True)
    with pytest.raises(PasslineError, match="makes code for aarch64: expected one for x86_64"):
        find_linker(X86)
    monkeypatch.setenv("CC", "mycc 'x")
    with pytest.raises(PasslineError, match="CC=mycc 'x: No closing quotation"):
        find_linker(ARM)
    monkeypatch.setenv("CC", "nocc")
    with pytest.raises(PasslineError, match="there is no executable 'nocc', which CC names"):
        find_linker(ARM)


def test_the_message_of_a_linker_is_shown(programs: Path) -> None:
    failing = Linker((add(programs, "ld", "", status=2),), is_compiler=False)
    with pytest.raises(PasslineError, match="/ld failed with status 2:\nit says why"):
        failing.link([], programs / "x.so", "x.so", programs / "script", programs / "empty.o")
    missing = Linker((str(programs / "no"),), is_compiler=True)
    with pytest.raises(PasslineError, match="cannot be run: No such file or directory"):
        missing.link([], programs / "x.so", "x.so", programs / "script", programs / "empty.o")
