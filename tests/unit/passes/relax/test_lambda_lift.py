"""LambdaLift: many lambdas, deep nesting, names, actions."""

from __future__ import annotations

from support.parsing import parsed
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from passline.dialects.relax.closures import LambdaOp
from passline.passes.relax.lambda_lift import lift_lambdas
from passline.passmanager import CollectingActions
from passline.passmanager.ir.location import location_of, place_text
from passline.passmanager.ir.verifier import verify
from passline.passmanager.ir.walk import walk


def parse(*lines: str) -> ModuleOp:
    return parsed("\n".join(lines))


def lifted(module: ModuleOp) -> int:
    """Run the algorithm on `module`, and return the number of lambdas that it lifted."""
    lift_lambdas(module, recorder := CollectingActions())
    return recorder.counts["lifted"]


def names(module: ModuleOp) -> list[str]:
    return [op.sym_name.data for op in module.ops if isinstance(op, FuncOp)]


def test_many_lambdas_each_a_caller_of_the_one_before():
    n = 2000
    module = parse(
        "func.func @main(%x : i1) -> i1 {",
        "%f0 = relax.lambda() -> i1 {",
        "relax.yield %x : i1",
        "}",
        *(
            f"%f{i} = relax.lambda() -> i1 {{\n"
            f"%r{i} = relax.invoke %f{i - 1}() : () -> i1\nrelax.yield %r{i} : i1\n}}"
            for i in range(1, n)
        ),
        f"%r = relax.invoke %f{n - 1}() : () -> i1",
        "return %r : i1",
        "}",
    )
    assert lifted(module) == n
    verify(module)
    assert names(module) == ["main", *(f"main_f{i}" for i in range(n))]
    assert all(len(op.args) == 1 for op in module.ops if isinstance(op, FuncOp))


def test_lambdas_many_deep():
    depth = 40
    module = parse(
        "func.func @main(%x : i1) -> i1 {",
        *(f"%f{i} = relax.lambda() -> i1 {{" for i in range(depth)),
        "relax.yield %x : i1",
        "}",
        *(
            f"%r{i} = relax.invoke %f{i}() : () -> i1\nrelax.yield %r{i} : i1\n}}"
            for i in reversed(range(1, depth))
        ),
        "%r0 = relax.invoke %f0() : () -> i1",
        "return %r0 : i1",
        "}",
    )
    assert lifted(module) == depth
    verify(module)


def test_a_function_keeps_names_and_the_place_of_its_lambda():
    module = parse(
        "func.func @main(%x : i1) {",
        "  %f = relax.lambda(%y : i1) -> (i1, i1) {",
        "    relax.yield %x, %y : i1, i1",
        "  }",
        "  return",
        "}",
    )
    lift_lambdas(module)
    func = [*module.ops][1]
    assert isinstance(func, FuncOp)
    assert [arg.name_hint for arg in func.args] == ["x", "y"]
    place = location_of(func)
    assert place is not None and place_text(place).startswith("x.mlir:2")


class FirstAllowed(CollectingActions):
    """Allows the first action."""

    first = True

    def allowed(self, op: Operation | None = None, tag: str = "") -> bool:
        first, self.first = self.first, False
        return first


def test_a_lambda_stays_unless_its_action_is_allowed():
    module = parse(
        "func.func @main(%x : i1) {",
        "  %f = relax.lambda() -> i1 {",
        "    %g = relax.lambda() {",
        "    }",
        "    relax.yield %x : i1",
        "  }",
        "  return",
        "}",
    )
    lift_lambdas(module, recorder := FirstAllowed())
    assert recorder.counts["lifted"] == 1
    verify(module)
    assert names(module) == ["main", "main_g"]
    assert sum(isinstance(op, LambdaOp) for op in walk(module)) == 1
