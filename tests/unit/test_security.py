"""The promises of docs/security.md: input is data, stays in its place, and is bounded."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
import tracemalloc
import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, StringStringEntryProto, TensorProto, helper
from support.native.needs_llvmlite import needs_native
from support.releases import needs_part
from support.suites.inprocess import Result, capture, passline_opt
from support.tables import table_test

from passline.compiler.interpreters.arguments import load_arrays, save_arrays
from passline.passmanager.report.page import render_page
from passline.passmanager.report.record_reader import read_record
from passline.tools.run import PasslineRunMain

ROOT = Path(__file__).parents[2]
FUNCTION = "func.func @f() {\n  func.return\n}\n"
ADD = """\
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = relax.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}
"""
TERABYTES = """\
func.func @main() -> tensor<1099511627776xf32> {
  %s = relax.full 1.0 : tensor<1099511627776xf32>
  func.return %s : tensor<1099511627776xf32>
}
"""


def passline_run(*args: str, stdin: str = "") -> Result:
    return capture(lambda: PasslineRunMain(args).run(), stdin)


def refused(result: Result, *said: str) -> None:
    """Check that a command ends with 1 and a message, and is not called a bug."""
    assert result.status == 1, result
    assert "Traceback" not in result.stderr and "bug" not in result.stderr
    for text in said:
        assert text in result.stderr


# Nothing of an input is executed


class Touch:
    """An object whose pickle creates a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.path),)


