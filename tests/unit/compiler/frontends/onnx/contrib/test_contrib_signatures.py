"""The signatures of the operators of com.microsoft are those of onnxruntime."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false, reportPrivateUsage=false
from __future__ import annotations

import pytest
from onnx import AttributeProto, helper
from onnx.defs import OpSchema
from onnxruntime.capi import onnxruntime_pybind11_state as runtime
from support.tables import table_test

from passline.compiler.frontends.onnx.contrib.microsoft import CONTRIB
from passline.compiler.frontends.onnx.contrib.signatures import (
    LIMITS,
    REFUSED,
    contrib_names,
    contrib_schema,
)

THEIRS = {s.name: s for s in runtime.get_all_operator_schema() if s.domain == "com.microsoft"}


def parameters(schema: OpSchema) -> list[tuple[str, ...]]:
    return [
        tuple(f"{p.name}:{str(p.option).rpartition('.')[2]}" for p in each)
        for each in (schema.inputs, schema.outputs)
    ]


@table_test("name", contrib_names())
def test_signature(name: str):
    schema, theirs = contrib_schema(name), THEIRS[name]
    assert schema is not None
    assert parameters(schema) == parameters(theirs)
    assert {*schema.attributes} == {*theirs.attributes}
    for key, attribute in schema.attributes.items():
        other = theirs.attributes[key]
        assert str(attribute.type).rpartition(".")[2] == str(other.type).rpartition(".")[2]
        assert attribute.required == other.required
        default = AttributeProto.FromString(other._default_value)
        assert bool(default.type) == bool(attribute.default_value.type), key
        if default.type:
            value = helper.get_attribute_value(attribute.default_value)
            assert value == pytest.approx(helper.get_attribute_value(default)), key


def test_every_signature_has_a_converter():
    assert {*contrib_names()} == {*CONTRIB}


def test_what_is_refused_exists_and_has_no_converter():
    assert not {*REFUSED} - {*THEIRS}
    assert not {*REFUSED} & {*CONTRIB}, "these have a converter: their lines in REFUSED go"


def test_limits_are_those_of_converters():
    assert not {name for names in LIMITS for name in names.split(", ")} - {*CONTRIB}
