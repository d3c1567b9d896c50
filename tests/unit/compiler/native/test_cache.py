"""The cache of compiled functions."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from functools import reduce
from hashlib import sha256
from io import BytesIO, StringIO
from pathlib import Path

import numpy as np
import pytest
from support.native.needs_llvmlite import needs_native
from xdsl.dialects import arith
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr, TensorType, f32
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.utils.test_value import create_ssa_value

import passline
from passline.compiler.interpreters.signature import argument_names, entry_function, result_names
from passline.compiler.kernels.builder import KernelBuilder, Legalization
from passline.compiler.kernels.elementwise.elementwise import elementwise
from passline.compiler.kernels.legalizations import register_legalizations
from passline.compiler.native import cache, function
from passline.compiler.native.compiled import (
    Compiled,
    Damaged,
    in_one_block,
    read_compiled,
    write_compiled,
)
from passline.compiler.native.preparation.assertions import Failures
from passline.dialects.relax.base import TensorOp
from passline.dialects.relax.interfaces import Elementwise
from passline.dialects.relax.types import TENSOR, tensor_type
from passline.dialects.target import NAMED, Target, host
from passline.passmanager import PassContext, PassInstrument
from passline.passmanager.errors import PasslineError
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.registry import DialectTable, is_registered_here, make_ir_context

BIG = ", ".join(f"{i}.0" for i in range(1, 301))
MODULE = f"""
func.func @main(%x: tensor<300xf32>) -> (tensor<300xf32> {{onnx.name = "sum"}}) {{
  %w = relax.constant dense<[{BIG}]> : tensor<300xf32>
  %0 = relax.add %x, %w : (tensor<300xf32>, tensor<300xf32>) -> tensor<300xf32>
  func.return %0 : tensor<300xf32>
}}
func.func @other(%x: tensor<300xf32>) -> tensor<300xf32> {{
  %0 = relax.negative %x : (tensor<300xf32>) -> tensor<300xf32>
  func.return %0 : tensor<300xf32>
}}
"""
X = np.ones(300, np.float32)
SUM = np.arange(2, 302, dtype=np.float32)

COMPILE = function.compile_code
COMPILED: dict[tuple[str, str], Compiled] = {}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a cache of the test alone, which does not exist yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("PASSLINE_CACHE_SIZE")
    return tmp_path / "passline"


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which each compilation adds the name of its function. To save time, equal
    modules are compiled once in all tests."""
    names: list[str] = []

    def counting(
        module: ModuleOp, entry: str = "main", target: Target | None = None, threads: int = 1
    ) -> Compiled:
        names.append(entry)
        key = str(module), entry
        if key not in COMPILED:
            COMPILED[key] = COMPILE(module, entry, target, threads)
        return COMPILED[key]

    monkeypatch.setattr(function, "compile_code", counting)
    return names


def parsed(text: str = MODULE) -> ModuleOp:
    return parse_module(make_ir_context(), text, "x.mlir")


def entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.exists() else []


def check(function: passline.CompiledFunction) -> None:
    np.testing.assert_array_equal(function(X), [SUM])


# Files


def compiled() -> Compiled:
    place = FileLineColLoc(StringAttr("a b.mlir"), IntAttr(3), IntAttr(4))
    written = np.arange(5, dtype=np.uint8)
    read = np.arange(70, dtype=np.uint8)
    read.flags.writeable = False
    return Compiled(
        entry_function(parsed(), "main"),
        [b"first", b"second object"],
        {"w": written, "empty": np.zeros(0, np.uint8), "r": read},
        Failures([("index", place), ("other", None)], [None, place]),
        is_long=True,
    )


def saved(path: Path) -> Path:
    file = path / "entry"
    with file.open("wb") as stream:
        write_compiled(compiled(), stream)
    return file


def test_what_is_written_is_read(tmp_path: Path):
    before = compiled()
    with saved(tmp_path).open("rb") as stream:
        after = read_compiled(stream)
    assert after.objects == before.objects
    assert after.failures == before.failures and after.is_long
    assert after.function.function_type == before.function.function_type
    assert argument_names(after.function) == ["x"] and result_names(after.function) == ["sum"]
    assert after.constants.keys() == before.constants.keys()
    for name, array in before.constants.items():
        np.testing.assert_array_equal(after.constants[name], array)
        assert after.constants[name].flags.writeable == array.flags.writeable or not array.size
    assert after.constants["r"].ctypes.data % 64 == 0


def test_constants_begin_at_lines_of_the_cache():
    before = compiled().constants
    after = in_one_block(before)
    assert after.keys() == before.keys()
    for name, array in before.items():
        np.testing.assert_array_equal(after[name], array)
        assert after[name].flags.writeable == array.flags.writeable
        assert after[name].ctypes.data % 64 == 0 or not array.size