def archive(members: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    with zipfile.ZipFile(buffer := BytesIO(), "w", compression) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return buffer.getvalue()


def test_arrays_hold_no_pickles(tmp_path: Path) -> None:
    marker = tmp_path / "executed"
    np.save(buffer := BytesIO(), np.array([Touch(marker)], object), allow_pickle=True)
    for name, content in {
        "object.npz": archive({"x.npy": buffer.getvalue()}),
        "plain.npz": pickle.dumps(Touch(marker)),
        "member.npz": archive({"x": pickle.dumps(Touch(marker))}),
    }.items():
        (tmp_path / name).write_bytes(content)
        refused(passline_run("--inputs", str(tmp_path / name), stdin=ADD))
    assert not marker.exists()


def reproducer(pipeline: str) -> str:
    escaped = pipeline.replace('"', "\\22")
    return f"""{FUNCTION}
{{-#
  external_resources: {{
    mlir_reproducer: {{ pipeline: "builtin.module({escaped})", verify_each: true }}
  }}
#-}}
"""


@pytest.mark.parametrize("around", ["{}", "fixpoint({})", "cse,repeat{{n=2}}({})"])
def test_pipeline_of_a_file_runs_no_program(tmp_path: Path, around: str) -> None:
    marker = tmp_path / "executed"
    pipeline = f'mlir-opt{{executable="mkdir" arguments="{marker}"}}'
    text = reproducer(around.format(pipeline))
    refused(passline_opt("--run-reproducer", stdin=text), "'mlir-opt{", "runs a program", "-p '")
    assert not marker.exists()


@table_test(
    ("pass_", "deed"),
    [
        ("mlir-opt[cse]", "runs a program"),
        ('alter-op-layout{hooks="relax.nn.conv2d=antigravity:fly"}', "imports Python modules"),
        ('apply-pdl{pdl-file="/etc/hostname"}', "reads another file"),
        ('apply-pdl-interp{pdl-interp-file="/etc/hostname"}', "reads another file"),
        ('apply-eqsat-pdl{pdl-file="/etc/hostname"}', "reads another file"),
        ('apply-eqsat-pdl-interp{pdl-interp-file="/etc/hostname"}', "reads another file"),
        ('eqsat-add-costs{cost-file="/etc/hostname"}', "reads another file"),
        ('func.func(eqsat-add-costs{cost-file="/etc/hostname"})', "reads another file"),
        ("fixpoint(func.func(mlir-opt[cse]))", "runs a program"),
    ],
)
def test_pipeline_of_a_file_stays_inside_of_the_module(pass_: str, deed: str) -> None:
    refused(passline_opt("--run-reproducer", stdin=reproducer(pass_)), deed)
    assert "antigravity" not in sys.modules


def test_pipeline_of_a_file_runs_registered_passes() -> None:
    result = passline_opt("--run-reproducer", stdin=reproducer("canonicalize,alter-op-layout"))
    assert result.status == 0 and "@f" in result.stdout
    unknown = passline_opt("--run-reproducer", stdin=reproducer("os.system"))
    assert unknown.status in (1, 2) and "os.system" in unknown.stderr


def test_no_other_xdsl_pass_opens_files_or_runs_programs() -> None:
    """The table in tools/loading.py is complete: xDSL's transformations have no other such call."""
    import xdsl.transforms

    folder = Path(xdsl.transforms.__path__[0])
    call = re.compile(r"(?<![\w.])open\(|^(?:import|from) (?:subprocess|importlib|os|pickle)", re.M)
    found = {path.stem for path in folder.rglob("*.py") if call.search(path.read_text())}
    known = {"apply_pdl", "apply_pdl_interp", "apply_eqsat_pdl", "apply_eqsat_pdl_interp"}
    assert found == known | {"eqsat_add_costs", "mlir_opt"}


# No path outside


def external_model(location: str, **places: str) -> bytes:
    entries = {"location": location, **places}
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2])
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.extend(StringStringEntryProto(key=k, value=v) for k, v in entries.items())
    value = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])
    graph = helper.make_graph([helper.make_node("Neg", ["w"], ["y"])], "g", [], [value], [tensor])
    model: ModelProto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    return model.SerializeToString()


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """A folder for a model, with a secret beside it, and links to the secret in it."""
    (tmp_path / "secret.bin").write_bytes(b"\0\0\x80?" * 2)
    folder = tmp_path / "model"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "w.bin").write_bytes(b"\0\0\x80?" * 2)
    (folder / "link.bin").symlink_to(tmp_path / "secret.bin")
    (folder / "linked").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe")
    return folder


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("../secret.bin", "outside of the folder"),
        ("data/../../secret.bin", "outside of the folder"),
        ("link.bin", "outside of the folder"),
        ("linked/secret.bin", "outside of the folder"),
        ("/etc/hostname", "must be relative"),
        ("pipe", "not a regular file"),
        ("data", "not a regular file"),
        ("", "not a regular file"),
        ("nothing.bin", "No such file"),
        ("a\0b", "null"),
    ],
)
def test_external_data_is_in_the_folder_of_the_model(
    folders: Path, location: str, reason: str
) -> None:
    (folders / "m.onnx").write_bytes(external_model(location))
    refused(passline_opt(str(folders / "m.onnx")), "tensor 'w'", reason)


def test_external_data_in_the_folder_is_read(folders: Path) -> None:
    (folders / "m.onnx").write_bytes(external_model("data/w.bin"))
    assert "dense<1.0" in passline_opt(str(folders / "m.onnx")).stdout
    for key in ("offset", "length"):
        for number in ("-1", "x", "٣", "9" * 30):
            (folders / "m.onnx").write_bytes(external_model("data/w.bin", **{key: number}))
            refused(passline_opt(str(folders / "m.onnx")), f"its {key} is")
        (folders / "m.onnx").write_bytes(external_model("data/w.bin", **{key: str(1 << 62)}))
        refused(passline_opt(str(folders / "m.onnx")), f"its {key} is {1 << 62}", "8 bytes")


def test_names_in_the_input_are_no_paths(tmp_path: Path) -> None:
    name = "../../../up/..\\x/\x1b[31m"
    text = f'func.func @"{name}"() {{\n  func.return\n}}\n'.replace("\\x", "\\\\x")
    dump, report = tmp_path / "a" / "dump", tmp_path / "a" / "report.html"
    record, crash = tmp_path / "a" / "record.jsonl", tmp_path / "a" / "crash.mlir"
    dump.mkdir(parents=True)
    options = (f"--dump-ir={dump}", f"--report={report}", f"--record={record}")
    named = 'sequential{name="../../up"}(cse)'
    made = passline_opt("-p", named, *options, f"--generate-reproducer={crash}", stdin=text)
    assert made.status == 0, made.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"a"}
    found = {path for path in tmp_path.rglob("*") if path.is_file()}
    assert {report, record, crash} < found and len(found) > 3
    assert all(path.parent in (dump, dump.parent) for path in found)


