"""The analyzer: forms, ranges, constraints, intervals of a variable, operations built of forms."""

from __future__ import annotations

import re
from collections.abc import Sequence

from support.parsing import parsed
from support.tables import table_test
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint

from passline.compiler.analysis.arith.analyzer import Analyzer
from passline.compiler.analysis.arith.deduce_bound import Interval, solve
from passline.compiler.analysis.arith.expressions import NEGATED, Predicate
from passline.compiler.analysis.arith.linear_form import LinearForm
from passline.compiler.analysis.arith.materialize import FormBuilder
from passline.dialects.tir.ops import ForOp
from passline.passmanager.ir.verifier import verify
from passline.passmanager.ir.walk import walk

TRANSITIVE = [
    ("i<j j<k", "i<k", True),
    ("i<j j<k", "i<=k", True),
    ("i<j j<k", "i!=k", True),
    ("i<j j<k", "i>=k", False),
    ("i<j j<k", "i==k", False),
    ("i<=j j<k", "i<k", True),
    ("i<j j<=k", "i<k", True),
    ("i<=j j<=k", "i<=k", True),
    ("i<=j j<=k", "i<k", None),
    ("i<=j j<=k", "i==k", None),
    ("i<=j j==k", "i<=k", True),
    ("i<=j j==k", "i==k", None),
    ("i<j j==k", "i<k", True),
    ("i==j j==k", "i==k", True),
    ("i==j j<k", "i<k", True),
    ("i==j j<k", "i!=k", True),
    ("i==j j<=k", "i<=k", True),
    ("i==j j>k", "i>k", True),
    ("i==j j>=k", "i>=k", True),
    ("i>j j>k", "i>k", True),
    ("i>j j>=k", "i>k", True),
    ("i>=j j>k", "i>k", True),
    ("i>=j j>=k", "i>=k", True),
    ("i>=j j>=k", "i>k", None),
    ("i>=j j==k", "i>=k", True),
    ("i>=j j==k", "i==k", None),
    ("i<j j>k", "i<k", None),
    ("i<j j>k", "i>k", None),
    ("i<j j!=k", "i<k", None),
    ("i<=j j>=k", "i==k", None),
    ("i<=j+5 j<=k+7", "i<=k+12", True),
    ("i<=j+5 j<=k+7", "i<=k+11", None),
    ("i<j+5 j<k+7", "i<k+11", True),
    ("i<j+5 j<k+7", "i<k+10", None),
    ("i<=j+5 j<k+7", "i<k+12", True),
    ("i<=j+5 j<k+7", "i<k+11", None),
    ("i==j+5 j==k+7", "i==k+12", True),
    ("i==j+5 j==k+7", "i!=k+12", False),
    ("i>=j+5 j>=k+7", "i>=k+12", True),
    ("i>=j+5 j>=k+7", "i>=k+13", None),
    ("i<=j+-5 j<=k+-7", "i<=k+-12", True),
    ("i<=j j<=k k<=l", "i<=l", True),
    ("i==j j!=k", "i!=k", True),
    ("i==j j!=k", "i==k", False),
    ("j!=k i==j", "k==i", False),
    ("i==j+5 j!=k+7", "i!=k+12", True),
    ("i==j+5 j!=k+7", "i!=k+11", None),
    ("i==j j==k k!=l", "i!=l", True),
    ("i!=j j!=k", "i!=k", None),
    ("i<=j j!=k", "i!=k", None),
]
"""Constraints, a condition, and whether it holds if constraints are added up."""

PREDICATE = {"<": "slt", "<=": "sle", ">": "sgt", ">=": "sge", "==": "eq", "!=": "ne"}


def read(text: str) -> tuple[ModuleOp, dict[str, SSAValue]]:
    """Parse `text`; return the module and its values by name."""
    module = parsed(text)
    values: list[SSAValue] = []
    for op in walk(module):
        values += op.results
        for region in op.regions:
            values += [argument for block in region.blocks for argument in block.args]
    return module, {value.name_hint: value for value in values if value.name_hint is not None}


def read_conditions(*conditions: str) -> tuple[ModuleOp, Sequence[SSAValue]]:
    """Return a function that computes conditions such as `i<j+5`, and their values."""
    lines: list[str] = []
    for number, condition in enumerate(conditions):
        match = re.fullmatch(r"(\w)([<>=!]+)(\w)(?:\+(-?\d+))?", condition)
        assert match is not None
        left, relation, right, offset = match.groups()
        lines.append(f"%o{number} = arith.constant {offset or 0} : index")
        lines.append(f"%r{number} = arith.addi %{right}, %o{number} : index")
        compare = f"arith.cmpi {PREDICATE[relation]}, %{left}, %r{number} : index"
        lines.append(f"%c{number} = {compare}")
    body = "\n".join(lines)
    text = f"tir.prim_func @f(%i: index, %j: index, %k: index, %l: index) {{\n{body}\n}}"
    module, values = read(text)
    return module, [values[f"c{number}"] for number in range(len(conditions))]


def prove_under(constraints: str, condition: str, transitive: bool) -> bool | None:
    _, (*known, asked) = read_conditions(*constraints.split(), condition)
    analyzer = Analyzer(transitive=transitive)
    with analyzer.scope():
        for constraint in known:
            analyzer.assume(constraint)
        answer = analyzer.prove(asked)
    assert analyzer.prove(asked) is None  # it is forgotten
    return answer


@table_test("constraints, condition, answer", TRANSITIVE)
def test_constraints_are_added_up_if_transitive(
    constraints: str, condition: str, answer: bool | None
) -> None:
    assert prove_under(constraints, condition, True) is answer
    assert prove_under(constraints, condition, False) is None


