"""Sources of ONNX models: files, bytes and external data."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, external_data_helper, numpy_helper
from support.models.from_text import model_of, run

from passline.compiler.frontends.onnx import ModelError, import_model
from passline.compiler.frontends.onnx.external_data import without_large_data

GRAPH = "g (float[3] x) => (float[3] y) { y = Add(x, w) }"
W = np.arange(3, dtype=np.float32)


def model() -> ModelProto:
    model = model_of(GRAPH)
    model.graph.initializer.append(numpy_helper.from_array(W, "w"))
    return model


def external(place: str) -> ModelProto:
    """The model with its constant in another file."""
    result = model()
    external_data_helper.set_external_data(result.graph.initializer[0], place)
    return result


def test_a_model_is_read_from_a_file_and_from_bytes(tmp_path: Path):
    content = model().SerializeToString()
    (file := tmp_path / "m.onnx").write_bytes(content)
    texts = {str(import_model(source)) for source in (model(), content, file, str(file))}
    assert len(texts) == 1


def test_external_data_is_read_beside_the_file(tmp_path: Path):
    stored = external_data_helper.write_external_data_tensors(external("w.bin"), str(tmp_path))
    (tmp_path / "m.onnx").write_bytes(stored.SerializeToString())
    assert (tmp_path / "w.bin").exists()
    for module in (
        import_model(tmp_path / "m.onnx"),
        import_model((tmp_path / "m.onnx").read_bytes(), directory=tmp_path),
    ):
        np.testing.assert_array_equal(run(module, W), [2 * W])


def test_a_model_is_hardly_more_than_its_size_in_memory(tmp_path: Path):
    size = 1 << 24
    large = model_of("g (float[N] x) => (float[N] y) { y = Add(x, w) }")
    large.graph.initializer.append(numpy_helper.from_array(np.zeros(size, np.float32), "w"))
    (file := tmp_path / "m.onnx").write_bytes(large.SerializeToString())
    script = (
        "import resource, sys\n"
        "import passline.compiler.frontends.onnx as frontend\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "before = peak(); module = frontend.import_model(sys.argv[1]); print(peak() - before)"
    )
    command = [sys.executable, "-c", script, str(file)]
    grown = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert grown * 1024 < 1.3 * file.stat().st_size


def large_model(*sizes: int) -> ModelProto:
    model = model_of("g (float[N] x) => (float[N] y) { y = Sum(x, w0, w1) }")
    for i, size in enumerate(sizes):
        array = np.arange(size, dtype=np.float32)
        model.graph.initializer.append(numpy_helper.from_array(array, f"w{i}"))
    model.metadata_props.add(key="author", value="somebody")
    return model


def test_large_data_stays_in_the_file():
    content = large_model(1 << 19, 4).SerializeToString()
    small = ModelProto.FromString(without_large_data(memoryview(content), "m.onnx"))
    large, little = small.graph.initializer
    assert small.ByteSize() < 1000 and small.metadata_props[0].value == "somebody"
    assert not large.HasField("raw_data") and large.dims == [1 << 19]
    places = {entry.key: entry.value for entry in large.external_data}
    at, length = int(places["offset"]), int(places["length"])
    data = np.frombuffer(content[at : at + length], np.float32)
    np.testing.assert_array_equal(data, np.arange(1 << 19, dtype=np.float32))
    assert numpy_helper.to_array(little).tolist() == [0, 1, 2, 3]


def test_a_small_model_stays_as_it_is():
    content = model().SerializeToString()
    assert without_large_data(memoryview(content), "m.onnx") == content


def test_large_data_is_read_when_it_is_wanted(tmp_path: Path):
    (file := tmp_path / "m.onnx").write_bytes(large_model(1 << 19, 1).SerializeToString())
    x = np.ones(1, np.float32)
    (result,) = run(import_model(file), x)
    np.testing.assert_array_equal(result, np.arange(1 << 19, dtype=np.float32) + 1)


@pytest.mark.parametrize("cut", [1, 100, 1 << 20])
def test_a_large_model_that_is_cut_off(cut: int, tmp_path: Path):
    content = large_model(1 << 19, 1).SerializeToString()
    (file := tmp_path / "m.onnx").write_bytes(content[:-cut])
    with pytest.raises(ModelError, match="m.onnx' is not an ONNX model"):
        import_model(file)


@pytest.mark.parametrize("content", [b"\xff" * 12, b"\x3a\x05ab", b"\x07", b"\x80"])
def test_what_is_no_message_is_an_error(content: bytes):
    with pytest.raises(ValueError):
        without_large_data(memoryview(content), "m.onnx")


def stored_externally() -> ModelProto:
    """A model that has no data, only the name of the file."""
    result = external("w.bin")
    tensor = result.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    return result


def test_external_data_that_is_missing(tmp_path: Path):
    (tmp_path / "m.onnx").write_bytes(stored_externally().SerializeToString())
    with pytest.raises(ModelError, match=r"^tensor 'w', file 'w.bin': .*"):
        import_model(tmp_path / "m.onnx")
    with pytest.raises(ModelError, match="'w', file 'w.bin': the model was not read from a file"):
        import_model(stored_externally())


def test_external_data_that_is_too_short(tmp_path: Path):
    (tmp_path / "m.onnx").write_bytes(stored_externally().SerializeToString())
    (tmp_path / "w.bin").write_bytes(b"\0" * 8)
    with pytest.raises(ModelError, match=r"^tensor 'w', file 'w.bin': 8 bytes, expected 12 "):
        import_model(tmp_path / "m.onnx")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"func.func @f() {}", "is not an ONNX model: "),
        (ModelProto(ir_version=8).SerializeToString(), "it has no graph or imports no operators"),
    ],
)
def test_files_that_are_no_model(tmp_path: Path, content: bytes, message: str):
    (file := tmp_path / "m.onnx").write_bytes(content)
    with pytest.raises(ModelError) as caught:
        import_model(file)
    assert str(file) in str(caught.value) and message in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_a_tensor_with_too_few_bytes():
    short = model()
    short.graph.initializer[0].raw_data = b"\0" * 4
    with pytest.raises(ModelError, match=r"'w': 4 bytes, expected 12 for type tensor<3xf32>"):
        import_model(short)
