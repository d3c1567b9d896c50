"""ToANormalForm: long chains, effects, actions."""

from __future__ import annotations

from support.parsing import parsed
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from passline.dialects.relax.graph import GraphOp
from passline.passes.generic.control_flow_sink import sink_operations
from passline.passes.relax.to_a_normal_form import ToANormalForm, inline_graphs
from passline.passmanager import CollectingActions, parse_pipeline
from passline.passmanager.ir.verifier import verify
from passline.passmanager.ir.walk import walk

UNARY = "(tensor<f32>) -> tensor<f32>"


def function(*lines: str) -> tuple[ModuleOp, FuncOp]:
    """A function @f of %c and %x that returns %0, the result of a graph of these operations."""
    text = "\n".join(
        [
            "func.func @f(%c : i1, %x : tensor<f32>) -> tensor<f32> {",
            "%0 = relax.graph -> tensor<f32> {",
            *lines,
            "}",
            "return %0 : tensor<f32>",
            "}",
        ]
    )
    module = parsed(text)
    func = module.body.block.first_op
    assert isinstance(func, FuncOp)
    return module, func


def test_a_chain_of_ten_thousand_that_stands_backwards():
    n = 10_000
    module, func = function(
        *(f"%a{i} = relax.exp %a{i - 1} : {UNARY}" for i in range(n, 0, -1)),
        f"%a0 = relax.abs %x : {UNARY}",
        f"relax.output %a{n} : tensor<f32>",
    )
    ops = inline_graphs(func, recorder := CollectingActions())
    sink_operations(func, recorder, {*ops})
    assert len(ops) == n + 1
    assert recorder.counts == {"graphs": 1}
    verify(module)
    names = [op.results[0].name_hint for op in ops]
    assert names == [f"a{i}" for i in range(n + 1)]
    assert [*func.body.block.ops][:-1] == ops


def test_a_chain_of_ten_thousand_goes_into_a_branch():
    n = 10_000
    module, func = function(
        "%r = scf.if %c -> (tensor<f32>) {",
        f"scf.yield %a{n} : tensor<f32>",
        "} else {",
        "scf.yield %x : tensor<f32>",
        "}",
        *(f"%a{i} = relax.exp %a{i - 1} : {UNARY}" for i in range(n, 0, -1)),
        f"%a0 = relax.abs %x : {UNARY}",
        "relax.output %r : tensor<f32>",
    )
    sink_operations(func, recorder := CollectingActions(), {*inline_graphs(func)})
    assert recorder.counts["num-sunk"] == n + 1
    verify(module)
    assert len([*func.body.block.ops]) == 2


def test_effects_stay_in_the_order_of_the_outer_graph():
    _, func = function(
        "func.call @a() : () -> ()",
        "%r = relax.graph -> tensor<f32> {",
        "func.call @c() : () -> ()",
        "%2 = relax.exp %1 : (tensor<f32>) -> tensor<f32>",
        "func.call @d() : () -> ()",
        "relax.output %2 : tensor<f32>",
        "}",
        "%1 = func.call @b() : () -> tensor<f32>",
        "func.call @e() : () -> ()",
        "relax.output %r : tensor<f32>",
    )
    inline_graphs(func)
    called = [str(op.properties.get("callee", op.name)) for op in func.body.block.ops]
    assert called == ["@a", "@b", "@c", "relax.exp", "@d", "@e", "func.return"]


class AllButFirst(CollectingActions):
    """Allows all actions but the first."""

    asked = 0

    def allowed(self, op: Operation | None = None, tag: str = "") -> bool:
        self.asked += 1
        return self.asked > 1


def test_a_graph_stays_with_those_in_it_unless_its_action_is_allowed():
    _, func = function(
        "%r = relax.graph -> tensor<f32> {",
        "relax.output %x : tensor<f32>",
        "}",
        "relax.output %r : tensor<f32>",
    )
    recorder = AllButFirst()
    assert inline_graphs(func, recorder) == []
    assert recorder.counts["graphs"] == 0
    assert inline_graphs(func, recorder) == []
    assert recorder.counts["graphs"] == 2
    assert recorder.asked == 3
    assert not any(isinstance(op, GraphOp) for op in walk(func))


def test_a_function_needs_nothing_of_the_others():
    """Why the pass is on functions: graphs are in functions, and none is added or deleted."""
    graph = f"""{{
      %0 = relax.graph -> tensor<f32> {{
        %2 = relax.negative %1 : {UNARY}
        %1 = relax.exp %x : {UNARY}
        relax.output %2 : tensor<f32>
      }}
      func.return %0 : tensor<f32>
    }}"""
    functions = [f"func.func @{n}(%x: tensor<f32>) -> tensor<f32> {graph}" for n in "fg"]
    module = parsed("\n".join(functions))
    both = ToANormalForm()(module)
    assert "relax.graph" not in str(both)
    alone = [ToANormalForm()(parsed(text)) for text in functions]
    assert [str(op) for op in both.ops] == [str(op) for one in alone for op in one.ops]
    assert str(parse_pipeline("func.func(to-a-normal-form)")(module)) == str(both)
