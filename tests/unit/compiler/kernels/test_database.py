"""Databases of measured choices: reading, writing, merging, and their use by legalize-ops."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from support.parsing import parsed
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from passline.compiler.kernels.choices import Choice
from passline.compiler.kernels.database import Database, TuningRecord, append_record, target_key
from passline.compiler.kernels.kernel import Kernel, kernel_key, kernel_of
from passline.dialects.target import NAMED
from passline.passes.relax.legalize_ops import LegalizeOps, constant_arguments, outline_operations
from passline.passmanager import PassContext, PasslineError
from passline.passmanager.ir.text.printer import module_text
from passline.passmanager.registry import make_ir_context

TARGET = NAMED["x86-64-v3"]
PRODUCT = """
func.func @main(%{x}: tensor<{m}x96xf32>, %b: tensor<96x{n}xf32>) -> tensor<{m}x{n}xf32> {{
  %0 = relax.matmul %{x}, %b : (tensor<{m}x96xf32>, tensor<96x{n}xf32>) -> tensor<{m}x{n}xf32>
  func.return %0 : tensor<{m}x{n}xf32>
}}
"""


def product(m: int = 64, n: int = 48, x: str = "x") -> ModuleOp:
    return parsed(PRODUCT.format(m=m, n=n, x=x))


def primitive(module: ModuleOp) -> tuple[FuncOp, str]:
    """Outline the operations of a module; return the first primitive function and its key."""
    outline_operations(module)
    func = next(op for op in module.ops if "relax.primitive" in op.attributes)
    assert isinstance(func, FuncOp)
    return func, kernel_key(func, constant_arguments(module)[func.sym_name.data])


def kernel(module: ModuleOp) -> tuple[Kernel, str]:
    func, key = primitive(module)
    return kernel_of(func, TARGET), key


def another(module: ModuleOp) -> TuningRecord:
    """Return a record with another schedule than that of the cost model."""
    made, key = kernel(module)
    (choice,) = made.choices.made
    other = next(c for _, c in choice.ranked() if c != choice.choice and c.form["m"] == 2)
    return record(key=key, choices=(other,))


def record(key: str = "k", choices: tuple[Choice, ...] = (), seconds: float = 1e-3) -> TuningRecord:
    when = "2026-01-01T00:00:00+00:00"
    target = target_key(TARGET)
    return TuningRecord(key, target, choices, seconds, 2e-3, 32, True, "matmul", when, "0.1.0")


def legalized(module: ModuleOp, database: Path) -> tuple[str, list[str]]:
    """Return the text of the kernels, and the messages."""
    said: list[str] = []
    pipeline = LegalizeOps(database=str(database))
    with PassContext(
        renderer=lambda found: said.extend(f"{d.severity.name}: {d.message}" for d in found),
        remark_filter=dict.fromkeys(("passed", "missed"), "legalize-ops"),
    ):
        result = pipeline(module)
    return module_text(result, make_ir_context()), said


# Files


def test_a_record_is_the_same_after_writing_and_reading(tmp_path: Path):
    path = tmp_path / "d.jsonl"
    written = another(product())
    append_record(path, written)
    found = Database.read(path).find(written.key, TARGET)
    assert found is not None and found == written and found.place == f"{path}:1"
    assert found.choices == written.choices
    assert found.to_json() == written.to_json() and "\n" not in written.to_json()


def test_later_lines_count_and_files_are_merged_by_appending(tmp_path: Path):
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    append_record(one, record("a"))
    append_record(one, record("b"))
    append_record(two, record("b", seconds=5e-4))
    append_record(two, record("c"))
    merged = tmp_path / "merged.jsonl"
    merged.write_bytes(one.read_bytes() + two.read_bytes())
    database = Database.read(merged)
    assert len(database) == 3 and database.warnings == []
    newer = database.find("b", TARGET)
    assert newer is not None and newer.seconds == 5e-4


def test_the_number_of_cores_is_no_part_of_the_key_and_the_processor_is(tmp_path: Path):
    append_record(tmp_path / "d.jsonl", record())
    database = Database.read(tmp_path / "d.jsonl")
    assert database.find("k", replace(TARGET, cores=8)) is not None
    assert database.find("k", NAMED["x86-64-v4"]) is None
    assert database.find("other", TARGET) is None


GOOD = json.loads(record().to_json())


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not a line of JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("[1]", "not a JSON object"),
        ("{}", "it has no 'key'"),
        (json.dumps({**GOOD, "seconds": "fast"}), "'seconds' is \"fast\""),
        (json.dumps({**GOOD, "trials": True}), "'trials' is true"),
        (json.dumps({**GOOD, "seconds": float("nan")}), "'seconds' is nan"),
        (json.dumps({**GOOD, "seconds": -1}), "'seconds' is -1"),
        (json.dumps({**GOOD, "new": 1}), "'new' is not a field of a record"),
        (json.dumps({**GOOD, "choices": [1]}), "a choice is not an object with"),
        (
            json.dumps({**GOOD, "choices": [{"kind": "schedule", "of": {}, "is": {"m": [1]}}]}),
            "a choice is not of numbers and words",
        ),
    ],
    ids=str,
)
def test_lines_that_are_no_records_are_skipped_with_file_and_line(
    line: str, reason: str, tmp_path: Path
):
    path = tmp_path / "d.jsonl"
    path.write_text(f"{record('a').to_json()}\n\n{line}\n{record('b').to_json()}\n")
    database = Database.read(path)
    assert len(database) == 2
    (warning,) = database.warnings
    assert warning.startswith(f"{path}:3: the line is skipped: {reason}")


def test_bytes_that_are_no_text_are_skipped(tmp_path: Path):
    path = tmp_path / "d.jsonl"
    path.write_bytes(b"\xff\xfe\n" + record().to_json().encode() + b"\n")
    database = Database.read(path)
    assert len(database) == 1 and database.warnings == [f"{path}:1: the line is skipped: not UTF-8"]


def test_a_line_that_was_cut_off_does_not_take_the_next_one_along(tmp_path: Path):
    path = tmp_path / "d.jsonl"
    path.write_text(record("a").to_json()[:50])
    append_record(path, record("b"))
    database = Database.read(path)
    assert len(database) == 1 and database.find("b", TARGET) is not None
    assert [warning.split(":")[1] for warning in database.warnings] == ["1"]


def test_records_are_whole_when_many_are_added_at_once(tmp_path: Path):
    path = tmp_path / "d.jsonl"
    with ThreadPoolExecutor(4) as executor:
        for i in range(100):
            executor.submit(append_record, path, record(f"k{i}"))
    database = Database.read(path)
    assert len(database) == 100 and database.warnings == []


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path):
    missing = tmp_path / "missing.jsonl"
    with pytest.raises(PasslineError, match=f"'{missing}' cannot be read: {os.strerror(2)}"):
        Database.read(missing)
    with pytest.raises(PasslineError, match="cannot be read"):
        legalized(product(), tmp_path)


# Keys


def test_equal_kernels_share_a_key_whatever_their_names():
    assert primitive(product())[1] == primitive(product(x="other"))[1]


def test_other_shapes_constants_and_options_have_other_keys():
    module = product()
    func, key = primitive(module)
    assert key != primitive(product(m=32))[1]
    assert key != kernel_key(func, [1])
    assert key != kernel_key(func, [], "f2")


CLIP = """
func.func @main(%x: tensor<{n}xf32>) -> tensor<{n}xf32> {{
  %0 = relax.clip %x {{max = {max}, min = 0.0}} : (tensor<{n}xf32>) -> tensor<{n}xf32>
  func.return %0 : tensor<{n}xf32>
}}
"""


def test_attributes_are_part_of_the_key():
    def key(maximum: float) -> str:
        text = CLIP.format(n=8, max=maximum)
        return primitive(parsed(text))[1]

    assert key(6.0) == key(6.0) != key(7.0)


# Use


def test_legalize_ops_takes_the_schedule_of_the_database_and_says_so(tmp_path: Path):
    path = tmp_path / "d.jsonl"
    append_record(path, measured := another(product()))
    append_record(path, another(product(m=80)))
    text, said = legalized(product(), path)
    (chosen,) = measured.choices
    assert f'Remark="measured schedule: {chosen}"' in "\n".join(said)
    append_record(path, replace(measured, choices=()))
    estimated, said = legalized(product(), path)
    assert text != estimated
    assert "no candidate for schedule was measured" in "\n".join(said)


def test_a_kernel_that_is_not_in_the_database_is_scheduled_by_the_cost_model(tmp_path: Path):
    path = tmp_path / "d.jsonl"
    append_record(path, another(product()))
    text, said = legalized(product(n=40), path)
    assert text == module_text(LegalizeOps()(product(n=40)), make_ir_context())
    assert "no candidate for schedule was measured" in "\n".join(said)


def test_a_schedule_that_does_not_fit_is_ignored_with_a_warning(tmp_path: Path):
    path = tmp_path / "d.jsonl"
    wrong = another(product())
    (choice,) = wrong.choices
    huge = replace(choice, form={**choice.form, "m": 99})
    append_record(path, replace(wrong, choices=(huge,)))
    text, said = legalized(product(), path)
    assert text == module_text(LegalizeOps()(product()), make_ir_context())
    message = f"{path}:1: the schedule for @fused_matmul is ignored: there is no candidate m 99"
    assert any(line.startswith(f"WARNING: {message}") for line in said), said


def test_a_record_for_another_contraction_is_not_used(tmp_path: Path):
    path = tmp_path / "d.jsonl"
    other = another(product())
    (choice,) = other.choices
    append_record(
        path, replace(other, choices=(replace(choice, problem={**choice.problem, "m": 7}),))
    )
    text, said = legalized(product(), path)
    assert text == module_text(LegalizeOps()(product()), make_ir_context())
    assert not any(line.startswith("WARNING") for line in said), said


def test_lines_that_are_skipped_are_warnings_of_the_pass(tmp_path: Path):
    path = tmp_path / "d.jsonl"
    path.write_text("{\n")
    assert (
        f"WARNING: {path}:1: the line is skipped: not a line of JSON"
        in legalized(product(), path)[1]
    )


def test_the_database_is_an_option_of_the_context(tmp_path: Path):
    path = tmp_path / "d.jsonl"
    append_record(path, another(product()))
    with PassContext(config={"legalize-ops": {"database": str(path)}}):
        text = module_text(LegalizeOps()(product()), make_ir_context())
    assert text == legalized(product(), path)[0]


DEPTHWISE = """
func.func @main(%x: tensor<1x8x20x20xf32>, %w: tensor<8x1x3x3xf32>) -> tensor<1x8x18x18xf32> {
  %0 = relax.nn.conv2d %x, %w {groups = 8} : (tensor<1x8x20x20xf32>, tensor<8x1x3x3xf32>)
      -> tensor<1x8x18x18xf32>
  func.return %0 : tensor<1x8x18x18xf32>
}
"""


def test_tiles_of_depthwise_convolutions_are_measured_too(tmp_path: Path):
    path = tmp_path / "d.jsonl"

    def module() -> ModuleOp:
        return parsed(DEPTHWISE)

    made, key = kernel(module())
    (choice,) = made.choices.made
    assert choice.choice.kind == "depthwise tile"
    ranked = choice.ranked()
    assert ranked[0][1] == choice.choice and ranked[0][0] == choice.estimate() < ranked[-1][0]
    append_record(path, record(key, (ranked[-1][1],)))
    _, said = legalized(module(), path)
    assert f'Remark="measured depthwise tile: {ranked[-1][1]}"' in "\n".join(said)
