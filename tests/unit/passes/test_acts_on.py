"""The operations that passes act on: without these, the body of a pass would change nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import cast

import pytest
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import ParseError

from passline.compiler.analysis.dataflow_pattern import Either, OpPattern, Pattern, parse_pattern
from passline.passes import PASSES, DeadCodeElimination, RecognizeOps
from passline.passes.relax.operation_forms import FORMS, OperationForm
from passline.passmanager import Pass
from passline.passmanager.fast.clone import clone
from passline.passmanager.ir.changes import Snapshot
from passline.passmanager.ir.per_class import OpClasses, has_any
from passline.passmanager.ir.text.parser import parse_module, split_chunks
from passline.passmanager.registry import find_pass, make_ir_context

FILES = Path(__file__).parents[2] / "filecheck" / "passes" / "relax"

GATED = [name for name in PASSES if getattr(find_pass(name), "acts_on", ())]


@cache
def modules() -> list[tuple[ModuleOp, str, OpClasses]]:
    """The modules in the FileCheck files of relax, and their functions that refer to no other, with
    their text and the classes of their operations."""
    found = [*_modules()]
    for module in [*found]:
        alone = [op for op in module.ops if str(op).count("@") == 1]
        found += [ModuleOp([clone(op)]) for op in alone] if len(alone) > 1 else []
    return [(module, str(module), Snapshot(module).op_classes) for module in found]


def _modules() -> Iterator[ModuleOp]:
    for path in sorted(FILES.glob("*.mlir")):
        for chunk, line in split_chunks(path.read_bytes()):
            context = make_ir_context(allow_unregistered=True)
            with suppress(ParseError):  # the file tests the parser
                yield parse_module(context, chunk.decode(), str(path), line_offset=line)


def test_passes_declare_what_they_act_on() -> None:
    assert "fake-quantization-to-integer" in GATED and "recognize-ops" in GATED


@pytest.mark.parametrize("name", GATED)
def test_body_changes_nothing_without_these_operations(name: str) -> None:
    gated = cast(type[Pass], find_pass(name))
    alone = {"acts_on": (), "required": ()}
    body = cast(type[Pass], type(gated.__name__, (gated,), alone))()
    tried = 0
    for module, text, ops in modules():
        if has_any(ops, *gated.acts_on):
            continue
        tried += 1
        snapshot = Snapshot(after := clone(module))
        body.apply(make_ir_context(), after)
        if not snapshot.update():
            continue
        if getattr(gated, "remove_dead", False):
            text, after = str(DeadCodeElimination()(module)), DeadCodeElimination()(after)
        assert str(after) == text
    assert tried > 100


@table_test("form", FORMS)
def test_recognized_forms_have_an_operation_that_is_acted_on(form: OperationForm) -> None:
    names = {op.name for op in RecognizeOps.acts_on if issubclass(op, Operation)}
    assert holds(parse_pattern(form.pattern), names)


def holds(pattern: Pattern, names: set[str]) -> bool:
    """Return whether each match of `pattern` has an operation called one of `names`."""
    match pattern:
        case Either():
            return holds(pattern.first, names) and holds(pattern.second, names)
        case OpPattern():
            return pattern.name in names or any(holds(p, names) for p in pattern.operands or ())
        case _:
            return False
