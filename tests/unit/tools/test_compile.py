"""passline-compile: what its files hold, and what a user's mistakes say."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest
from support.native.c_compiler import check_c, needs_cc
from support.native.needs_llvmlite import needs_native
from support.suites.inprocess import Result, capture
from xdsl.dialects.builtin import ModuleOp

import passline
from passline.compiler.compile import runtime
from passline.compiler.compile.code import MACHINES
from passline.compiler.compile.runtime import Library, LibraryError
from passline.compiler.native.jit import find_runtime
from passline.dialects.target import Target
from passline.passmanager.forks import available_cores
from passline.tools.compile import PasslineCompileMain
from passline.tools.output import ResultFile

KINDS = """
func.func @main(%x: tensor<4x8xf32>, %i: tensor<3xi64>, %k: i32, %h: tensor<4xf16>,
                %b: tensor<i1> {onnx.name = "b/0 */ \\22 é"}, %f: f32, %q: i1, %z: tensor<2xui8>,
                %w: tensor<2x3xbf16>)
    -> (tensor<3x8xf32>, tensor<3xi64>, tensor<4xf16>, tensor<i1>, tensor<2xui8>,
        tensor<2x3xbf16>) {
  %c = relax.constant dense<1.5> : tensor<500xf32>
  %s = relax.sum %c {axis = [0]} : (tensor<500xf32>) -> tensor<f32>
  %y = relax.add %x, %s : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %t = relax.take %y, %i {axis = 0, mode = "raise"}
      : (tensor<4x8xf32>, tensor<3xi64>) -> tensor<3x8xf32>
  %j = relax.add %i, %i : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
  %g = relax.exp %h : (tensor<4xf16>) -> tensor<4xf16>
  %n = relax.logical_not %b : (tensor<i1>) -> tensor<i1>
  %v = relax.add %w, %w : (tensor<2x3xbf16>, tensor<2x3xbf16>) -> tensor<2x3xbf16>
  func.return %t, %j, %g, %n, %z, %v
      : tensor<3x8xf32>, tensor<3xi64>, tensor<4xf16>, tensor<i1>, tensor<2xui8>, tensor<2x3xbf16>
}
"""
ADD = """
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = relax.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
"""


def compile_file(*args: str | Path, stdin: str = "") -> Result:
    return capture(lambda: PasslineCompileMain([*map(str, args)]).run(), stdin)


def compiled(text: str, directory: Path, name: str, *args: str) -> Path:
    """Compile a module to a file; return its path."""
    source = directory / f"{Path(name).stem}.mlir"
    source.write_text(text)
    result = compile_file(source, "-o", directory / name, *args)
    assert (result.status, result.stdout) == (0, "")
    assert result.stderr.startswith(f"wrote {directory / name} (")
    return directory / name


def machine_in(file: Path) -> int:
    """Return the number of the architecture in the header of an ELF file."""
    return struct.unpack_from("<H", file.read_bytes(), 0x12)[0]


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of `KINDS`."""
    return compiled(KINDS, tmp_path_factory.mktemp("kinds"), "libkinds.so", "-O3")


def arguments() -> list[np.ndarray | float]:
    rng = np.random.default_rng(0)
    return [
        rng.standard_normal((4, 8)).astype(np.float32),
        np.array([3, 0, 1]),
        7,
        rng.standard_normal(4).astype(np.float16),
        np.array(True),
        0.5,
        True,
        np.array([200, 3], np.uint8),
        rng.standard_normal((2, 3)).astype(np.float32),
    ]


# Libraries


@needs_native
@needs_cc
def test_a_library_computes_what_numpy_does(kinds: Path) -> None:
    given = arguments()
    results = Library(kinds)["main"](*given)
    expected = passline.run(KINDS, *map(np.asarray, given))
    for result, wanted in zip(results, expected, strict=True):
        assert result.dtype == wanted.dtype and result.shape == wanted.shape
        np.testing.assert_allclose(result, wanted, rtol=1e-3)


@needs_native
@needs_cc
def test_the_description_says_what_there_is(kinds: Path) -> None:
    library = Library(kinds)
    assert [*library] == ["main"] and library.name == "kinds"
    assert library.compiler == f"passline {passline.__version__}"
    inputs = library["main"].inputs
    assert inputs[4].name == 'b/0 */ " é' and inputs[4].type == "i1" and inputs[4].shape == ()
    assert str(inputs[8]) == "w: 2x3xbf16"
    assert [t.type for t in library["main"].results] == ["f32", "i64", "f16", "i1", "ui8", "bf16"]