# Bounds


@table_test(
    ("operation", "type"),
    [
        ("relax.full 1.0 :", "4611686018427387904"),
        ("relax.full 1.0 :", "2147483648x2147483648"),
        ("relax.broadcast_to %c {shape=[1099511627776, 2]} : (tensor<2xf32>) ->", None),
        ("relax.tile %c {reps=[1099511627776]} : (tensor<2xf32>) ->", None),
        ("relax.repeat %c {repeats=1099511627776, axis=0} : (tensor<2xf32>) ->", None),
        ("relax.nn.pad %c {pad_width=[1099511627776, 0]} : (tensor<2xf32>) ->", None),
    ],
)
def test_tensors_of_terabytes_are_not_computed(operation: str, type: str | None) -> None:
    result = f"tensor<{f'{type}x' if type else '*x'}f32>"
    text = f"""\
func.func @main() -> tensor<f32> {{
  %c = relax.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = {operation} {result}
  %1 = relax.sum %0 : ({result}) -> tensor<f32>
  func.return %1 : tensor<f32>
}}
"""
    optimized = passline_opt("-O3", stdin=text)
    assert optimized.status == 0 and len(optimized.stdout) < 4000, optimized.stderr
    refused(passline_run("-p", "infer-type", stdin=text), "exceeds the limit of 268435456")


def test_limit_on_elements_can_be_set() -> None:
    option = "--config=passline.max_elements"
    assert passline_run(f"{option}=2", stdin=ADD).status == 0
    refused(passline_run(f"{option}=1", stdin=ADD), "a tensor of 2 elements exceeds the limit of 1")


def test_windows_with_padding_of_terabytes_are_not_computed() -> None:
    text = """\
func.func @main(%x: tensor<1x1x4x4xf32>) -> tensor<*xf32> {
  %y = relax.nn.max_pool2d %x {pool_size = [1073741824, 1073741824], padding = [536870912, \
536870912, 536870912, 536870912]} : (tensor<1x1x4x4xf32>) -> tensor<*xf32>
  func.return %y : tensor<*xf32>
}
"""
    refused(passline_run(stdin=text), "exceeds the limit")


def test_buffers_of_terabytes_are_not_allocated() -> None:
    text = "func.func @main() {\n  %b = memref.alloc() : memref<1099511627776xf32>\n  return\n}\n"
    text = text.replace("  return", "  func.return")
    refused(passline_run(stdin=text), "exceeds the limit")


@needs_part("reading")
@table_test("type", ["tensor<1099511627776xf32>", "vector<1048576x1048576xi8>"])
def test_splats_of_terabytes_are_not_expanded(type: str) -> None:
    number = "1.0" if "f32" in type else "1"
    text = f'"x.y"() {{a = dense<{number}> : {type}}} : () -> ()\n'
    refused(passline_opt("--allow-unregistered-dialect", stdin=text), "<stdin>:1:", "exceeds")


def test_constants_of_a_model_are_not_expanded(tmp_path: Path) -> None:
    shape = helper.make_tensor("s", TensorProto.INT64, [2], [1 << 31, 1 << 31])
    value = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    nodes = [
        helper.make_node("ConstantOfShape", ["s"], ["c"]),
        helper.make_node("Exp", ["c"], ["y"]),
    ]
    graph = helper.make_graph(nodes, "g", [], [value], [shape])
    model: ModelProto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    assert passline_opt(str(path), "-O3").status == 0
    refused(passline_run(str(path)), "exceeds the limit")


