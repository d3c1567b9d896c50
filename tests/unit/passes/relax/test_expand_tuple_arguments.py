"""ExpandTupleArguments: attributes of parameters, and a function that calls itself."""

from __future__ import annotations

from support.parsing import parsed
from xdsl.dialects.builtin import TupleType, UnitAttr
from xdsl.dialects.func import FuncOp

from passline.passes.relax.expand_tuple_arguments import ExpandTupleArguments
from passline.passmanager.ir.walk import walk

PAIR = "tuple<tensor<2xf32>, tensor<3xf32>>"


def function(text: str, name: str) -> FuncOp:
    module = ExpandTupleArguments()(parsed(text))
    assert not [op for op in walk(module) if op.name == "relax.tuple"]
    return next(f for f in walk(module) if isinstance(f, FuncOp) and f.sym_name.data == name)


def test_attributes_of_other_parameters_stay_with_them():
    func = function(
        f"""
        func.func private @g(%a: i1 {{x.a}}, %t: {PAIR} {{x.t}}, %b: i1 {{x.b}}) {{
          func.return
        }}
        func.func @f(%a: i1, %t: {PAIR}) {{
          func.call @g(%a, %t, %a) : (i1, {PAIR}, i1) -> ()
          func.return
        }}
        """,
        "g",
    )
    assert func.arg_attrs is not None
    found = [dict(attributes.data) for attributes in func.arg_attrs]
    assert found == [{"x.a": UnitAttr()}, {}, {}, {"x.b": UnitAttr()}]


def test_a_recursive_function():
    func = function(
        f"""
        func.func private @g(%t: {PAIR}) -> tensor<2xf32> {{
          %0 = relax.tuple_get_item %t {{index = 0}} : ({PAIR}) -> tensor<2xf32>
          %1 = relax.tuple_get_item %t {{index = 1}} : ({PAIR}) -> tensor<3xf32>
          %2 = relax.tuple %0, %1 : (tensor<2xf32>, tensor<3xf32>) -> {PAIR}
          %3 = func.call @g(%2) : ({PAIR}) -> tensor<2xf32>
          func.return %3 : tensor<2xf32>
        }}
        func.func @f(%t: {PAIR}) -> tensor<2xf32> {{
          %0 = func.call @g(%t) : ({PAIR}) -> tensor<2xf32>
          func.return %0 : tensor<2xf32>
        }}
        """,
        "g",
    )
    assert not any(isinstance(type, TupleType) for type in func.function_type.inputs)
    assert len([*func.body.block.ops]) == 2
