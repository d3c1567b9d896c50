"""The interfaces of control flow: the operations of cf, scf, affine, relax and tir."""

from __future__ import annotations

from support.parsing import parsed
from support.tables import table_test
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, Region

from passline.passmanager.ir.control_flow import branch_of, region_branch_of, region_points
from passline.passmanager.ir.walk import walk

HEADER = "func.func @f(%c: i1, %n: index, %x: i32, %y: i32) {\n"


def find(body: str, name: str) -> Operation:
    module = parsed(f"{HEADER}{body}\n}}")
    return next(op for op in walk(module) if op.name == name)


def shown(op: Operation) -> list[str]:
    """Return the flow between the regions of `op`: "0 -> 1 [1:3] 2" is from a terminator in region
    0 to region 1 with two operands for two inputs; "op" is the operation."""
    trait = region_branch_of(op)
    assert trait is not None
    lines: list[str] = []
    for point in region_points(op):
        for successor in trait.successor_regions(op, point):
            operands = trait.successor_operands(op, point, successor)
            inputs = len(trait.successor_inputs(op, successor))
            source = place(op, None if point is None else point.parent_region())
            passed = f"[{operands.start}:{operands.stop}]"
            lines.append(f"{source} -> {place(op, successor)} {passed} {inputs}")
    return lines


def place(op: Operation, region: Region | None) -> str:
    return "op" if region is None else str(op.regions.index(region))


REGIONS = {
    "scf.if": (
        "%0 = scf.if %c -> (i32) { scf.yield %x : i32 } else { scf.yield %y : i32 }",
        ["op -> 0 [0:0] 0", "op -> 1 [0:0] 0", "0 -> op [0:1] 1", "1 -> op [0:1] 1"],
    ),
    "scf.if without else": (
        "scf.if %c { scf.yield }",
        ["op -> 0 [0:0] 0", "op -> op [0:0] 0", "0 -> op [0:0] 0"],
    ),
    "scf.for": (
        "%0 = scf.for %i = %n to %n step %n iter_args(%a = %x) -> (i32) { scf.yield %a : i32 }",
        ["op -> 0 [3:4] 1", "op -> op [3:4] 1", "0 -> 0 [0:1] 1", "0 -> op [0:1] 1"],
    ),
    "scf.while": (
        """%0, %1 = scf.while (%a = %x) : (i32) -> (i32, i32) {
          scf.condition(%c) %a, %y : i32, i32
        } do {
        ^bb0(%b: i32, %d: i32):
          scf.yield %d : i32
        }""",
        ["op -> 0 [0:1] 1", "0 -> 1 [1:3] 2", "0 -> op [1:3] 2", "1 -> 0 [0:1] 1"],
    ),
    "scf.index_switch": (
        """%0 = scf.index_switch %n -> i32
        case 2 { scf.yield %x : i32 }
        default { scf.yield %y : i32 }""",
        ["op -> 0 [0:0] 0", "op -> 1 [0:0] 0", "0 -> op [0:1] 1", "1 -> op [0:1] 1"],
    ),
    "scf.execute_region": (
        """%0 = scf.execute_region -> (i32) {
          cf.cond_br %c, ^bb1, ^bb2
        ^bb1:
          scf.yield %x : i32
        ^bb2:
          scf.yield %y : i32
        }""",
        ["op -> 0 [0:0] 0", "0 -> op [0:1] 1", "0 -> op [0:1] 1"],
    ),
    "affine.for": (
        "%0 = affine.for %i = 0 to 8 iter_args(%a = %x) -> (i32) { affine.yield %a : i32 }",
        ["op -> 0 [0:1] 1", "0 -> 0 [0:1] 1", "0 -> op [0:1] 1"],
    ),
    "affine.for that runs once": (
        "%0 = affine.for %i = 3 to 4 iter_args(%a = %x) -> (i32) { affine.yield %a : i32 }",
        ["op -> 0 [0:1] 1", "0 -> op [0:1] 1"],
    ),
    "affine.for that never runs": (
        "%0 = affine.for %i = 4 to 3 iter_args(%a = %x) -> (i32) { affine.yield %a : i32 }",
        ["op -> op [0:1] 1", "0 -> 0 [0:1] 1", "0 -> op [0:1] 1"],
    ),
    "memref.alloca_scope": (
        '%0 = "memref.alloca_scope"() ({\n  "memref.alloca_scope.return"(%x) : (i32) -> ()\n})'
        " : () -> i32",
        ["op -> 0 [0:0] 0", "0 -> op [0:1] 1"],
    ),
}


@table_test("name, case", REGIONS.items())
def test_regions(name: str, case: tuple[str, list[str]]) -> None:
    body, expected = case
    assert shown(find(f"{body}\nfunc.return", name.split()[0])) == expected


BRANCH = """
  cf.cond_br %c, ^bb1(%x : i32), ^bb2(%y, %y : i32, i32)
^bb1(%a: i32):
  cf.br ^bb2(%a, %a : i32, i32)
^bb2(%b: i32, %d: i32):
  cf.switch %x : i32, [
    default: ^bb1(%x : i32),
    7: ^bb2(%x, %y : i32, i32),
    8: ^bb1(%y : i32)
  ]
"""
OPERANDS = {
    "cf.br": [range(2)],
    "cf.cond_br": [range(1, 2), range(2, 4)],
    "cf.switch": [range(1, 2), range(2, 4), range(4, 5)],
}


@table_test("name, expected", OPERANDS.items())
def test_operands_of_branches(name: str, expected: list[range]) -> None:
    op = find(BRANCH, name)
    trait = branch_of(op)
    assert trait is not None
    assert [trait.successor_operands(op, i) for i in range(len(op.successors))] == expected


TAKEN = {
    ("cf.br", None): 0,
    ("cf.cond_br", None): None,
    ("cf.cond_br", 0): 1,
    ("cf.cond_br", -1): 0,
    ("cf.switch", None): None,
    ("cf.switch", 7): 1,
    ("cf.switch", 8): 2,
    ("cf.switch", 9): 0,
}


@table_test("key, expected", TAKEN.items())
def test_the_successor_that_is_taken(key: tuple[str, int | None], expected: int | None) -> None:
    name, number = key
    op = find(BRANCH, name)
    trait = branch_of(op)
    assert trait is not None
    constant = None if number is None else IntegerAttr(number, 1 if name == "cf.cond_br" else 32)
    assert trait.successor_for(op, [constant]) == expected


LENGTHS = {"cf.br": ([0], 1), "cf.cond_br": ([1, 3], 2), "cf.switch": ([1, 2, 4], 2)}


@table_test("name, dropped, left", [(name, *case) for name, case in LENGTHS.items()])
def test_dropping_operands_shortens_segments(name: str, dropped: list[int], left: int) -> None:
    op = find(BRANCH, name)
    trait = branch_of(op)
    assert trait is not None
    trait.drop_operands(op, dropped)
    assert len(op.operands) == left
    lengths = [len(trait.successor_operands(op, i)) for i in range(len(op.successors))]
    assert sum(lengths) == left - (name != "cf.br")


def test_a_terminator_of_another_operation_is_no_end() -> None:
    op = find("scf.execute_region {\n  func.return\n}\nfunc.return", "scf.execute_region")
    assert shown(op) == ["op -> 0 [0:0] 0"]