def test_results_of_terabytes_are_not_written(tmp_path: Path) -> None:
    file = tmp_path / "y.npz"
    result = passline_run("--outputs", str(file), stdin=TERABYTES)
    refused(result, "result 's', of 'relax.full' at <stdin>:2:8,", "exceeds the limit")
    assert not file.exists()


@needs_native
def test_results_of_terabytes_are_not_allocated_for_machine_code() -> None:
    refused(passline_run("--engine=native", stdin=TERABYTES), "'s' is memref<", "exceeds the limit")


def test_results_are_written_piece_by_piece(tmp_path: Path) -> None:
    result = np.broadcast_to(np.float32(1), 1 << 26)
    tracemalloc.start()
    try:
        save_arrays(str(tmp_path / "y.npz"), {"y": result})
        assert tracemalloc.get_traced_memory()[1] < result.size
    finally:
        tracemalloc.stop()
    assert np.array_equal(load_arrays(str(tmp_path / "y.npz"))["y"][:3], [1, 1, 1])


def test_archives_of_zeros_are_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    content = bytearray(archive({"x.npy": b"\0" * 100}, zipfile.ZIP_DEFLATED))
    directory = content.index(b"PK\x01\x02")
    content[directory + 24 : directory + 28] = b"\xfe\xff\xff\xff"  # the size when unpacked
    path.write_bytes(content)
    refused(
        passline_run("--inputs", str(path), "--config=passline.max_elements=1000", stdin=ADD),
        "exceeds the limit",
    )


NESTED = {
    "arrays": (100_000, '"x.y"() {a = ', "[", "]", "} : () -> ()"),
    "types": (100_000, '"x.y"() {a = ', "tuple<", ">", "} : () -> ()"),
    "function types": (100_000, '"x.y"() {a = ', "(", ") -> ()", "} : () -> ()"),
    "dictionaries": (100_000, '"x.y"() {a = ', "{a = ", "}", "} : () -> ()"),
    "constants": (100_000, '"x.y"() {a = dense<', "[", "]", "> : tensor<1xi8>} : () -> ()"),
    "sums": (100_000, '"x.y"() {a = affine_map<(d0) -> (d0', " + d0", "", ")>} : () -> ()"),
}