@table_test(
    "constraints, condition, answer",
    [
        ("i<j", "i<j+1", True),
        ("i<j", "j>i", True),
        ("i<j", "i<j+-1", None),
        ("i<=j i!=j", "i<j", True),
        ("i==j", "j<=i", True),
        ("i!=j", "i==j", False),
    ],
)
def test_one_constraint_is_enough(constraints: str, condition: str, answer: bool | None) -> None:
    assert prove_under(constraints, condition, False) is answer


TILES = """
tir.prim_func @f(%n: index, %x: i8) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  tir.for %xo = %c0 extent %c16 {
    tir.for %xi = %c0 extent %c4 {
      %scaled = arith.muli %xo, %c4 : index
      %i = arith.addi %scaled, %xi : index
      %o = arith.floordivsi %i, %c4 : index
      %r = arith.remsi %i, %c4 : index
      %half = arith.floordivsi %i, %c16 : index
      %least = arith.minsi %i, %n : index
      %y = arith.addi %x, %x : i8
      %wide = arith.extsi %y : i8 to i32
      %inside = arith.cmpi slt, %i, %n : index
    }
  }
}
"""


def test_forms_and_ranges() -> None:
    _, values = read(TILES)
    analyzer = Analyzer()
    xo, xi = analyzer.linear(values["xo"]), analyzer.linear(values["xi"])
    assert analyzer.linear(values["i"]) == xo * 4 + xi
    assert analyzer.linear(values["o"]) == xo
    assert analyzer.linear(values["r"]) == xi
    assert analyzer.bounds(values["i"])[:2] == (0, 63)
    assert analyzer.bounds(values["half"])[:2] == (0, 3)
    assert analyzer.bounds(values["least"])[:2] == (None, 63)
    assert analyzer.constant_of(values["c16"]) == 16
    assert analyzer.constant_of(values["i"]) is None
    assert analyzer.can_prove("sle", xo, analyzer.linear(values["i"]))


def test_integers_that_may_wrap_are_atoms() -> None:
    _, values = read(TILES)
    analyzer = Analyzer()
    assert analyzer.linear(values["y"]) != analyzer.linear(values["x"]) * 2
    assert analyzer.bounds(values["wide"])[:2] == (-128, 127)


def test_the_interval_of_a_variable() -> None:
    module, values = read(TILES)
    analyzer = Analyzer()
    n, xo = analyzer.linear(values["n"]), analyzer.linear(values["xo"])
    owner = values["inside"].owner
    assert isinstance(owner, arith.CmpiOp)
    comparison = analyzer.comparison(owner)
    assert comparison is not None
    predicate, difference = comparison

    def solve_for(predicate: Predicate, variable: str) -> Interval | None:
        atom = analyzer.linear(values[variable]).atom
        assert atom is not None
        return solve(analyzer, predicate, difference, atom)

    inside = solve_for(predicate, "xi")
    assert inside is not None
    assert inside.low is None
    assert inside.high == n - xo * 4 - 1
    outside = solve_for(NEGATED[predicate], "xi")
    assert outside is not None
    assert outside.low == n - xo * 4
    tiles = solve_for(predicate, "xo")
    assert tiles is not None and tiles.high is not None
    loop = next(op for op in walk(module) if isinstance(op, ForOp))
    assert solve_for(predicate, "least") is None
    made = FormBuilder(analyzer, InsertPoint.before(owner)).build(tiles.high, name="last")
    verify(module)
    assert analyzer.linear(made) == tiles.high
    assert loop.body.block.first_op is not None


def test_a_form_is_built_from_available_values() -> None:
    _, values = read(TILES)
    analyzer = Analyzer()
    owner = values["inside"].owner
    assert isinstance(owner, arith.CmpiOp)
    form = analyzer.linear(values["i"])
    builder = FormBuilder(analyzer, InsertPoint.before(owner))
    assert builder.cost(form) == 2
    analyzer.make_available(values["i"])
    assert builder.cost(form) == 0
    assert builder.build(form) is values["i"]
    assert builder.build(LinearForm((), 3)).type == values["i"].type


def test_long_sums_and_deep_expressions_are_atoms() -> None:
    lines = ["%v0 = arith.constant 1 : index"]
    for n in range(3000):
        lines.append(f"%w{n} = arith.muli %v{n}, %n : index")
        lines.append(f"%u{n} = arith.floordivsi %w{n}, %m : index")
        lines.append(f"%v{n + 1} = arith.addi %u{n}, %w{n} : index")
    body = "\n".join(lines)
    _, values = read(f"tir.prim_func @f(%n: index, %m: index) {{\n{body}\n}}")
    analyzer = Analyzer()
    assert len(analyzer.linear(values["v3000"]).terms) <= 16
    assert analyzer.bounds(values["v3000"])[:2] == (None, None)


def test_deeply_nested_functions_are_atoms() -> None:
    """Ranges are computed recursively, and once more after each new constraint."""
    lines = [f"%v{n + 1} = arith.floordivsi %v{n}, %m : index" for n in range(3000)]
    lines.append("%c = arith.cmpi slt, %m, %v0 : index")
    body = "\n".join(lines)
    _, values = read(f"tir.prim_func @f(%v0: index, %m: index) {{\n{body}\n}}")
    analyzer = Analyzer()
    analyzer.linear(values["v3000"])
    with analyzer.assuming(values["c"]):
        assert analyzer.bounds(values["v3000"])[:2] == (None, None)
