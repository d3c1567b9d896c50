"""ONNX's backend tests: no case fails, and the counts in docs/onnx.md are correct."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from onnx_backend import MODELS, Case, all_cases, model_cases, node_cases, run_case, table
from xdsl.ir import SSAValue

from passline.dialects.relax.types import static_shape
from passline.frontends.onnx import import_model
from passline.frontends.onnx.converters import CONVERTERS
from passline.frontends.onnx.node import Node
from passline.passes.relax.infer_type import infer_types

TABLE = table()


def cases_of(group: str) -> list[Case]:
    cases = model_cases(group) if group in MODELS else node_cases()
    return [case for case in cases if case.group == group]


@pytest.mark.parametrize("group", TABLE)
def test_cases(group: str):
    outcomes = [(case.name, run_case(case)) for case in cases_of(group)]
    failed = {name: outcome.reasons for name, outcome in outcomes if outcome.status == "failed"}
    assert not failed
    assert Counter(outcome.status for _, outcome in outcomes) == +TABLE[group], "run `make docs`"


def test_the_table_has_all_cases():
    assert Counter(case.group for case in all_cases()) == {
        group: counts.total() for group, counts in TABLE.items()
    }


def test_most_cases_pass():
    assert sum(counts["passed"] for group, counts in TABLE.items() if group not in MODELS) >= 1000


def test_a_fault_of_a_converter_fails_the_case(monkeypatch: pytest.MonkeyPatch):
    def faulty(_: Node) -> Sequence[SSAValue]:
        return getattr(1, "missing")  # noqa: B009

    monkeypatch.setitem(CONVERTERS, ("", "Relu"), faulty)
    (case,) = (case for case in node_cases() if case.name == "test_relu")
    outcome = run_case(case)
    assert outcome.status == "failed" and "AttributeError" in outcome.reasons[0]


@pytest.mark.parametrize("case", model_cases("real"), ids=lambda case: case.name)
def test_types_of_real_models_are_inferred(case: Case):
    module = import_model(case.model)
    infer_types(module)  # raises DiagnosticError for a contradiction
    results = [result.type for op in module.walk() for result in op.results]
    assert results and all(static_shape(type) is not None for type in results)
