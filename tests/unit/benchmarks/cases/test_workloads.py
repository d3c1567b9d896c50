"""The inputs of the benchmarks: valid IR of the size asked for, which passes leave as it is."""

from __future__ import annotations

from cases.text import STEPS, cases, cases_on
from cases.workloads import SYNTHETIC, Workload, relax_graph, synthetic
from support.releases import needs_xdsl
from support.tables import table_test
from table.rows import QUICK_OPS, Scope, measure
from xdsl.dialects.builtin import ModuleOp

from passline.passmanager import PassContext
from passline.passmanager.ir.verifier import verify
from passline.passmanager.ir.walk import walk
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import make_ir_context

TINY = 206


@table_test("name", SYNTHETIC)
def test_a_workload_is_valid_and_as_large_as_asked(name: str) -> None:
    (workload,) = synthetic([name], TINY)
    verify(workload.module)
    assert workload.count == TINY
    assert "%5 =" in workload.text or "scf.for" in workload.text


@table_test("name", ["tensor ops", "scalar ops"])
def test_the_passes_of_the_tools_remove_nothing(name: str) -> None:
    (workload,) = synthetic([name], TINY)
    parse_pipeline("canonicalize,cse").apply(make_ir_context(), workload.module)
    assert sum(1 for _ in walk(workload.module)) == TINY


def test_the_relax_graph_has_work_for_the_passes() -> None:
    workload = Workload("relax graph", TINY, lambda: relax_graph(TINY))
    verify(workload.module)
    assert workload.count == 203
    pipeline = parse_pipeline("eliminate-common-subexpr,dead-code-elimination")
    with PassContext(opt_level=3):
        pipeline.apply(make_ir_context(), workload.module)
    assert sum(1 for _ in walk(workload.module)) == 163


@needs_xdsl("0.72", "blocks that are numbered as ours")
@table_test("name", SYNTHETIC)
@table_test("step", STEPS)
def test_both_sides_of_a_step_do_the_same(step: str, name: str) -> None:
    (workload,) = synthetic([name], TINY)
    ours, theirs = (side(workload)() for side in STEPS[step])
    match ours:
        case ModuleOp():
            assert isinstance(theirs, ModuleOp) and ours.is_structurally_equivalent(theirs)
            assert ours is not workload.module
        case str():
            assert isinstance(theirs, str) and ours.strip() == theirs.strip()
        case _:
            assert ours is theirs is None


def test_a_row_of_each_step() -> None:
    (workload,) = synthetic(["tensor ops"], 26)
    rows = [measure(case, seconds=0) for case in cases_on(workload)]
    assert [row.what for row in rows] == [*STEPS]
    assert all(len(row.ours) == len(row.theirs) == 3 and row.ops == 26 for row in rows)


def test_the_quick_selection_has_each_step_but_the_generic_ones() -> None:
    found = [case for case in cases(Scope()) if case.quick]
    assert {case.what for case in found} == {"read", "verify", "print", "copy"}
    assert {case.ops for case in found} == {0, QUICK_OPS}