@needs_native
@needs_cc
def test_an_assertion_that_fails_is_reported_with_its_place(kinds: Path) -> None:
    given = arguments()
    given[1] = np.array([0, 4, 0])
    with pytest.raises(LibraryError) as caught:
        Library(kinds)["main"](*given)
    place = f"{kinds.with_name('libkinds.mlir')}:10:8"
    message = "relax.take: an index is out of bounds for axis 0 with size 4"
    assert str(caught.value).startswith(f"assertion failed at {place}: {message}")


@needs_native
@needs_cc
def test_threads_may_call_a_function_at_once(kinds: Path) -> None:
    function, good, bad = Library(kinds)["main"], arguments(), arguments()
    bad[1] = np.array([0, 4, 0])
    expected = function(*good)[0]
    wrong: list[object] = []

    def call(valid: bool) -> None:
        for _ in range(50):
            try:
                if not (valid and np.array_equal(function(*good)[0], expected)):
                    wrong.append(function(*bad))
            except LibraryError as error:
                if valid:
                    wrong.append(error)

    threads = [threading.Thread(target=call, args=(bool(i % 2),)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@needs_native
@needs_cc
def test_only_the_interface_is_visible(kinds: Path) -> None:
    if not shutil.which("nm"):
        pytest.skip("there is no nm")
    said = subprocess.run(["nm", "-D", "--defined-only", kinds], capture_output=True, text=True)
    names = {line.split()[-1] for line in said.stdout.splitlines()}
    assert names == {"kinds_main", "kinds_library", "passline_this_library"}


@needs_native
@needs_cc
def test_a_library_is_loaded_without_xdsl(kinds: Path, tmp_path: Path) -> None:
    shutil.copy(runtime.__file__, tmp_path / "runtime.py")
    code = f"""
        import sys
        sys.path[:0] = [{str(tmp_path)!r}, {str(Path(np.__file__).parent.parent)!r}]
        from runtime import Library
        import numpy as np
        library = Library({str(kinds)!r})
        assert library["main"].inputs[0].shape == (4, 8)
        loaded = {{name.partition(".")[0] for name in sys.modules}}
        sys.exit(loaded & {{"passline", "xdsl", "llvmlite", "onnx"}} != set())
    """
    done = subprocess.run([sys.executable, "-I", "-S", "-c", textwrap.dedent(code)], text=True)
    assert done.returncode == 0


@needs_native
@needs_cc
@pytest.mark.parametrize("standard", ["c99", "c++11"])
def test_the_header_is_c_and_cpp(kinds: Path, tmp_path: Path, standard: str) -> None:
    source = tmp_path / "use.c"
    source.write_text('#include "libkinds.h"\n#include "libkinds.h"\nint x(void);\n')
    check_c(source, kinds.parent, standard)


VALUES = ", ".join(map(str, range(1000)))
WITH_CONSTANT = f"""
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {{
  %v = relax.constant dense<[{VALUES}]> : tensor<1000xf32>
  %c = relax.strided_slice %v {{axes = [0], begin = [499], end = [1000], strides = [500]}}
      : (tensor<1000xf32>) -> tensor<2xf32>
  %0 = relax.add %x, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}}
"""
"""A function that adds 499 and 999, which it has from a large constant."""
CALLER = r"""
#include <stdio.h>
#include "add.h"
int main(void) {
  float x[add_main_in_x_size] = {1, 2}, y[add_main_out_result0_size];
  passline_failure failure;
  if (add_main(x, y, &failure) != PASSLINE_OK || add_library.interface != PASSLINE_INTERFACE)
    return 1;
  printf("%g %g %s\n", (double)y[0], (double)y[1], add_library.functions[0].symbol);
  return 0;
}
"""


@needs_native
@needs_cc
@pytest.mark.parametrize("kind", ["so", "o", "s"])
def test_a_program_in_c_calls_it(tmp_path: Path, kind: str) -> None:
    file = compiled(WITH_CONSTANT, tmp_path, f"add.{kind}", f"--header={tmp_path}/add.h")
    source, program = tmp_path / "caller.c", tmp_path / "caller"
    source.write_text(CALLER)
    command = ["cc", f"-I{tmp_path}", source, file, f"-Wl,-rpath,{tmp_path}", "-o", program]
    subprocess.run(command, check=True)
    said = subprocess.run([program], capture_output=True, text=True)
    assert (said.returncode, said.stdout) == (0, "500 1001 add_main\n")


@needs_native
def test_llvm_ir_has_the_constants_in_its_text(tmp_path: Path) -> None:
    import llvmlite.binding as llvm

    text = compiled(WITH_CONSTANT, tmp_path, "add.ll").read_text()
    module = llvm.parse_assembly(text)
    defined = {f.name for f in module.functions if not f.is_declaration}
    assert "add_main" in defined and not (tmp_path / "add.h").exists()
    data = np.arange(1000, dtype=np.float32).tobytes()
    assert "".join(f"\\{byte:02X}" for byte in data) in text


@needs_native
@needs_cc
def test_buffers_of_the_caller_are_changed(tmp_path: Path) -> None:
    text = """
    func.func @count(%x: memref<?x2xi32>, %n: index) {
      %c1 = arith.constant 1 : index
      %v = arith.constant 7 : i32
      memref.store %v, %x[%n, %c1] : memref<?x2xi32>
      func.return
    }
    """
    file = compiled(text, tmp_path, "count.so", "--function=count")
    count, array = Library(file)["count"], np.zeros((3, 2), np.int32)
    assert count(array, 2) == () and array.tolist() == [[0, 0], [0, 0], [0, 7]]
    with pytest.raises(LibraryError, match="input 'x' is 3x3: expected x: \\?x2xi32"):
        count(np.zeros((3, 3), np.int32), 2)
    with pytest.raises(LibraryError, match="writable and contiguous"):
        count(np.zeros((2, 6), np.int32)[:, ::3], 1)
    caller = """
    #include "count.h"
    #include <string.h>
    int main(void) {
      int64_t shape[2] = {3, 3};
      int32_t data[9] = {0};
      passline_array array = {data, shape, NULL};
      passline_failure failure;
      if (count_count(&array, 0, &failure) != PASSLINE_BAD_ARGUMENT) return 1;
      if (strcmp(failure.message, "dimension 1 of 'x' is wrong: expected 2")) return 2;
      shape[1] = 2;
      return count_count(&array, 0, NULL) || data[1] != 7 ? 3 : 0;
    }
    """
    (tmp_path / "caller.c").write_text(caller)
    command = ["cc", "caller.c", "count.so", "-Wl,-rpath,.", "-o", "caller"]
    subprocess.run(command, check=True, cwd=tmp_path)
    assert subprocess.run(["./caller"], cwd=tmp_path).returncode == 0


@needs_native
@needs_cc
def test_sizes_are_those_that_the_names_of_dimensions_say(tmp_path: Path) -> None:
    dims = {"a": "n", "b": "n", "c": "2 * n + 1", "d": "(n - 4) // 3", "e": "3 * m + 2", "f": "m"}
    types = [f'%{name}: memref<?xi8> {{onnx.dims = ["{dim}"]}}' for name, dim in dims.items()]
    types.append('%g: memref<?xi8> {onnx.dims = ["4 * k + 1"]}')
    text = f"func.func @main({', '.join(types)}) {{ func.return }}"
    main = Library(compiled(text, tmp_path, "sizes.so"))["main"]

    def sizes(*numbers: int) -> str:
        try:
            return str(main(*(np.zeros(number, np.int8) for number in numbers)))
        except LibraryError as error:
            return str(error)

    for n, m, k in [(5, 2, 3), (0, 0, 0), (4, 1, 1)]:
        good = [n, n, 2 * n + 1, (n - 4) // 3, 3 * m + 2, m, 4 * k + 1]
        if n == 0:  # -2 is no size
            assert "dimension 0 of 'd' is '(n - 4) // 3'" in sizes(*good[:3], 0, *good[4:])
            continue
        assert sizes(*good) == "()"
        assert sizes(n, n + 1, *good[2:]).startswith("dimension 0 of 'b' is 'n', which is")
        for place, dim in [(2, "2 * n + 1"), (3, "(n - 4) // 3"), (4, "3 * m + 2")]:
            bad = [*good]
            bad[place] += 1
            name = "abcdefg"[place]
            said = f"dimension 0 of '{name}' is '{dim}': other sizes say another one"
            assert sizes(*bad) == said
        said = "dimension 0 of 'g' is not '4 * k + 1' for any size"
        assert sizes(*good[:6], 4 * k + 3) == said


@needs_native
@needs_cc
@pytest.mark.models
def test_constants_of_more_than_100_mb(tmp_path: Path) -> None:
    from onnx import helper, numpy_helper

    weight = np.random.default_rng(0).standard_normal((7000, 4000), np.float32)
    values = [
        helper.make_tensor_value_info(n, 1, s) for n, s in (("x", [2, 7000]), ("y", [2, 4000]))
    ]
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    initializer = numpy_helper.from_array(weight, "w")
    graph = helper.make_graph([node], "g", values[:1], values[1:], [initializer])
    model = helper.make_model(graph, ir_version=10)
    (tmp_path / "large.onnx").write_bytes(model.SerializeToString())
    result = compile_file(tmp_path / "large.onnx", "-o", tmp_path / "large.so")
    assert result.status == 0 and result.stderr.startswith("wrote ")
    assert weight.nbytes < (tmp_path / "large.so").stat().st_size < weight.nbytes + (1 << 20)
    x = np.ones((2, 7000), np.float32)
    (y,) = Library(tmp_path / "large.so")["main"](x)
    np.testing.assert_allclose(y, x @ weight, rtol=1e-3, atol=1e-2)


# Targets


@needs_native
@pytest.mark.parametrize(
    ("target", "machine"), [("aarch64", "aarch64"), ('x86-64-v3{cpu="haswell"}', "x86_64")]
)
def test_an_object_file_is_for_the_target(tmp_path: Path, target: str, machine: str) -> None:
    file = compiled(WITH_CONSTANT, tmp_path, "add.o", f"--target={target}")
    assert machine_in(file) == MACHINES[machine]


@needs_native
def test_a_cross_compiled_program_runs(tmp_path: Path) -> None:
    compiler, emulator = "aarch64-linux-gnu-gcc", "qemu-aarch64"
    if not (shutil.which(compiler) and shutil.which(emulator)):
        pytest.skip(f"there is no {compiler}, or no {emulator}")
    library = compiled(WITH_CONSTANT, tmp_path, "add.so", "--target=aarch64")
    assert machine_in(library) == MACHINES["aarch64"]
    (tmp_path / "caller.c").write_text(CALLER)
    command = [compiler, "caller.c", "add.so", "-Wl,-rpath,.", "-o", "caller"]
    subprocess.run(command, check=True, cwd=tmp_path)
    root = ["-L", f"/usr/{compiler.removesuffix('-gcc')}"]
    said = subprocess.run(
        [emulator, *root, "./caller"], cwd=tmp_path, capture_output=True, text=True
    )
    assert said.stdout == "500 1001 add_main\n"


@needs_native
def test_the_entered_target_is_for_modules_without_one(tmp_path: Path) -> None:
    carried = f'builtin.module attributes {{tir.target = "x86-64"}} {{ {ADD} }}'
    for text, expected in ((ADD, "aarch64"), (carried, "x86_64")):
        with Target("aarch64"):
            file = compiled(text, tmp_path, "add.o")
        assert machine_in(file) == MACHINES[expected]


@needs_native
def test_a_module_carries_its_target(tmp_path: Path) -> None:
    text = f'builtin.module attributes {{tir.target = "aarch64"}} {{ {ADD} }}'
    assert machine_in(compiled(text, tmp_path, "add.o")) == MACHINES["aarch64"]


@needs_native
def test_without_a_linker_a_library_cannot_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    result = compile_file("-o", tmp_path / "add.so", stdin=ADD)
    assert result.status == 1
    assert "there is no executable 'no-such-compiler', which CC names" in result.stderr
    assert [*tmp_path.iterdir()] == []


@needs_native
@needs_cc
def test_a_library_runs_on_threads(tmp_path: Path) -> None:
    if find_runtime() is None:
        pytest.skip("there is no OpenMP runtime")
    text = """
    func.func @main(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
      %0 = relax.matmul %x, %x
          : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
      func.return %0 : tensor<512x512xf32>
    }
    """
    file = compiled(text, tmp_path, "product.so", "--threads=2")
    assert b"__kmpc_fork_call" in file.read_bytes()
    x = np.random.default_rng(0).standard_normal((512, 512), np.float32)
    (y,) = Library(file)["main"](x)
    np.testing.assert_allclose(y, x @ x, rtol=1e-3, atol=1e-3)
    assert b"__kmpc_fork_call" not in compiled(text, tmp_path, "serial.so").read_bytes()


# Mistakes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "x.dll"], "the suffix of 'x.dll' does not say what to make: expected one of .so"),
        ([], "name the output file with -o"),
        (["--emit=o"], "an object file is not text: name its file with -o FILE.o"),
        (["--emit=so", "-o", "-"], "a shared library is not text"),
        (["-o", "x.so", "--header=x.so"], "the header would overwrite the file of -o, 'x.so'"),
        (["-o", "x.so", "--target=aarch46"], "did you mean 'aarch64'?"),
        (
            ["-o", "x.so", "--target=wgsl"],
            "--target=wgsl is an output format: expected a processor",
        ),
        (["-o", "x.so", "--name=3x"], "expected letters, digits and _, got '3x'"),
        (["-o", "x.so", "--emit=dll"], "invalid choice: 'dll'"),
        (["-o", "x.so", "--out-dir=y"], "--out-dir"),
        (["-o", "x.so", "--split-input-file"], "it makes one library"),
    ],
)
def test_a_wrong_option_is_a_usage_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = compile_file(*options, stdin=ADD)
    assert result.status == 2 and message in result.stderr and "Traceback" not in result.stderr
    assert [*tmp_path.iterdir()] == []


def test_neither_the_input_nor_a_header_of_others_is_overwritten(tmp_path: Path) -> None:
    source, header = tmp_path / "add.s", tmp_path / "add.h"
    source.write_text(ADD)
    header.write_text("/* mine */")
    assert "overwrite the input" in compile_file(source, "-o", source).stderr
    result = compile_file(source, "-o", tmp_path / "add.so")
    assert result.status == 2 and "passline-compile did not write it" in result.stderr
    assert (source.read_text(), header.read_text()) == (ADD, "/* mine */")


@needs_native
@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (ADD, ["--function=mian"], "there is no function @mian, did you mean 'main'?"),
        (
            "func.func private @f(f32) -> f32\n"
            "func.func @main(%x: memref<1xf32>, %a: f32) {\n"
            "  %c = arith.constant 0 : index\n"
            "  %0 = func.call @f(%a) : (f32) -> f32\n"
            "  memref.store %0, %x[%c] : memref<1xf32>\n"
            "  func.return\n"
            "}",
            [],
            "function @f is called, but has no body, neither in the module nor in the C library: "
            "the call at <stdin>:4:8 needs it",
        ),
        (
            "func.func @main(%x: memref<4xi3>) { func.return }",
            [],
            "parameter 'x' is memref<4xi3>: expected integers of 1, 2, 4, 8, 16, 32, 64 bits",
        ),
        ("func.func @main(", [], "<stdin>:1"),
    ],
)
def test_what_cannot_be_compiled_is_status_1(
    tmp_path: Path, text: str, options: list[str], message: str
) -> None:
    result = compile_file("-o", tmp_path / "x.o", *options, stdin=text)
    assert result.status == 1 and message in result.stderr and "Traceback" not in result.stderr
    assert [*tmp_path.iterdir()] == []


