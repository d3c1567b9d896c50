"""The loader of libraries: what it refuses before it calls anything, and its conversions."""

from __future__ import annotations

import platform
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest
from support.dlpack_exporter import CUDA, Exporter
from support.native.c_compiler import needs_cc

from passline.compiler.compile import interface, runtime
from passline.compiler.compile.runtime import (
    FLAGS,
    Library,
    LibraryError,
    RuntimeTensor,
    missing_features,
)
from passline.compiler.interpreters.arrays import round_bf16


def tensor(type: str, *shape: int | None, flags: int = 0) -> RuntimeTensor:
    return RuntimeTensor("x", type, shape, (None,) * len(shape), flags)


def test_loader_and_compiler_agree_on_the_interface() -> None:
    assert runtime.INTERFACE == interface.INTERFACE
    assert runtime.SYMBOL == interface.LOADER_SYMBOL
    flags = interface.IS_NUMBER, interface.IS_ALLOCATED, interface.IS_CHANGED
    assert flags == (runtime.NUMBER, runtime.ALLOCATED, runtime.CHANGED)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the other machine is named")
def test_a_library_for_another_machine_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.so"
    file.write_bytes(b"\x7fELF\x02\x01".ljust(16, b"\0") + struct.pack("<HH60x", 3, 183))
    with pytest.raises(LibraryError, match="is for aarch64 with Linux: this is x86_64"):
        Library(file)


def test_a_file_that_is_no_library_is_refused(tmp_path: Path) -> None:
    for content in (b"", b"\x7fELF", b"MZ" * 20):
        (tmp_path / "x.so").write_bytes(content)
        with pytest.raises(LibraryError, match=r"x.so' is not a shared library for Linux"):
            Library(tmp_path / "x.so")
    with pytest.raises(FileNotFoundError):
        Library(tmp_path / "no.so")


@needs_cc
def test_a_library_of_others_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.c").write_text("int x;")
    subprocess.run(["cc", "-shared", "x.c", "-o", "x.so"], check=True, cwd=tmp_path)
    with pytest.raises(LibraryError, match="is not a library of passline-compile"):
        Library(tmp_path / "x.so")
    (tmp_path / "y.c").write_text("long v[8] = {99}; long *passline_this_library = v;")
    subprocess.run(["cc", "-shared", "y.c", "-o", "y.so"], check=True, cwd=tmp_path)
    with pytest.raises(LibraryError, match="has version 99 of the interface: expected 1"):
        Library(tmp_path / "y.so")
    data = (tmp_path / "x.so").read_bytes()
    (tmp_path / "cut.so").write_bytes(data[: len(data) // 2])
    with pytest.raises(LibraryError, match=r"cut.so' is not complete"):
        Library(tmp_path / "cut.so")


def test_features_that_the_processor_lacks_are_found() -> None:
    flags = frozenset(["avx2", "fma", "sse4_1", "avx512_vnni"])
    assert missing_features("+avx2,+fma,-avx512f,+sse4.1,+avx512vnni", flags) == []
    assert missing_features("+avx2,+avx512f,+bmi", flags) == ["avx512f", "bmi"]
    assert missing_features("+some-future-thing", flags) == []
    assert missing_features("+avx512f", None) == []


@pytest.mark.skipif(not Path("/proc/cpuinfo").exists(), reason="Linux tells the features")
def test_this_processor_has_what_llvm_finds() -> None:
    pytest.importorskip("llvmlite")
    from passline.dialects.target import NAMED, host

    flags = runtime.own_flags()
    assert flags and missing_features(host().features, flags) == []
    wanted = {name for target in NAMED.values() for name in target.wants}
    assert wanted - {*FLAGS} <= {"xsave"} | {"fma"}


def test_arguments_that_do_not_fit_are_refused() -> None:
    for type, value, message in (
        ("f32", np.zeros(2), "input 'x' is float64: expected float32"),
        ("f32", np.zeros(3, np.float32), "input 'x' is 3: expected x: 2xf32"),
        ("f32", np.float32(1), "input 'x' is a scalar: expected x: 2xf32"),
        ("bf16", np.zeros(2, np.float16), "input 'x' is float16: expected float32"),
        ("i64", [1, 2.5], "input 'x' is float64: expected int64"),
    ):
        with pytest.raises(LibraryError) as caught:
            tensor(type, 2).in_memory(value)  # pyright: ignore[reportArgumentType]
        assert str(caught.value) == message


def test_arguments_become_contiguous() -> None:
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert tensor("f32", None, 4).in_memory(array) is array
    given = tensor("f32", 4, None).in_memory(array.T)
    assert given.flags.c_contiguous and np.array_equal(given, array.T)
    assert tensor("i1").in_memory(True).dtype == np.bool_
    assert tensor("f64").in_memory(1).dtype == np.float64


def test_bf16_is_rounded_as_the_semantics_round_it() -> None:
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 1 << 32, 10_000, np.uint32)
    special = np.array([0, 0x80000000, 0x7F800000, 0x7F7FFFFF, 0x3F808000, 0x3F818000], np.uint32)
    array = np.concatenate([bits, special]).view(np.float32)
    array = array[~np.isnan(array)]
    stored = tensor("bf16", len(array)).in_memory(array)
    assert np.array_equal(stored, round_bf16(array))
    again = tensor("bf16", len(array)).from_memory(stored)
    assert again.dtype == np.float32 and np.array_equal(again.view(np.uint32) >> 16, stored)
    nan = tensor("bf16").in_memory(np.float32("nan"))
    assert np.isnan(tensor("bf16").from_memory(nan))


def test_bf16_of_ml_dtypes_is_taken() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = np.array([1.5, -2], ml_dtypes.bfloat16)
    assert tensor("bf16", 2).in_memory(array).tolist() == [0x3FC0, 0xC000]


class OnDevice(Exporter):
    device = "cuda:0"


def test_arrays_of_other_libraries_are_read_where_they_are() -> None:
    given = Exporter(np.arange(4, dtype=np.float32))
    array = tensor("f32", 4).in_memory(given)
    assert array.__array_interface__["data"][0] == given.address
    for other, message in (
        (Exporter(given.array, device=(CUDA, 0)), "input 'x' cannot be read: "),
        (OnDevice(given.array, device=(CUDA, 0)), "input 'x' on cuda:0 cannot be read: "),
        (Exporter(given.array.astype(np.int32)), "input 'x' is int32: expected float32"),
    ):
        with pytest.raises(LibraryError, match=message):
            tensor("f32", 4).in_memory(other)
