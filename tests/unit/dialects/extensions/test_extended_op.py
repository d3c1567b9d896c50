"""Operations of MLIR that xDSL has in part: which class they are read as, and what is verified."""

from __future__ import annotations

import pytest
from support.parsing import parsed
from support.releases import needs_xdsl
from support.tables import table_test
from xdsl.dialects import affine, arith, cf, memref, scf, vector
from xdsl.dialects.builtin import ModuleOp, UnregisteredOp
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation

from passline.dialects.extensions.extended_op import ExtendedOp
from passline.passes import Canonicalize, CommonSubexpressionElimination, DeadCodeElimination
from passline.passmanager.ir.text.printer import PrintStyle, module_text
from passline.passmanager.ir.verifier import verify
from passline.passmanager.ir.walk import walk
from passline.passmanager.registry import make_ir_context

VALUES = (
    "%c: i1, %a: i32, %i: index, %x: f32, %h: f16, %v: vector<4xi8>, %w: vector<4xi1>, "
    "%t: tensor<?xf32>, %m: memref<4xf32>, %u: memref<*xf32>"
)
BODY = "{ scf.yield }"


def function(text: str) -> str:
    return f"func.func @f({VALUES}) {{ {text} func.return }}"


def read(text: str, name: str) -> Operation:
    """Return the operation `name` of a text in a function, which is the same in both forms."""
    module = parsed(function(text))
    verify(module)
    generic = module_text(module, make_ir_context(), PrintStyle(generic=True))
    assert _describe(parsed(generic)) == _describe(module)
    return next(op for op in walk(module) if op.name == name)


def _describe(module: ModuleOp) -> list[object]:
    return [(type(op), op.properties, op.attributes, op.result_types) for op in walk(module)]


@table_test(
    ("text", "plain"),
    [
        ("%0 = arith.extui %c : i1 to i32", arith.ExtUIOp),
        ("%0 = arith.trunci %a : i32 to i8", arith.TruncIOp),
        ("%0 = arith.trunci %a overflow<none> : i32 to i8", arith.TruncIOp),
        ("%0 = arith.truncf %x : f32 to f16", arith.TruncFOp),
        ("%0 = arith.cmpi eq, %a, %a : i32", arith.CmpiOp),
        ("%0 = arith.cmpf oeq, %x, %x fastmath<nnan> : f32", arith.CmpfOp),
        ("%0 = arith.select %c, %v, %v : vector<4xi8>", arith.SelectOp),
        ("%0 = arith.divui %a, %a : i32", arith.DivUIOp),
        (f"scf.if %c {BODY}", scf.IfOp),
        (f"scf.for %k = %i to %i step %i {BODY}", scf.ForOp),
        ("scf.while : () -> () { scf.condition(%c) } do { scf.yield }", scf.WhileOp),
        (f"scf.execute_region {BODY}", scf.ExecuteRegionOp),
        ("scf.parallel (%k) = (%i) to (%i) step (%i) { }", scf.ParallelOp),
        ("scf.index_switch %i case 1 { } default { }", scf.IndexSwitchOp),
        (
            "%0:2 = scf.index_switch %i -> i32, i32 default { scf.yield %a, %a : i32, i32 }",
            scf.IndexSwitchOp,
        ),
        ("affine.if affine_set<() : (0 == 0)>() { }", affine.IfOp),
        ("affine.parallel (%k) = (0) to (4) { }", affine.ParallelOp),
        ("%0 = memref.cast %m : memref<4xf32> to memref<?xf32>", memref.CastOp),
        ("%0 = memref.rank %m : memref<4xf32>", memref.RankOp),
        ("memref.copy %m, %m : memref<4xf32> to memref<4xf32>", memref.CopyOp),
        ("vector.print %v : vector<4xi8>", vector.PrintOp),
        ("cf.cond_br %c, ^bb1, ^bb1\n^bb1:", cf.ConditionalBranchOp),
    ],
)
def test_what_xdsl_has_is_of_its_class(text: str, plain: type[IRDLOperation]) -> None:
    """Passes and semantics are found by the class of an operation."""
    assert type(read(text, plain.name)) is plain


@needs_xdsl("0.67", "conversions of vectors of floats")
def test_conversions_of_floats_are_of_xdsls_class_on_tensors_too() -> None:
    text = "%0 = arith.truncf %t : tensor<?xf32> to tensor<?xf16>"
    assert type(read(text, "arith.truncf")) is arith.TruncFOp


