"""`passline.load` and `passline.save`."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from support.models.from_text import model_of
from support.passes.toy import toy_context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import ParseError

import passline
from passline.compiler.interpreters.shape_bindings import ShapeBindingError
from passline.passmanager import InvalidIRError, PasslineError
from passline.passmanager.ir.location import location_of

TEXT = "func.func @f() {\n  func.return\n}"
ONNX = model_of("g (float[3] x) => (float[3] y) { y = Relu(x) }").SerializeToString()


REPRODUCER = """
{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(cse)",
      disable_threading: true,
      verify_each: true
    }
  }
#-}
"""


def names(module: ModuleOp) -> list[str]:
    return [op.name for op in module.walk()]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty directory, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


# What is read


@pytest.mark.parametrize("text", [TEXT, "func.func @f() { func.return }", f"\n{TEXT}\n"])
def test_text(text: str) -> None:
    assert names(passline.load(text)) == ["builtin.module", "func.func", "func.return"]


def test_empty_text_is_an_empty_module() -> None:
    assert names(passline.load("")) == ["builtin.module"]


@pytest.mark.parametrize("name", ["x.mlir", "x", "my model (1).mlir", "größe.mlir"])
def test_file_by_string_and_by_path(folder: Path, name: str) -> None:
    (folder / name).write_text(TEXT)
    assert (
        names(passline.load(name)) == names(passline.load(Path(name))) == names(passline.load(TEXT))
    )


def test_operations_know_their_file(folder: Path) -> None:
    (folder / "x.mlir").write_text(TEXT)
    location = location_of([*passline.load("x.mlir").walk()][-1])
    assert location and (location.filename.data, location.line.data) == ("x.mlir", 2)


def test_onnx_model_as_file_as_bytes_and_as_proto(folder: Path) -> None:
    (folder / "m.onnx").write_bytes(ONNX)
    for source in ("m.onnx", folder / "m.onnx", ONNX, onnx.load_model_from_string(ONNX)):
        assert "relax.nn.relu" in names(passline.load(source))


def test_module_is_returned_as_it_is() -> None:
    module = passline.load(TEXT)
    assert passline.load(module) is module


def test_pipeline_of_a_reproducer_is_left_out() -> None:
    text = TEXT + REPRODUCER
    assert "func.return" in names(passline.load(text))


def test_context_of_the_caller_has_the_dialects() -> None:
    passline.load(TEXT, ctx=toy_context())
    with pytest.raises(ParseError, match=r"relax"):
        passline.load("%c = relax.full 0.5 : tensor<2xf32>", ctx=toy_context())


# Errors


def test_missing_file_gets_the_nearest(folder: Path) -> None:
    (folder / "model.onnx").write_bytes(ONNX)
    with pytest.raises(passline.PasslineError, match=r"'modle.onnx', did you mean 'model.onnx'\?"):
        passline.load("modle.onnx")
    with pytest.raises(FileNotFoundError, match=r"there is no file 'x.mlir'$"):
        passline.load(Path("x.mlir"))


def test_missing_directory_is_named(folder: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"there is no directory 'models'"):
        passline.load("models/x.mlir")


def test_directory_is_an_error(folder: Path) -> None:
    with pytest.raises(passline.PasslineError, match="is a directory"):
        passline.load(folder)


def test_file_that_is_no_text_is_an_error(folder: Path) -> None:
    (folder / "x.mlir").write_bytes(b"\xff\xfe")
    with pytest.raises(passline.PasslineError, match=r"'x.mlir' is not UTF-8 text"):
        passline.load("x.mlir")


def test_bytes_that_are_no_model_are_an_error() -> None:
    with pytest.raises(passline.PasslineError, match="is not an ONNX model"):
        passline.load(b"abc")


def test_wrong_text_is_shown_with_its_place() -> None:
    with pytest.raises(ParseError, match=r"<text>:1:17"):
        passline.load("func.func @f() {")


@pytest.mark.parametrize("given", [3, None, ["x.mlir"]])
def test_other_source_is_a_type_error(given: object) -> None:
    with pytest.raises(TypeError, match="a path, a text, bytes or an onnx.ModelProto, not"):
        passline.load(given)  # pyright: ignore[reportArgumentType]


def test_invalid_ir_is_an_error_with_its_place_unless_allowed() -> None:
    text = "func.func @f() -> i32 {\n  func.return\n}"
    with pytest.raises(InvalidIRError) as caught:
        passline.load(text)
    assert caught.value.__notes__ == ["in the op 'func.return' at <text>:2:3"]
    assert names(passline.load(text, verify_ir=False))[-1] == "func.return"


def test_unregistered_operation_is_an_error_that_says_how_to_allow_it() -> None:
    text = '"my.op"() : () -> ()'
    with pytest.raises(ParseError) as caught:
        passline.load(text)
    assert caught.value.__notes__ == ["in Python: passline.load(source, allow_unregistered=True)"]
    assert '"my.op"()' in str(passline.load(text, allow_unregistered=True))


# Saving


RESOURCE = """
%c = "test.op"() {a = dense_resource<r> : tensor<1xi8>} : () -> i8
{-#
  dialect_resources: {
    builtin: {
      r: "0x0100000007"
    }
  }
#-}
"""


def test_resources_are_saved(folder: Path) -> None:
    passline.save(passline.load(RESOURCE), "out.mlir")
    assert '"0x0100000007"' in Path("out.mlir").read_text()


@pytest.mark.parametrize(
    "text", [TEXT, "%c = relax.constant dense<[0.0, -0.0, 0x7FC00001]> : tensor<3xf32>"]
)
def test_what_is_saved_is_loaded_again(folder: Path, text: str) -> None:
    module = passline.load(text)
    passline.save(module, "out.mlir")
    assert passline.load("out.mlir").is_structurally_equivalent(module)
    first = Path("out.mlir").read_text()
    passline.save(passline.load("out.mlir"), folder / "again.mlir")
    assert (folder / "again.mlir").read_text() == first


def test_what_is_saved_as_bytecode_is_loaded_again(folder: Path) -> None:
    module = passline.load(TEXT)
    passline.save(module, "out.mlirbc")
    for source in ("out.mlirbc", Path("out.mlirbc").read_bytes()):
        assert passline.load(source).is_structurally_equivalent(module)


def test_a_model_cannot_be_written(folder: Path) -> None:
    with pytest.raises(passline.PasslineError, match="'m.onnx' cannot be written"):
        passline.save(passline.load(TEXT), "m.onnx")
    assert not (folder / "m.onnx").exists()


def test_arguments_in_the_wrong_order_are_a_type_error() -> None:
    with pytest.raises(TypeError, match=r"save\(module, path\) takes a module, not 'x.mlir'"):
        passline.save("x.mlir", passline.load(TEXT))  # pyright: ignore[reportArgumentType]


def test_sizes_are_given_while_a_module_is_read() -> None:
    text = """\
func.func @main(%x: tensor<?xf32> {onnx.dims = ["n"]}) -> tensor<?xf32> {
  func.return %x : tensor<?xf32>
}
"""
    assert "%x: tensor<4xf32>) -> tensor<4xf32>" in str(passline.load(text, dims={"n": 4}))
    assert "%x: tensor<4xf32>) -> tensor<4xf32>" in str(passline.load(text, shapes={"x": (4,)}))
    with pytest.raises(ShapeBindingError, match="there is no parameter 'y'"):
        passline.load(text, shapes={"y": (4,)})
    with pytest.raises(PasslineError, match="when a module is read"):
        passline.load(passline.load(text), dims={"n": 4})
