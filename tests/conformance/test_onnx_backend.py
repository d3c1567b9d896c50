"""ONNX's backend tests: no case fails, and the counts in docs/onnx.md are correct."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from onnx_backend import (
    DOCS,
    MODELS,
    Case,
    all_cases,
    lists,
    model_cases,
    node_cases,
    run_case,
    run_compiled,
    table,
)
from support.native.needs_llvmlite import needs_native
from support.releases import has_xdsl, lack_in
from xdsl.ir import SSAValue

from passline.compiler.frontends.onnx import import_model
from passline.compiler.frontends.onnx.converters import CONVERTERS
from passline.compiler.frontends.onnx.node import Node
from passline.dialects.relax.types import static_shape
from passline.passes.relax.infer_type import infer_types

TABLE = table()


def cases_of(group: str) -> list[Case]:
    cases = model_cases(group) if group in MODELS else node_cases()
    return [case for case in cases if case.group == group]


@pytest.mark.parametrize("group", TABLE)
def test_cases(group: str):
    outcomes = [(case.name, run_case(case)) for case in cases_of(group)]
    failed = {name: outcome.reasons for name, outcome in outcomes if outcome.status == "failed"}
    if has_xdsl("0.67"):
        assert not failed
        assert Counter(outcome.status for _, outcome in outcomes) == +TABLE[group], (
            "run `make docs`"
        )
    else:  # small floats and constants of bf16 fail
        assert all(lack_in(ValueError(each)) for reasons in failed.values() for each in reasons)


def test_the_table_has_all_cases():
    assert Counter(case.group for case in all_cases()) == {
        group: counts.total() for group, counts in TABLE.items()
    }


def test_the_lists_of_operators_are_those_of_the_tables():
    assert DOCS.read_text().endswith(lists()), (
        "run PYTHONPATH=tests python tests/conformance/onnx_backend.py --lists"
    )


def test_most_cases_pass():
    assert sum(counts["passed"] for group, counts in TABLE.items() if group not in MODELS) >= 1000


def test_a_fault_of_a_converter_fails_the_case(monkeypatch: pytest.MonkeyPatch):
    def faulty(_: Node) -> Sequence[SSAValue]:
        return getattr(1, "missing")  # noqa: B009

    monkeypatch.setitem(CONVERTERS, ("", "Relu"), faulty)
    (case,) = (case for case in node_cases() if case.name == "test_relu")
    outcome = run_case(case)
    assert outcome.status == "failed" and "AttributeError" in outcome.reasons[0]


SAMPLE = """
    add_uint8 argmax_keepdims_random averagepool_2d_default bitcast_uint32_to_int32
    bitshift_right_uint32 bitwise_xor_ui64_bcast_3v1d cast_FLOAT_to_BFLOAT16
    cast_FLOAT_to_FLOAT8E5M2 cast_FLOAT_to_INT4 compress_0
    clip_default_int8_min convinteger_with_padding dequantizelinear div_uint8 equal_uint64
    gather_negative_indices gelu_tanh_1 gru_bidirectional if isinf layer_normalization_2d_axis1
    less_equal_uint16 logsoftmax_axis_1 lstm_with_peepholes matmulinteger max_uint64
    maxpool_2d_uint8 mod_mixed_sign_int8 mod_uint64
    nonmaxsuppression_two_classes qlinearconv quantizelinear
    range_float_type_positive_delta_expanded range_int32_type_negative_delta_expanded
    rnn_seq_length scan9_multi_state scatter_elements_with_axis sequence_map_add_2_sequences
    shape simple_rnn_bidirectional softmax_axis_2 sub_uint32 transpose_all_permutations_3
    where_long_example xor2d
""".split()
"""Cases that run as machine code in `make test`, of loops and of all kinds of integers first."""


@needs_native
@pytest.mark.parametrize("name", SAMPLE)
def test_cases_as_machine_code(name: str):
    (case,) = (case for case in node_cases() if case.name == f"test_{name}")
    outcome = run_compiled(case)
    assert outcome.status == "passed", outcome.reasons


@needs_native
@pytest.mark.models
def test_no_case_is_wrong_as_machine_code():
    outcomes = [(case.name, run_compiled(case)) for case in node_cases()]
    assert not [(n, o.reasons) for n, o in outcomes if o.status == "failed"]
    assert sum(outcome.status == "passed" for _, outcome in outcomes) >= 1800


FIRST = {case.group: case for case in reversed(node_cases())}
"""The first case of each operator."""
NOT_COMPILED = {"AffineGrid", "Col2Im"}
"""The operators whose first case is refused: a size, or the rank of a value, is not known."""


@pytest.mark.parametrize("group", sorted(FIRST))
def test_operators_as_tile_programs(group: str):
    outcome = run_compiled(FIRST[group], "cuda-interpreter", level=3)
    expected = "unsupported" if run_case(FIRST[group]).status == "unsupported" else "passed"
    expected = "refused" if group in NOT_COMPILED else expected
    assert outcome.status == expected, outcome.reasons


@pytest.mark.models
def test_no_case_is_wrong_as_tile_programs():
    outcomes = [(c.name, run_compiled(c, "cuda-interpreter", level=3)) for c in node_cases()]
    assert not [(n, o.reasons) for n, o in outcomes if o.status == "failed"]
    assert sum(outcome.status == "passed" for _, outcome in outcomes) >= 1800


@pytest.mark.parametrize("case", model_cases("real"), ids=lambda case: case.name)
def test_types_of_real_models_are_inferred(case: Case):
    module = import_model(case.model)
    infer_types(module)  # raises DiagnosticError for a contradiction
    results = [result.type for op in module.walk() for result in op.results]
    assert results and all(static_shape(type) is not None for type in results)