def test_damage_is_noticed(tmp_path: Path):
    content = saved(tmp_path).read_bytes()
    places = {*range(96), *range(96, len(content), 7), len(content) - 200}
    read = 0
    for place in sorted(places):
        damaged = bytearray(content)
        damaged[place] ^= 0x41
        (file := tmp_path / "damaged").write_bytes(damaged)
        with file.open("rb") as stream:
            try:
                read_compiled(stream)
            except Damaged:
                continue
        # The bytes between the object files and the constants mean nothing.
        assert not content[place], place
        read += 1
    assert read < 64
    for size in (0, 10, 100, len(content) - 1):
        (file := tmp_path / "damaged").write_bytes(content[:size])
        with file.open("rb") as stream, pytest.raises(Damaged):
            read_compiled(stream)
    with pytest.raises(Damaged):
        read_compiled(BytesIO(b"x" * 200))


# Keys


@needs_native
def test_keys():
    key = cache.key_of(parsed(), "main", 3)
    assert key == cache.key_of(parsed(), "main", 3)
    others = [
        cache.key_of(parsed(MODULE.replace("300.0]", "301.0]")), "main", 3),
        cache.key_of(parsed(MODULE.replace("relax.add", "relax.subtract")), "main", 3),
        cache.key_of(parsed(MODULE.replace("%x", "%y")), "main", 3),
        cache.key_of(parsed("\n" + MODULE), "main", 3),  # errors name lines
        cache.key_of(parsed(), "other", 3),
        cache.key_of(parsed(), "main", 2),
        cache.key_of(parsed(), "main3"),
    ]
    assert len({key, *others}) == 8


def test_keys_have_hashes_of_constants():
    """To print the weights of a model takes longer than to compile it."""
    stream = StringIO()
    cache.KeyPrinter(stream).print_op(parsed())
    (digest,) = re.findall('dense<"(.*)">', stream.getvalue())
    assert digest == sha256(np.arange(1, 301, dtype=np.float32).tobytes()).hexdigest()


@needs_native
def test_versions_are_part_of_the_key(monkeypatch: pytest.MonkeyPatch):
    key = cache.key_of(parsed())
    monkeypatch.setattr(cache, "xdsl_version", lambda: "9")
    newer = cache.key_of(parsed())
    monkeypatch.setattr(cache, "source_stamp", lambda: "new")
    assert len({key, newer, cache.key_of(parsed())}) == 3