@needs_native
@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_that_cannot_be_written_is_status_1(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    result = compile_file("-o", tmp_path / "x.o", stdin=ADD)
    assert result.status == 1 and "Permission denied" in result.stderr


def test_the_name_of_the_library_is_that_of_its_file(tmp_path: Path) -> None:
    from passline.tools.compile import library_name

    def name_of(*options: str) -> str:
        return library_name(PasslineCompileMain(options).args)

    assert name_of("-o", str(tmp_path / "libsqueeze-net.1.so")) == "squeeze_net_1"
    assert name_of("-o", str(tmp_path / "3d.o")) == "_3d"
    assert name_of("--emit=ll") == "model"
    assert name_of("--emit=ll", "--name=mine") == "mine"


@needs_native
@pytest.mark.parametrize(("reader", "status"), [("| true", 141), ("> /dev/full", 1)])
def test_output_that_cannot_be_written(tmp_path: Path, reader: str, status: int) -> None:
    (tmp_path / "add.mlir").write_text(ADD)
    command = f"{sys.executable} -m passline.tools.compile add.mlir --emit=s"
    shell = ["bash", "-c", f"{command} {reader}; exit ${{PIPESTATUS[0]}}"]
    root = str(Path(passline.__file__).parent.parent)
    path = {**os.environ, "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(shell, cwd=tmp_path, env=path, capture_output=True, text=True)
    assert done.returncode == status and "Traceback" not in done.stderr
    assert done.stderr == ("" if status == 141 else "error: '<stdout>': No space left on device\n")


@needs_native
def test_jobs_limit_the_cores_of_passes_and_of_llvm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[tuple[int, int]] = []
    write = PasslineCompileMain.write_result

    def noted(self: PasslineCompileMain, prog: ModuleOp, result: ResultFile) -> None:
        found.append((self.pass_context.workers, available_cores()))
        write(self, prog, result)

    monkeypatch.setattr(PasslineCompileMain, "write_result", noted)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {*range(8)}, raising=False)  # pyright: ignore
    for args in ((), ("--jobs=1",), ("-j", "3")):
        compiled(ADD, tmp_path, "x.o", *args)
    assert found == [(1, 8), (1, 1), (3, 3)]