@table_test(
    ("text", "plain"),
    [
        ("%0 = arith.extui %v : vector<4xi8> to vector<4xi32>", arith.ExtUIOp),
        ("%0 = arith.trunci %a overflow<nsw> : i32 to i8", arith.TruncIOp),
        ("%0 = arith.truncf %x upward : f32 to f16", arith.TruncFOp),
        ("%0 = arith.cmpi eq, %v, %v : vector<4xi8>", arith.CmpiOp),
        ("%0 = arith.cmpf oeq, %t, %t : tensor<?xf32>", arith.CmpfOp),
        ("%0 = arith.select %w, %v, %v : vector<4xi1>, vector<4xi8>", arith.SelectOp),
        ("%0 = arith.divui %a, %a exact : i32", arith.DivUIOp),
        (f"scf.for unsigned %k = %a to %a step %a : i32 {BODY}", scf.ForOp),
        (f"scf.execute_region no_inline {BODY}", scf.ExecuteRegionOp),
        ("%0 = memref.rank %u : memref<*xf32>", memref.RankOp),
        ("memref.copy %u, %m : memref<*xf32> to memref<4xf32>", memref.CopyOp),
        ("vector.print punctuation <comma>", vector.PrintOp),
        ("cf.cond_br %c weights([1, 2]), ^bb1, ^bb1\n^bb1:", cf.ConditionalBranchOp),
    ],
)
def test_what_xdsl_has_not_is_of_another_class(text: str, plain: type[IRDLOperation]) -> None:
    """Patterns for xDSL's class do not expect vectors, or an unsigned loop."""
    op = read(text, plain.name)
    assert isinstance(op, ExtendedOp) and op.PLAIN is plain and not isinstance(op, plain)
    assert (parent := op.parent_op()) is not None
    assert type(op) in map(type, walk(parent.clone()))


def test_a_copy_is_of_the_same_class() -> None:
    """xDSL's copies have no operands at first."""
    module = parsed(
        function(
            "%0 = arith.extui %v : vector<4xi8> to vector<4xi32> "
            "%1 = memref.rank %u : memref<*xf32> "
            "memref.copy %u, %m : memref<*xf32> to memref<4xf32>"
        )
    )
    copy = module.clone()
    verify(copy)
    assert _describe(copy) == _describe(module)
    op = next(op for op in walk(module) if op.name == "memref.rank")
    without_operands = op.clone(clone_operands=False)
    assert type(without_operands) is type(op) and not without_operands.operands


@table_test(
    ("text", "message"),
    [
        ("%0 = arith.extui %v : vector<4xi8> to vector<4xi8>", "must be larger"),
        ("%0 = arith.extui %v : vector<4xi8> to vector<2xi16>", "requires the same shape"),
        ("%0 = arith.trunci %a overflow<nsw> : i32 to i64", "must be smaller"),
        ("%0 = arith.sitofp %v : vector<4xi8> to vector<4xi16>", "expected a float"),
        ("%0 = arith.fptosi %t : tensor<?xf32> to tensor<?xf32>", "expected an integer"),
        ("%0 = arith.index_castui %a : i32 to i64", "cast incompatible"),
        ("%0 = arith.select %w, %t, %t : vector<4xi1>, tensor<?xf32>", "expected a condition of"),
        (
            '%0 = "arith.cmpi"(%v, %v) {predicate = 10 : i64} : (vector<4xi8>, vector<4xi8>) -> '
            "vector<4xi1>",
            "a number from 0 to 9",
        ),
        (
            '%0 = "arith.cmpi"(%v, %v) {predicate = 0 : i64} : (vector<4xi8>, vector<4xi8>) -> '
            "vector<4xi8>",
            "expected a result of vector<4xi1>",
        ),
        ("%0 = arith.shrui %x, %x exact : f32", "expected integers"),
        (
            '"cf.cond_br"(%c)[^bb1, ^bb1] <{branch_weights = array<i32: 1>, operandSegmentSizes = '
            "array<i32: 1, 0, 0>}> : (i1) -> ()\n^bb1:",
            "expects 2 branch weights, but got 1",
        ),
        ("%0 = vector.transpose %v, [1] : vector<4xi8> to vector<4xi8>", "a permutation of 1"),
        ("%0 = vector.from_elements %x : vector<4xf32>", "expected 4 elements of f32"),
        ("%0:2 = affine.delinearize_index %i into (1, 2, 3) : index, index", "a basis of 1 or 2"),
        (
            "%f = func.constant @f : (i32) -> i32\n"
            '"func.call_indirect"(%f, %a) : ((i32) -> i32, i32) -> ()',
            "expected a function of type",
        ),
    ],
)
def test_invalid_operations(text: str, message: str) -> None:
    with pytest.raises(Exception, match=message):
        verify(parsed(function(text)))


def test_passes_keep_what_they_do_not_know() -> None:
    text = """
    %0 = arith.cmpi eq, %v, %v : vector<4xi8>
    %1 = arith.select %0, %v, %v : vector<4xi1>, vector<4xi8>
    %2 = arith.extui %1 : vector<4xi8> to vector<4xi32>
    %3 = arith.trunci %2 : vector<4xi32> to vector<4xi8>
    scf.for unsigned %k = %a to %a step %a : i32 {
      "foo.use"(%3, %k) : (vector<4xi8>, i32) -> ()
    }
    %4 = scf.execute_region -> i32 no_inline { scf.yield %a : i32 }
    "foo.use"(%4) : (i32) -> ()
    """
    module = parsed(function(text))
    for pass_ in (Canonicalize(), CommonSubexpressionElimination(), DeadCodeElimination()):
        module = pass_(module)
    verify(module)
    assert sum(isinstance(op, UnregisteredOp) for op in walk(module)) == 2
