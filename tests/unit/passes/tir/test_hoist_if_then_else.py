"""HoistIfThenElse: the option with the name of TVM, remarks on branches that stay, linear size."""

from __future__ import annotations

from support.parsing import parsed
from support.suites.inprocess import passline_opt

from passline.passes.tir.hoist_if_then_else import HoistIfThenElse
from passline.passmanager import PassContext

THREADS = """
tir.prim_func @f(%a: memref<8xf32>, %x: f32, %n: index, %c: i1) {
  %zero = arith.constant 0 : index
  tir.for thread_binding "threadIdx.x" %i = %zero extent %n {
    scf.if %c {
      memref.store %x, %a[%i] : memref<8xf32>
    }
  }
}
"""


def test_the_option_is_read_from_the_context():
    module = parsed(THREADS)
    assert str(HoistIfThenElse()(module)) == str(module)
    with PassContext(config={"tir.HoistIfThenElse": {"support_block_scope_hoisting": True}}):
        text = str(HoistIfThenElse()(module))
    assert text.index("scf.if") < text.index("tir.for")


def test_a_remark_says_why_a_branch_stays():
    text = """
    tir.prim_func @f(%a: memref<8xi1>, %n: index) {
      %zero = arith.constant 0 : index
      tir.for %i = %zero extent %n {
        %c = memref.load %a[%zero] : memref<8xi1>
        scf.if %c {
          memref.store %c, %a[%i] : memref<8xi1>
        }
      }
    }
    """
    result = passline_opt("-p", "tir-hoist-if-then-else", "--remarks-missed", stdin=text)
    assert "[Missed] NotHoisted" in result.stderr
    assert "the condition reads a buffer that the loop may write" in result.stderr


def test_a_chain_of_branches_does_not_double_anything():
    """Each of n branches gets one loop, and there is one copy of each store."""
    n = 40
    ops = "".join(
        f"scf.if %c{i} {{ memref.store %x, %a[%i] : memref<8xf32> }} else {{\n" for i in range(n)
    )
    parameters = ", ".join(f"%c{i}: i1" for i in range(n))
    text = f"""
    tir.prim_func @f(%a: memref<8xf32>, %x: f32, %n: index, {parameters}) {{
      %zero = arith.constant 0 : index
      tir.for %i = %zero extent %n {{
        {ops} memref.store %x, %a[%zero] : memref<8xf32> {"}" * n}
      }}
    }}
    """
    result = str(HoistIfThenElse()(parsed(text)))
    assert result.count("tir.for") == result.count("memref.store") == n + 1
