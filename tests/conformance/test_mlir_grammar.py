"""IR as other projects on MLIR write it is read, and what is printed is the same to mlir-opt."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence

import pytest
from support.releases import has_xdsl
from support.suites.inprocess import mlir_opt, passline_opt
from support.tables import table_test

# Of dialects that are not registered: torch-mlir, IREE, StableHLO, Triton and CIRCT write such.
FORMS = {
    "attributes with bodies": """
"a.f"() {x = #a.target<"cpu", [1, 2], {k = <add>}>, y = #a<b"c" -> [d]>, z = #a.unit} : () -> ()
""",
    "attributes of several lines": """
"a.f"() {x = #a.target<arch = "x",
    wgp = <compute = fp32|int8,
           sizes = [1, 2]>>} : () -> ()
""",
    "types with bodies": """
%0 = "a.f"() : () -> !a.vtensor<[2,?],f32>
%1 = "a.f"() : () -> !a.ptr<tensor<2x!a.int>, 1>
%2 = "a.f"() : () -> tensor<4x8xf16, #a.blocked<{size = [1, 4], order = [1, 0]}>>
%3 = "a.f"() : () -> !a<list"x">
""",
    "structures of llvm": """
%0 = "a.f"() : () -> !llvm.struct<"s", (i32, struct<(ptr, array<4 x f32>)>, ptr<1>)>
%1 = "a.f"() : () -> !llvm.struct<(i8, array<2 x struct<(i1, i64)>>)>
""",
    "aliases": """
#map = affine_map<(d0, d1)[s0] -> (d0 floordiv 2 + s0, d1 mod 4)>
#x = #a.x<1>
!t = tuple<i32, !a.b>
"a.f"() {m = #map, x = #x, t = !t} : () -> ()
""",
    "properties": """
"a.f"() <{k = 1 : i8, list = [unit, "x", @f::@g]}> {d = dense<[1, -1]> : tensor<2xi64>} : () -> ()
""",
    "locations": """
"a.f"() : () -> () loc("x.py":1:2)
"a.f"() : () -> () loc(callsite("g"("x.py":3:4) at "y.py":5:6))
"a.f"() : () -> () loc(fused["n", unknown])
"a.f"() : () -> () loc(fused<"p">["n"])
"a.f"() : () -> () loc("x.py":1:2 to 3:4)
#loc = loc("z.py":1:1)
"a.f"() : () -> () loc(#loc)
""",
    "results without parentheses": """
%c, %x = "a.f"() : () -> (i1, i32)
%0 = scf.if %c -> i32 { scf.yield %x : i32 } else { scf.yield %x : i32 }
""",
    "properties that say nothing": """
%0 = "a.f"() : () -> i64
%1 = "arith.trunci"(%0) <{overflowFlags = #arith.overflow<none>}> : (i64) -> i32
""",
    "resources": """
"a.f"() {x = dense_resource<r> : tensor<2xi32>} : () -> ()
{-#
  dialect_resources: {
    builtin: {
      r: "0x040000000100000002000000"
    }
  }
#-}
""",
    "blocks that have numbers": """
"a.f"() ({
  %c = "a.c"() : () -> i1
  "cf.cond_br"(%c, %c)[^1, ^2] <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i1, i1) -> ()
^1(%d: i1):
  "a.end"()[^2] : () -> ()
^2:
  "a.end"() : () -> ()
}) : () -> ()
""",
    "several regions and results": """
%a:2, %b = "a.f"(%a#1) ({}, {
^bb0(%x: i1):
  "a.g"(%x) : (i1) -> ()
}) : (i8) -> (i1, i8, index)
""",
    "numbers": """
"a.f"() {a = 0x7FC00000 : f32, b = 1.0e-3 : bf16, c = -0x1F : i64, d = 18446744073709551615 : ui64,
         e = dense<0xFF800000> : tensor<2xf32>, f = dense<(1.0, -2.0)> : tensor<2xcomplex<f32>>,
         h = array<i1: true, false>} : () -> ()
""",
    "shapes": """
%0 = "a.f"() : () -> memref<?x4xf32, strided<[?, 1], offset: 3>, 2 : i32>
%1 = "a.f"() : () -> memref<2xf32, affine_map<(d0) -> (d0 + 1)>, "space">
%2 = "a.f"() : () -> vector<[4]x2xf32>
%3 = "a.f"() : () -> tensor<*xf8E4M3FN>
%4 = "a.f"() : () -> none
""",
    "symbols": """
"a.f"() {s = @"with space"::@b, "quoted key" = @c} : () -> ()
""",
    "functions": """
func.func private @f(i32) -> (f32 {a.c = 1 : i32}) attributes {a.d = #a.e}
func.func nested @g(%x: i32 loc("x"), %y: !a.b) -> (!a.b, i32) {
  return %y, %x : !a.b, i32
}
""",
}

# What xDSL's IR, or its parser of a dialect, does not have.
NOT_READ = {
    "properties that MLIR has added": (
        '%0 = "a.f"() : () -> memref<i32>\n'
        '%1 = "memref.load"(%0) <{alignment = 4 : i64}> : (memref<i32>) -> i32',
        "'alignment' is not defined",
    ),
    "packed structures": ('"a.f"() : () -> !llvm.struct<packed (i8)>', "'(' expected"),
    "sparse constants": (
        '"a.f"() {x = sparse<[[0, 1]], [5]> : tensor<2x2xi32>} : () -> ()',
        "attribute expected",
    ),
    "types after strings and attributes": (
        '"a.f"() {x = "s" : tensor<3xf32>} : () -> ()',
        "'}' expected",
    ),
    "custom forms of dialects that are not registered": (
        "%0 = a.f %1 : i32",
        "operation 'a.f' is read in generic form only",
    ),
}

OPTIONS = ("--allow-unregistered-dialect", "--split-input-file")
needs_mlir_opt = pytest.mark.skipif(mlir_opt() is None, reason="mlir-opt is not installed")


def generic(texts: Sequence[str]) -> list[str]:
    """Return the texts in the generic form that mlir-opt prints, without locations."""
    command = [mlir_opt() or "", *OPTIONS, "--mlir-print-op-generic"]
    done = subprocess.run(command, input="\n// -----\n".join(texts), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("// -----\n")


@needs_mlir_opt
def test_what_is_printed_is_what_was_read() -> None:
    forms = {name: text for name, text in FORMS.items() if "f8E" not in text or has_xdsl("0.67")}
    printed = [passline_opt(*OPTIONS, stdin=text) for text in forms.values()]
    assert [p.stderr for p in printed] == [""] * len(forms)
    own = [*map(unnumbered, generic([p.stdout for p in printed]))]
    expected = generic([*forms.values()])
    assert dict(zip(forms, own, strict=True)) == dict(zip(forms, expected, strict=True))


@pytest.mark.parametrize("name", FORMS)
def test_printing_again_changes_nothing(name: str) -> None:
    once = passline_opt(*OPTIONS, stdin=FORMS[name])
    assert once.status == 0, once.stderr
    assert unnumbered(passline_opt(*OPTIONS, stdin=once.stdout).stdout) == unnumbered(once.stdout)


def unnumbered(text: str) -> str:
    """Return the text without the numbers by which resources of one process are told apart."""
    return re.sub(r"\br(_\d+)+\b", "r", text)


@table_test("name", NOT_READ)
def test_what_is_not_read_is_an_error(name: str) -> None:
    text, message = NOT_READ[name]
    result = passline_opt(*OPTIONS, stdin=text)
    assert result.status == 1 and message in result.stderr