def test_the_sources_of_plugins_are_part_of_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The packages that entry points name count, editable installations too."""
    package = tmp_path / "someplugin"
    package.mkdir()
    (package / "__init__.py").touch()
    kernels = package / "kernels.py"
    kernels.write_text("A = 1")
    metadata = tmp_path / "someplugin-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: someplugin\nVersion: 1.0\n")
    points = "[passline.legalizations]\nsomeplugin = someplugin.kernels:TABLE\n"
    (metadata / "entry_points.txt").write_text(points)
    before = cache.plugin_stamp.__wrapped__()
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    found = cache.plugin_stamp.__wrapped__()
    kernels.write_text("A = 22")
    assert len({before, found, cache.plugin_stamp.__wrapped__()}) == 3
    assert "someplugin" not in sys.modules


@needs_native
def test_plugins_are_part_of_the_key(monkeypatch: pytest.MonkeyPatch):
    key = cache.key_of(parsed())
    monkeypatch.setattr(cache, "plugin_stamp", lambda: "new")
    assert cache.key_of(parsed()) != key


# Compilation


@needs_native
def test_the_second_compilation_is_a_load(folder: Path, compilations: list[str]):
    check(passline.compile(MODULE))
    assert compilations == ["main"] and len(entries(folder)) == 1
    check(passline.compile(MODULE))
    assert compilations == ["main"]
    for _ in range(2):
        (result,) = passline.compile(MODULE, function="other")(X)
        np.testing.assert_array_equal(result, -X)
    assert compilations == ["main", "other"]


@needs_native
def test_options_are_other_entries(folder: Path, compilations: list[str]):
    check(passline.compile(MODULE))
    check(passline.compile(MODULE, level=0))
    check(passline.compile(MODULE, level=None))
    with PassContext(disabled_pass=["fuse-ops"]):
        check(passline.compile(MODULE))
    with PassContext(config={"tir-unroll-loop": {"auto_max_step": 4}}):
        check(passline.compile(MODULE))
    assert len(compilations) == len(entries(folder)) == 5


@needs_native
def test_the_content_of_a_database_is_part_of_the_key(
    tmp_path: Path, folder: Path, compilations: list[str]
):
    database = tmp_path / "tuning.jsonl"
    database.write_text("")
    with PassContext(config={"legalize-ops.database": str(database)}):
        check(passline.compile(MODULE))
        check(passline.compile(MODULE))
        assert len(compilations) == 1
        database.write_text("\n")
        check(passline.compile(MODULE))
    assert len(compilations) == len(entries(folder)) == 2


@needs_native
def test_the_entered_target_is_part_of_the_key(folder: Path, compilations: list[str]):
    name = "x86-64" if host().triple.startswith("x86") else "aarch64"
    with Target(name):
        check(passline.compile(MODULE))
        check(passline.compile(MODULE))
    check(passline.compile(MODULE, target=name))
    assert len(compilations) == 1
    check(passline.compile(MODULE))
    assert len(compilations) == len(entries(folder)) == 2


@needs_native
def test_targets_are_other_entries(folder: Path):
    keys = {
        cache.key_of(parsed(), "main", target)
        for target in (None, *NAMED.values(), Target("x86-64{cores=7}"))
    }
    assert len(keys) == len(NAMED) + 2


@needs_native
@irdl_op_definition
class PowerOp(Elementwise, TensorOp):
    """A power, whose exponent only its kernel knows."""

    name = "cached.power"

    input = operand_def(TENSOR)
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        return (tensor_type(self.input),)


def power_kernel(exponent: int) -> Legalization:
    def power(_: PowerOp, b: KernelBuilder, x: SSAValue) -> SSAValue:
        return reduce(lambda product, _: b.pure(arith.MulfOp, product, x), range(exponent - 1), x)

    return elementwise(power)


@needs_native
def test_kernels_registered_in_the_process_are_not_cached(folder: Path):
    context = make_ir_context()
    context.load_dialect(Dialect("cached", [PowerOp]))
    text = """func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
      %y = cached.power %x : (tensor<3xf32>) -> tensor<3xf32>
      func.return %y : tensor<3xf32>
    }"""
    module = parse_module(context, text, "x.mlir")
    x = np.array([1, 2, 3], np.float32)
    for exponent in (2, 3):
        register_legalizations("cached", {PowerOp: power_kernel(exponent)})
        np.testing.assert_array_equal(passline.compile(module)(x), [x**exponent])
    assert entries(folder) == []


def test_operations_and_semantics_of_the_process_are_not_covered_by_a_key():
    assert cache.is_covered(parsed())
    operation = PowerOp(create_ssa_value(TensorType(f32, [3])))
    assert not cache.is_covered(ModuleOp([operation]))
    assert not is_registered_here("tir")
    DialectTable[str]("none", {}).register("cached", "semantics")
    assert is_registered_here("cached")


def test_off(folder: Path, compilations: list[str], monkeypatch: pytest.MonkeyPatch):
    check(passline.compile(MODULE, cache=False))
    assert not folder.exists()
    monkeypatch.setenv("PASSLINE_CACHE_SIZE", "0")
    check(passline.compile(MODULE))
    check(passline.compile(MODULE))
    assert len(compilations) == 3 and not folder.exists()


@needs_native
def test_instruments_see_the_passes(folder: Path, compilations: list[str]):
    class Names(PassInstrument):
        def __init__(self) -> None:
            self.names: list[str] = []

        def run_before_pass(self, module: ModuleOp, info: passline.PassInfo) -> None:
            self.names.append(info.name)

    check(passline.compile(MODULE))
    with PassContext(instruments=[seen := Names()]):
        check(passline.compile(MODULE))
    assert "infer-type" in seen.names and len(entries(folder)) == 1


@needs_native
def test_a_loaded_function_fails_like_the_compiled_one(compilations: list[str]):
    text = """
      func.func @main(%x: memref<2xi64>, %y: memref<2xi64>) attributes {tir.outputs = 1 : i64} {
        %c0 = arith.constant 0 : index
        %zero = arith.constant 0 : i64
        %v = memref.load %x[%c0] : memref<2xi64>
        %ok = arith.cmpi sgt, %v, %zero : i64
        cf.assert %ok, "x is positive"
        "memref.copy"(%x, %y) : (memref<2xi64>, memref<2xi64>) -> ()
        func.return
      }"""
    messages: list[str] = []
    for _ in range(2):
        call = passline.compile(text, level=None)
        (result,) = call(np.array([3, 4]))
        assert result.tolist() == [3, 4]
        for wrong in (np.array([-3, 4]), np.array([3])):
            with pytest.raises(PasslineError) as caught:
                call(wrong)
            messages.append(str(caught.value))
    assert compilations == ["main"] and messages[:2] == messages[2:]
    assert "x is positive" in messages[0] and ":7:9" in messages[0]


@needs_native
def test_functions_on_buffers_change_copies(compilations: list[str]):
    text = """
      tir.prim_func @main(%x: memref<2xf32>, %y: f32) {
        %c0 = arith.constant 0 : index
        memref.store %y, %x[%c0] : memref<2xf32>
      }"""
    for _ in range(2):
        x = np.zeros(2, np.float32)
        (result,) = passline.compile(text, level=None)(x, 5.0)
        assert result.tolist() == [5, 0] and not x.any()
    assert compilations == ["main"]


# The folder


@needs_native
def test_the_folder_is_private(folder: Path, compilations: list[str]):
    passline.compile(MODULE)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert entries(folder)[0].stat().st_mode & 0o777 == 0o600


@needs_native
@pytest.mark.parametrize("mode", [0o770, 0o777, 0o707])
def test_a_folder_that_others_can_write_to_is_not_used(
    mode: int, folder: Path, compilations: list[str]
):
    passline.compile(MODULE)
    folder.chmod(mode)
    check(passline.compile(MODULE))
    assert len(compilations) == 2


@needs_native
def test_foreign_files_are_not_loaded(
    folder: Path, compilations: list[str], monkeypatch: pytest.MonkeyPatch
):
    passline.compile(MODULE)
    other = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: other)
    check(passline.compile(MODULE))
    assert len(compilations) == 2 and len(entries(folder)) == 1


@needs_native
def test_a_pipe_in_the_place_of_an_entry_is_not_waited_for(folder: Path, compilations: list[str]):
    passline.compile(MODULE)
    (entry,) = entries(folder)
    entry.unlink()
    os.mkfifo(entry)
    check(passline.compile(MODULE))
    assert len(compilations) == 2


@needs_native
def test_no_home(tmp_path: Path, compilations: list[str], monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "file").touch()
    for home in ("/dev/null/home", str(tmp_path / "file"), "/proc/no/such"):
        monkeypatch.setenv("XDG_CACHE_HOME", home)
        check(passline.compile(MODULE))
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # which the specification says to ignore
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    check(passline.compile(MODULE))
    assert len(compilations) == 4


@needs_native
def test_damaged_entries_are_replaced(folder: Path, compilations: list[str]):
    passline.compile(MODULE)
    (entry,) = entries(folder)
    content = entry.read_bytes()
    for damaged in (b"", content[:-1], content[:300] + b"?" + content[301:]):
        entry.write_bytes(damaged)
        check(passline.compile(MODULE))
        check(passline.compile(MODULE))
    assert len(compilations) == 4 and entries(folder) == [entry]


@needs_native
def test_the_least_recently_used_entries_are_removed(
    folder: Path, compilations: list[str], monkeypatch: pytest.MonkeyPatch
):
    for level in (0, 1, 2):
        passline.compile(MODULE, level=level)
    size = max(path.stat().st_size for path in entries(folder))
    for age, path in enumerate(sorted(entries(folder), key=lambda path: path.stat().st_mtime_ns)):
        os.utime(path, (1000 + age, 1000 + age))
    passline.compile(MODULE, level=0)  # a load: it has been used now
    monkeypatch.setenv("PASSLINE_CACHE_SIZE", str(3 * size + 100))
    passline.compile(MODULE, level=3)
    assert len(entries(folder)) == 3
    passline.compile(MODULE, level=0)
    assert len(compilations) == 4
    passline.compile(MODULE, level=1)
    assert len(compilations) == 5


@needs_native
def test_entries_that_are_too_large_are_not_kept(
    folder: Path, compilations: list[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PASSLINE_CACHE_SIZE", "1K")
    check(passline.compile(MODULE))
    assert entries(folder) == []


@pytest.mark.parametrize(
    ("text", "size"),
    [("10", 10), ("2k", 2048), ("3G", 3 << 30), ("", 4 << 30), ("-1", 4 << 30), ("much", 4 << 30)],
)
def test_the_size(text: str, size: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PASSLINE_CACHE_SIZE", text)
    assert cache.max_bytes() == size


@needs_native
def test_processes_share_it(tmp_path: Path, folder: Path):
    (file := tmp_path / "model.mlir").write_text(MODULE)
    command = [sys.executable, "-m", "passline.tools.run", "-O3", "--engine=native", str(file)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    first, second = [process.communicate()[0] for process in running]
    assert first.startswith("sum: float32 300\n") and first == second
    assert len(entries(folder)) == 1