@pytest.mark.parametrize("kind", NESTED)
def test_nesting_ends_with_a_message(tmp_path: Path, kind: str) -> None:
    depth, before, opening, closing, after = NESTED[kind]
    path = tmp_path / "deep.mlir"
    path.write_text(f"{before}{opening * depth}{closing * depth}{after}")
    opt = Path(sys.executable).with_name("passline-opt")
    command = [opt, path, "--allow-unregistered-dialect"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1 and "the IR is nested too deeply" in done.stderr, done


def test_nesting_of_regions_ends_with_a_message() -> None:
    text = '"x.y"() ({' * 1000  # in this process, whose stack is that of Python's default
    refused(passline_opt("--allow-unregistered-dialect", stdin=text), "nested too deeply")


def test_pipelines_nested_deeply_end_with_a_message() -> None:
    for text in ("any(" * 100_000, "any(" * 100_000 + "cse" + ")" * 100_000, "(" * 1_000_000):
        result = passline_opt("-p", text, stdin=FUNCTION)
        assert result.status == 2 and len(result.stderr) < 2000, result.status
        assert text[0] == "(" or "in more than 100 nested parentheses" in result.stderr


@table_test(("sigil", "first", "use"), [("!", "i8", "tuple<{0}, {0}>"), ("#", "1", "[{0}, {0}]")])
def test_aliases_do_not_grow_without_limit(sigil: str, first: str, use: str) -> None:
    lines = [f"{sigil}t0 = {first}"]
    lines += [f"{sigil}t{i + 1} = {use.format(f'{sigil}t{i}')}" for i in range(60)]
    refused(passline_opt(stdin="\n".join(lines)), "<stdin>:19:1", "stands for more than 1048576")


def test_calls_that_double_are_not_all_inlined() -> None:
    text = "func.func private @f0(%x: f32) -> f32 {\n  func.return %x : f32\n}\n"
    for i in range(1, 61):
        text += f"""\
func.func @f{i}(%x: f32) -> f32 {{
  %0 = func.call @f{i - 1}(%x) : (f32) -> f32
  %1 = func.call @f{i - 1}(%0) : (f32) -> f32
  func.return %1 : f32
}}
"""
    result = passline_opt("-p", "inline", stdin=text)
    assert result.status == 0 and len(result.stdout) < 1 << 20


@table_test("body", ["", "    memref.store %x, %a[%c0] : memref<4xf32>\n"])
def test_loops_of_a_billion_are_not_unrolled(body: str) -> None:
    text = f"""\
tir.prim_func @f(%a : memref<4xf32>, %x : f32) {{
  %c0 = arith.constant 0 : index
  %n = arith.constant 1000000000 : index
  tir.for unrolled %i = %c0 extent %n {{
{body}  }}
}}
"""
    refused(passline_opt("-p", "tir-unroll-loop", stdin=text), "is too large to be unrolled")


@needs_part("reading")
@table_test(
    "text",
    [
        '"' + "\\" * 100_000,
        '"x.y"() {a = tensor<' + "1x" * 100_000 + "f32>} : () -> ()",
        '"x.y"() {a = dense<[1e5' + ", [1]" * 20_000 + "]> : tensor<1xf32>} : () -> ()",
        "// " + "*" * 100_000 + "\n" + "%" * 100_000,
    ],
)
def test_time_to_refuse_a_long_line_is_bounded(text: str) -> None:
    result = passline_opt("--allow-unregistered-dialect", stdin=text)
    refused(result)
    assert len(result.stderr) < 2000


# What is shown

EVIL = "<script>alert(1)</script>"


def test_report_escapes_the_input(tmp_path: Path) -> None:
    file = tmp_path / "record.jsonl"
    text = FUNCTION.replace("@f", f'@"{EVIL}"').replace(
        "{\n", f'attributes {{a = "{EVIL}"}} {{\n', 1
    )
    named = f'sequential{{name="{EVIL}"}}(canonicalize)'
    assert passline_opt("-p", named, f"--record={file}", stdin=text).status == 0
    with file.open() as lines:
        record = read_record(lines)
    assert EVIL in file.read_text() and EVIL not in render_page(record, EVIL)


def test_control_characters_are_visible() -> None:
    hidden = "\x1b[31m\u202eevil\x9b"
    shown = r"\x1b[31m\u202eevil\x9b"
    symbol = f'func.func @"{hidden}"() {{\n  func.return\n}}\n'
    for result in (
        passline_opt("-p", hidden, stdin=FUNCTION),
        passline_opt(f"--{hidden}", stdin=FUNCTION),
        passline_opt("--config", hidden, stdin=FUNCTION),
        passline_opt(f"{hidden}.mlir"),
        passline_opt(stdin=hidden),
        passline_opt(stdin=f'"{hidden}.op"() : () -> ()'),
        passline_opt(stdin=symbol + symbol),
        passline_run("--function", hidden, stdin=ADD),
    ):
        assert result.status in (1, 2), result
        assert not re.search("[\x1b\x9b\u202e]", result.stderr), result.stderr
        assert shown in result.stderr or r"\x1b" in result.stderr or r"\1B" in result.stderr


# The page


def test_page_names_tests_that_exist() -> None:
    page = (ROOT / "docs" / "security.md").read_text()
    named = re.findall(r"`(test_\w+)`", page)
    here = re.findall(r"^def (test_\w+)", Path(__file__).read_text(), re.MULTILINE)
    back_end = ROOT / "tests/unit/compiler/interpreters/codegens/test_onnxruntime.py"
    files = [back_end, *(ROOT / "tests/unit/passmanager/bytecode").glob("test_*.py")]
    others = "".join(file.read_text() for file in files)
    elsewhere = {name for name in named if f"def {name}(" in others}
    assert set(here) - {"test_page_names_tests_that_exist"} == set(named) - elsewhere
